//! What the shell does itself.

use super::Shell;
use super::print::{echo, printf};
use crate::commands::evidence;
use crate::effect::{Actor, Kind};
use crate::language::{Language, variables};
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};

impl Shell<'_, '_> {
    /// Runs a builtin; `None` if `words` name none.
    pub(super) fn builtin(&mut self, words: &[Value]) -> Fueled<Option<Value>> {
        let Some((name, arguments)) = words.split_first() else {
            return Ok(None);
        };
        let actor = || Actor::new(&name.text, &evidence(words));
        if takes_names(&name.text) {
            for word in arguments {
                self.hidden_in_name(&word.text)?;
            }
        }
        let output = match name.text.as_str() {
            "cd" | "pushd" | "chdir" => {
                self.scene.fuel.spend_on(self.scene.folder().len() * 8)?;
                self.change_folder(arguments);
                Value::default()
            }
            "pwd" => Value::known(format!("{}\n", self.scene.folder())),
            "echo" | "print" => echo(arguments),
            "printf" => self.printf(arguments)?,
            "eval" => {
                let code = Value::join(arguments, " ");
                self.loads(&code);
                self.scene.executes(&actor(), &code)?;
                self.nested(|shell| shell.text(&code))?
            }
            "exec" => self.exec(arguments)?,
            "command" | "builtin" | "noglob" | "nocorrect" | "-" => self.command(arguments)?,
            "source" | "." => self.sources(actor(), arguments)?,
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                self.declare(&name.text, arguments)?;
                let named = |a: &Value| !a.text.starts_with('-');
                // `declare -p`, `export -p`, and `export` alone print all there is.
                if arguments.iter().any(named) || name.text == "local" {
                    Value::default()
                } else {
                    self.scene.environment()
                }
            }
            "unset" => self.unset(&actor(), arguments)?,
            "set" => self.set(&actor(), arguments)?,
            "fish_add_path" => {
                let file = Value::known("~/.config/fish/config.fish");
                let line = Value::known(format!("fish_add_path {}\n", evidence(arguments)));
                self.scene.write(&actor(), &file, &line, true)?;
                Value::default()
            }
            "shift" => self.shift(arguments),
            "read" | "mapfile" | "readarray" => self.reads(&name.text, arguments)?,
            "trap" => self.trap(arguments)?,
            "alias" => self.name_aliases(arguments),
            "ztcp" => self.ztcp(&actor(), arguments)?,
            "history" => self.history(&actor(), arguments)?,
            "hash" => self.hash(arguments),
            "enable" => {
                if arguments.iter().any(|a| a.text.starts_with("-f")) {
                    let effect = actor().does(Kind::ExecuteOpaque).tagged(Tag::Native);
                    self.scene.emit(effect)?;
                }
                Value::default()
            }
            "complete" | "compgen" => {
                // `-C command` runs it to find words.
                let at = arguments.iter().position(|a| a.text == "-C");
                if let Some(code) = at.and_then(|at| arguments.get(at + 1)).cloned() {
                    self.nested(|shell| shell.text(&code))?;
                }
                Value::unknown(Origins::OUTPUT)
            }
            "let" => {
                for word in arguments {
                    self.arithmetic(&crate::syntax::Word::quoted(word.text.clone()))?;
                }
                Value::default()
            }
            "test" | "[" | ":" | "true" | "false" | "popd" | "unalias" => Value::default(),
            "exit" | "return" | "break" | "continue" | "wait" | "jobs" | "bg" | "fg" | "disown"
            | "type" | "getopts" | "umask" | "ulimit" | "shopt" | "setopt" | "unsetopt"
            | "autoload" | "bind" | "times" | "caller" | "logout" | "suspend" | "fc" | "dirs" => {
                Value::unknown(Origins::OUTPUT)
            }
            _ => return Ok(None),
        };
        Ok(Some(output))
    }

    /// `source file`, `. file`
    fn sources(&mut self, mut actor: Actor, arguments: &[Value]) -> Fueled<Value> {
        let Some(path) = arguments.first() else {
            return Ok(Value::default());
        };
        // A shell that shows what it reads shows this too.
        let shows = |w: &str| w.starts_with('-') && !w.starts_with("--") && w.contains(['x', 'v']);
        if !self.scene.command.split_whitespace().any(shows) {
            actor.tags.push(Tag::Sourced);
        }
        self.scene.grant_known(path);
        self.source(&actor, path)
    }

    fn unset(&mut self, actor: &Actor, arguments: &[Value]) -> Fueled<Value> {
        for variable in arguments.iter().filter(|a| !a.text.starts_with('-')) {
            self.scene.variables.remove(&variable.text);
            if let Some((name, index)) = variable.text.split_once('[') {
                self.unset_element(name, index.trim_end_matches(']'));
            } else {
                self.unset_array(&variable.text);
            }
            let exported = |c: char| c.is_ascii_uppercase() || c == '_';
            if variable.text.chars().all(exported) {
                let effect = actor.does(Kind::Env).tagged(Tag::Unset);
                self.scene
                    .emit(effect.about(&format!("{}=", variable.text)))?;
            } else if variable.text.contains(HOLE) {
                // Nobody knows which: any of them.
                let effect = actor.does(Kind::Env).tagged(Tag::Unset);
                self.scene.emit(effect.about("*="))?;
            }
        }
        Ok(Value::default())
    }

    fn set(&mut self, actor: &Actor, arguments: &[Value]) -> Fueled<Value> {
        if evidence(arguments).contains("+o history") {
            let effect = actor.does(Kind::Env).about("HISTFILE=");
            self.scene.emit(effect)?;
        }
        // fish: for every shell that starts from here on.
        let universal = |a: &Value| {
            a.text == "--universal"
                || a.text.starts_with('-') && !a.text.starts_with("--") && a.text.contains('U')
        };
        if arguments.iter().any(universal) {
            let mut words = arguments.iter().filter(|a| !a.text.starts_with('-'));
            let name = words.next().map_or("", |word| word.text.as_str());
            let path =
                name.ends_with("_paths") || name.ends_with("PATH") || name.ends_with("_path");
            let value = arguments.last().map_or("", |word| word.text.as_str());
            if path || variables::loads(name, value) {
                let file = Value::known("~/.config/fish/config.fish");
                let line = Value::known(format!("set -gx {}\n", evidence(arguments)));
                self.scene.write(actor, &file, &line, true)?;
            }
        }
        if let Some(at) = arguments.iter().position(|a| a.text == "--") {
            self.arguments = arguments.get(at + 1..).unwrap_or(&[]).to_vec();
        } else if arguments.is_empty() {
            return Ok(self.scene.environment());
        }
        Ok(Value::default())
    }

    fn shift(&mut self, arguments: &[Value]) -> Value {
        let count = arguments.first().map_or(Some(1), |a| a.text.parse().ok());
        // More than there are, and nothing happens.
        if let Some(count) = count.filter(|c| *c <= self.arguments.len()) {
            self.arguments.drain(..count);
        }
        Value::default()
    }

    fn reads(&mut self, name: &str, arguments: &[Value]) -> Fueled<Value> {
        if let Some(at) = arguments.iter().position(|a| a.text == "-C")
            && let Some(code) = arguments.get(at + 1).cloned()
        {
            self.nested(|shell| shell.text(&code))?;
        }
        if name == "read" {
            self.read(arguments);
        } else {
            self.read_lines(arguments);
        }
        Ok(Value::default())
    }

    /// `trap 'code' EXIT`
    fn trap(&mut self, arguments: &[Value]) -> Fueled<Value> {
        if let [code, _, ..] = arguments
            && !code.text.starts_with('-')
        {
            self.nested(|shell| shell.text(code))?;
        }
        Ok(Value::default())
    }

    fn name_aliases(&mut self, arguments: &[Value]) -> Value {
        for word in arguments {
            if let Some((alias, code)) = word.text.split_once('=') {
                self.aliases.insert(alias.to_owned(), code.to_owned());
            }
        }
        Value::default()
    }

    /// zsh's own connection; its number comes in `REPLY`.
    fn ztcp(&mut self, actor: &Actor, arguments: &[Value]) -> Fueled<Value> {
        if let Some(host) = arguments.iter().find(|a| !a.text.starts_with('-')) {
            self.scene.reaches(actor, Kind::Connect, host)?;
            self.connections.insert(9, host.clone());
            self.assign("REPLY", vec![Value::known("9")]);
        }
        Ok(Value::default())
    }

    fn history(&mut self, actor: &Actor, arguments: &[Value]) -> Fueled<Value> {
        let reads = |a: &Value| a.text.starts_with('-') && a.text.contains(['r', 'n']);
        if let Some(at) = arguments.iter().position(reads) {
            let file = arguments.get(at + 1).cloned();
            let file = file.or_else(|| self.value_of("HISTFILE"));
            let file = file.unwrap_or_else(|| self.default_of("HISTFILE"));
            self.scene.read(actor, &file)?;
        }
        let clears = |a: &Value| a.text.starts_with('-') && a.text.contains(['c', 'd', 'w']);
        // Other shells have words for it: `history clear`, `history delete …`.
        let first = arguments.first().map_or("", |a| a.text.as_str());
        let says = matches!(
            first,
            "clear" | "clear-session" | "delete" | "wipe" | "flush" | "merge-clear"
        );
        if says || arguments.iter().any(clears) {
            let path = Value::known("~/.bash_history");
            self.scene.delete(actor, &path)?;
        }
        Ok(Value::unknown(Origins::OUTPUT))
    }

    /// `hash -p /path name`
    fn hash(&mut self, arguments: &[Value]) -> Value {
        if let [option, path, names @ ..] = arguments
            && option.text == "-p"
        {
            for name in names {
                self.aliases.insert(name.text.clone(), path.text.clone());
            }
        }
        Value::default()
    }

    /// Code in code, in this very shell; bounded as all code is.
    fn nested(&mut self, run: impl FnOnce(&mut Self) -> Fueled<Value>) -> Fueled<Value> {
        if self.calls >= super::MAX_CALLS {
            self.scene.too_deep(&Actor::new("shell", ""))?;
            return Ok(Value::unknown(Origins::OUTPUT));
        }
        self.calls += 1;
        let output = run(self);
        self.calls -= 1;
        output
    }

    /// `cd x`, `cd -`; the folder that is left is remembered.
    fn change_folder(&mut self, arguments: &[Value]) {
        let folder = arguments
            .iter()
            .find(|a| !a.text.starts_with('-') || a.text == "-");
        let folder = folder.cloned().unwrap_or(Value::known("~"));
        let left = Value::known(self.scene.folder());
        if folder.text == "-" {
            let last = self.value_of("OLDPWD");
            let last = last.unwrap_or_else(|| Value::unknown(Origins::UNKNOWN));
            self.scene.enter(&last);
        } else {
            self.scene.enter(&folder);
        }
        let now = Value::known(self.scene.folder());
        self.assign("OLDPWD", vec![left]);
        self.assign("DIRSTACK", vec![now]);
    }

    fn exec(&mut self, arguments: &[Value]) -> Fueled<Value> {
        let mut rest = arguments;
        while let Some((option, after)) =
            rest.split_first().filter(|(o, _)| o.text.starts_with('-'))
        {
            rest = if option.text == "-a" {
                after.get(1..).unwrap_or(&[])
            } else {
                after
            };
        }
        self.words(rest, &[])
    }

    /// `command x` runs `x`; `command -v x` only names it.
    fn command(&mut self, arguments: &[Value]) -> Fueled<Value> {
        let options = arguments.iter().take_while(|a| a.text.starts_with('-'));
        let names = options.clone().any(|a| a.text.contains(['v', 'V']));
        let rest = arguments.get(options.count()..).unwrap_or(&[]);
        if names {
            let name = rest.first().cloned().unwrap_or_default();
            // Where a guard's own program lies matters to whoever copies it.
            return Ok(if self.scene.know.own.is_program(&name.text) {
                name.map(format!("/usr/bin/{}", name.text))
            } else {
                name
            });
        }
        self.nested(|shell| shell.words(rest, &[]))
    }

    fn source(&mut self, actor: &Actor, path: &Value) -> Fueled<Value> {
        let from_input = matches!(
            path.text.as_str(),
            "/dev/stdin" | "/dev/fd/0" | "-" | "/proc/self/fd/0"
        );
        let code = match &self.stdin {
            Some(stdin) if from_input => stdin.clone(),
            _ => self.scene.read(actor, path)?,
        };
        let loose = Origins::FETCHED | Origins::DECODED;
        if code.is_known() || code.origins.any(loose) {
            self.scene.executes(actor, &code)?;
            return self.nested(|shell| shell.text(&code));
        }
        self.scene.note_sources(&code, Language::Shell);
        self.loads(&code);
        Ok(Value::unknown(Origins::OUTPUT))
    }

    /// What a file of secrets says becomes variables.
    fn loads(&mut self, code: &Value) {
        if !code.is_known() && code.origins.any(Origins::SECRET) {
            for source in code.sources.iter().filter(|s| s.starts_with('/')) {
                self.scene.load(source);
            }
        }
    }

    fn declare(&mut self, by: &str, arguments: &[Value]) -> Fueled {
        let refers = by != "export" && has_letter(arguments, 'n');
        let maps = declares_maps(arguments);
        let exports = by == "export" || has_letter(arguments, 'x');
        for word in arguments {
            if maps {
                let name = word.text.split(['=', '+']).next().unwrap_or("");
                self.set_map(name);
            }
            if word.text.starts_with('-') {
                if by == "export" && word.text == "-f" {
                    return Ok(());
                }
                continue;
            }
            let Some((name, value)) = word.text.split_once('=') else {
                // `export $(cat .env | xargs)`
                self.loads(word);
                continue;
            };
            let name = name.trim_end_matches('+').to_owned();
            let value = word.map(value);
            if refers {
                self.references.insert(name, value.text);
            } else if exports {
                let actor = Actor::new(by, &evidence(std::slice::from_ref(word)));
                self.scene.set_environment(&actor, &name, &value)?;
            } else {
                self.assign(&name, vec![value]);
            }
        }
        Ok(())
    }

    fn printf(&mut self, arguments: &[Value]) -> Fueled<Value> {
        if let [option, name, rest @ ..] = arguments
            && option.text == "-v"
        {
            let value = printf(rest, self.scene.fuel)?;
            self.assign(&name.text, vec![value]);
            return Ok(Value::default());
        }
        let arguments = if arguments.first().is_some_and(|a| a.text == "--") {
            arguments.get(1..).unwrap_or(&[])
        } else {
            arguments
        };
        printf(arguments, self.scene.fuel)
    }
}

/// `declare -A`, `local -rA`
pub(super) fn declares_maps(words: &[Value]) -> bool {
    has_letter(words, 'A')
}

fn has_letter(words: &[Value], letter: char) -> bool {
    let mut options = words.iter().filter(|w| w.text.starts_with('-'));
    options.any(|w| w.text.contains(letter))
}

/// Builtins whose arguments are names of variables.
fn takes_names(builtin: &str) -> bool {
    matches!(
        builtin,
        "test"
            | "["
            | "unset"
            | "printf"
            | "read"
            | "mapfile"
            | "readarray"
            | "declare"
            | "typeset"
            | "local"
            | "readonly"
            | "export"
            | "let"
            | "wait"
    )
}
