//! Words to values: what a shell makes of quotes, variables, substitutions and arithmetic.

use super::Shell;
use super::brace;
use super::syntax::{Index, Operation, Part, Variable, Word};
use super::variables::outside;
use crate::action::effect::Actor;
use crate::action::scene::Done;
use crate::action::value::{HOLE, HOLE_STR, Origins, Value};

/// Arguments that one word may become.
const MAX_FIELDS: usize = 1024;

/// The fields that a word becomes while it is put together.
#[derive(Default)]
struct Fields {
    done: Vec<Value>,
    current: Option<Value>,
}

impl Fields {
    fn push(&mut self, value: &Value) {
        self.current.get_or_insert_default().push(value);
    }

    fn push_text(&mut self, text: &str) {
        self.current.get_or_insert_default().push_text(text);
    }

    /// An unquoted expansion is split at blanks.
    fn push_split(&mut self, value: &Value, separators: &str) {
        let is_separator = |c: char| separators.contains(c);
        if !value.text.contains(is_separator) {
            if !value.text.is_empty() {
                self.push(value);
            }
            return;
        }
        if value.text.starts_with(is_separator) {
            self.cut();
        }
        let mut first = true;
        for piece in value.text.split(is_separator).filter(|p| !p.is_empty()) {
            if !first {
                self.cut();
            }
            first = false;
            self.push(&value.map(piece.to_owned()));
        }
        if value.text.ends_with(is_separator) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if let Some(value) = self.current.take()
            && self.done.len() < MAX_FIELDS
        {
            self.done.push(value);
        }
    }

    fn finish(mut self) -> Vec<Value> {
        self.cut();
        self.done
    }
}

impl Shell<'_, '_> {
    /// All arguments that `words` become.
    pub(super) fn expand_all(&mut self, words: &[Word]) -> Done<Vec<Value>> {
        let mut values = Vec::with_capacity(words.len());
        for word in words {
            if let [Part::Plain(text)] = word.parts.as_slice()
                && !text.contains(['{', '~'])
            {
                // Most words are just themselves.
                self.scene.fuel.spend(1)?;
                values.push(Value::known(text.clone()));
                continue;
            }
            for word in brace::expand(word) {
                let fields = self.fields(&word)?;
                values.extend(fields);
            }
        }
        Ok(values)
    }

    /// One value: no splitting, as in assignments and redirections.
    pub(super) fn expand_one(&mut self, word: &Word) -> Done<Value> {
        let mut value = Value::default();
        for (at, part) in word.parts.iter().enumerate() {
            match part {
                Part::Plain(text) if at == 0 && text.starts_with('~') => {
                    value.push_text(&self.tilde(text));
                }
                Part::Plain(text) | Part::Quoted(text) => value.push_text(text),
                Part::Variable(variable) => {
                    let values = self.variable(variable)?;
                    for (at, part) in values.iter().enumerate() {
                        if at > 0 {
                            value.push_text(" ");
                        }
                        value.push(part);
                    }
                }
                Part::Command { block, .. } => {
                    let output = self.substitute(block)?;
                    value.push(&output);
                }
                Part::Process { block, writes } => {
                    let output = self.process(block, *writes)?;
                    value.push(&output);
                }
                Part::Arithmetic(word) => {
                    let number = self.arithmetic(word)?;
                    value.push(&number);
                }
            }
        }
        self.scene.fuel.spend_on(value.text.len())?;
        Ok(value)
    }

    fn fields(&mut self, word: &Word) -> Done<Vec<Value>> {
        let mut fields = Fields::default();
        for (at, part) in word.parts.iter().enumerate() {
            match part {
                Part::Plain(text) if at == 0 && text.starts_with('~') => {
                    fields.push_text(&self.tilde(text));
                }
                Part::Plain(text) | Part::Quoted(text) => fields.push_text(text),
                Part::Variable(variable) => {
                    let values = self.variable(variable)?;
                    self.push_values(&mut fields, &values, variable.quoted);
                }
                Part::Command { block, quoted } => {
                    let output = self.substitute(block)?;
                    self.push_values(&mut fields, &[output], *quoted);
                }
                Part::Process { block, writes } => {
                    let output = self.process(block, *writes)?;
                    fields.push(&output);
                }
                Part::Arithmetic(word) => {
                    let number = self.arithmetic(word)?;
                    fields.push(&number);
                }
            }
            self.scene.fuel.spend(1)?;
        }
        let fields = fields.finish();
        let length: usize = fields.iter().map(|f| f.text.len()).sum();
        self.scene.fuel.spend_on(length)?;
        Ok(fields)
    }

    fn push_values(&mut self, fields: &mut Fields, values: &[Value], quoted: bool) {
        let separators = self.separators();
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                fields.cut();
            }
            if quoted {
                fields.push(value);
            } else {
                fields.push_split(value, &separators);
            }
        }
    }

    pub(super) fn separators(&self) -> String {
        match self.scene.variable("IFS").and_then(<[Value]>::last) {
            Some(value) if value.is_known() => value.text.clone(),
            _ => " \t\n".to_owned(),
        }
    }

    fn tilde(&self, text: &str) -> String {
        let (user, rest) = match text.find('/') {
            Some(at) => text.split_at_checked(at).unwrap_or((text, "")),
            None => (text, ""),
        };
        let home = match user {
            "~" => self.home(),
            "~+" => self.scene.cwd.clone(),
            "~-" => HOLE_STR.to_owned(),
            "~root" => "/root".to_owned(),
            user => format!("/home/{}", user.trim_start_matches('~')),
        };
        format!("{home}{rest}")
    }

    fn home(&self) -> String {
        match self.scene.variable("HOME").and_then(<[Value]>::last) {
            Some(value) => value.text.clone(),
            None => self.scene.world.home.clone(),
        }
    }

    /// Everything that `$( … )` prints, less the line ends at its end.
    fn substitute(&mut self, block: &super::syntax::Block) -> Done<Value> {
        let mut output = self.apart(|shell| shell.block(block))?;
        let kept = output.text.trim_end_matches('\n').len();
        output.text.truncate(kept);
        Ok(output)
    }

    /// `<( … )`: a file with what the command prints.
    fn process(&mut self, block: &super::syntax::Block, writes: bool) -> Done<Value> {
        if writes {
            // What is written to it is not known here; what it does with that is.
            self.apart(|shell| {
                shell.stdin = Some(Value::unknown(Origins::OUTPUT | Origins::FILE));
                shell.block(block)
            })?;
            return Ok(Value::known("/dev/fd/63"));
        }
        let output = self.apart(|shell| shell.block(block))?;
        let path = format!("/dev/fd/{}", 63 + self.scene.files.len());
        let mut value = Value::known(path.clone());
        value.taint(&output);
        self.scene.files.insert(path, output);
        Ok(value)
    }

    /// What a variable and its operations come to: one value, or all of an array.
    fn variable(&mut self, variable: &Variable) -> Done<Vec<Value>> {
        self.scene.fuel.spend(2)?;
        let all =
            matches!(variable.index, Index::All) || matches!(variable.name.as_str(), "@" | "*");
        if all {
            let values = self.all_values(&variable.name);
            return match &variable.operation {
                Operation::None => Ok(values),
                Operation::Length => Ok(vec![Value::known(values.len().to_string())]),
                Operation::Slice(offset, length) => {
                    self.slice_list(values, offset, length.as_deref())
                }
                Operation::Indirect
                | Operation::Default(..)
                | Operation::Alternative(_)
                | Operation::RemovePrefix(..)
                | Operation::RemoveSuffix(..)
                | Operation::Replace { .. }
                | Operation::Upper(_)
                | Operation::Lower(_)
                | Operation::Transform(_)
                | Operation::Other => {
                    let mut changed = Vec::new();
                    for value in values {
                        changed.push(self.operate(variable, Some(value))?);
                    }
                    Ok(changed)
                }
            };
        }
        let value = match &variable.index {
            Index::At(index) => {
                let index = self.expand_one(index)?;
                self.element(&variable.name, &index.text)
            }
            Index::None | Index::All => self.value_of(&variable.name),
        };
        Ok(vec![self.operate(variable, value)?])
    }

    fn operate(&mut self, variable: &Variable, value: Option<Value>) -> Done<Value> {
        let unset = value.is_none();
        let known_unset = unset && !outside(&variable.name);
        let value = value.unwrap_or_else(|| self.default_of(&variable.name));
        Ok(match &variable.operation {
            Operation::None | Operation::Transform('Q' | 'A' | 'a' | 'K' | 'k' | 'u') => value,
            Operation::Length => match value.as_known() {
                Some(text) => Value::known(text.chars().count().to_string()),
                None => Value::unknown(value.origins),
            },
            Operation::Indirect => match value.as_known().map(str::to_owned) {
                Some(name) => self
                    .value_of(&name)
                    .unwrap_or_else(|| self.default_of(&name)),
                None => value,
            },
            Operation::Default(word, assigns) => {
                if unset || value.text.is_empty() || known_unset {
                    let default = self.expand_one(word)?;
                    if *assigns {
                        self.assign(&variable.name, vec![default.clone()]);
                    }
                    default
                } else {
                    value
                }
            }
            Operation::Alternative(word) => {
                if unset && outside(&variable.name) || !unset && !value.text.is_empty() {
                    self.expand_one(word)?
                } else {
                    Value::default()
                }
            }
            Operation::RemovePrefix(pattern, longest) => {
                let pattern = self.expand_one(pattern)?;
                value.map(super::pattern::remove_prefix(
                    &value.text,
                    &pattern.text,
                    *longest,
                ))
            }
            Operation::RemoveSuffix(pattern, longest) => {
                let pattern = self.expand_one(pattern)?;
                value.map(super::pattern::remove_suffix(
                    &value.text,
                    &pattern.text,
                    *longest,
                ))
            }
            Operation::Replace { pattern, with, all } => {
                let pattern = self.expand_one(pattern)?;
                let with = self.expand_one(with)?;
                let text = super::pattern::replace(&value.text, &pattern.text, &with.text, *all);
                let mut changed = value.map(text);
                changed.taint(&with);
                changed
            }
            Operation::Slice(offset, length) => {
                let offset = self.arithmetic(offset)?.text.trim().parse::<i64>().ok();
                let length = match length {
                    Some(word) => self.arithmetic(word)?.text.trim().parse::<i64>().ok(),
                    None => Some(i64::MAX),
                };
                match (offset, length) {
                    (Some(offset), Some(length)) => {
                        value.map(super::pattern::slice(&value.text, offset, length))
                    }
                    _ => Value::unknown(value.origins | Origins::UNKNOWN),
                }
            }
            Operation::Upper(true) | Operation::Transform('U') => {
                value.map(value.text.to_uppercase())
            }
            Operation::Lower(true) | Operation::Transform('L') => {
                value.map(value.text.to_lowercase())
            }
            Operation::Upper(false) => {
                value.map(change_first(&value.text, char::to_ascii_uppercase))
            }
            Operation::Lower(false) => {
                value.map(change_first(&value.text, char::to_ascii_lowercase))
            }
            Operation::Transform('E' | 'P') => value.map(super::escape::decode_all(&value.text)),
            Operation::Transform(_) | Operation::Other => {
                Value::unknown(value.origins | Origins::UNKNOWN)
            }
        })
    }

    fn slice_list(
        &mut self,
        values: Vec<Value>,
        offset: &Word,
        length: Option<&Word>,
    ) -> Done<Vec<Value>> {
        let offset = self
            .arithmetic(offset)?
            .text
            .trim()
            .parse::<usize>()
            .unwrap_or(0);
        let length = match length {
            Some(word) => self
                .arithmetic(word)?
                .text
                .trim()
                .parse::<usize>()
                .unwrap_or(usize::MAX),
            None => usize::MAX,
        };
        // The arguments count from one: `${@:1}` is all of them.
        let offset = offset.saturating_sub(1);
        Ok(values.into_iter().skip(offset).take(length).collect())
    }

    /// A variable used as a number is evaluated: what it holds runs.
    fn hidden_in_numbers(&mut self, expression: &str) -> Done {
        let names = expression.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let hidden: Vec<Value> = names
            .take(16)
            .filter_map(|name| self.scene.variable(name).and_then(<[Value]>::last).cloned())
            .filter(|value| value.text.contains("$(") || value.text.contains('`'))
            .collect();
        for value in hidden {
            let code = value.map(format!("echo \"{}\"", value.text));
            self.scene.shell(&Actor::new("shell", &value.text), &code)?;
        }
        Ok(())
    }

    /// The number that an expression comes to, if it is one.
    pub(super) fn arithmetic(&mut self, word: &Word) -> Done<Value> {
        let text = self.expand_one(word)?;
        self.hidden_in_numbers(&text.text)?;
        let names = |name: &str| {
            let value = self.scene.variable(name).and_then(<[Value]>::last)?;
            super::number::parse(value.text.trim())
        };
        Ok(match super::number::evaluate(&text.text, &names) {
            Some(number) => text.map(number.to_string()),
            None => Value {
                text: HOLE.to_string(),
                ..text
            },
        })
    }
}

fn change_first(text: &str, change: fn(&char) -> char) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => format!("{}{}", change(&first), chars.as_str()),
        None => String::new(),
    }
}
