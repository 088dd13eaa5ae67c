//! What follows a value: members, calls, blocks. And what precedes `=`.

use super::{Arguments, Reader, names, peer};
use crate::code::Language;
use crate::code::fold;
use crate::code::lex::{Holes, Kind, Quote, Token};
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;
use std::rc::Rc;

/// A name longer than this is nothing that the table knows.
pub(super) const MAX_NAME: usize = 160;

impl<'a> Reader<'_, '_, 'a> {
    /// Reads on behind `thing`, which started at the token `start`.
    pub(super) fn postfix(
        &mut self,
        thing: AbstractValue,
        start: usize,
        end: usize,
    ) -> Fueled<AbstractValue> {
        let mut thing = thing;
        let variable = self.name_at(start);
        while let Some(token) = self.next_postfix(end) {
            if let Some(quote) = self.shell_template(token, &thing) {
                self.at += 1;
                let command = self.literal(token, quote)?;
                let command = self.value_of(&command)?;
                thing = self.backticks(&command, start)?;
                continue;
            }
            let mark = if token.kind == Kind::Mark {
                self.scene.fuel.spend(1)?;
                token.text
            } else {
                ""
            };
            match mark {
                "." | "?." | "&." | "->" | "::" | "\\" | ":" => {
                    if let Some(member) = self.member_after(token.text) {
                        self.at += 2;
                        thing = self.member(thing, member, start, variable, end)?;
                    } else if self.leads_to_bracket(token.text) {
                        self.at += 1;
                    } else {
                        break;
                    }
                }
                "!" if self.language == Language::Compiled && self.is_mark(self.at + 1, "(") => {
                    self.at += 1;
                }
                // TypeScript: `x!` and `f<T>(…)`.
                "!" if self.language == Language::JavaScript && !token.spaced => self.at += 1,
                "<" if self.language == Language::JavaScript => {
                    match self.type_arguments_end(self.at, end) {
                        Some(open) if self.is_mark(open, "(") => {
                            // In JavaScript these are comparisons, and what is compared runs.
                            self.read_parameters(&[], self.at + 1, open - 1)?;
                            self.at = open;
                        }
                        _ => break,
                    }
                }
                "(" => {
                    let arguments = self.arguments(end)?;
                    thing = self.call(&thing, arguments, start)?;
                }
                "[" if !token.spaced
                    || !matches!(self.language, Language::Ruby | Language::Perl) =>
                {
                    thing = self.index(&thing, end)?;
                }
                "{" => match self.brace(&thing, token, start, end)? {
                    Some(made) => thing = made,
                    None => break,
                },
                _ if self.calls_without_brackets(&thing, end) => {
                    let arguments = self.bare_arguments(end)?;
                    thing = self.call(&thing, arguments, start)?;
                }
                _ => break,
            }
        }
        self.called_by_name(thing, start)
    }

    /// Names that are calls where they stand alone.
    fn called_by_name(&mut self, thing: AbstractValue, start: usize) -> Fueled<AbstractValue> {
        // `fork` alone is a call in these.
        if let (Language::Ruby | Language::Perl, AbstractValue::Name(name)) =
            (self.language, &thing)
            && name == "fork"
        {
            self.network.forks = true;
        }
        // `Order.delete_all`
        if let (Language::Ruby, AbstractValue::Name(name)) = (self.language, &thing)
            && (name.ends_with(".delete_all") || name.ends_with(".destroy_all"))
        {
            return self.call(&thing, Arguments::default(), start);
        }
        // `Aws::SharedCredentials.new.credentials`: what is made needs no brackets.
        if let (Language::Ruby, AbstractValue::Name(name)) = (self.language, &thing)
            && let Some(at) = name.find(".new")
            && let Some(made) = name.get(..at + 4)
            && self.knows(made)
            && matches!(name.get(at + 4..at + 5), None | Some("."))
        {
            let made = AbstractValue::Name(made.to_owned());
            self.call(&made, Arguments::default(), start)?;
        }
        // So does what works on `$_` if it is given nothing: `unlink for glob '*'`.
        if let (Language::Perl, AbstractValue::Name(name)) = (self.language, &thing)
            && matches!(name.as_str(), "unlink" | "rmdir")
        {
            let item = self.variables.get("$_").cloned().unwrap_or_default();
            return self.call(&thing, Arguments::of(vec![item]), start);
        }
        Ok(thing)
    }

    /// The text of $`command`, as zx and Bun have it.
    fn shell_template(&self, token: Token<'a>, thing: &AbstractValue) -> Option<Quote> {
        let (Kind::Text(quote), AbstractValue::Name(name)) = (token.kind, thing) else {
            return None;
        };
        let shell = self.language == Language::JavaScript && (name == "$" || name.ends_with(".$"));
        (shell && quote.holes == Holes::DollarBraces).then_some(quote)
    }

    /// `f?.(x)`, `$f->(x)`, `$h->{x}`, and not PHP's and Perl's concatenation.
    fn leads_to_bracket(&self, mark: &str) -> bool {
        let bracket = ["(", "[", "{"].iter().any(|b| self.is_mark(self.at + 1, b));
        let concatenates = matches!(self.language, Language::Php | Language::Perl);
        bracket && (matches!(mark, "?." | "->") || mark == "." && !concatenates)
    }

    /// What `{` behind `thing` makes of it. `None` where it belongs to something else.
    fn brace(
        &mut self,
        thing: &AbstractValue,
        token: Token<'a>,
        start: usize,
        end: usize,
    ) -> Fueled<Option<AbstractValue>> {
        match self.language {
            // `exec {'/bin/sh'} 'name', …`
            Language::Perl if matches!(thing, AbstractValue::Name(n) if n == "exec" || n == "system") =>
            {
                let close = self.close_of(self.at, end);
                let mut words = self.items(close)?;
                self.at = close + 1;
                let arguments = self.bare_arguments(end)?;
                words.extend(arguments.positional.into_iter().skip(1));
                self.call(thing, Arguments::of(words), start).map(Some)
            }
            Language::Perl if !token.spaced => self.index(thing, end).map(Some),
            Language::Lua => {
                let arguments = Arguments::of(vec![self.table_literal(end)?]);
                self.call(thing, arguments, start).map(Some)
            }
            Language::Ruby => Ok(self.block(thing, end)?.then(|| thing.clone())),
            // `new String[]{"a", "b"}`
            Language::Compiled
                if self.is_mark(self.at.wrapping_sub(1), "]")
                    && self.is_mark(self.at.wrapping_sub(2), "[") =>
            {
                let close = self.close_of(self.at, end);
                let made = AbstractValue::list(self.items(close)?);
                self.at = close + 1;
                Ok(Some(made))
            }
            _ => Ok(None),
        }
    }

    /// The next token, also on the next line if a chain of calls goes on there.
    fn next_postfix(&mut self, end: usize) -> Option<Token<'a>> {
        let token = self.peek(end)?;
        if let Kind::Line(_) = token.kind {
            let next = self.token_at(self.at + 1)?;
            // In JavaScript a bracket on the next line goes on with the expression too.
            let bracket = self.language == Language::JavaScript && matches!(next.text, "(" | "[");
            let chains = next.kind == Kind::Mark
                && (bracket || matches!(next.text, "." | "?." | "->" | "&."));
            if chains && self.at + 1 < end {
                self.at += 1;
                return Some(next);
            }
            return None;
        }
        Some(token)
    }

    /// The member that a `.` or its like is followed by.
    fn member_after(&self, mark: &str) -> Option<&'a str> {
        let next = self.token_at(self.at + 1)?;
        let is_name = next.kind == Kind::Name;
        let concatenates = matches!(self.language, Language::Php | Language::Perl);
        let called = || self.is_mark(self.at + 2, "(") || self.text_at(self.at + 2);
        let is_member = match mark {
            "." => !concatenates,
            ":" => self.language == Language::Lua && called(),
            "\\" => self.language == Language::Php,
            _ => true,
        };
        (is_name && is_member).then_some(next.text)
    }

    fn text_at(&self, index: usize) -> bool {
        self.token_at(index)
            .is_some_and(|t| matches!(t.kind, Kind::Text(_)))
    }

    fn member(
        &mut self,
        thing: AbstractValue,
        member: &'a str,
        start: usize,
        variable: Option<&'a str>,
        end: usize,
    ) -> Fueled<AbstractValue> {
        if let AbstractValue::Name(mut name) = thing {
            if name.len() < MAX_NAME {
                name.push('.');
                name.push_str(member);
            }
            // A field that the code has set itself.
            if let Some(known) = self.variables.get(&name) {
                return Ok(known.clone());
            }
            let owner = name.split('.').next().unwrap_or("");
            let own = matches!(owner, "self" | "this" | "cls") || self.classes.contains(&owner);
            if let Some(field) = self.field_of_class(member).filter(|_| own) {
                return Ok(field);
            }
            return Ok(self
                .command_line_as(&name)
                .unwrap_or(AbstractValue::Name(name)));
        }
        if let Some(name) = variable
            && self.variables.len() > 1
            && let Some(known) = self.variables.get(&format!("{name}.{member}"))
        {
            return Ok(known.clone());
        }
        let called = self.is_mark(self.at, "(");
        if let (false, Some("self" | "this" | "cls")) = (called, variable)
            && let Some(field) = self.field_of_class(member)
        {
            return Ok(field);
        }
        if called {
            let arguments = self.arguments(end)?;
            let result = self.method(&thing, member, arguments, start)?;
            self.changed(variable, member, &thing, &result);
            return Ok(result);
        }
        let ruby = self.language == Language::Ruby;
        if ruby && self.starts_argument(end) {
            let arguments = self.bare_arguments(end)?;
            return self.method(&thing, member, arguments, start);
        }
        if let AbstractValue::Object(object) = &thing
            && let Some(class) = object.kind.strip_suffix("()")
            && self.classes.contains(&class)
            && let Some(field) = self.field_of_class(member)
        {
            return Ok(field);
        }
        self.attribute(&thing, member, start)
    }

    /// Methods that change the object itself: a builder gets an argument, a list an item.
    fn changed(
        &mut self,
        variable: Option<&str>,
        member: &str,
        before: &AbstractValue,
        after: &AbstractValue,
    ) {
        let changes = match before {
            AbstractValue::List(_) => {
                matches!(member, "push" | "append" | "extend" | "concat" | "add")
            }
            // The name of the class that made it is no variable that holds it.
            AbstractValue::Object(object) => {
                let held = variable.and_then(|name| self.variables.get(name));
                object.kind == "Builder" && is_builder(after) && held.is_some_and(is_builder)
            }
            _ => false,
        };
        if let Some(name) = variable.filter(|_| changes) {
            self.variables.insert(name.to_owned(), after.clone());
        } else if let Some(name) = variable
            && let (Some(AbstractValue::Object(held)), AbstractValue::Object(object)) =
                (self.variables.get(name), before)
            && Rc::ptr_eq(held, object)
            && let Some(bound) = peer::bound(before, after)
        {
            self.variables.insert(name.to_owned(), bound);
        }
    }

    /// Whether arguments follow without brackets, as in `system "x"`.
    fn calls_without_brackets(&mut self, thing: &AbstractValue, end: usize) -> bool {
        let AbstractValue::Name(name) = thing else {
            return false;
        };
        let allowed = match self.language {
            Language::Ruby => name.contains('.') || self.knows(name) || !name.starts_with('@'),
            Language::Perl | Language::Php => self.knows(name) && !name.starts_with('$'),
            Language::Lua => self.text_at(self.at),
            Language::Python => matches!(name.as_str(), "print" | "exec") && self.text_at(self.at),
            _ => false,
        };
        allowed && self.starts_argument(end)
    }

    fn starts_argument(&mut self, end: usize) -> bool {
        let Some(token) = self.peek(end) else {
            return false;
        };
        match token.kind {
            Kind::Text(_) | Kind::Number => true,
            Kind::Name => {
                (!names::skipped(self.language, token.text)
                    || names::declares_argument(self.language, token.text))
                    && !matches!(
                        token.text,
                        "x" | "eq" | "ne" | "while" | "until" | "for" | "foreach"
                    )
                    && token.spaced
            }
            Kind::Mark => {
                let next_tight = self.token_at(self.at + 1).is_some_and(|t| !t.spaced);
                match token.text {
                    "[" | "\\" => token.spaced,
                    "*" if self.language == Language::Perl => token.spaced && next_tight,
                    "*" | "&" | "-" | "::" => {
                        token.spaced && next_tight && self.language == Language::Ruby
                    }
                    _ => false,
                }
            }
            Kind::Line(_) => false,
        }
    }

    fn bare_arguments(&mut self, end: usize) -> Fueled<Arguments> {
        let mut arguments = Arguments::default();
        while let Some(token) = self.peek(end) {
            let before = self.at;
            if let Some(key) = self.key(token, false, end) {
                let thing = self.expression(end)?;
                arguments.named.push((key, thing));
            } else {
                let thing = self.expression(end)?;
                if self.peek(end).is_some_and(|t| t.is_mark("=>")) {
                    self.at += 1;
                    let value = self.expression(end)?;
                    arguments.named.push((fold::plain(&thing).text, value));
                } else {
                    arguments.positional.push(thing);
                }
            }
            if self.at <= before || !self.is_mark(self.at, ",") {
                break;
            }
            self.at += 1;
            self.skip_lines();
        }
        Ok(arguments)
    }

    /// Ruby's `{ |x| … }`: the parameter is an item of what the block is called on.
    fn block(&mut self, thing: &AbstractValue, end: usize) -> Fueled<bool> {
        let open = self.at;
        if !self.is_mark(open + 1, "|") {
            // Without a name the item is `_1` or `it`.
            let item = match thing {
                AbstractValue::List(_) => thing.item(),
                other => other.clone(),
            };
            self.variables.insert("_1".to_owned(), item.clone());
            self.variables.insert("it".to_owned(), item);
            return Ok(false);
        }
        let close = self.close_of(open, end);
        let Some(bar) = (open + 2..close.min(open + 12)).find(|i| self.is_mark(*i, "|")) else {
            return Ok(false);
        };
        let item = match thing {
            AbstractValue::Object(_) => thing.clone(),
            other => other.item(),
        };
        for name in self.parameters(open + 2, bar) {
            self.variables.insert(name.to_owned(), item.clone());
        }
        self.at = bar + 1;
        self.statements(close)?;
        self.at = close + 1;
        Ok(true)
    }
}

fn is_builder(thing: &AbstractValue) -> bool {
    matches!(thing, AbstractValue::Object(object) if object.kind == "Builder")
}
