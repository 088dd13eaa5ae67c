//! Commands in a tree, as JSON, YAML, TOML and HCL spell it: scripts of packages, steps of workflows,
//! services, tasks of editors, hooks of agents, provisioners, cells of notebooks.

use super::{Reader, variables};
use crate::code::Language;
use crate::json::Json;
use crate::language::programs;
use crate::scene::Fueled;
use crate::tag::Tag;

/// Commands that stand deeper than this are run by nobody.
const MAX_DEPTH: usize = 64;

/// Which file a tree was read from. It decides which keys hold commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Yaml,
    Toml,
    Hcl,
}

/// Where in a tree the walk is.
#[derive(Clone, Copy)]
struct At<'k> {
    format: Format,
    /// The key under which this node stands.
    key: &'k str,
    /// The language of the scripts of this step.
    language: Language,
    depth: usize,
}

impl<'k> At<'k> {
    fn under(self, key: &'k str) -> At<'k> {
        let depth = self.depth + 1;
        At { key, depth, ..self }
    }
}

impl Reader<'_, '_, '_> {
    /// Says what the commands in a tree do.
    pub(super) fn tree(&mut self, tree: &Json<'_>, format: Format) -> Fueled {
        self.manifest(tree)?;
        self.access(tree)?;
        self.workflow(tree)?;
        if format == Format::Yaml {
            self.playbook(tree)?;
        }
        if let (Format::Json, Json::Object(members)) = (format, tree) {
            self.programs(members)?;
        }
        let start = At {
            format,
            key: "",
            language: Language::Shell,
            depth: 0,
        };
        self.node(tree, start)
    }

    fn node(&mut self, node: &Json<'_>, at: At<'_>) -> Fueled {
        self.scene.fuel.spend(1)?;
        if at.depth > MAX_DEPTH {
            return Ok(());
        }
        match node {
            Json::Object(members) => {
                if let Some(source) = node.get("source").filter(|_| is_cell(node)) {
                    if node.get("cell_type").and_then(Json::as_str) == Some("code") {
                        self.cell(&joined(source))?;
                    }
                    return Ok(());
                }
                self.action(node)?;
                self.starts_by_itself(node)?;
                if at.format == Format::Json && variables::are_settings(at.key) {
                    self.variables(members)?;
                }
                let language = step_language(node).unwrap_or(at.language);
                let at = At { language, ..at };
                let taken = self.program_and_arguments(node)?;
                for (name, value) in members {
                    if at.format == Format::Json {
                        match &**name {
                            "runArgs" => self.container_arguments(value)?,
                            "initializeCommand" => self.starts_on_host(value)?,
                            "mounts" | "workspaceMount" => self.mounts(value)?,
                            _ => {}
                        }
                    }
                    if !starts_elsewhere(at.key) {
                        self.loaded(name, value)?;
                    }
                    if taken && matches!(&**name, "command" | "args" | "interpreter") {
                        continue;
                    }
                    if runs(at.format, at.key, name, value) {
                        self.command(name, value, at.under(name))?;
                    } else {
                        self.node(value, at.under(name))?;
                    }
                }
                Ok(())
            }
            Json::Array(items) => {
                // A program with its arguments, whatever the key says.
                if let Some(words) = texts(node).filter(|words| is_shell_with_words(words)) {
                    self.tries(at.key, &quoted(&words))?;
                }
                // The texts of a list are about what its key says.
                for item in items {
                    let key = if item.as_str().is_some() { at.key } else { "" };
                    self.node(item, at.under(key))?;
                }
                Ok(())
            }
            Json::String(text) => {
                // A file within the file.
                if at.format == Format::Yaml && text.contains('\n') {
                    self.lines(text)?;
                }
                self.tries(at.key, text)
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => Ok(()),
        }
    }

    /// `command` with `args`, or `interpreter` with `command`: one program with its arguments.
    fn program_and_arguments(&mut self, node: &Json<'_>) -> Fueled<bool> {
        let command = node.get("command");
        let interpreter = node.get("interpreter").and_then(texts);
        if let (Some(mut words), Some(code)) = (interpreter, command.and_then(Json::as_str)) {
            words.push(code.to_owned());
            self.words(&words, None)?;
            return Ok(true);
        }
        let Some(arguments) = node.get("args").and_then(Json::as_array) else {
            return Ok(false);
        };
        let arguments = arguments.iter().filter_map(Json::as_str).map(str::to_owned);
        let mut words = match (command, command.and_then(texts)) {
            (_, Some(words)) => words,
            (Some(Json::String(program)), None) => vec![program.clone().into_owned()],
            _ => return Ok(false),
        };
        let script = command
            .and_then(Json::as_str)
            .is_some_and(|c| c.contains(' '));
        words.extend(arguments);
        if script {
            self.shell("task", &words.join(" "), None)?;
        } else {
            self.words(&words, None)?;
        }
        Ok(true)
    }

    /// `runArgs` of a container for development: what the program that starts it is given.
    fn container_arguments(&mut self, value: &Json<'_>) -> Fueled {
        let Some(given) = texts(value) else {
            return Ok(());
        };
        let mut words: Vec<String> = ["docker", "run"].map(str::to_owned).to_vec();
        words.extend(given.iter().map(|word| self.filled(word)));
        words.push("alpine".to_owned());
        self.words(&words, None)
    }

    /// The value of a key that runs it.
    fn command(&mut self, name: &str, value: &Json<'_>, at: At<'_>) -> Fueled {
        match value {
            Json::String(text) => self.script(name, text, at),
            Json::Array(items) if is_argv(name) => match texts(value) {
                Some(words) => self.words_or_commands(name, &words, at),
                None => items.iter().try_for_each(|item| self.node(item, at)),
            },
            Json::Array(items) => {
                for item in items {
                    match (item, texts(item)) {
                        (Json::String(text), _) => self.script(name, text, at)?,
                        (_, Some(words)) => self.words_or_commands(name, &words, at)?,
                        _ => self.node(item, at.under(""))?,
                    }
                }
                Ok(())
            }
            // Named commands that run side by side.
            Json::Object(members) if name.ends_with("Command") => {
                for (name, value) in members {
                    if let Some(words) = texts(value) {
                        self.words(&words, None)?;
                    } else if let Some(text) = value.as_str() {
                        self.script(name, text, at)?;
                    }
                }
                Ok(())
            }
            Json::Object(_) | Json::Null | Json::Bool(_) | Json::Number(_) => self.node(value, at),
        }
    }

    /// A list of texts that is one program with its arguments, or a list of commands: tools differ.
    fn words_or_commands(&mut self, name: &str, words: &[String], at: At<'_>) -> Fueled {
        self.words(words, elsewhere(at.format, name).then_some(Tag::Ci))?;
        let only_argv = at.format == Format::Json || !elsewhere(at.format, name);
        for word in words.iter().filter(|w| !only_argv && w.contains(' ')) {
            self.script(name, word, at)?;
        }
        Ok(())
    }

    fn script(&mut self, name: &str, text: &str, at: At<'_>) -> Fueled {
        if elsewhere(at.format, name) {
            self.step(name, text, at.language)
        } else {
            self.shell(name, text, None)
        }
    }
}

/// Whether what stands under a key runs on machines for builds, which see no hidden files of this one.
fn starts_elsewhere(key: &str) -> bool {
    matches!(key, "services" | "steps" | "jobs" | "containers")
}

/// Whether a list of words starts a shell with a command: `["sh", "-c", …]`.
fn is_shell_with_words(words: &[String]) -> bool {
    words.len() > 1 && words.first().is_some_and(|word| programs::is_shell(word))
}

/// Words as a shell would be given them.
fn quoted(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        let word = word.replace('\'', "'\\''");
        format!("'{word}'")
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Whether what `name` runs is run by a machine for builds rather than here.
pub(super) fn elsewhere(format: Format, name: &str) -> bool {
    match format {
        Format::Yaml => !matches!(name, "command" | "entrypoint" | "entry"),
        Format::Hcl => name == "inline",
        Format::Json | Format::Toml => false,
    }
}

/// Whether a list under `name` is a program with its arguments; else it is a list of commands.
fn is_argv(name: &str) -> bool {
    let names = [
        "command",
        "entrypoint",
        "entry",
        "cmd",
        "program",
        "execute",
        "runner",
    ];
    names.contains(&name) || name.ends_with("Command")
}

/// Whether `value`, under `name` in an object under `key`, is run.
fn runs(format: Format, key: &str, name: &str, value: &Json<'_>) -> bool {
    match format {
        Format::Json => value.as_object().is_none() && runs_in_json(key, name) || settings(name),
        Format::Yaml => super::fragment::YAML_KEYS.contains(&name),
        Format::Toml => runs_in_toml(key, name, value),
        Format::Hcl => matches!(name, "command" | "inline" | "program" | "execute"),
    }
}

/// Whether a text under `name`, in a JSON object under `key`, is a command.
pub(super) fn runs_in_json(key: &str, name: &str) -> bool {
    matches!(key, "scripts" | "tasks" | "gitHooks" | "hooks")
        || matches!(name, "command" | "cmd" | "run" | "shell_cmd")
        || matches!(
            name,
            "script" | "before_script" | "after_script" | "runcmd" | "bootcmd"
        )
        || settings(name)
}

/// Settings of editors and agents that name a command.
fn settings(name: &str) -> bool {
    matches!(
        name,
        "apiKeyHelper"
            | "awsAuthRefresh"
            | "awsCredentialExport"
            | "otelHeadersHelper"
            | "initializeCommand"
            | "onCreateCommand"
            | "updateContentCommand"
            | "postCreateCommand"
            | "postStartCommand"
            | "postAttachCommand"
    )
}

fn runs_in_toml(key: &str, name: &str, value: &Json<'_>) -> bool {
    let named = matches!(
        name,
        "command"
            | "cmd"
            | "run"
            | "shell"
            | "runner"
            | "rustc-wrapper"
            | "rustc-workspace-wrapper"
            | "test-command"
            | "before-all"
            | "before-build"
            | "before-test"
    );
    // A script without a blank names a function: `module:function`.
    let script = match value {
        Json::String(text) => text.contains(' '),
        Json::Array(_) => true,
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => false,
    };
    named || (matches!(key, "scripts" | "tasks" | "hooks") && script)
}

/// The language in which a step of a workflow writes its scripts, if it says so.
fn step_language(step: &Json<'_>) -> Option<Language> {
    let text = |key| step.get(key).and_then(Json::as_str);
    if text("uses").is_some_and(|action| action.contains("github-script")) {
        return Some(Language::JavaScript);
    }
    super::fragment::shell_language(text("shell")?.split_whitespace().next()?)
}

fn is_cell(node: &Json<'_>) -> bool {
    node.get("cell_type").is_some()
}

/// The items of a list that holds texts only.
fn texts(list: &Json<'_>) -> Option<Vec<String>> {
    let items = list.as_array()?.iter();
    items.map(|i| i.as_str().map(str::to_owned)).collect()
}

fn joined(source: &Json<'_>) -> String {
    match source.as_array() {
        Some(lines) => lines.iter().filter_map(Json::as_str).collect(),
        None => source.as_str().unwrap_or("").to_owned(),
    }
}
