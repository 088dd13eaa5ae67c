//! The folder and the variables that what follows finds.

use super::folder::Folder;
use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::language::programs;
use crate::language::variables::{self, Use};
use crate::path::{self, PathClass, Place};
use crate::tag::Tag;
use crate::value::{LOADED, Origins, Value};

/// Files of secrets that one call loads.
const MAX_LOADED: usize = 2;
/// The longest path that a kernel takes.
const MAX_PATH: usize = 4096;
/// Files and settings that one variable may name.
const MAX_PARTS: usize = 16;
/// Options that one variable may hold.
const MAX_WORDS: usize = 64;

impl Scene<'_> {
    /// Relative paths start from `folder` now.
    pub(crate) fn enter(&mut self, folder: &Value) {
        let cwd = path::absolute(
            &folder.text,
            self.folder_for(&folder.text),
            &self.world.home,
        );
        // No kernel goes deeper.
        if cwd.len() <= MAX_PATH {
            self.cwd = Folder::entered(cwd);
        }
    }

    /// A variable is set for programs that run from here on.
    pub(crate) fn set_environment(&mut self, actor: &Actor, name: &str, value: &Value) -> Fueled {
        self.variables.insert(name.to_owned(), vec![value.clone()]);
        let injected = self.used_by_programs(actor, name, value)?;
        if !variables::is_of_note(name) && injected.is_none() {
            return Ok(());
        }
        let text = format!("{name}={}", value.text);
        let mut effect = actor.does(Kind::Env).about(&text).of(value);
        if let Some(tag) = self.doubt_of_variable(name, value) {
            effect = effect.tagged(tag);
        }
        if let Some(place) = injected {
            effect = effect.tagged(Tag::Injects).at(place);
        } else if value.text.starts_with('/') {
            effect = effect.at(self.place(value));
        }
        self.emit(effect)
    }

    /// Some variables make programs run others, or load code. Returns where code comes from that
    /// nobody would expect in them.
    fn used_by_programs(
        &mut self,
        actor: &Actor,
        name: &str,
        value: &Value,
    ) -> Fueled<Option<Place>> {
        if let Some(body) = value
            .text
            .strip_prefix("()")
            .filter(|_| name.starts_with("BASH_FUNC_"))
        {
            let code = value.map(format!("f() {body}; f"));
            self.apart(|scene| scene.shell(actor, &code))?;
            return Ok(None);
        }
        if !value.is_known() || value.text.is_empty() {
            return Ok(None);
        }
        let Some(known) = variables::use_of(name) else {
            return self.begins_like_command(actor, value).map(|()| None);
        };
        match known {
            Use::Command => {
                // `|command %s` of less.
                let command = value.map(value.text.trim_start_matches(['|', '-', ' ']));
                self.apart(|scene| scene.shell(actor, &command))?;
                return Ok(self.odd_program(name, &command));
            }
            Use::PerhapsCommand => {
                self.marks.push(Tag::Suspect);
                let done = self.apart(|scene| scene.shell(actor, value));
                self.marks.pop();
                done?;
                return Ok(self.odd_program(name, value));
            }
            Use::Prompt => {
                let code = value.map(format!("echo \"{}\"", value.text));
                self.apart(|scene| scene.shell(actor, &code))?;
            }
            Use::Libraries => return Ok(self.odd_library(value)),
            Use::Script(language) => {
                // `ENV=production` names no file.
                if name == "ENV" && !value.text.contains('/') {
                    return Ok(None);
                }
                self.apart(|scene| scene.script(actor, language, value))?;
                return Ok(self.odd_code(value));
            }
            Use::Code(language) => {
                self.apart(|scene| scene.interpret(actor, language, value))?;
            }
            Use::OptionsOf(program, rest) => return self.options_of(actor, program, rest, value),
            Use::Programs => {
                let place = self.place(value);
                return Ok(place.is(PathClass::Temp).then_some(place));
            }
            Use::GitSettings => {
                let text = value.text.replace("'='", "=");
                for setting in text.split('\'').skip(1).step_by(2).take(MAX_PARTS) {
                    self.git_setting(&value.map(setting))?;
                }
            }
            Use::GitSetting => {
                let number = name.rsplit('_').next().unwrap_or("");
                let part = |part: &str| {
                    let values = self.variable(&format!("GIT_CONFIG_{part}_{number}"));
                    values.and_then(|values| values.first()).cloned()
                };
                if let (Some(key), Some(content)) = (part("KEY"), part("VALUE")) {
                    let setting = format!("{}={}", key.text, content.text);
                    self.git_setting(&content.map(setting))?;
                }
            }
        }
        Ok(None)
    }

    /// A value that begins with a program and its arguments is for somebody to run.
    fn begins_like_command(&mut self, actor: &Actor, value: &Value) -> Fueled {
        let (program, arguments) = value.text.split_once(' ').unwrap_or((&value.text, ""));
        // `VIMINIT='!command'`, `--bind 'start:execute(command)'`
        let holds = value.text.contains(['!', '(']) && value.text.contains(' ');
        if holds || programs::is_telling(program) && !arguments.trim().is_empty() {
            return self.touches(actor, value);
        }
        Ok(())
    }

    /// `NODE_OPTIONS` and its like: the program does with them what it does with its arguments.
    fn options_of(
        &mut self,
        actor: &Actor,
        program: &str,
        rest: &str,
        value: &Value,
    ) -> Fueled<Option<Place>> {
        let before = self.effects.len();
        // make's own language has spaces.
        let unescaped = value.text.replace("\\ ", " ").replace("$$", "$");
        let whole = value.text.contains("--eval").then_some(unescaped.as_str());
        let options = value.text.split_whitespace().take(MAX_WORDS);
        let options = options.filter(|_| whole.is_none()).chain(whole);
        let words: Vec<Value> = program
            .split(' ')
            .chain(options)
            .chain(rest.split(' '))
            .map(|word| value.map(word.trim_matches('"')))
            .collect();
        self.apart(|scene| scene.argv(&words, None))?;
        self.touches(actor, value)?;
        let loaded = self.effects.iter().skip(before);
        let loaded = loaded.filter(|e| e.kind == Kind::Run && e.is(Tag::Script));
        let paths: Vec<String> = loaded
            .filter_map(|e| e.path.as_ref())
            .map(|place| place.text.clone())
            .take(MAX_PARTS)
            .collect();
        // `-javaagent:file`, `-agentpath:file`
        let named = value.text.split_whitespace().take(MAX_PARTS);
        let named = named.filter(|word| word.contains("agent"));
        let named = named.filter_map(|word| word.split_once([':', '=']));
        let named = named.map(|(_, path)| path.split(['=', ',']).next().unwrap_or(path).to_owned());
        let paths: Vec<String> = paths.into_iter().chain(named).collect();
        Ok(paths
            .into_iter()
            .find_map(|path| self.odd_code(&Value::known(path))))
    }

    pub(super) fn git_setting(&mut self, setting: &Value) -> Fueled {
        let words = ["git", "-c"].map(Value::known);
        let mut words = words.to_vec();
        words.extend([setting.clone(), Value::known("version")]);
        self.apart(|scene| scene.argv(&words, None)).map(drop)
    }

    /// The place of a file with code, unless programs load code from there all day: the system, the
    /// project, what a package manager or this very call put there.
    fn odd_code(&self, path: &Value) -> Option<Place> {
        let place = self.place(path);
        let usual = [
            PathClass::Os,
            PathClass::System,
            PathClass::Project,
            PathClass::Workspace,
            PathClass::Startup,
            PathClass::Unknown,
            PathClass::Stream,
        ];
        let packages = [PathClass::Generated, PathClass::Cache];
        let usual = usual.iter().any(|class| place.is(*class));
        let packages = packages.iter().any(|class| place.is(*class)) && !place.is(PathClass::Temp);
        (!usual && !packages).then_some(place)
    }

    /// The same for the first of several libraries. What is built here is expected in the programs of
    /// the project, not in all.
    fn odd_library(&self, libraries: &Value) -> Option<Place> {
        let parts = libraries.text.split([':', ' ']).take(MAX_PARTS);
        let mut paths = parts.filter(|part| part.contains('/'));
        paths.find_map(|path| {
            let path = libraries.map(path);
            let own = self.place(&path);
            let own = own.is(PathClass::Project).then_some(own);
            self.odd_code(&path).or(own)
        })
    }

    /// The place of the program that a command runs, if it lies where anybody can put one. Scripts
    /// that edit for somebody are often put there, but not hidden.
    fn odd_program(&self, name: &str, command: &Value) -> Option<Place> {
        let program = command.text.split_whitespace().next()?;
        let place = self.place(&command.map(program));
        let known = self.files.get(&place.text);
        let shown = known.is_some_and(Value::is_known);
        let hidden = place.text.rsplit('/').next()?.starts_with('.');
        let odd = program.contains('/') && place.is(PathClass::Temp) && !shown;
        (odd && (hidden || !name.ends_with("EDITOR"))).then_some(place)
    }

    /// All values that a variable may have here: what the call set, or what is usual outside.
    pub(crate) fn variable(&self, name: &str) -> Option<&[Value]> {
        self.variables.get(name).map(Vec::as_slice)
    }

    /// A file of secrets is loaded: its variables are secrets from here on.
    pub(crate) fn load(&mut self, path: &str) {
        if self.loaded.len() < MAX_LOADED && !self.loaded.iter().any(|p| p == path) {
            self.loaded.push(path.to_owned());
        }
    }

    /// The same, if the file holds secrets.
    pub(crate) fn load_secrets(&mut self, path: &Value) {
        let place = self.place(path);
        if place.is(PathClass::Secret) {
            self.load(&place.text);
        }
    }

    fn is_loaded(&self, name: &str) -> bool {
        let exported = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        !self.loaded.is_empty() && name.len() > 1 && name.chars().all(exported) && !is_plain(name)
    }

    /// What a variable holds that may come from a file of secrets.
    pub(crate) fn loaded_variable(&self, name: &str) -> Option<Value> {
        let value = || self.with_loaded(Value::unknown(Origins::ENVIRONMENT));
        let counts = is_secret(name) && !self.loaded.is_empty() || self.is_loaded(name);
        counts.then(value)
    }

    fn with_loaded(&self, mut value: Value) -> Value {
        for path in &self.loaded {
            value.add_source(&format!("{LOADED}{path}"));
        }
        value
    }

    /// All variables, as `env` prints them.
    pub(crate) fn environment(&self) -> Value {
        let mut origins = Origins::ENVIRONMENT;
        if !self.loaded.is_empty() {
            origins |= Origins::SECRET;
        }
        self.with_loaded(Value::unknown(origins).with_source("environment"))
    }

    /// A text is shown: if variables of a file of secrets are in it, the file is.
    pub(crate) fn shows(&mut self, actor: &Actor, text: &Value) -> Fueled {
        for path in text.loaded() {
            let place = self.place(&Value::known(path));
            self.emit(actor.does(Kind::Read).at(place))?;
        }
        Ok(())
    }

    /// What a variable that the call does not set usually holds.
    pub(crate) fn usual_variable(&self, name: &str) -> Value {
        let world = self.world;
        let project = || world.project.clone().unwrap_or_else(|| world.cwd.clone());
        let known = match name {
            "HOME" | "ZDOTDIR" => world.home.clone(),
            "PWD" => self.folder().to_owned(),
            "USER" | "LOGNAME" => world.home.rsplit('/').next().unwrap_or("").to_owned(),
            "TMPDIR" | "TMP" | "TEMP" | "RUNNER_TEMP" | "XDG_RUNTIME_DIR" => "/tmp".to_owned(),
            "XDG_CONFIG_HOME" => format!("{}/.config", world.home),
            "XDG_STATE_HOME" => format!("{}/.local/state", world.home),
            "XDG_DATA_HOME" => format!("{}/.local/share", world.home),
            "XDG_CACHE_HOME" => format!("{}/.cache", world.home),
            "CARGO_HOME" => format!("{}/.cargo", world.home),
            "NVM_DIR" => format!("{}/.nvm", world.home),
            "PYENV_ROOT" => format!("{}/.pyenv", world.home),
            "GNUPGHOME" => format!("{}/.gnupg", world.home),
            "HISTFILE" => format!("{}/.bash_history", world.home),
            "GITHUB_WORKSPACE"
            | "CI_PROJECT_DIR"
            | "CLAUDE_PROJECT_DIR"
            | "WORKSPACE"
            | "BUILD_SOURCESDIRECTORY" => project(),
            "IFS" => " \t\n".to_owned(),
            "PATH" => "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned(),
            "SHELL" | "BASH" => "/bin/bash".to_owned(),
            "OSTYPE" => "linux-gnu".to_owned(),
            "PS4" => "+ ".to_owned(),
            "HOSTTYPE" => "x86_64".to_owned(),
            "MACHTYPE" => "x86_64-pc-linux-gnu".to_owned(),
            _ if is_secret(name) || self.is_loaded(name) => {
                let value = Value::unknown(Origins::ENVIRONMENT).with_source(&format!("${name}"));
                return self.with_loaded(value);
            }
            _ => return Value::unknown(Origins::UNKNOWN),
        };
        Value::known(known)
    }
}

/// Names whose values nobody hides: where something is, how it is set.
const PLAIN: [&str; 34] = [
    "HOST", "HOSTNAME", "PORT", "URL", "URI", "ENV", "REGION", "ZONE", "NAME", "USER", "USERNAME",
    "MODEL", "DOMAIN", "PATH", "DIR", "FILE", "ID", "MODE", "LEVEL", "DEBUG", "TZ", "LANG",
    "VERSION", "BRANCH", "EMAIL", "BUCKET", "ENDPOINT", "BASE", "ORIGIN", "TAG", "IMAGE",
    "PROJECT", "ADDRESS", "IP",
];

/// Whether a variable of a file of secrets is hidden from nobody.
fn is_plain(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or(name);
    PLAIN.contains(&last)
}

/// Names that people give to secrets.
pub(crate) fn is_secret(name: &str) -> bool {
    const PARTS: [&str; 9] = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "API_KEY",
        "APIKEY",
        "ACCESS_KEY",
        "PRIVATE_KEY",
        "CREDENTIAL",
    ];
    /// Addresses that hold a password.
    const ADDRESSES: [&str; 8] = [
        "DATABASE_URL",
        "DATABASE_URI",
        "DB_URL",
        "MONGO_URI",
        "MONGODB_URI",
        "REDIS_URL",
        "_DSN",
        "CONNECTION_STRING",
    ];
    /// They say where a secret is, or what it looks like, and not the secret.
    const ABOUT: [&str; 6] = ["_FILE", "_PATH", "_URL", "_DIR", "_NAME", "_ID"];
    let name = name.to_ascii_uppercase();
    let named = PARTS.iter().any(|p| name.contains(p))
        || name.ends_with("_KEY") && !name.contains("PUBLI") && name.matches('_').count() == 1;
    named && !ABOUT.iter().any(|end| name.ends_with(end))
        || ADDRESSES.iter().any(|end| name.ends_with(end))
}
