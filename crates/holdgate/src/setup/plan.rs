//! What is written for each agent, and where.

use super::json::{Entry, What, object};
use crate::args::HookAgent;
use crate::check::quoted;
use crate::config::{Config, JUDGE_KEY, RUN_VARIABLE, VARIABLES};
use anyhow::Context as _;
use jsonc_parser::cst::CstInputValue as Value;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

/// How long clients wait for the hook, in seconds: longer than it takes to refuse by itself.
const TIMEOUT: u32 = 60;
/// Variables that say where settings and state are.
const PLACES: [&str; 3] = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];
const PLUGIN: &str = include_str!("opencode.js");

/// What is written for one agent.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) agent: HookAgent,
    /// The command, as a shell runs it.
    pub(crate) command: String,
    pub(crate) files: Vec<File>,
    /// What was asked for and cannot be done.
    pub(crate) left_out: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(super) content: Content,
}

/// What of a file is ours.
#[derive(Debug)]
pub(super) enum Content {
    /// Entries of a JSON file.
    Entries(Vec<Entry>),
    /// Codex runs only hooks whose hash is in its settings: the file of the hooks.
    CodexTrust {
        hooks: PathBuf,
        proxy: Option<String>,
    },
    /// All of it.
    Whole(String),
}

/// Where the user's files are, and what is to be written into them.
#[derive(Debug)]
pub(crate) struct Here {
    home: PathBuf,
    program: PathBuf,
    /// The variables of this process.
    variables: Vec<(String, String)>,
    /// The variables that the hook is given.
    given: Vec<(String, String)>,
    /// Where the proxy listens.
    address: String,
}

impl Here {
    /// This machine, by these settings.
    pub(crate) fn new(
        config: &Config,
        variables: Vec<(String, String)>,
        program: PathBuf,
    ) -> anyhow::Result<Here> {
        let home = config
            .home
            .clone()
            .context("there is no home folder: set HOME")?;
        let mut given: Vec<(String, String)> = variables
            .iter()
            .filter(|(name, value)| counts(name) && !value.is_empty())
            .cloned()
            .collect();
        let mut give = |name: &str, path: Option<&Path>, usual: PathBuf| {
            if let Some(path) = path.filter(|path| **path != usual) {
                let path = std::path::absolute(path)?;
                given.retain(|(known, _)| known != name);
                given.push((name.to_owned(), path.display().to_string()));
            }
            anyhow::Ok(())
        };
        let usual = Path::new(&home);
        let settings = usual.join(".config/holdgate/holdgate.toml");
        give("HOLDGATE_CONFIG", config.file.as_deref(), settings)?;
        let state = usual.join(".local/state/holdgate");
        give("HOLDGATE_STATE_DIR", Some(&config.state_dir), state)?;
        given.sort_by_key(|(name, _)| (name != "HOME", name.clone()));
        Ok(Here {
            home: home.into(),
            program,
            variables,
            given,
            address: format!("http://{}", config.proxy.listen),
        })
    }

    /// What is written for `agent`; with `proxy`, also where its requests go.
    pub(crate) fn plan(&self, agent: HookAgent, proxy: bool) -> Plan {
        let command = self.command(agent);
        let (files, left_out) = match agent {
            HookAgent::ClaudeCode => {
                let mut entries = grouped(&CLAUDE, &command, TIMEOUT, true);
                if proxy {
                    entries.push(Entry {
                        path: &["env", "ANTHROPIC_BASE_URL"],
                        what: What::Text(self.address.clone()),
                    });
                }
                let path = self
                    .folder("CLAUDE_CONFIG_DIR", ".claude")
                    .join("settings.json");
                (vec![entries_in(path, entries)], None)
            }
            HookAgent::Codex => {
                let folder = self.folder("CODEX_HOME", ".codex");
                let hooks = folder.join("hooks.json");
                let entries = grouped(&CODEX, &command, TIMEOUT, false);
                let trust = File {
                    path: folder.join("config.toml"),
                    content: Content::CodexTrust {
                        hooks: hooks.clone(),
                        proxy: proxy.then(|| self.address.clone()),
                    },
                };
                (vec![entries_in(hooks, entries), trust], None)
            }
            HookAgent::Gemini => {
                let entries = grouped(&GEMINI, &command, 1000 * TIMEOUT, true);
                let path = self.home.join(".gemini/settings.json");
                (vec![entries_in(path, entries)], proxy.then_some(BY_RUN))
            }
            HookAgent::Cursor => {
                let path = self.home.join(".cursor/hooks.json");
                (
                    vec![entries_in(path, cursor(&command))],
                    proxy.then_some(BY_RUN),
                )
            }
            HookAgent::Opencode => {
                let folder = self.folder("XDG_CONFIG_HOME", ".config");
                let path = folder.join("opencode/plugin/holdgate.js");
                let words = serde_json::Value::from(self.words(agent)).to_string();
                let content = Content::Whole(PLUGIN.replace("COMMAND_WORDS", &words));
                (vec![File { path, content }], proxy.then_some(BY_RUN))
            }
        };
        Plan {
            agent,
            command,
            files,
            left_out,
        }
    }

    /// Whether the agent's program or settings are on this machine.
    pub(crate) fn has(&self, agent: HookAgent) -> bool {
        let (programs, folder): (&[&str], PathBuf) = match agent {
            HookAgent::ClaudeCode => (&["claude"], self.folder("CLAUDE_CONFIG_DIR", ".claude")),
            HookAgent::Codex => (&["codex"], self.folder("CODEX_HOME", ".codex")),
            HookAgent::Gemini => (&["gemini"], self.home.join(".gemini")),
            HookAgent::Cursor => (&["cursor", "cursor-agent"], self.home.join(".cursor")),
            HookAgent::Opencode => {
                let folder = self.folder("XDG_CONFIG_HOME", ".config");
                (&["opencode"], folder.join("opencode"))
            }
        };
        folder.is_dir() || programs.iter().any(|name| self.program(name).is_some())
    }

    /// A program on the path.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.variable("PATH")?;
        let mut places = std::env::split_paths(&path).map(|dir| dir.join(name));
        places.find(|path| path.is_file())
    }

    fn variable(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.clone())
            .filter(|value| !value.is_empty())
    }

    fn folder(&self, variable: &str, usual: &str) -> PathBuf {
        let named = self.variable(variable).map(PathBuf::from);
        named.unwrap_or_else(|| self.home.join(usual))
    }

    fn words(&self, agent: HookAgent) -> Vec<String> {
        let program = self.program.display().to_string();
        let mut words = vec![program, "hook".to_owned(), agent.word().to_owned()];
        for (name, value) in &self.given {
            words.extend(["--set".to_owned(), format!("{name}={value}")]);
        }
        words
    }

    /// Clients run a call whose hook fails with any other code than 2: also one that is not there.
    fn command(&self, agent: HookAgent) -> String {
        let words: Vec<String> = self.words(agent).iter().map(|w| quoted(w)).collect();
        format!("{} || exit 2", words.join(" "))
    }
}

/// Whether a command in an agent's settings is a hook of ours, of any version.
pub(super) fn is_ours(agent: HookAgent, command: &str) -> bool {
    let start = format!(" hook {} --set ", agent.word());
    // A home with a space in its name is in quotes.
    let mut behind = command.split(&start).skip(1);
    behind.any(|words| words.trim_start_matches('\'').starts_with("HOME="))
}

const BY_RUN: &str = "its address cannot be set in its settings; start it with `holdgate run`";

/// Whether a hook is given this variable.
fn counts(name: &str) -> bool {
    let secret = [JUDGE_KEY, RUN_VARIABLE].contains(&name);
    PLACES.contains(&name) || name.starts_with(VARIABLES) && !secret
}

const CLAUDE: [&[&str]; 3] = [
    &["hooks", "PreToolUse"],
    &["hooks", "PostToolUse"],
    &["hooks", "PostToolUseFailure"],
];
pub(super) const CODEX: [&[&str]; 2] = [&["hooks", "PreToolUse"], &["hooks", "PostToolUse"]];
const GEMINI: [&[&str]; 2] = [&["hooks", "BeforeTool"], &["hooks", "AfterTool"]];

fn entries_in(path: PathBuf, entries: Vec<Entry>) -> File {
    let content = Content::Entries(entries);
    File { path, content }
}

/// Hooks in groups, each with a matcher if the client wants one.
fn grouped(
    events: &[&'static [&'static str]],
    command: &str,
    timeout: u32,
    matcher: bool,
) -> Vec<Entry> {
    let entry = |path: &&'static [&'static str]| {
        let hook = object([
            ("type", Value::String("command".to_owned())),
            ("command", Value::String(command.to_owned())),
            ("timeout", Value::Number(timeout.to_string())),
        ]);
        let hooks = ("hooks", Value::Array(vec![hook]));
        let item = if matcher {
            object([("matcher", Value::String("*".to_owned())), hooks])
        } else {
            object([hooks])
        };
        let command = command.to_owned();
        Entry {
            path,
            what: What::Hook { item, command },
        }
    };
    events.iter().map(entry).collect()
}

fn cursor(command: &str) -> Vec<Entry> {
    let version = Entry {
        path: &["version"],
        what: What::Number(1),
    };
    let events: [&[&str]; 7] = [
        &["hooks", "beforeShellExecution"],
        &["hooks", "beforeMCPExecution"],
        &["hooks", "beforeReadFile"],
        &["hooks", "preToolUse"],
        &["hooks", "afterShellExecution"],
        &["hooks", "afterMCPExecution"],
        &["hooks", "postToolUse"],
    ];
    let entry = |path: &'static [&'static str]| {
        let item = object([
            ("command", Value::String(command.to_owned())),
            ("timeout", Value::Number(TIMEOUT.to_string())),
            ("failClosed", Value::Bool(true)),
        ]);
        let command = command.to_owned();
        Entry {
            path,
            what: What::Hook { item, command },
        }
    };
    std::iter::once(version).chain(events.map(entry)).collect()
}

/// The tables by which Codex trusts the hooks in this file: it compares a hash of each.
pub(super) fn codex_trust(hooks: &Path, text: &str, command: &str) -> anyhow::Result<String> {
    let mut tables = String::new();
    for (path, event) in CODEX.iter().zip(["pre_tool_use", "post_tool_use"]) {
        let place = super::json::position(text, path, command);
        let (group, at) = place.context("the hook is not in the file")?;
        let key = format!("{}:{event}:{group}:{at}", hooks.display());
        // The keys in order, without spaces.
        let identity = format!(
            r#"{{"event_name":"{event}","hooks":[{{"async":false,"command":{},"timeout":{TIMEOUT},"type":"command"}}]}}"#,
            serde_json::Value::from(command)
        );
        let hash = crate::ledger::hex(&Sha256::digest(identity));
        let key = super::toml::quoted(&key);
        tables.push_str(&format!(
            "[hooks.state.{key}]\ntrusted_hash = \"sha256:{hash}\"\n"
        ));
    }
    Ok(tables)
}
