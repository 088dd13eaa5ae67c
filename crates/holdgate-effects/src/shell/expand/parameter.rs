//! What `$x` and `${x…}` come to.

use super::Tilde;
use crate::pattern;
use crate::scene::Fueled;
use crate::shell::syntax::{Index, Operation, Part, Variable, Word};
use crate::shell::variables::outside;
use crate::shell::{Shell, escape};
use crate::value::{Origins, Value};

/// Characters of a secret that may be shown.
const FEW: i64 = 8;
/// What is special in a pattern.
const GLOB: &[char] = &['*', '?', '[', ']', '\\', '-', '!', '^'];

impl Shell<'_, '_> {
    /// What a variable and its operations come to: one value, or all of an array.
    pub(super) fn variable(&mut self, variable: &Variable) -> Fueled<Vec<Value>> {
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
        vec![Value::join(values, &separator)]
    }

    fn values(&mut self, variable: &Variable) -> Fueled<Vec<Value>> {
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
                | Operation::Remove { .. }
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
                // It may be any of them.
                None => Some(Value::unknown(name.origins | Origins::ENVIRONMENT)),
            };
        }
        Ok(vec![self.operate(variable, value)?])
    }

    fn operate(&mut self, variable: &Variable, value: Option<Value>) -> Fueled<Value> {
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
                    let mut default = self.expand_one(word)?;
                    if value.origins.any(Origins::ENVIRONMENT) {
                        // It may be set outside of the call.
                        default.taint(&value);
                    }
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
            Operation::Remove { .. }
            | Operation::Replace { .. }
            | Operation::Slice(..)
            | Operation::Upper(..)
            | Operation::Lower(..) => self.edited(&variable.operation, &value)?,
            Operation::Transform(letter) => self.transformed(*letter, &value, known_unset)?,
            Operation::Other(word) => {
                self.expand_one(word)?;
                Value::unknown(value.origins | Origins::UNKNOWN)
            }
        })
    }

    /// `${x#a}`, `${x/a/b}`, `${x:1:2}`, `${x^^}`: a piece of a text, or the text changed.
    fn edited(&mut self, operation: &Operation, value: &Value) -> Fueled<Value> {
        Ok(match operation {
            Operation::Remove {
                pattern,
                from_end,
                longest,
            } => {
                let pattern = self.pattern(pattern, GLOB)?.text;
                let fuel = self.scene.fuel;
                let text = pattern::remove(&value.text, &pattern, *from_end, *longest, fuel)?;
                value.map(text)
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
            Operation::Slice(offset, length) => match self.bounds(offset, length.as_deref())? {
                Some((offset, length)) => {
                    let piece = value.map(pattern::slice(&value.text, offset, length));
                    // A few characters tell which one it is, and no more.
                    let few = (0..=FEW).contains(&length);
                    if few { piece.without_loaded() } else { piece }
                }
                None => Value::unknown(value.origins | Origins::UNKNOWN),
            },
            Operation::Upper(all, pattern) | Operation::Lower(all, pattern) => {
                let upper = matches!(operation, Operation::Upper(..));
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
            Operation::None
            | Operation::Length
            | Operation::Default { .. }
            | Operation::Alternative { .. }
            | Operation::Message(_)
            | Operation::Transform(_)
            | Operation::Other(_) => value.clone(),
        })
    }

    /// `${x@Q}`
    fn transformed(&mut self, letter: char, value: &Value, unset: bool) -> Fueled<Value> {
        let text = &value.text;
        Ok(match letter {
            'Q' if unset => Value::default(),
            'Q' if !text.contains(char::is_control) => {
                value.map(format!("'{}'", text.replace('\'', "'\\''")))
            }
            // As a prompt: commands in it run.
            'P' => {
                self.runs_hidden(value)?;
                Value::unknown(value.origins | Origins::UNKNOWN)
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

    /// The numbers of `${x:offset:length}`, if both are known.
    fn bounds(&mut self, offset: &Word, length: Option<&Word>) -> Fueled<Option<(i64, i64)>> {
        let number = |value: Value| value.text.trim().parse::<i64>().ok();
        let offset = number(self.arithmetic(offset)?);
        let length = match length {
            Some(word) => number(self.arithmetic(word)?),
            None => Some(i64::MAX),
        };
        Ok(offset.zip(length))
    }

    fn slice_list(
        &mut self,
        name: &str,
        mut values: Vec<Value>,
        offset: &Word,
        length: Option<&Word>,
    ) -> Fueled<Vec<Value>> {
        let Some((offset, length)) = self.bounds(offset, length)? else {
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
    fn pattern(&mut self, word: &Word, special: &[char]) -> Fueled<Value> {
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
}
