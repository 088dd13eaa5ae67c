//! Playbooks of ansible: each task names a module, which has an entry `ansible.MODULE` in the table of programs, and
//! the keys below it are its options. Templates are followed as far as they read files, run commands or name what
//! another task has read.

use super::Reader;
use crate::effect::{Actor, Effect, Kind};
use crate::json::Json;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE_STR, Origins, Value};
use std::collections::HashMap;

/// Tasks of one file that are followed, and values of one loop.
const MAX_TASKS: usize = 256;
const MAX_VALUES: usize = 16;
/// Blocks within blocks.
const MAX_DEPTH: u32 = 6;
/// Templates of one text.
const MAX_TEMPLATES: usize = 32;

/// What names stand for: variables, registered results, items of a loop.
pub(crate) type Names = HashMap<String, Vec<Value>>;

impl Reader<'_, '_, '_> {
    /// Says what the tasks of a playbook do, if `tree` is one.
    pub(super) fn playbook(&mut self, tree: &Json<'_>) -> Fueled {
        let items = tree.as_array().unwrap_or_default();
        let mut left = MAX_TASKS;
        let mut names = Names::new();
        for play in items {
            let Some(hosts) = play.get("hosts") else {
                continue;
            };
            let text = |key| play.get(key).and_then(Json::as_str);
            let here = |host: &str| matches!(host, "localhost" | "127.0.0.1" | "::1");
            let local = hosts.as_str().is_some_and(here) || text("connection") == Some("local");
            self.name_all(play.get("vars"), &mut names)?;
            let raised = text("become").is_some_and(|on| matches!(on, "true" | "yes"));
            if local && raised && !self.scene.written {
                self.scene
                    .emit(Actor::new("ansible", "become").does(Kind::Elevate))?;
            }
            let outer = self.scene.marks.clone();
            let before = self.scene.effects.len();
            if !local {
                self.scene.marks.push(Tag::Remote);
            }
            for list in ["pre_tasks", "tasks", "post_tasks", "handlers"] {
                for task in play.get(list).and_then(Json::as_array).unwrap_or_default() {
                    self.task(task, &mut names, &mut left, MAX_DEPTH)?;
                }
            }
            self.scene.marks = outer;
            if !local && self.scene.written {
                forget_administration(self.scene, before);
            }
        }
        Ok(())
    }

    fn task(&mut self, task: &Json<'_>, names: &mut Names, left: &mut usize, depth: u32) -> Fueled {
        if *left == 0 || depth == 0 {
            return Ok(());
        }
        *left -= 1;
        for list in ["block", "rescue", "always"] {
            for task in task.get(list).and_then(Json::as_array).unwrap_or_default() {
                self.task(task, names, left, depth - 1)?;
            }
        }
        self.name_all(task.get("vars"), names)?;
        let items = self.items(task, names)?;
        names.insert("item".to_owned(), items);
        let outer = self.scene.marks.clone();
        let there = task.get("delegate_to").and_then(Json::as_str);
        if there.is_some_and(|host| matches!(host, "localhost" | "127.0.0.1"))
            || task.get("local_action").is_some()
        {
            self.scene.marks.retain(|mark| *mark != Tag::Remote);
        }
        let mut result = Value::default();
        for (key, value) in task.as_object().unwrap_or_default() {
            if matches!(&**key, "action" | "local_action") {
                let (module, rest) = match value.as_str() {
                    Some(text) => text.split_once(' ').unwrap_or((text, "")),
                    None => (value.get("module").and_then(Json::as_str).unwrap_or(""), ""),
                };
                let rest = Json::String(rest.into());
                let given = if value.as_str().is_some() {
                    &rest
                } else {
                    value
                };
                result.push(&self.module(module, given, names)?);
            } else {
                result.push(&self.module(key, value, names)?);
            }
        }
        self.scene.marks = outer;
        if let Some(name) = task.get("register").and_then(Json::as_str) {
            names.insert(name.to_owned(), vec![result]);
        }
        Ok(())
    }

    /// One module with its arguments. Returns what a later task may use of it.
    fn module(&mut self, key: &str, given: &Json<'_>, names: &Names) -> Fueled<Value> {
        let module = key.rsplit('.').next().unwrap_or(key);
        let name = format!("ansible.{module}");
        if module == "find" {
            return self.found(given, names);
        }
        if self.scene.know.commands.get(&name).is_none() {
            return Ok(Value::default());
        }
        let mut words = vec![Value::known(name)];
        let mut read = Value::default();
        match given {
            Json::String(text) => {
                let free = matches!(
                    module,
                    "command" | "shell" | "raw" | "script" | "win_shell" | "win_command"
                );
                let parts = if free {
                    vec![text.to_string()]
                } else {
                    words_of(text)
                };
                for part in parts {
                    words.push(filled(self.scene, &part, names)?);
                }
            }
            Json::Object(members) => {
                for (key, value) in members {
                    let text = match value {
                        Json::String(text) => text.to_string(),
                        Json::Array(items) if items.iter().all(|item| item.as_str().is_some()) => {
                            let texts = items.iter().filter_map(Json::as_str);
                            texts.collect::<Vec<_>>().join(" ")
                        }
                        Json::Null
                        | Json::Bool(_)
                        | Json::Number(_)
                        | Json::Array(_)
                        | Json::Object(_) => value.text(),
                    };
                    let value = filled(self.scene, &text, names)?;
                    if matches!(module, "slurp" | "fetch") && matches!(&**key, "src" | "path") {
                        read.push(&self.scene.read(&Actor::new("ansible", &text), &value)?);
                    }
                    if matches!(&**key, "cmd" | "_raw_params" | "argv") {
                        words.push(value);
                        continue;
                    }
                    let mut word = Value::known(format!("{key}="));
                    word.push(&value);
                    words.push(word);
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => {}
        }
        if module == "authorized_key" {
            let has = |start: &str| words.iter().any(|word| word.text.starts_with(start));
            // Whose key a file of the team holds, the team knows.
            let literal = has("key=ssh-") && has("user=root");
            let keys = self.scene.place(&Value::known("~/.ssh/authorized_keys"));
            let actor = Actor::new("ansible.authorized_key", "authorized_key");
            if literal {
                self.scene.emit(actor.does(Kind::Write).at(keys))?;
            }
            return Ok(read);
        }
        let shown = words.iter().map(|word| word.text.clone()).collect();
        if words.len() > 1 && !self.seen.insert(shown) {
            return Ok(read);
        }
        let printed = self.scene.apart(|scene| scene.argv(&words, None))?;
        read.push(&printed);
        Ok(read)
    }

    /// The files that the module `find` finds, as globs: a later task reads them by `item.path`.
    fn found(&mut self, given: &Json<'_>, names: &Names) -> Fueled<Value> {
        let texts = |key: &str| match given.get(key) {
            Some(Json::String(text)) => vec![text.to_string()],
            Some(Json::Array(items)) => items
                .iter()
                .filter_map(Json::as_str)
                .map(str::to_owned)
                .collect(),
            _ => Vec::new(),
        };
        let deep = given.get("recurse").and_then(Json::as_str);
        let deep = deep.is_some_and(|on| matches!(on, "true" | "yes"));
        let mut patterns = texts("patterns");
        if patterns.is_empty() {
            patterns.push("*".to_owned());
        }
        let mut found = Value::default();
        for path in texts("paths")
            .into_iter()
            .chain(texts("path"))
            .take(MAX_VALUES)
        {
            let path = filled(self.scene, &path, names)?;
            for pattern in patterns.iter().take(MAX_VALUES) {
                let between = if deep { "/**/" } else { "/" };
                found.add_source(&format!("{GLOB}{}{between}{pattern}", path.text));
            }
        }
        Ok(found)
    }

    /// The values of a loop: texts, globs, what a task has found.
    fn items(&mut self, task: &Json<'_>, names: &Names) -> Fueled<Vec<Value>> {
        let loops = [
            "loop",
            "with_items",
            "with_fileglob",
            "with_list",
            "with_first_found",
            "with_lines",
            "with_file",
        ];
        let mut found = Vec::new();
        for key in loops {
            let given = match task.get(key) {
                Some(Json::Array(items)) => items.iter().filter_map(Json::as_str).collect(),
                Some(Json::String(text)) => vec![&**text],
                _ => Vec::new(),
            };
            for text in given.into_iter().take(MAX_VALUES) {
                let value = filled(self.scene, text, names)?;
                if key == "with_file" {
                    found.push(self.scene.read(&Actor::new("ansible", text), &value)?);
                } else {
                    found.push(value);
                }
            }
        }
        Ok(found)
    }

    fn name_all(&mut self, vars: Option<&Json<'_>>, names: &mut Names) -> Fueled {
        let members = vars.and_then(Json::as_object).unwrap_or_default();
        for (key, value) in members.iter().take(MAX_TASKS) {
            if let Some(text) = value.as_str() {
                let value = filled(self.scene, text, names)?;
                names.insert(key.to_string(), vec![value]);
            }
        }
        Ok(())
    }
}

/// Leaves out what a playbook is for: packages, services, users and files of the servers that it looks after. Files
/// that say who may enter or rule a server are not among these.
fn forget_administration(scene: &mut Scene<'_>, before: usize) {
    const RULING: [&str; 7] = [
        "sudoers",
        "authorized_keys",
        "/.ssh/",
        "/etc/shadow",
        "/etc/passwd",
        "/etc/pam.d",
        "ld.so.preload",
    ];
    let managed = [
        Kind::Run,
        Kind::Install,
        Kind::Service,
        Kind::Fetch,
        Kind::System,
        Kind::Persist,
    ];
    let is_ordinary = |effect: &Effect| {
        let path = effect.path.as_ref().map_or("", |path| path.text.as_str());
        let rules = RULING.iter().any(|word| path.contains(word));
        managed.contains(&effect.kind) || effect.kind == Kind::Write && !rules
    };
    let later = scene.effects.split_off(before.min(scene.effects.len()));
    let kept = later
        .into_iter()
        .filter(|effect| !effect.is(Tag::Remote) || !is_ordinary(effect));
    scene.effects.extend(kept);
}

/// Before a glob of files that were found, among the sources of a value.
const GLOB: &str = "found:";

/// A text with what its templates stand for.
pub(crate) fn filled(scene: &mut Scene<'_>, text: &str, names: &Names) -> Fueled<Value> {
    let mut value = Value::default();
    let mut rest = text;
    for _ in 0..MAX_TEMPLATES {
        let Some((before, after)) = rest.split_once("{{") else {
            break;
        };
        value.push_text(before);
        let (inner, behind) = after.split_once("}}").unwrap_or((after, ""));
        scene.fuel.spend_on(inner.len())?;
        value.push(&template(scene, inner.trim(), names)?);
        rest = behind;
    }
    value.push_text(rest);
    Ok(value)
}

/// What one template stands for.
fn template(scene: &mut Scene<'_>, inner: &str, names: &Names) -> Fueled<Value> {
    let called = ["lookup(", "query(", "q("]
        .iter()
        .find_map(|call| inner.split_once(call));
    if let Some((_, given)) = called {
        let mut given = given.splitn(2, ',').map(str::trim);
        let kind = given.next().unwrap_or("").trim_matches(['\'', '"', ')']);
        let kind = kind.rsplit('.').next().unwrap_or(kind);
        let argument = given.next().unwrap_or("");
        let argument = argument
            .rsplit_once(')')
            .map_or(argument, |(argument, _)| argument)
            .trim();
        return looked_up(scene, kind, argument, names);
    }
    let root = inner.split(['.', '|', '[', ' ', '(']).next().unwrap_or("");
    if matches!(root, "playbook_dir" | "role_path" | "inventory_dir") {
        return Ok(Value::known("."));
    }
    let Some(values) = names.get(root).filter(|values| !values.is_empty()) else {
        return Ok(Value::known(HOLE_STR));
    };
    match values.as_slice() {
        [one] => Ok(one.clone()),
        _ => Ok(Value::join(values, " ")),
    }
}

fn looked_up(scene: &mut Scene<'_>, kind: &str, argument: &str, names: &Names) -> Fueled<Value> {
    let actor = Actor::new("ansible", argument);
    let root = argument.split(['.', '|', '[', ' ']).next().unwrap_or("");
    let named = names.get(root).filter(|values| !values.is_empty()).cloned();
    let plain = argument.trim_matches(['\'', '"']);
    let chosen = named.unwrap_or_else(|| vec![Value::known(plain)]);
    let mut value = Value::default();
    for one in chosen.iter().take(MAX_VALUES) {
        match kind {
            "file" | "template" | "unvault" | "csvfile" | "ini" | "lines" | "fileglob" => {
                let globs: Vec<String> = one
                    .sources
                    .iter()
                    .filter_map(|source| source.strip_prefix(GLOB))
                    .map(str::to_owned)
                    .collect();
                for glob in &globs {
                    value.push(&scene.read(&actor, &Value::known(glob.as_str()))?);
                }
                if globs.is_empty() {
                    value.push(&scene.read(&actor, one)?);
                }
            }
            "pipe" => value.push(&scene.shell(&actor, one)?),
            "env" => value.push(&Value::unknown(Origins::ENVIRONMENT).with_source(&one.text)),
            "url" => value.push(&scene.fetch(&actor, one)?),
            _ => value.push_text(HOLE_STR),
        }
    }
    Ok(value)
}

/// Words that one text may have.
const MAX_WORDS: usize = 64;

/// The words of a text; quotes hold one together, and are no part of it. So does a template, with its quotes.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut in_template = false;
    for char in text.chars() {
        let ends = |pair: &str| word.ends_with(pair);
        if in_template {
            in_template = !(char == '}' && ends("}"));
            word.push(char);
            continue;
        }
        in_template = char == '{' && ends("{");
        match quote {
            Some(open) if char == open => quote = None,
            None if matches!(char, '"' | '\'') => quote = Some(char),
            None if char.is_whitespace() => words.push(std::mem::take(&mut word)),
            Some(_) | None => word.push(char),
        }
        if words.len() >= MAX_WORDS {
            break;
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::words_of;

    #[test]
    fn quotes_and_templates_hold_words_together() {
        assert_eq!(words_of("a=1  b='x y' c"), ["a=1", "b=x y", "c"]);
        assert_eq!(words_of("line=\"it's\" "), ["line=it's"]);
        assert_eq!(words_of(""), [""; 0]);
        let template = "body={{ lookup('file', 'a b') }} x=1";
        assert_eq!(
            words_of(template),
            ["body={{ lookup('file', 'a b') }}", "x=1"]
        );
    }
}
