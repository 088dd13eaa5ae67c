//! The folder and the variables that what follows finds.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::language::programs;
use crate::path;
use crate::value::{LOADED, Origins, Value};

/// Files of secrets that one call loads.
const MAX_LOADED: usize = 2;
/// The longest path that a kernel takes.
const MAX_PATH: usize = 4096;

impl Scene<'_> {
    /// Relative paths start from `folder` now.
    pub(crate) fn enter(&mut self, folder: &Value) {
        let cwd = path::absolute(&folder.text, &self.cwd, &self.world.home);
        // No kernel goes deeper.
        if cwd.len() <= MAX_PATH {
            self.cwd = cwd;
        }
    }

    /// A variable is set for programs that run from here on.
    pub(crate) fn set_environment(&mut self, actor: &Actor, name: &str, value: &Value) -> Fueled {
        self.variables.insert(name.to_owned(), vec![value.clone()]);
        self.run_by_variable(actor, name, value)?;
        if name.chars().any(char::is_lowercase) || name.len() < 3 || name == "IFS" {
            return Ok(());
        }
        let effect = actor
            .does(Kind::Env)
            .about(&format!("{name}={}", value.text))
            .of(value);
        let effect = if value.text.starts_with('/') {
            effect.at(self.place(value))
        } else {
            effect
        };
        self.emit(effect)
    }

    /// Some variables name programs that others run.
    fn run_by_variable(&mut self, actor: &Actor, name: &str, value: &Value) -> Fueled {
        if let Some(body) = value
            .text
            .strip_prefix("()")
            .filter(|_| name.starts_with("BASH_FUNC_"))
        {
            let code = value.map(format!("f() {body}; f"));
            self.apart(|scene| scene.shell(actor, &code))?;
            return Ok(());
        }
        let prompt = programs::variable_prompts(name);
        let program = programs::variable_runs(name);
        if !value.is_known() || value.text.is_empty() || !(program || prompt) {
            return Ok(());
        }
        let code = if prompt {
            value.map(format!("echo \"{}\"", value.text))
        } else {
            value.clone()
        };
        self.apart(|scene| scene.shell(actor, &code))?;
        Ok(())
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

    fn is_loaded(&self, name: &str) -> bool {
        let exported = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        !self.loaded.is_empty() && name.len() > 1 && name.chars().all(exported) && !is_plain(name)
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
            "PWD" => self.cwd.clone(),
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
