//! Words to values: what a shell makes of quotes, variables, substitutions and arithmetic.

use super::Shell;
use super::syntax::{Index, Operation, Part, Variable, Word};
use super::variables::outside;
use super::{brace, escape, number, pattern};
use crate::action::effect::Actor;
use crate::action::scene::Done;
use crate::action::value::{HOLE_STR, Origins, Value};
use std::cell::Cell;

/// Arguments that one word may become.
const MAX_FIELDS: usize = 1024;

/// What is special in a pattern.
const GLOB: &[char] = &['*', '?', '[', ']', '\\', '-', '!', '^'];

/// Where a tilde stands for a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tilde {
    None,
    First,
    /// Also after each colon.
    Each,
}

/// Whether `text` can name a variable.
fn is_name(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

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
        let is_blank = |c: char| is_separator(c) && matches!(c, ' ' | '\t' | '\n');
        let mut rest = value.text.trim_start_matches(is_blank);
        if rest.len() < value.text.len() {
            self.cut();
        }
        // Blanks count as one separator, with another one among them too.
        while !rest.is_empty() && self.done.len() < MAX_FIELDS {
            let end = rest.find(is_separator).unwrap_or(rest.len());
            let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.push(&value.map(piece.to_owned()));
            if after.is_empty() {
                break;
            }
            let after = after.trim_start_matches(is_blank);
            let after = after.strip_prefix(is_separator).unwrap_or(after);
            rest = after.trim_start_matches(is_blank);
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
            for word in brace::expand(word, self.scene.fuel)? {
                let fields = self.fields(&word)?;
                values.extend(fields);
            }
        }
        Ok(values)
    }

    /// One value: no splitting, as in assignments and redirections.
    pub(super) fn expand_one(&mut self, word: &Word) -> Done<Value> {
        self.expand_parts(&word.parts, Tilde::First)
    }

    /// What is assigned: each part of a path list may start with a tilde.
    pub(super) fn expand_assigned(&mut self, word: &Word) -> Done<Value> {
        self.expand_parts(&word.parts, Tilde::Each)
    }

    fn expand_parts(&mut self, parts: &[Part], tilde: Tilde) -> Done<Value> {
        let mut value = Value::default();
        for (at, part) in parts.iter().enumerate() {
            match part {
                Part::Plain(text) if text.contains('~') => {
                    value.push_text(&self.tilde_in_value(text, tilde, at == 0));
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
                Part::Plain(text) if at == 0 && text.contains('~') => {
                    fields.push_text(&self.tilde_in_word(text));
                }
                Part::Plain(text) | Part::Quoted(text) => fields.push_text(text),
                Part::Variable(variable) => {
                    let values = self.variable(variable)?;
                    self.push_values(&mut fields, &values, variable.quoted)?;
                }
                Part::Command { block, quoted } => {
                    let output = self.substitute(block)?;
                    self.push_values(&mut fields, &[output], *quoted)?;
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

    fn push_values(&mut self, fields: &mut Fields, values: &[Value], quoted: bool) -> Done {
        let separators = self.separators();
        for (at, value) in values.iter().enumerate() {
            self.scene.fuel.spend_on(32 + value.text.len())?;
            if at > 0 {
                fields.cut();
            }
            if quoted {
                fields.push(value);
            } else {
                fields.push_split(value, &separators);
            }
        }
        Ok(())
    }

    pub(super) fn separators(&self) -> String {
        match self.scene.variable("IFS").and_then(<[Value]>::last) {
            Some(value) if value.is_known() => value.text.clone(),
            _ => " \t\n".to_owned(),
        }
    }

    /// `~/x`, and `of=~/x` too.
    fn tilde_in_word(&self, text: &str) -> String {
        if text.starts_with('~') {
            return self.tilde(text);
        }
        match text.split_once('=').filter(|(name, _)| is_name(name)) {
            Some((name, value)) => format!("{name}={}", self.tildes(value, true)),
            None => text.to_owned(),
        }
    }

    fn tilde_in_value(&self, text: &str, tilde: Tilde, starts: bool) -> String {
        match tilde {
            Tilde::Each => self.tildes(text, starts),
            Tilde::First if starts && text.starts_with('~') => self.tilde(text),
            Tilde::First | Tilde::None => text.to_owned(),
        }
    }

    fn tildes(&self, text: &str, starts: bool) -> String {
        let one = |(at, piece): (usize, &str)| {
            if piece.starts_with('~') && (at > 0 || starts) {
                self.tilde(piece)
            } else {
                piece.to_owned()
            }
        };
        let pieces: Vec<String> = text.split(':').enumerate().map(one).collect();
        pieces.join(":")
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
        let joins = variable.name == "*" || matches!(variable.index, Index::All { joins: true });
        let values = self.values(variable)?;
        Ok(if joins && variable.quoted {
            self.joined(&values)
        } else {
            values
        })
    }

    /// `"$*"` is one word.
    fn joined(&self, values: &[Value]) -> Vec<Value> {
        let separator: String = self.separators().chars().take(1).collect();
        let mut joined = Value::default();
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                joined.push_text(&separator);
            }
            joined.push(value);
        }
        vec![joined]
    }

    fn values(&mut self, variable: &Variable) -> Done<Vec<Value>> {
        self.scene.fuel.spend(2)?;
        let all = matches!(variable.index, Index::All { .. })
            || matches!(variable.name.as_str(), "@" | "*");
        if all && self.is_map(&variable.name) {
            return Ok(vec![Value::unknown(Origins::UNKNOWN)]);
        }
        if all && variable.indirect {
            return Ok(self.indices(&variable.name));
        }
        if all {
            let values = self.all_values(&variable.name);
            let length: usize = values.iter().map(|v| 64 + v.text.len()).sum();
            self.scene.fuel.spend_on(length)?;
            return match &variable.operation {
                Operation::None => Ok(values),
                Operation::Length if !self.is_set(&variable.name) => {
                    Ok(vec![Value::unknown(Origins::UNKNOWN)])
                }
                Operation::Length => Ok(vec![Value::known(values.len().to_string())]),
                Operation::Slice(offset, length) => {
                    self.slice_list(&variable.name, values, offset, length.as_deref())
                }
                Operation::Message(_)
                | Operation::Default { .. }
                | Operation::Alternative { .. }
                | Operation::RemovePrefix(..)
                | Operation::RemoveSuffix(..)
                | Operation::Replace { .. }
                | Operation::Upper(..)
                | Operation::Lower(..)
                | Operation::Transform(_)
                | Operation::Other(_) => {
                    let mut changed = Vec::new();
                    for value in values {
                        changed.push(self.operate(variable, Some(value))?);
                    }
                    Ok(changed)
                }
            };
        }
        let mut value = match &variable.index {
            Index::At(index) => {
                let index = self.expand_one(index)?;
                self.hidden_in_numbers(&index.text)?;
                let index = self.counted(&variable.name, index)?;
                self.element(&variable.name, &index.text)
            }
            Index::None | Index::All { .. } => self.value_of(&variable.name),
        };
        if variable.indirect {
            let name = value.unwrap_or_else(|| self.default_of(&variable.name));
            value = match name
                .as_known()
                .and_then(|text| text.split_once("[@]").or(Some((text, ""))))
            {
                Some((array, "")) if name.text.ends_with("[@]") => {
                    return Ok(self.all_values(array));
                }
                Some((name, _)) => self.value_of(name).or_else(|| Some(self.default_of(name))),
                None => Some(name),
            };
        }
        Ok(vec![self.operate(variable, value)?])
    }

    fn operate(&mut self, variable: &Variable, value: Option<Value>) -> Done<Value> {
        let unset = value.is_none();
        let known_unset = unset && !outside(&variable.name);
        let value = value.unwrap_or_else(|| self.default_of(&variable.name));
        Ok(match &variable.operation {
            Operation::None => value,
            Operation::Length if known_unset => Value::known("0"),
            Operation::Length => match value.as_known() {
                Some(text) => Value::known(text.chars().count().to_string()),
                None => Value::unknown(value.origins),
            },
            Operation::Default {
                word,
                assigns,
                colon,
            } => {
                if unset || *colon && value.text.is_empty() || known_unset {
                    let default = self.expand_one(word)?;
                    if *assigns {
                        self.assign(&variable.name, vec![default.clone()]);
                    }
                    default
                } else {
                    value
                }
            }
            Operation::Alternative { word, colon } => {
                let is_set = !(unset || *colon && value.text.is_empty());
                if is_set || unset && outside(&variable.name) {
                    self.expand_one(word)?
                } else {
                    Value::default()
                }
            }
            Operation::Message(word) => {
                if unset || value.text.is_empty() {
                    self.expand_one(word)?;
                }
                // It is set, or nothing runs.
                let unset = value.origins == Origins::UNKNOWN;
                let origins = if unset { Origins::NONE } else { value.origins };
                Value { origins, ..value }
            }
            Operation::RemovePrefix(pattern, longest) => {
                let pattern = self.pattern(pattern, GLOB)?.text;
                let fuel = self.scene.fuel;
                value.map(pattern::remove_prefix(
                    &value.text,
                    &pattern,
                    *longest,
                    fuel,
                )?)
            }
            Operation::RemoveSuffix(pattern, longest) => {
                let pattern = self.pattern(pattern, GLOB)?.text;
                let fuel = self.scene.fuel;
                value.map(pattern::remove_suffix(
                    &value.text,
                    &pattern,
                    *longest,
                    fuel,
                )?)
            }
            Operation::Replace { pattern, with, all } => {
                let pattern = self.pattern(pattern, GLOB)?.text;
                let with = self.pattern(with, &['&', '\\'])?;
                let fuel = self.scene.fuel;
                let text = pattern::replace(&value.text, &pattern, &with.text, *all, fuel)?;
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
                        value.map(pattern::slice(&value.text, offset, length))
                    }
                    _ => Value::unknown(value.origins | Origins::UNKNOWN),
                }
            }
            Operation::Upper(all, pattern) | Operation::Lower(all, pattern) => {
                let upper = matches!(variable.operation, Operation::Upper(..));
                let pattern = self.pattern(pattern, GLOB)?.text;
                let fuel = self.scene.fuel;
                value.map(pattern::change_case(
                    &value.text,
                    &pattern,
                    *all,
                    upper,
                    fuel,
                )?)
            }
            Operation::Transform(letter) => self.transformed(*letter, &value, known_unset)?,
            Operation::Other(word) => {
                self.expand_one(word)?;
                Value::unknown(value.origins | Origins::UNKNOWN)
            }
        })
    }

    /// `${x@Q}`
    fn transformed(&self, letter: char, value: &Value, unset: bool) -> Done<Value> {
        let text = &value.text;
        Ok(match letter {
            'Q' if unset => Value::default(),
            'Q' if !text.contains(char::is_control) => {
                value.map(format!("'{}'", text.replace('\'', "'\\''")))
            }
            'E' => value.map(escape::decode_all(text, escape::Style::Quote).0),
            'U' => value.map(text.to_uppercase()),
            'L' => value.map(text.to_lowercase()),
            'u' => {
                let fuel = self.scene.fuel;
                value.map(pattern::change_case(text, "", false, true, fuel)?)
            }
            _ => Value::unknown(value.origins | Origins::UNKNOWN),
        })
    }

    fn slice_list(
        &mut self,
        name: &str,
        mut values: Vec<Value>,
        offset: &Word,
        length: Option<&Word>,
    ) -> Done<Vec<Value>> {
        let number = |value: Value| value.text.trim().parse::<i64>().ok();
        let offset = number(self.arithmetic(offset)?);
        let length = match length {
            Some(word) => number(self.arithmetic(word)?),
            None => Some(i64::MAX),
        };
        let (Some(offset), Some(length)) = (offset, length) else {
            return Ok(values);
        };
        if matches!(name, "@" | "*") {
            // The arguments count from one: before them stands the shell's own name.
            values.insert(0, Value::known("bash"));
        }
        let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
        let (skip, take) = pattern::range(count, offset, length);
        Ok(values.into_iter().skip(skip).take(take).collect())
    }

    /// A pattern, or what replaces it: what is quoted in it means itself, also where it is special.
    fn pattern(&mut self, word: &Word, special: &[char]) -> Done<Value> {
        let mut pattern = Value::default();
        for (at, part) in word.parts.iter().enumerate() {
            let quoted = match part {
                Part::Quoted(_) => true,
                Part::Variable(variable) => variable.quoted,
                Part::Command { quoted, .. } => *quoted,
                Part::Plain(_) | Part::Process { .. } | Part::Arithmetic(_) => false,
            };
            let value = {
                let tilde = if at == 0 { Tilde::First } else { Tilde::None };
                self.expand_parts(std::slice::from_ref(part), tilde)?
            };
            if quoted {
                pattern.push(&value.map(pattern::escaped(&value.text, special)));
            } else {
                pattern.push(&value);
            }
        }
        Ok(pattern)
    }

    /// A variable used as a number is evaluated: what it holds runs.
    pub(super) fn hidden_in_numbers(&mut self, expression: &str) -> Done {
        let names = expression.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let hidden: Vec<Value> = names
            .take(16)
            .filter_map(|name| self.scene.variable(name).and_then(<[Value]>::last).cloned())
            .chain([Value::known(expression)])
            .filter(|value| value.text.contains("$(") || value.text.contains('`'))
            .collect();
        for value in hidden {
            let code = value.map(format!("echo \"{}\"", value.text));
            self.scene.shell(&Actor::new("shell", &value.text), &code)?;
        }
        Ok(())
    }

    /// An index in a name is evaluated as a number: `test -v 'a[$(…)]'`, `unset 'a[$(…)]'`.
    pub(super) fn hidden_in_name(&mut self, word: &str) -> Done {
        let indexed = word.split_once('[').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        });
        if indexed {
            self.hidden_in_numbers(word)
        } else {
            Ok(())
        }
    }

    /// The number that an expression comes to, if it is one.
    pub(super) fn arithmetic(&mut self, word: &Word) -> Done<Value> {
        self.scene.fuel.spend(8)?;
        let text = self.expand_parts(&word.parts, Tilde::None)?;
        self.hidden_in_numbers(&text.text)?;
        let most = Cell::new(self.most);
        let names = |name: &str| {
            let Some(values) = self.scene.variable(name) else {
                // What is set nowhere counts as nothing.
                return (!outside(name)).then_some(0);
            };
            most.set(most.get().max(values.len()));
            match values.get(self.pick % values.len().max(1)) {
                Some(value) if !value.text.trim().is_empty() => number::parse(value.text.trim()),
                _ => Some(0),
            }
        };
        let outcome = number::evaluate(&text.text, &names);
        self.most = most.get();
        let Some(outcome) = outcome else {
            let unknown = text.map(HOLE_STR.to_owned());
            for name in number::assigned_in(&text.text) {
                self.assign(name, vec![unknown.clone()]);
            }
            return Ok(unknown);
        };
        for (name, value) in outcome.assigned {
            self.assign(&name, vec![text.map(value.to_string())]);
        }
        Ok(text.map(outcome.value.to_string()))
    }
}
