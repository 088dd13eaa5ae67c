//! Words to values: what a shell makes of quotes, variables, substitutions and arithmetic.

mod arithmetic;
mod fields;
mod parameter;
mod tilde;

use super::syntax::{Block, Part, Word};
use super::{Shell, brace};
use crate::scene::Fueled;
use crate::value::{Origins, Value};
use fields::Fields;
use tilde::Tilde;

impl Shell<'_, '_> {
    /// All arguments that `words` become.
    pub(super) fn expand_all(&mut self, words: &[Word]) -> Fueled<Vec<Value>> {
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
    pub(super) fn expand_one(&mut self, word: &Word) -> Fueled<Value> {
        self.expand_parts(&word.parts, Tilde::First)
    }

    /// What is assigned: each part of a path list may start with a tilde.
    pub(super) fn expand_assigned(&mut self, word: &Word) -> Fueled<Value> {
        self.expand_parts(&word.parts, Tilde::Each)
    }

    fn expand_parts(&mut self, parts: &[Part], tilde: Tilde) -> Fueled<Value> {
        let mut value = Value::default();
        for (at, part) in parts.iter().enumerate() {
            match part {
                Part::Plain(text) if text.contains('~') => {
                    value.push_text(&self.tilde_in_value(text, tilde, at == 0));
                }
                Part::Plain(text) | Part::Quoted(text) => value.push_text(text),
                Part::Variable(variable) => {
                    let values = self.variable(variable)?;
                    value.push(&Value::join(&values, " "));
                }
                Part::Command { block, .. } => value.push(&self.substitute(block)?),
                Part::Process { block, writes } => value.push(&self.process(block, *writes)?),
                Part::Arithmetic(word) => value.push(&self.arithmetic(word)?),
            }
        }
        self.scene.fuel.spend_on(value.text.len())?;
        Ok(value)
    }

    fn fields(&mut self, word: &Word) -> Fueled<Vec<Value>> {
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
                Part::Process { block, writes } => fields.push(&self.process(block, *writes)?),
                Part::Arithmetic(word) => fields.push(&self.arithmetic(word)?),
            }
            self.scene.fuel.spend(1)?;
        }
        let fields = fields.finish();
        let length: usize = fields.iter().map(|f| f.text.len()).sum();
        self.scene.fuel.spend_on(length)?;
        Ok(fields)
    }

    fn push_values(&mut self, fields: &mut Fields, values: &[Value], quoted: bool) -> Fueled {
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

    /// Everything that `$( … )` prints, less the line ends at its end.
    fn substitute(&mut self, block: &Block) -> Fueled<Value> {
        self.scene.captured += 1;
        let output = self.apart(|shell| shell.block(block));
        self.scene.captured -= 1;
        let mut output = output?;
        if !output.is_known() && output.origins == Origins::NONE {
            // Nothing tells where it came from but that something printed it.
            output.origins = Origins::OUTPUT;
        }
        let kept = output.text.trim_end_matches('\n').len();
        output.text.truncate(kept);
        Ok(output)
    }

    /// `<( … )`: a file with what the command prints.
    fn process(&mut self, block: &Block, writes: bool) -> Fueled<Value> {
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
        self.scene.files.insert(&path, output);
        Ok(value)
    }
}
