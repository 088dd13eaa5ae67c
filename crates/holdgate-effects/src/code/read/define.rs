//! Functions that code itself defines.

use super::{MAX_CALLS, MAX_DEPTH, Reader, names};
use crate::code::Language;
use crate::code::lex::{Kind, Tokens};
use crate::code::read::Arguments;
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A function that the code defines.
pub(super) struct Function<'a> {
    tokens: Rc<Tokens<'a>>,
    parameters: Vec<&'a str>,
    start: usize,
    end: usize,
    /// Whether the body is one expression, whose value is returned.
    is_expression: bool,
    /// What it returned when its parameters were not known.
    result: RefCell<AbstractValue>,
    /// Set while it is read: a function that calls itself is not followed further.
    active: Cell<bool>,
    /// Whether nothing is done in it that depends on its parameters.
    idle: Cell<bool>,
    /// Whether it belongs to a class: its name alone is not it.
    method: Cell<bool>,
}

impl<'a> Reader<'_, '_, 'a> {
    /// Notes all functions that have a name, since they may be called before they are defined.
    pub(super) fn find_functions(&mut self) -> Fueled {
        let count = self.tokens.list.len();
        for index in 0..count {
            let word = match self.name_at(index) {
                Some(word) if names::defines(self.language, word) => word,
                Some(name) if self.starts_method(index) => {
                    self.scene.fuel.spend(1)?;
                    let close = self.close_of(index + 1, count);
                    let parameters = self.parameters(index + 2, close);
                    let open = self.body_of_method(close);
                    let end = self.close_of(open, count);
                    let id = self.add_function(parameters, open + 1, end, false);
                    if self.language == Language::JavaScript {
                        self.definitions.insert(index, id);
                        self.is_of_class(id);
                    }
                    self.variables
                        .insert(name.to_owned(), AbstractValue::Function(id));
                    continue;
                }
                _ => continue,
            };
            let Some(name) = self.name_at(index + 1) else {
                continue;
            };
            self.scene.fuel.spend(1)?;
            let open = self.bracket_of_head(index + 2);
            let (parameters, after) = if self.is_mark(open, "(") {
                let close = self.close_of(open, count);
                (self.parameters(open + 1, close), close + 1)
            } else {
                (Vec::new(), open)
            };
            let Some((start, end)) = self.body(index, after, word) else {
                continue;
            };
            let own = matches!(parameters.first(), Some(&("self" | "cls")));
            let id = self.add_function(parameters, start, end, false);
            if own && self.language == Language::Python {
                self.is_of_class(id);
            }
            self.definitions.insert(index, id);
            self.variables
                .insert(name.to_owned(), AbstractValue::Function(id));
        }
        Ok(())
    }

    fn is_of_class(&self, id: usize) {
        if let Some(function) = self.functions.get(id) {
            function.method.set(true);
        }
    }

    /// Whether a thing is a method, which is never called by its name alone.
    pub(super) fn is_method(&self, thing: &AbstractValue) -> bool {
        let AbstractValue::Function(id) = thing else {
            return false;
        };
        self.functions.get(*id).is_some_and(|f| f.method.get())
    }

    pub(super) fn add_function(
        &mut self,
        parameters: Vec<&'a str>,
        start: usize,
        end: usize,
        is_expression: bool,
    ) -> usize {
        self.functions.push(Rc::new(Function {
            tokens: self.tokens.clone(),
            parameters,
            start,
            end,
            is_expression,
            result: RefCell::default(),
            active: Cell::default(),
            idle: Cell::default(),
            method: Cell::default(),
        }));
        self.functions.len() - 1
    }

    /// The names of parameters between brackets, without their types and defaults.
    pub(super) fn parameters(&self, from: usize, to: usize) -> Vec<&'a str> {
        let mut names = Vec::new();
        let mut at = from;
        let mut wanted = true;
        while at < to && names.len() < 16 {
            let Some(token) = self.token_at(at) else {
                break;
            };
            match token.kind {
                Kind::Name if wanted && !names::skipped(self.language, token.text) => {
                    names.push(token.text);
                    wanted = false;
                }
                // `char *c`, `String c`: the type comes first.
                Kind::Name
                    if self.language == Language::Compiled && self.ends_parameter(at, to) =>
                {
                    names.pop();
                    names.push(token.text);
                }
                Kind::Mark if token.text == "," => wanted = true,
                Kind::Mark if matches!(token.text, "(" | "[" | "{") => {
                    at = self.close_of(at, to);
                }
                Kind::Name | Kind::Number | Kind::Text(_) | Kind::Mark | Kind::Line(_) => {}
            }
            at += 1;
        }
        names
    }

    /// Whether the name at `at` is the last of its parameter, with a type before it.
    fn ends_parameter(&self, at: usize, to: usize) -> bool {
        let last = at + 1 == to || self.is_mark(at + 1, ",") || self.is_mark(at + 1, "[");
        // In `c: &str` and `c string` the name comes first.
        let colon = (at.saturating_sub(4)..at).any(|i| self.is_mark(i, ":"));
        let lower_type = matches!(
            self.token_at(at).map_or("", |t| t.text),
            "string" | "int" | "error" | "bool" | "byte" | "any"
        );
        last && !colon && !lower_type
    }

    /// Where the body of the function starts and ends whose head ends at `after`.
    fn body(&self, head: usize, after: usize, word: &str) -> Option<(usize, usize)> {
        let count = self.tokens.list.len();
        let by_lines = match self.language {
            Language::Python | Language::Ruby | Language::Lua => true,
            Language::Compiled => word == "def",
            _ => false,
        };
        if !by_lines {
            let open = (after..count.min(after + 24)).find(|index| self.is_mark(*index, "{"))?;
            return Some((open + 1, self.close_of(open, count)));
        }
        let lines = &self.tokens.lines;
        let own = lines.partition_point(|(index, _)| *index <= head);
        let own_indent = own
            .checked_sub(1)
            .and_then(|at| lines.get(at))
            .map_or(0, |(_, indent)| *indent);
        let from = lines.partition_point(|(index, _)| *index < after);
        for (number, (index, indent)) in lines.iter().skip(from).enumerate() {
            let one_line = number == 0 && *index > after + 2;
            if *indent <= own_indent || one_line {
                return Some((after, *index));
            }
        }
        Some((after, count))
    }

    /// A function definition: its body is read once with nothing known about its parameters.
    pub(super) fn definition(&mut self, end: usize) -> Fueled {
        let Some(&id) = self.definitions.get(&self.at) else {
            let function = self.anonymous_function(end)?;
            drop(function);
            return Ok(());
        };
        let Some(function) = self.functions.get(id).cloned() else {
            self.at += 1;
            return Ok(());
        };
        let open = if names::defines(self.language, self.name_at(self.at).unwrap_or("")) {
            self.bracket_of_head(self.at + 2)
        } else {
            self.at + 1
        };
        if self.is_mark(open, "(") {
            let close = self.close_of(open, end);
            self.read_parameters(&function.parameters, open + 1, close)?;
        }
        self.read_body(&function)?;
        self.at = function.end.max(self.at + 1).min(end);
        Ok(())
    }

    /// `function (…) {…}` as a value.
    pub(super) fn anonymous_function(&mut self, end: usize) -> Fueled<AbstractValue> {
        if let Some(&id) = self.definitions.get(&self.at)
            && let Some(function) = self.functions.get(id).cloned()
        {
            self.read_body(&function)?;
            self.at = (function.end + 1).min(end);
            return Ok(AbstractValue::Function(id));
        }
        self.at += 1;
        let mut after = self.at;
        let mut parameters = Vec::new();
        if self.is_mark(after, "(") {
            let close = self.close_of(after, end);
            parameters = self.parameters(after + 1, close);
            self.read_parameters(&parameters, after + 1, close)?;
            after = close + 1;
        }
        let near = (after..end.min(after + 12)).find(|index| self.is_mark(*index, "{"));
        let Some(open) = near else {
            return Ok(AbstractValue::Nothing);
        };
        let close = self.close_of(open, end);
        self.function_value(parameters, open + 1, close, false)
    }

    /// A function whose body is known; the reader goes on behind it.
    pub(super) fn function_value(
        &mut self,
        parameters: Vec<&'a str>,
        start: usize,
        close: usize,
        is_expression: bool,
    ) -> Fueled<AbstractValue> {
        let id = self.add_function(parameters, start, close, is_expression);
        if let Some(function) = self.functions.get(id).cloned() {
            self.read_body(&function)?;
        }
        self.at = close + usize::from(!is_expression);
        Ok(AbstractValue::Function(id))
    }

    /// `x => expression`, `lambda x: expression`: the reader stands at the expression.
    pub(super) fn expression_function(
        &mut self,
        parameters: Vec<&'a str>,
        end: usize,
    ) -> Fueled<AbstractValue> {
        let start = self.at;
        let saved = self.shadow(&parameters);
        for (name, value) in std::mem::take(&mut self.defaults) {
            self.variables.insert(name, value);
        }
        let result = self.expression(end)?;
        self.restore(saved);
        let id = self.add_function(parameters, start, self.at, true);
        if let Some(function) = self.functions.get(id) {
            *function.result.borrow_mut() = result;
        }
        Ok(AbstractValue::Function(id))
    }

    fn read_body(&mut self, function: &Rc<Function<'a>>) -> Fueled {
        let saved = self.shadow(&function.parameters);
        for (name, value) in std::mem::take(&mut self.defaults) {
            self.variables.insert(name, value);
        }
        let deeds = self.deeds;
        let result = self.run_body(function)?;
        self.restore(saved);
        // What a short function returns may still matter.
        let long = function.end.saturating_sub(function.start) > 48;
        function.idle.set(self.deeds == deeds && long);
        *function.result.borrow_mut() = result;
        Ok(())
    }

    fn run_body(&mut self, function: &Function<'a>) -> Fueled<AbstractValue> {
        if self.depth >= MAX_DEPTH {
            self.too_deep = true;
            return Ok(AbstractValue::Nothing);
        }
        if function.active.replace(true) {
            return Ok(AbstractValue::Nothing);
        }
        self.depth += 1;
        let tokens = std::mem::replace(&mut self.tokens, function.tokens.clone());
        let at = std::mem::replace(&mut self.at, function.start);
        let outer = std::mem::take(&mut self.returned);
        if function.is_expression {
            let loose = std::mem::replace(&mut self.loose, true);
            self.returned = self.expression(function.end)?;
            self.loose = loose;
        } else {
            self.statements(function.end)?;
        }
        let returned = std::mem::replace(&mut self.returned, outer);
        self.tokens = tokens;
        self.at = at;
        self.depth -= 1;
        function.active.set(false);
        Ok(returned)
    }

    pub(super) fn shadow(
        &mut self,
        parameters: &[&'a str],
    ) -> Vec<(String, Option<AbstractValue>)> {
        let mut saved = Vec::new();
        for name in parameters {
            let before = self
                .variables
                .insert((*name).to_owned(), AbstractValue::Nothing);
            saved.push(((*name).to_owned(), before));
        }
        saved
    }

    pub(super) fn restore(&mut self, saved: Vec<(String, Option<AbstractValue>)>) {
        for (name, before) in saved.into_iter().rev() {
            match before {
                Some(thing) => self.variables.insert(name, thing),
                None => self.variables.remove(&name),
            };
        }
    }

    /// What the code's own function `id` does with these arguments.
    pub(super) fn call_own(&mut self, id: usize, arguments: &Arguments) -> Fueled<AbstractValue> {
        let Some(function) = self.functions.get(id).cloned() else {
            return Ok(AbstractValue::Nothing);
        };
        let tells = |thing: &AbstractValue| !matches!(thing, AbstractValue::Nothing);
        let anything = arguments.positional.iter().any(tells)
            || arguments.named.iter().any(|(_, thing)| tells(thing));
        if !anything || function.idle.get() || self.calls >= MAX_CALLS {
            return Ok(function.result.borrow().clone());
        }
        self.calls += 1;
        // A method's first parameter is the object itself.
        let skip = usize::from(matches!(
            function.parameters.first(),
            Some(&("self" | "cls"))
        ));
        let saved = self.shadow(&function.parameters);
        for (name, thing) in function
            .parameters
            .iter()
            .skip(skip)
            .zip(&arguments.positional)
        {
            self.variables.insert((*name).to_owned(), thing.clone());
        }
        for (name, thing) in &arguments.named {
            if function.parameters.contains(&name.as_str()) {
                self.variables.insert(name.clone(), thing.clone());
            }
        }
        if self.language == Language::Perl {
            let list = AbstractValue::list(arguments.positional.clone());
            self.variables.insert("$_".to_owned(), list);
        }
        let result = self.run_body(&function)?;
        self.restore(saved);
        Ok(result)
    }
}
