//! Programs, shells and code that code runs.

use super::Call;
use crate::code::Language;
use crate::code::functions::Role;
use crate::code::read::Reader;
use crate::code::thing::{AbstractValue, unknown_like};
use crate::effect::{Actor, Kind};
use crate::language::programs;
use crate::scene::Fueled;
use crate::value::{Origins, Value};

impl Reader<'_, '_, '_> {
    pub(super) fn runs_command_line(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let mut output = Value::default();
        let mut commands = self.values(call, 0)?;
        // Octave's `['a', 'b']` is one text.
        if self.language == Language::Compiled && commands.len() > 1 {
            commands.push(Value::join(&commands, ""));
        }
        for command in commands {
            output = self.runs_shell(call, &command)?;
        }
        if call.act.role == Role::System {
            self.output.push(&output);
        }
        Ok(process(output))
    }

    pub(super) fn runs_program(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let things = call.all(0);
        let words = self.words(&things)?;
        Ok(process(self.runs_words(&words, call.start)?))
    }

    pub(super) fn runs_program_with(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let program = self.value(call, 0)?;
        let things = call.all(1);
        let mut words = match things.as_slice() {
            [list @ AbstractValue::List(_)] => self.words(std::slice::from_ref(list))?,
            // R has them in one text.
            [AbstractValue::Text(text)] if !text.is_blank() => {
                let words = text.text.split_whitespace().take(64);
                words.map(|word| text.map(word)).collect()
            }
            // An array that is made elsewhere.
            [_] => Vec::new(),
            // `execl` gives the words one by one.
            several => self.words(several)?,
        };
        // `execv("/bin/sh", ["sh", …])` names the program twice, `spawn("sh", […])` once.
        let named = |word| call.actor.program.to_ascii_lowercase().contains(word);
        let libc = matches!(self.language, Language::Python | Language::Compiled);
        let twice = libc && (named("exec") || named("spawn"));
        if twice && !words.is_empty() {
            words.remove(0);
        }
        words.insert(0, program);
        if uses_shell(call) && words.len() == 1 {
            let command = words.remove(0);
            return Ok(process(self.runs_shell(call, &command)?));
        }
        Ok(process(self.runs_words(&words, call.start)?))
    }

    pub(super) fn runs_shell_or_program(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let things = call.all(0);
        let mut things: Vec<AbstractValue> = things
            .into_iter()
            .filter(|t| !matches!(t, AbstractValue::Map(_)))
            .collect();
        // Ruby's `popen(command, "r+")`.
        if things.len() == 2
            && call.actor.program.contains("popen")
            && things
                .get(1)
                .and_then(AbstractValue::known)
                .is_some_and(|m| m.len() <= 3)
        {
            things.truncate(1);
        }
        let output = match things.as_slice() {
            [one] if one.items().is_none() => {
                let mut output = Value::default();
                for command in one.each() {
                    let command = self.value_of(command)?;
                    output = self.runs_shell(call, &command)?;
                }
                output
            }
            _ => {
                let words = self.words(&things)?;
                self.runs_words(&words, call.start)?
            }
        };
        if &*call.actor.program == "system" {
            self.output.push(&output);
        }
        Ok(process(output))
    }

    pub(super) fn runs_text(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        for code in self.values(call, 0)? {
            self.runs_code(call, &code)?;
        }
        // `Function('…')` returns a function that does the same.
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn runs_file(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        for path in self.values(call, 0)? {
            if path.text.starts_with("http") {
                let code = self.scene.fetch(&call.actor, &path)?;
                self.runs_code(call, &code)?;
                continue;
            }
            if path.is_blank() && path.origins.any(Origins::FETCHED) {
                // The file that was just downloaded.
                self.runs_code(call, &path)?;
                continue;
            }
            if !self.scene.written {
                // What is no code is shown in the error, or as it is.
                self.scene.touches(&call.actor, &path)?;
            }
            let place = self.scene.place(&path);
            if let Some(code) = self.scene.files.get(&place.text).cloned() {
                self.runs_code(call, &code)?;
            }
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn loads(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let library = self.value(call, 0)?;
        if library.text.contains('/') {
            self.scene.touch(&call.actor, Kind::Run, &library)?;
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn deserialises(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let mut data = self.value(call, 0)?;
        if data.text.starts_with("http://") || data.text.starts_with("https://") {
            data = self.scene.fetch(&call.actor, &data)?;
        } else if !data.is_blank() && !self.scene.written {
            self.scene.touches(&call.actor, &data)?;
        }
        // A file that was fetched before.
        if data.is_known() && self.scene.is_written(&data) {
            data = self.scene.content(&data);
        }
        if data.origins.any(Origins::FETCHED | Origins::DECODED) {
            self.runs_code(call, &unknown_like(&data))?;
        }
        Ok(AbstractValue::value(unknown_like(&data)))
    }

    pub(super) fn kills(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let target = self.value(call, 0)?;
        let effect = call.actor.does(Kind::Kill).about(&target.text);
        self.scene.emit(effect)?;
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn elevates(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let user = self.value(call, 0)?;
        if user.text == "0" {
            self.scene.emit(call.actor.does(Kind::Elevate).about("0"))?;
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn opens_terminal(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let program = self.value(call, 0)?;
        self.network.shell |= is_shell(&program.text);
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn runs_statement(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let statement = self.value(call, 0)?;
        if destroys(&statement.text) {
            let text = crate::json::shorten(&statement.text, 200);
            self.scene
                .emit(call.actor.does(Kind::Database).about(&text))?;
        }
        Ok(AbstractValue::Nothing)
    }

    /// A list is a program with its arguments; a text is for a shell, or a program's name.
    pub(super) fn command(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let mut output = Value::default();
        let shell = uses_shell(call)
            || !matches!(self.language, Language::Python)
            || call.act.arguments.len() < 2;
        let Some(thing) = call.one(0) else {
            return Ok(AbstractValue::Nothing);
        };
        for one in thing.each() {
            output = match one {
                AbstractValue::List(items) => {
                    let words = self.words(items)?;
                    match words.as_slice() {
                        [first, ..] if uses_shell(call) && self.language == Language::Python => {
                            self.runs_shell(call, first)?
                        }
                        _ => self.runs_words(&words, call.start)?,
                    }
                }
                other => {
                    let command = self.value_of(other)?;
                    if shell || command.text.contains([' ', '\n', ';', '|']) {
                        self.runs_shell(call, &command)?
                    } else {
                        self.runs_words(&[command], call.start)?
                    }
                }
            };
        }
        if matches!(&*call.actor.program, "call" | "check_call" | "run") {
            self.output.push(&output);
        }
        Ok(process(output))
    }

    /// Lists and texts as the words of a command.
    fn words(&mut self, things: &[AbstractValue]) -> Fueled<Vec<Value>> {
        let mut words = Vec::new();
        for thing in things {
            match thing {
                AbstractValue::List(items) => {
                    for item in items.iter().take(256) {
                        words.push(self.value_of(item)?);
                    }
                }
                AbstractValue::Map(_) | AbstractValue::Function(_) => {}
                // `execl(…, NULL)`
                AbstractValue::Name(name) if matches!(name.as_str(), "NULL" | "nullptr") => {}
                other => words.push(self.value_of(other)?),
            }
        }
        Ok(words)
    }

    /// A shell runs `command`.
    pub(super) fn runs_shell(&mut self, call: &Call<'_>, command: &Value) -> Fueled<Value> {
        if command.text.trim().is_empty() {
            return Ok(Value::default());
        }
        self.network.runs = true;
        self.network.shell |= is_shell(&command.text);
        if command.is_blank() {
            return self.runs_unknown(command, |reader, command| {
                heard("shell", std::slice::from_ref(command));
                reader.scene.shell(&call.actor, command)
            });
        }
        let mut command = command.clone();
        // A known command with a fetched argument is not fetched code.
        let first = command.text.split_whitespace().next().unwrap_or("");
        if !command.text.trim_start().starts_with(crate::value::HOLE)
            && !programs::runs_its_arguments(first)
        {
            command.origins = command.origins.without(Origins::FETCHED);
        }
        heard("shell", std::slice::from_ref(&command));
        self.scene.shell(&call.actor, &command)
    }

    /// A program runs with these words.
    pub(in crate::code) fn runs_words(&mut self, words: &[Value], _start: usize) -> Fueled<Value> {
        let Some(program) = words.first().filter(|w| !w.text.trim().is_empty()) else {
            return Ok(Value::default());
        };
        let line: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
        self.network.runs = true;
        self.network.shell |= is_shell(&line.join(" "));
        let fetched = words.iter().any(|word| word.origins.any(Origins::FETCHED));
        self.network.runs_received |= fetched && programs::runs_its_arguments(&program.text);
        if program.is_blank() {
            let words = words.to_vec();
            return self.runs_unknown(program, |reader, _| {
                heard("argv", &words);
                reader.scene.argv(&words, None)
            });
        }
        heard("argv", words);
        self.scene.argv(words, None)
    }

    /// Of a command nothing is known: it matters only where it came from.
    fn runs_unknown(
        &mut self,
        command: &Value,
        run: impl FnOnce(&mut Self, &Value) -> Fueled<Value>,
    ) -> Fueled<Value> {
        self.network.runs_received |= command.origins.any(Origins::FETCHED);
        // Made of texts in the call, and yet not to be read.
        let tells = Origins::FETCHED | Origins::DECODED | Origins::COMPUTED;
        if command.origins.any(tells) {
            run(self, command)?;
        }
        Ok(Value::unknown(Origins::OUTPUT))
    }

    /// Code of the same language runs.
    pub(super) fn runs_code(&mut self, call: &Call<'_>, code: &Value) -> Fueled {
        if code.text.trim().is_empty() {
            return Ok(());
        }
        if code.is_blank() {
            self.network.runs_received |=
                code.origins.any(Origins::FETCHED) && self.network.connected;
            // A parameter or a file of the project is no more opaque than any program.
            let made = Origins::DECODED | Origins::COMPUTED;
            let tells = Origins::FETCHED | Origins::OUTPUT | made;
            if !code.origins.any(tells) {
                return Ok(());
            }
        }
        heard("code", std::slice::from_ref(code));
        let output = self.scene.interpret(&call.actor, self.language, code)?;
        self.output.push(&output);
        Ok(())
    }

    /// `` `command` ``
    pub(in crate::code) fn backticks(
        &mut self,
        command: &Value,
        start: usize,
    ) -> Fueled<AbstractValue> {
        let act = crate::code::functions::Act {
            role: Role::Shell,
            arguments: Vec::new(),
            word: String::new(),
        };
        let call = Call {
            act: &act,
            receiver: &AbstractValue::Nothing,
            arguments: &crate::code::read::Arguments::default(),
            actor: Actor::new("`", &self.evidence(start)),
            start,
        };
        Ok(AbstractValue::value(self.runs_shell(&call, command)?))
    }
}

fn uses_shell(call: &Call<'_>) -> bool {
    call.named("shell").is_some_and(|t| t.number() != Some(0))
}

fn process(output: Value) -> AbstractValue {
    AbstractValue::holding("Process", output.clone(), output)
}

/// Whether a command is a shell that reads its commands from its input.
pub(in crate::code) fn is_shell(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let Some(first) = words.next() else {
        return false;
    };
    programs::is_shell(first)
        && words.all(|word| {
            (word.starts_with('-') && !word.contains('c'))
                || word.contains(['<', '>'])
                || programs::is_shell(word)
        })
}

fn destroys(statement: &str) -> bool {
    let start: String = statement.trim_start().chars().take(16).collect();
    let start = start.to_ascii_uppercase();
    ["DROP ", "TRUNCATE", "DELETE FROM", "ALTER "]
        .iter()
        .any(|word| start.starts_with(word))
}

#[cfg(test)]
thread_local! {
    /// What was handed to shells and interpreters, for tests.
    pub(in crate::code) static HEARD: std::cell::RefCell<Vec<String>> =
        const { std::cell::RefCell::new(Vec::new()) };
}

#[cfg(test)]
pub(in crate::code) fn heard(what: &str, words: &[Value]) {
    let words: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
    HEARD.with_borrow_mut(|all| all.push(format!("{what}: {}", words.join(" "))));
}

#[cfg(not(test))]
pub(in crate::code) fn heard(_what: &str, _words: &[Value]) {}
