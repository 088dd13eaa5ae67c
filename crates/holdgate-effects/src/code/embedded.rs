//! Files that hold commands between other things: Dockerfiles, CI workflows, package.json, units,
//! crontabs, notebooks, git settings. Which of them it is shows in the text itself, so that a
//! fragment of a file reads like the whole. What a parser accepts is read as a tree; the lines of the
//! rest are scanned.

mod access;
mod action;
mod filled;
mod fragment;
mod lines;
mod manifest;
mod parse;
pub(super) mod playbook;
mod terraform;
mod tree;
mod unfold;
mod variables;
mod workflow;

use crate::code::Language;
use crate::effect::{Actor, Kind};
use crate::json::{Json, LoneSurrogates};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE_STR, Origins, Value};
use std::collections::HashSet;
use tree::Format;
pub(super) use variables::is_stored_nowhere;

/// JSON nested deeper than this is nobody's settings.
const MAX_DEPTH: usize = 64;
/// Templates of one file that are looked at.
const MAX_TEMPLATES: usize = 256;

/// Says what the commands in a file do.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    scene.fuel.spend_on(code.text.len() * 4)?;
    let text = code.text.trim_start();
    let mut reader = Reader {
        scene,
        code,
        seen: HashSet::new(),
    };
    if text.starts_with(['{', '[']) {
        let plain = without_comments(text);
        if let Ok(json) = Json::read(plain.trim().as_bytes(), MAX_DEPTH, LoneSurrogates::Replace) {
            reader.tree(&json, Format::Json)?;
            return Ok(Value::default());
        }
    }
    if text.contains("<plist") || text.contains("<key>") {
        reader.plist(text)?;
        return Ok(Value::default());
    }
    reader.parsed()?;
    Ok(Value::default())
}

struct Reader<'s, 'w, 'c> {
    scene: &'s mut Scene<'w>,
    code: &'c Value,
    /// The commands that were read: a text that is both parsed and scanned shows them twice.
    seen: HashSet<Vec<String>>,
}

impl Reader<'_, '_, '_> {
    /// TOML, HCL or YAML by its parser. Lines are scanned too where the text is none of them, and
    /// where it may be something else as well: settings of git, lines of JSON, a Dockerfile.
    fn parsed(&mut self) -> Fueled {
        let text = &self.code.text;
        if let Some(tree) = parse::toml(text) {
            self.tree(&tree, Format::Toml)?;
            return self.lines(text);
        }
        if let Some(tree) = parse::hcl(text) {
            for request in terraform::requests(self.scene.fuel, text)? {
                self.words(&request, None)?;
            }
            return self.tree(&tree, Format::Hcl);
        }
        let first = text.trim_start().chars().next().unwrap_or(' ');
        let yaml = parse::yaml(text);
        for document in &yaml.documents {
            self.tree(document, Format::Yaml)?;
            // JSON that our reader refuses: a key twice, deep nesting.
            if matches!(first, '{' | '[') {
                self.tree(document, Format::Json)?;
            }
        }
        if yaml.bomb {
            let actor = Actor::new("yaml", "aliases that expand without limit");
            self.scene.emit(actor.does(Kind::Unreadable))?;
        }
        let whole = yaml.whole && !yaml.documents.is_empty();
        if whole && first != '"' && !lines::is_dockerfile(text) {
            return Ok(());
        }
        self.lines(text)?;
        if self.scene.written && !lines::is_dockerfile(text) {
            // A piece of a tree, or of something else.
            super::lines::run(self.scene, self.code)?;
        }
        Ok(())
    }

    /// A shell will run `command`. `where_run` tags what it does there: `container`, `ci`.
    fn shell(&mut self, program: &str, command: &str, where_run: Option<Tag>) -> Fueled {
        if command.trim().is_empty() || !self.seen.insert(vec![command.trim().to_owned()]) {
            return Ok(());
        }
        let command = self.code.map(templates_as_holes(command));
        let actor = Actor::new(program, &crate::json::shorten(&command.text, 200));
        super::act::heard("shell", std::slice::from_ref(&command));
        let before = self.scene.effects.len();
        let secrets = match where_run {
            Some(Tag::Ci) => secret_variables(&self.code.text),
            _ => Vec::new(),
        };
        self.scene.apart(|scene| {
            for (name, secret) in secrets {
                // By its own name it is known for what it is.
                if name != secret {
                    let value = Value::unknown(Origins::ENVIRONMENT).with_source(&secret);
                    scene.variables.insert(name.to_owned(), vec![value]);
                }
            }
            scene.shell(&actor, &command).map(drop)
        })?;
        self.tag_from(before, where_run);
        Ok(())
    }

    /// A text that no key runs may be a command all the same.
    fn tries(&mut self, key: &str, text: &str) -> Fueled {
        if self.scene.know.files.is_shown(key) || !self.scene.written {
            return Ok(());
        }
        let text = self.code.map(templates_as_holes(text));
        self.scene.tries(&Actor::new("file", ""), &text)
    }

    /// A step of a workflow: a shell's script, unless it says otherwise.
    fn step(&mut self, key: &str, script: &str, language: Language) -> Fueled {
        let before = self.scene.effects.len();
        if language != Language::Shell && !self.seen.insert(vec![script.to_owned()]) {
            return Ok(());
        }
        if language == Language::Shell {
            self.shell(key, script, Some(Tag::Ci))?;
        } else {
            let code = self.code.map(templates_as_holes(script));
            self.scene.code(language, &code)?;
            self.tag_from(before, Some(Tag::Ci));
        }
        if is_all_secrets(script) {
            self.takes_all_secrets()?;
            // All secrets of the repository at once.
            for effect in self.scene.effects.iter_mut().skip(before) {
                if matches!(effect.kind, Kind::Send | Kind::Fetch) {
                    effect.kind = Kind::Send;
                    effect.origins |= Origins::ENVIRONMENT;
                    effect.tags.push(Tag::WholeEnvironment);
                }
            }
        }
        // It runs elsewhere, with a matrix of programs, and a fragment may end in its middle.
        super::forget(self.scene, before, &[Kind::ExecuteOpaque, Kind::Unreadable]);
        Ok(())
    }

    /// A program will run with these words.
    fn words(&mut self, words: &[String], where_run: Option<Tag>) -> Fueled {
        if words.is_empty() || !self.seen.insert(words.to_vec()) {
            return Ok(());
        }
        let words: Vec<Value> = words
            .iter()
            .map(|word| self.code.map(templates_as_holes(word)))
            .collect();
        super::act::heard("argv", &words);
        let before = self.scene.effects.len();
        self.scene
            .apart(|scene| scene.argv(&words, None).map(drop))?;
        self.tag_from(before, where_run);
        Ok(())
    }

    fn tag_from(&mut self, before: usize, tag: Option<Tag>) {
        let Some(tag) = tag else {
            return;
        };
        for effect in self.scene.effects.iter_mut().skip(before) {
            if !effect.is(tag) {
                effect.tags.push(tag);
            }
        }
    }

    /// The code of a notebook's cell: `!command` and `%%bash` are for a shell.
    fn cell(&mut self, source: &str) -> Fueled {
        let first = source.lines().next().unwrap_or("");
        if first.starts_with("%%bash") || first.starts_with("%%sh") || first.starts_with("%%script")
        {
            let rest = source.split_once('\n').map_or("", |(_, rest)| rest);
            return self.shell("notebook", rest, None);
        }
        let mut python = String::with_capacity(source.len());
        for line in source.lines() {
            let trimmed = line.trim_start();
            if let Some(command) = trimmed.strip_prefix('!') {
                self.shell("notebook", command, None)?;
            } else if !trimmed.starts_with('%') {
                python.push_str(line);
            }
            python.push('\n');
        }
        let python = self.code.map(python);
        self.scene.code(Language::Python, &python).map(drop)
    }

    /// A property list: `Program` and `ProgramArguments`.
    fn plist(&mut self, text: &str) -> Fueled {
        for (index, after) in text.split("<key>Program").enumerate() {
            if index == 0 {
                continue;
            }
            let end = after.find("<key>").unwrap_or(after.len());
            let body = after.get(..end).unwrap_or("");
            let words: Vec<String> = body
                .split("<string>")
                .skip(1)
                .filter_map(|piece| piece.split_once("</string>"))
                .map(|(word, _)| unescaped_xml(word))
                .collect();
            self.words(&words, None)?;
        }
        Ok(())
    }
}

pub(super) fn unescaped_xml(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

/// `${{ … }}` as holes: who runs it puts something there.
fn templates_as_holes(text: &str) -> String {
    if !text.contains("{{") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before.strip_suffix('$').unwrap_or(before));
        let inner = after.split_once("}}").map_or(after, |(inner, _)| inner);
        if is_all_secrets(inner) {
            // For the shell they are what its environment is: all of them at once.
            let quoted = in_single_quotes(&out);
            out.push_str(if quoted { "'\"$(env)\"'" } else { "$(env)" });
        } else if let Some(name) = secret_named(inner) {
            // A secret of the repository is like a variable that holds one.
            let quote = if in_single_quotes(&out) { "'\"" } else { "" };
            let end = if quote.is_empty() { "" } else { "\"'" };
            out.push_str(&format!("{quote}${{{name}}}{end}"));
        } else {
            out.push_str(HOLE_STR);
        }
        rest = after.split_once("}}").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// `secrets.NAME`: the variable that stands for it.
fn secret_named(template: &str) -> Option<String> {
    let name = template.trim().strip_prefix("secrets.")?;
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(part) {
        return None;
    }
    let tells = crate::scene::is_secret(name);
    Some(if tells {
        name.to_owned()
    } else {
        format!("{name}_SECRET")
    })
}

/// Variables that a workflow fills with secrets: `T: ${{ secrets.NAME }}`.
fn secret_variables(text: &str) -> Vec<(&str, String)> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut before = "";
    for piece in text.split("${{").take(MAX_TEMPLATES) {
        let inner = piece.split_once("}}").map_or("", |(inner, _)| inner);
        let key = before.trim_end().trim_end_matches(['"', '\'']).trim_end();
        if let (Some(key), Some(secret)) = (key.strip_suffix(':'), secret_named(inner)) {
            let from = key.rfind(|c: char| !part(c)).map_or(0, |at| at + 1);
            found.extend(key.get(from..).map(|name| (name, secret)));
        }
        before = piece;
    }
    found
}

/// `toJSON(secrets)`: every secret of the repository.
fn is_all_secrets(template: &str) -> bool {
    let inner: String = template.chars().filter(|c| !c.is_whitespace()).collect();
    let inner = inner.to_ascii_lowercase();
    inner.contains("tojson(secrets)") || inner == "secrets"
}

/// Whether a shell that has read `text` is between single quotes.
fn in_single_quotes(text: &str) -> bool {
    let (mut single, mut double) = (false, false);
    for c in text.chars() {
        match c {
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            _ => {}
        }
    }
    single
}

/// JSON as editors write it: comments and trailing commas taken out.
fn without_comments(text: &str) -> String {
    if !text.contains("//") && !text.contains("/*") && !text.contains(",\n") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted => {
                out.push(c);
                out.extend(chars.next());
                continue;
            }
            '"' => quoted = !quoted,
            '/' if !quoted && chars.peek() == Some(&'/') => {
                while chars.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            '/' if !quoted && chars.peek() == Some(&'*') => {
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                continue;
            }
            '}' | ']' if !quoted => {
                let kept = out.trim_end().len();
                if out.get(..kept).is_some_and(|t| t.ends_with(',')) {
                    out.truncate(kept - 1);
                }
            }
            _ => {}
        }
        out.push(c);
    }
    out
}
