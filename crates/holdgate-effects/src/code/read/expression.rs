//! Expressions: operators and what they join, names, assignments.

use super::operator::{arithmetic, is_operator, number};
use super::{MAX_DEPTH, Reader, names};
use crate::code::Language;
use crate::code::fold;
use crate::code::functions::{Act, Role};
use crate::code::lex::{Kind, Meaning, Token};
use crate::code::thing::{AbstractValue, unknown_like};
use crate::scene::Fueled;
use std::rc::Rc;

impl<'a> Reader<'_, '_, 'a> {
    /// An expression before `end`. Stands still where there is none.
    pub(super) fn expression(&mut self, end: usize) -> Fueled<AbstractValue> {
        self.scene.fuel.spend(1)?;
        // `unlink my @old = glob '*'`
        if self.language == Language::Perl
            && let Some(token) = self.peek(end)
            && names::declares_argument(self.language, token.text)
        {
            self.at += 1;
        }
        match self.assignment(end)? {
            Some(thing) => Ok(thing),
            None => self.operators(end),
        }
    }

    pub(super) fn operators(&mut self, end: usize) -> Fueled<AbstractValue> {
        if self.depth >= MAX_DEPTH {
            self.too_deep = true;
            self.at = end;
            return Ok(AbstractValue::Nothing);
        }
        self.depth += 1;
        let result = self.operator_chain(end);
        self.depth -= 1;
        result
    }

    fn operator_chain(&mut self, end: usize) -> Fueled<AbstractValue> {
        let mut left = self.operand(end)?;
        while let Some(token) = self.peek(end) {
            let word = match token.kind {
                Kind::Mark | Kind::Name => token.text,
                // Texts side by side are one text.
                Kind::Text(quote) if quote.meaning == Meaning::Text => {
                    let joins = matches!(
                        self.language,
                        Language::Python | Language::Compiled | Language::Ruby
                    );
                    if joins && matches!(left, AbstractValue::Text(_)) {
                        let right = self.operand(end)?;
                        left = self.joined(left, &right)?;
                        continue;
                    }
                    break;
                }
                Kind::Text(_) | Kind::Number | Kind::Line(_) => break,
            };
            if self.language == Language::JavaScript && matches!(word, "as" | "satisfies") {
                self.at = self.type_end(self.at + 1, end);
                continue;
            }
            if !is_operator(self.language, word, token.kind) {
                break;
            }
            let before = self.at;
            // `text |> f(x)` is `f(text, x)`.
            if word == "|"
                && self.language == Language::Compiled
                && self.is_mark(before + 1, ">")
                && self.name_at(before + 2).is_some()
            {
                self.at += 2;
                left = self.piped(left, end)?;
                continue;
            }
            self.at += 1;
            self.skip_lines();
            if word == "=~"
                && let Some(made) = self.substituted(self.bound_before(before), &left)?
            {
                left = made;
                continue;
            }
            let right = match self.assignment(end)? {
                Some(thing) => thing,
                None => self.operand(end)?,
            };
            if self.at == before + 1 && matches!(right, AbstractValue::Nothing) {
                // `i++`, `a ?`: an operator without a second side.
                continue;
            }
            left = self.combined(left, word, right)?;
        }
        Ok(left)
    }

    fn joined(&mut self, mut left: AbstractValue, right: &AbstractValue) -> Fueled<AbstractValue> {
        let right = self.resolved(right)?;
        // A long chain of texts grows in place.
        if let AbstractValue::Text(value) = &mut left
            && let Some(value) = Rc::get_mut(value)
            && let AbstractValue::Text(more) = &right
        {
            self.scene.fuel.spend_on(more.text.len() * 4)?;
            value.push(more);
            return Ok(left);
        }
        let left = self.resolved(&left)?;
        let joined = fold::concat(&left, &right);
        if let AbstractValue::Text(value) = &joined {
            self.scene.fuel.spend_on(value.text.len() * 4)?;
        }
        Ok(joined)
    }

    fn combined(
        &mut self,
        left: AbstractValue,
        word: &str,
        right: AbstractValue,
    ) -> Fueled<AbstractValue> {
        // The items of bytes are numbers.
        let left = match (&left, &right) {
            (AbstractValue::Text(value), AbstractValue::Number(_)) if matches!(word, "^" | "-") => {
                let mut chars = value.text.chars();
                match (chars.next(), chars.next()) {
                    (Some(c), None) => AbstractValue::Number(i64::from(u32::from(c))),
                    _ => left,
                }
            }
            _ => left,
        };
        let (left, right) = (self.as_number(left), self.as_number(right));
        // Bits that are added to what is not known are set all the same.
        if word == "|"
            && let (AbstractValue::Number(bits), other) | (other, AbstractValue::Number(bits)) =
                (&left, &right)
            && matches!(other, AbstractValue::Object(_) | AbstractValue::Nothing)
        {
            // Its owner may still read and write it.
            return Ok(AbstractValue::Number(*bits | 0o600));
        }
        if let (AbstractValue::Number(a), AbstractValue::Number(b)) = (&left, &right)
            && let Some(number) = arithmetic(word, *a, *b)
        {
            return Ok(AbstractValue::Number(number));
        }
        let combined = match word {
            // Ruby's `folder + 'name'`
            "+" if matches!(&left, AbstractValue::Object(o) if o.kind == "Path") => {
                let path = self.path_joined(&[left.clone(), right], true)?;
                AbstractValue::object("Path", path)
            }
            "+" | "." | ".." | "<<" | "~" => return self.joined(left, &right),
            "%" => match &left {
                AbstractValue::Text(format) if !matches!(self.language, Language::JavaScript) => {
                    let single = [right.clone()];
                    let arguments = right.items().unwrap_or(&single);
                    let resolved = self.all_resolved(arguments)?;
                    AbstractValue::value(fold::format_percent(format, &resolved))
                }
                _ => self.mixed(&left, &right)?,
            },
            "*" | "x" => match (&left, &right) {
                (AbstractValue::Text(value), AbstractValue::Number(times)) => {
                    self.scene.fuel.spend_on(1 << 10)?;
                    fold::repeat(value, *times)
                }
                // Julia's `a * b`
                (AbstractValue::Text(_), AbstractValue::Text(_)) => {
                    return self.joined(left, &right);
                }
                _ => self.mixed(&left, &right)?,
            },
            "/" => match &left {
                AbstractValue::Object(object) if object.kind == "Path" => {
                    let path = self.path_joined(&[left.clone(), right], true)?;
                    AbstractValue::object("Path", path)
                }
                _ => self.mixed(&left, &right)?,
            },
            // SQL's `'a' || 'b'`
            "||" if self.language == Language::Compiled
                && matches!(left, AbstractValue::Text(_))
                && matches!(right, AbstractValue::Text(_)) =>
            {
                return self.joined(left, &right);
            }
            "||" | "or" if gives_up(&right) => left,
            "||" | "or" | "??" | "?" | ":" | "else" | "if" => left.or(&right),
            "&&" | "and" => right,
            "|" | "^" | "-" | "&" | ">>" | "**" | "//" => self.mixed(&left, &right)?,
            _ => AbstractValue::Nothing,
        };
        Ok(combined)
    }

    /// A constant of a library that is a number.
    fn as_number(&self, thing: AbstractValue) -> AbstractValue {
        if let AbstractValue::Name(name) = &thing
            && let Some(
                [
                    Act {
                        role: Role::Constant,
                        word,
                        ..
                    },
                ],
            ) = self.acts(name)
            && let Ok(number) = word.parse()
        {
            return AbstractValue::Number(number);
        }
        thing
    }

    /// Nothing known but what it was made from.
    fn mixed(&mut self, left: &AbstractValue, right: &AbstractValue) -> Fueled<AbstractValue> {
        let mut value = unknown_like(&self.value_of(left)?);
        value.taint(&self.value_of(right)?);
        Ok(AbstractValue::value(value))
    }

    /// What stands between operators, with all that is called on it.
    fn operand(&mut self, end: usize) -> Fueled<AbstractValue> {
        let mut negative = false;
        // What stands before a value: signs, references, `await`, `new`.
        let token = loop {
            let Some(token) = self.peek(end) else {
                return Ok(AbstractValue::Nothing);
            };
            let before = match token.kind {
                Kind::Mark => matches!(
                    token.text,
                    "-" | "+"
                        | "!"
                        | "~"
                        | "&"
                        | "*"
                        | "@"
                        | "..."
                        | "**"
                        | "\\"
                        | "->"
                        | "<-"
                        | "::"
                        | "."
                        | "&&"
                ),
                Kind::Name => self.skips(self.at, token.text) && !self.does_file(token.text),
                Kind::Number | Kind::Text(_) | Kind::Line(_) => false,
            };
            if !before {
                break token;
            }
            self.scene.fuel.spend(1)?;
            negative ^= token.is_mark("-");
            self.at += 1;
        };
        let thing = self.plain_operand(token, end)?;
        Ok(match thing {
            AbstractValue::Number(n) if negative => AbstractValue::Number(n.wrapping_neg()),
            other => other,
        })
    }

    /// Perl's `do 'file'`, which is a call, unlike `do {…}`.
    pub(super) fn does_file(&self, word: &str) -> bool {
        let next = self.token_at(self.at + 1).map(|t| t.kind);
        self.language == Language::Perl && word == "do" && matches!(next, Some(Kind::Text(_)))
    }

    fn plain_operand(&mut self, token: Token<'a>, end: usize) -> Fueled<AbstractValue> {
        let start = self.at;
        match token.kind {
            Kind::Text(quote) => {
                // Perl's `s/a/b/` alone changes `$_`.
                if quote.meaning == Meaning::Pattern && self.language == Language::Perl {
                    let topic = self.variables.get("$_").cloned().unwrap_or_default();
                    if let Some(made) = self.substituted(Some("$_".to_owned()), &topic)? {
                        return Ok(made);
                    }
                }
                self.at += 1;
                let thing = self.literal(token, quote)?;
                self.postfix(thing, start, end)
            }
            Kind::Number => {
                self.at += 1;
                self.postfix(number(token.text), start, end)
            }
            Kind::Name => self.named(token, end),
            Kind::Mark => match token.text {
                "(" => {
                    let close = self.close_of(self.at, end);
                    if let Some(arrow) = self.arrow_after(close) {
                        let parameters = self.parameters(self.at + 1, close);
                        self.read_parameters(&parameters, self.at + 1, close)?;
                        self.at = arrow + 1;
                        return self.arrow(parameters, end);
                    }
                    let mut items = self.items(close)?;
                    self.at = close + 1;
                    let one = items.len() == 1 && !self.is_mark(close.wrapping_sub(1), ",");
                    let thing = match items.pop() {
                        Some(thing) if one => thing,
                        Some(last) => {
                            items.push(last);
                            AbstractValue::list(items)
                        }
                        None => AbstractValue::list(Vec::new()),
                    };
                    self.postfix(thing, start, end)
                }
                "[" => {
                    let close = self.close_of(self.at, end);
                    // Go's `[]string{"a", "b"}`
                    if close == self.at + 1
                        && self.language == Language::Compiled
                        && self.name_at(close + 1).is_some()
                        && self.is_mark(close + 2, "{")
                    {
                        self.at = close + 2;
                        return self.plain_operand_at(end);
                    }
                    let (items, members) = self.items_and_members(close)?;
                    self.at = close + 1;
                    let thing = if items.is_empty() && !members.is_empty() {
                        AbstractValue::Map(members.into())
                    } else {
                        AbstractValue::list(items)
                    };
                    self.postfix(thing, start, end)
                }
                "{" => {
                    let thing = self.table_literal(end)?;
                    self.postfix(thing, start, end)
                }
                _ => Ok(AbstractValue::Nothing),
            },
            Kind::Line(_) => Ok(AbstractValue::Nothing),
        }
    }

    /// The map or list between the braces that the reader stands at.
    pub(super) fn table_literal(&mut self, end: usize) -> Fueled<AbstractValue> {
        let close = self.close_of(self.at, end);
        let (items, members) = self.items_and_members(close)?;
        self.at = close + 1;
        Ok(if members.is_empty() {
            AbstractValue::list(items)
        } else {
            AbstractValue::Map(members.into())
        })
    }

    /// The list between the braces that the reader stands at.
    fn plain_operand_at(&mut self, end: usize) -> Fueled<AbstractValue> {
        let start = self.at;
        let close = self.close_of(start, end);
        let items = self.items(close)?;
        self.at = close + 1;
        self.postfix(AbstractValue::list(items), start, end)
    }

    fn named(&mut self, token: Token<'a>, end: usize) -> Fueled<AbstractValue> {
        use Language::{Compiled, JavaScript, Lua, Perl, Php, Python};
        let start = self.at;
        match (self.language, token.text) {
            (Python, "lambda") => return self.lambda(end),
            (JavaScript | Php | Lua, "function") | (Perl, "sub") | (Compiled, "func") => {
                let thing = self.anonymous_function(end)?;
                return self.postfix(thing, start, end);
            }
            (Php, "fn") => {
                let close = self.close_of(start + 1, end);
                let parameters = self.parameters(start + 2, close);
                self.at = close + 2;
                return self.arrow(parameters, end);
            }
            (JavaScript, name) if self.is_mark(start + 1, "=>") => {
                self.at += 2;
                return self.arrow(vec![name], end);
            }
            (Perl, "shift") => {
                self.at += 1;
                return Ok(match self.variables.get("$_") {
                    Some(AbstractValue::List(items)) => items.first().cloned().unwrap_or_default(),
                    _ => AbstractValue::Nothing,
                });
            }
            _ => {}
        }
        self.at += 1;
        if let Some(truth) = names::truth(self.language, token.text) {
            return Ok(AbstractValue::Number(truth));
        }
        let known = if self.language == Perl {
            self.variables
                .get(&names::variable(self.language, token.text))
        } else {
            self.variables.get(token.text)
        };
        let thing = match known {
            Some(thing) if !(self.is_method(thing) && self.acts(token.text).is_some()) => {
                thing.clone()
            }
            _ => match self.command_line_as(token.text) {
                Some(words) => words,
                None => AbstractValue::Name(token.text.to_owned()),
            },
        };
        self.postfix(thing, start, end)
    }

    /// What comes after `=>`.
    fn arrow(&mut self, parameters: Vec<&'a str>, end: usize) -> Fueled<AbstractValue> {
        if self.is_mark(self.at, "{") {
            let close = self.close_of(self.at, end);
            return self.function_value(parameters, self.at + 1, close, false);
        }
        self.expression_function(parameters, end)
    }
}

/// Whether nothing is made, since the code ends there.
fn gives_up(thing: &AbstractValue) -> bool {
    match thing {
        AbstractValue::Name(name) => names::gives_up(name),
        AbstractValue::Object(object) => names::gives_up(&object.kind),
        _ => false,
    }
}
