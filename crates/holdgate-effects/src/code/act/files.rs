//! Files that code reads, writes, deletes.

use super::Call;
use crate::code::Language;
use crate::code::functions::Role;
use crate::code::lex::Token;
use crate::code::read::Reader;
use crate::code::thing::{AbstractValue, unknown};
use crate::effect::Kind;
use crate::scene::{Fueled, Scene};
use crate::tag::{self, Tag};
use crate::value::{HOLE, Value};

impl Reader<'_, '_, '_> {
    pub(super) fn reads(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let mut content = Value::default();
        for path in self.values(call, 0)? {
            let path = without_scheme(path);
            content = if is_url(&path) {
                self.scene.fetch(&call.actor, &path)?
            } else {
                self.scene.read(&call.actor, &path)?
            };
        }
        Ok(AbstractValue::value(content))
    }

    pub(super) fn writes(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let content = self.value(call, 1)?;
        let append = call.act.role == Role::Append || self.appends(call)?;
        // `createWriteStream(f)` says later what goes into the file, and `truncate(f)` never.
        let says = call.one(1).is_some();
        for path in self.values(call, 0)? {
            let actor = if call.actor.program.contains("truncate") {
                call.actor.and(Tag::Empties)
            } else if says {
                Scene::filler(&call.actor, &path, &content, append)
            } else {
                call.actor.clone()
            };
            self.scene.write(&actor, &path, &content, append)?;
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn opens_file(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let mode = match call.one(1) {
            Some(thing) => self.mode_of(&thing)?,
            None => String::new(),
        };
        if let Some(AbstractValue::Number(0)) = call.one(0) {
            let input = self.standard_input();
            return Ok(AbstractValue::holding("File", Value::known("-"), input));
        }
        let mut made = AbstractValue::Nothing;
        for path in self.values(call, 0)? {
            let opened = self.opens(call, &path, &mode)?;
            made = made.or(&opened);
        }
        Ok(made)
    }

    pub(super) fn opens_file_or_pipe(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let path = self.value(call, 0)?;
        if let Some(command) = path.text.trim_start().strip_prefix('|') {
            let output = self.runs_shell(call, &path.map(command))?;
            return Ok(AbstractValue::value(output));
        }
        let mode = match (call.act.arguments.len(), call.one(1)) {
            (_, Some(mode)) => self.value_of(&mode)?.text,
            (1, None) => "w".to_owned(),
            _ => "r".to_owned(),
        };
        self.opens(call, &path, &mode)
    }

    pub(super) fn writes_to(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let content = self.value(call, 0)?;
        let file = match &call.receiver {
            AbstractValue::Object(object) => Some(object.clone()),
            _ => match call.arguments.positional.first() {
                Some(AbstractValue::Object(object)) => Some(object.clone()),
                _ => None,
            },
        };
        let Some(file) = file else {
            return Ok(AbstractValue::Nothing);
        };
        if file.kind == "Socket" {
            return self.sends_over(call, &content);
        }
        if matches!(file.kind.as_str(), "File" | "OpenFile") {
            self.scene.write(&call.actor, &file.text, &content, true)?;
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn deletes_maybe(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let tree = match call.one(1) {
            // R's `TRUE`, vim's `rf`.
            Some(AbstractValue::Name(name)) => matches!(name.as_str(), "TRUE" | "T" | "t"),
            Some(thing) => thing.number() == Some(1) || thing.known() == Some("rf"),
            None => false,
        };
        self.deletes(call, tree)
    }

    pub(super) fn moves(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let to = self.value(call, 1)?;
        for from in self.values(call, 0)? {
            self.scene.touch(&call.actor, Kind::Move, &from)?;
            let content = self.content_of(&from);
            self.scene.write(&call.actor, &to, &content, false)?;
            self.scene.note_moved(&from, &to);
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn copies(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let to = self.value(call, 1)?;
        for from in self.values(call, 0)? {
            let content = self.scene.read(&call.actor, &from)?;
            self.scene.write(&call.actor, &to, &content, false)?;
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn links(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let target = self.value(call, 0)?;
        let actor = call.actor.and(Tag::Link);
        for link in self.values(call, 1)? {
            let place = self.scene.place(&link);
            let effect = actor.does(Kind::Write).at(place).about(&target.text);
            self.scene.emit(effect.of(&target))?;
            self.scene.symbolic_link(&target, &link);
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn changes_mode(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let mode = match call.one(1) {
            Some(AbstractValue::Number(mode)) => format!("{mode:o}"),
            Some(thing) => self.value_of(&thing)?.text,
            None => String::new(),
        };
        for path in self.values(call, 0)? {
            if path.text.is_empty() {
                continue;
            }
            let place = self.scene.place(&path);
            let mut actor = call.actor.clone();
            actor.tag(tag::of_mode(&mode));
            let effect = actor.does(Kind::Mode).at(place).about(&mode);
            self.scene.emit(effect)?;
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn changes_folder(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let folder = self.value(call, 0)?;
        if !folder.text.is_empty() {
            self.scene.enter(&folder);
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn applies_patch(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let patch = self.value(call, 0)?;
        crate::patch::apply(self.scene, &call.actor, &patch)?;
        Ok(AbstractValue::Nothing)
    }

    fn content_of(&self, path: &Value) -> Value {
        let place = self.scene.place(path);
        self.scene
            .files
            .get(&place.text)
            .cloned()
            .unwrap_or_default()
    }

    /// `file_put_contents($f, $x, FILE_APPEND)`, `fs.writeFile(f, x, {flag: 'a'})`.
    fn appends(&mut self, call: &Call<'_>) -> Fueled<bool> {
        if let Some(flag) = call.named("flag").or_else(|| call.named("mode")) {
            return Ok(self.value_of(&flag)?.text.starts_with('a'));
        }
        let names = call.arguments.positional.iter().skip(2);
        Ok(names
            .into_iter()
            .any(|t| matches!(t, AbstractValue::Name(n) if n.contains("APPEND"))))
    }

    /// `'w'`, `O_WRONLY | O_CREAT`, as one text.
    fn mode_of(&mut self, thing: &AbstractValue) -> Fueled<String> {
        Ok(match thing {
            AbstractValue::Name(name) if name.contains("O_RDONLY") => "r".to_owned(),
            AbstractValue::Name(name) if name.contains("O_") => "w".to_owned(),
            AbstractValue::Name(_) | AbstractValue::Nothing => String::new(),
            // Flags that were combined.
            AbstractValue::Text(value) if value.is_blank() && !value.text.is_empty() => {
                "w".to_owned()
            }
            // The lowest two bits say whether it is written.
            AbstractValue::Number(flags) => if flags % 4 == 0 { "r" } else { "w" }.to_owned(),
            other => self.value_of(other)?.text,
        })
    }

    /// A file is opened; a mode that writes empties or extends it.
    fn opens(&mut self, call: &Call<'_>, path: &Value, mode: &str) -> Fueled<AbstractValue> {
        let pipes = matches!(self.language, Language::Ruby | Language::Perl);
        if pipes && let Some(command) = path.text.strip_prefix('|') {
            let command = path.map(command);
            let output = self.runs_shell(call, &command)?;
            return Ok(AbstractValue::value(output));
        }
        if is_url(path) {
            let answer = self.scene.fetch(&call.actor, path)?;
            return Ok(AbstractValue::value(answer));
        }
        let writes = mode.contains(['w', 'x', 'c']) || mode.contains('+');
        let appends = mode.starts_with('a');
        let data = if writes || appends {
            // `open(f, "w").close()`: nobody puts anything in.
            let closes = |ahead: &[Token<'_>]| match ahead {
                [mark, word] => matches!(
                    (mark.text, word.text),
                    ("." | "->", "close") | (":", "pass") | ("{", "}")
                ),
                _ => false,
            };
            let actor = if !appends && closes(self.ahead(2)) {
                call.actor.and(Tag::Empties)
            } else {
                call.actor.clone()
            };
            self.scene.write(&actor, path, &Value::default(), appends)?;
            unknown()
        } else {
            self.scene.read(&call.actor, path)?
        };
        let kind = match self.language {
            Language::Ruby | Language::Lua | Language::Compiled => "OpenFile",
            _ => "File",
        };
        Ok(AbstractValue::holding(kind, path.clone(), data))
    }

    /// `open(F, "<", $path)`, `open(F, ">$path")`, `open(F, "command |")`, `open(STDIN, ">&S")`.
    pub(super) fn perl_open(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let second = self.value(call, 1)?;
        let rest = self.values(call, 2)?;
        let text = second.text.trim();
        if text.contains(">&") || text.contains("<&") {
            self.network.redirected = true;
            return Ok(AbstractValue::Nothing);
        }
        let writes = |marks: &str| marks.contains(['>', '+']);
        let mode = match text {
            text if text.starts_with(">>") => "a",
            text if writes(text.get(..1).unwrap_or("")) => "w",
            text if !rest.is_empty() && writes(text) => "w",
            _ => "r",
        };
        if let Some(path) = rest.first() {
            if !text.contains('|') {
                return self.opened_handle(call, path, mode);
            }
            if rest.len() == 1 {
                self.runs_shell(call, path)?;
            } else {
                self.runs_words(&rest, call.start)?;
            }
            return Ok(AbstractValue::Nothing);
        }
        if let Some(command) = text.strip_prefix('|').or_else(|| text.strip_suffix('|')) {
            let command = second.map(command.trim());
            self.runs_shell(call, &command)?;
            return Ok(AbstractValue::Nothing);
        }
        let path = second.map(text.trim_start_matches(['<', '>', '+', ' ']));
        self.opened_handle(call, &path, mode)
    }

    fn opened_handle(
        &mut self,
        call: &Call<'_>,
        path: &Value,
        mode: &str,
    ) -> Fueled<AbstractValue> {
        if path.text.is_empty() {
            return Ok(AbstractValue::Nothing);
        }
        let file = self.opens(call, path, mode)?;
        if let Some(AbstractValue::Name(handle)) = call.arguments.positional.first() {
            let handle = handle.clone();
            self.assign(&handle, file.clone())?;
        }
        Ok(file)
    }

    pub(super) fn deletes(&mut self, call: &Call<'_>, tree: bool) -> Fueled<AbstractValue> {
        let mut actor = call.actor.clone();
        if tree {
            actor.tags.push(Tag::Recursive);
        }
        for path in self.values(call, 0)? {
            let mut actor = actor.clone();
            // One after the other, all files below a folder.
            let Some((folder, pattern)) = path.text.split_once("**") else {
                self.scene.delete(&actor, &path)?;
                continue;
            };
            actor.tag([Tag::Recursive]);
            if folder.starts_with(HOLE) {
                self.scene.delete(&actor, &path)?;
            } else if pattern.split('/').all(|p| matches!(p, "" | "*" | "**")) && !folder.is_empty()
            {
                self.scene.delete(&actor, &path.map(folder))?;
            } else {
                actor.tag([Tag::Filtered]);
                self.scene.delete(&actor, &path)?;
            }
        }
        Ok(AbstractValue::Nothing)
    }
}

/// `file:x.db?mode=ro`, as databases are named.
fn without_scheme(path: Value) -> Value {
    match path.text.strip_prefix("file:") {
        Some(rest) if !rest.starts_with("//") => {
            let rest = rest.split('?').next().unwrap_or(rest).to_owned();
            path.map(rest)
        }
        _ => path,
    }
}

fn is_url(path: &Value) -> bool {
    ["http://", "https://", "ftp://"]
        .iter()
        .any(|scheme| path.text.starts_with(scheme))
}
