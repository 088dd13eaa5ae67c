//! Commands in files of lines: Dockerfiles, YAML, units, crontabs, git settings.

use super::Reader;
use crate::action::code::Language;
use crate::action::code::make::joined_lines;
use crate::action::scene::Done;
use crate::json::{Json, LoneSurrogates};

/// Keys of YAML whose value is a command or a script.
const YAML_KEYS: &[&str] = &[
    "run",
    "script",
    "before_script",
    "after_script",
    "command",
    "entrypoint",
    "entry",
    "cmd",
    "cmds",
    "commands",
    "install",
    "before_install",
    "postCreateCommand",
    "bash",
    "sh",
    "powershell",
    "pwsh",
    "runcmd",
    "bootcmd",
];
/// Keys of git settings whose value is a command.
const GIT_KEYS: &[&str] = &[
    "sshcommand",
    "fsmonitor",
    "pager",
    "editor",
    "textconv",
    "helper",
    "program",
    "clean",
    "smudge",
    "process",
    "askpass",
    "cmd",
    "gitproxy",
    "driver",
    "packobjectshook",
    "diff",
    "external",
    "sequenceeditor",
    "uploadpack",
    "receivepack",
    "credentialhelper",
];

impl Reader<'_, '_, '_> {
    pub(super) fn lines(&mut self) -> Done {
        let code = self.code;
        let lines: Vec<&str> = code.text.lines().collect();
        let dockerfile = lines.iter().any(|line| {
            let word = line.split_whitespace().next().unwrap_or("");
            matches!(
                word,
                "FROM" | "RUN" | "ENTRYPOINT" | "CMD" | "COPY" | "WORKDIR"
            )
        });
        if dockerfile {
            return self.dockerfile();
        }
        let mut at = 0;
        while let Some(line) = lines.get(at).copied() {
            self.scene.fuel.spend(1)?;
            at += 1;
            let trimmed = line.trim_start();
            if trimmed.is_empty() || trimmed.starts_with('#') || trimmed.starts_with(';') {
                continue;
            }
            if let Some(command) = cron_command(trimmed) {
                self.shell("cron", command, "")?;
            } else if let Some(command) = unit_command(trimmed) {
                self.shell("unit", command, "")?;
            } else if let Some((key, value)) = yaml_key(line) {
                at = self.yaml(line, key, value, &lines, at)?;
            } else if let Some(command) = git_command(trimmed) {
                self.shell("git", command, "")?;
            } else if let Some((key, value)) = json_member(trimmed)
                && (super::json::runs("", key) || looks_like_script(key, &value))
            {
                self.shell(key, &value, "")?;
            }
        }
        Ok(())
    }

    /// The value of a YAML key that runs: in line, a block, or a list below it.
    fn yaml(
        &mut self,
        line: &str,
        key: &str,
        value: &str,
        lines: &[&str],
        from: usize,
    ) -> Done<usize> {
        let own = indent(line)
            + if line.trim_start().starts_with("- ") {
                2
            } else {
                0
            };
        let elsewhere = !matches!(key, "command" | "entrypoint" | "entry");
        let language = if elsewhere {
            step_language(lines, from)
        } else {
            Language::Shell
        };
        let mut at = from;
        if value.starts_with(['|', '>']) {
            let mut script = String::new();
            while let Some(next) = lines.get(at).copied() {
                if !next.trim().is_empty()
                    && indent(next) <= own.saturating_sub(1).max(indent(line))
                {
                    break;
                }
                script.push_str(next.trim_start());
                script.push('\n');
                at += 1;
            }
            self.run(key, &script, elsewhere, language)?;
            return Ok(at);
        }
        if value.is_empty() {
            while let Some(next) = lines.get(at).copied() {
                let Some(item) = next.trim_start().strip_prefix("- ") else {
                    if next.trim().is_empty() {
                        at += 1;
                        continue;
                    }
                    break;
                };
                if indent(next) < indent(line) {
                    break;
                }
                at += 1;
                // An item that is a mapping holds keys of its own.
                if yaml_key(next).is_none() {
                    self.run(key, unquoted(item), elsewhere, language)?;
                } else if let Some((key, value)) = yaml_key(next) {
                    at = self.yaml_item(next, key, value, lines, at)?;
                }
            }
            return Ok(at);
        }
        if value.starts_with('[')
            && let Some(words) = json_words(value)
        {
            self.words(&words, if elsewhere { "ci" } else { "" })?;
            return Ok(at);
        }
        self.run(key, unquoted(value), elsewhere, language)?;
        Ok(at)
    }

    fn run(&mut self, key: &str, script: &str, elsewhere: bool, language: Language) -> Done {
        if elsewhere {
            self.step(key, script, language)
        } else {
            self.shell(key, script, "")
        }
    }

    /// A mapping in a list, one level down; deeper ones are read as they come.
    fn yaml_item(
        &mut self,
        line: &str,
        key: &str,
        value: &str,
        lines: &[&str],
        at: usize,
    ) -> Done<usize> {
        if value.is_empty() {
            return Ok(at);
        }
        self.yaml(line, key, value, lines, at)
    }

    fn dockerfile(&mut self) -> Done {
        let text = self.code.text.clone();
        let lines = joined_lines(&text);
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            self.scene.fuel.spend(1)?;
            at += 1;
            let (word, mut rest) = split_word(line.trim());
            let word = word.to_ascii_uppercase();
            if word == "HEALTHCHECK" || word == "ONBUILD" {
                rest = match rest.find("CMD ").or_else(|| rest.find("RUN ")) {
                    Some(found) => rest.get(found + 4..).unwrap_or(""),
                    None => continue,
                };
            } else if !matches!(word.as_str(), "RUN" | "CMD" | "ENTRYPOINT") {
                continue;
            }
            while rest.starts_with("--") {
                rest = split_word(rest).1;
            }
            if rest.starts_with('[')
                && let Some(words) = json_words(rest)
            {
                self.words(&words, "container")?;
                continue;
            }
            if let Some(word) = rest.strip_prefix("<<") {
                let end = word.trim_matches(['-', '\'', '"', ' ']);
                let mut script = String::new();
                while let Some(next) = lines.get(at) {
                    at += 1;
                    if next.trim() == end {
                        break;
                    }
                    script.push_str(next);
                    script.push('\n');
                }
                self.shell("docker", &script, "container")?;
                continue;
            }
            self.shell("docker", rest, "container")?;
        }
        Ok(())
    }
}

/// The language of the script that the line before `from` starts, by what else its step says.
fn step_language(lines: &[&str], from: usize) -> Language {
    let starts_step = |line: &str| line.trim_start().starts_with("- ");
    let before = lines.iter().take(from).rev().take(8);
    let first = before.clone().position(|line| starts_step(line));
    let step = before.take(first.map_or(8, |at| at + 1));
    let rest = lines.iter().skip(from).take(40);
    for line in step.chain(rest.take_while(|line| !starts_step(line))) {
        let line = line.trim().trim_start_matches("- ");
        if line.starts_with("uses:") && line.contains("github-script") {
            return Language::JavaScript;
        }
        match line.strip_prefix("shell:").map(str::trim) {
            Some("pwsh" | "powershell" | "cmd") => return Language::PowerShell,
            Some("python") => return Language::Python,
            Some("node") => return Language::JavaScript,
            _ => {}
        }
    }
    Language::Shell
}

fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

/// `["a", "b"]` as words.
fn json_words(text: &str) -> Option<Vec<String>> {
    let json = Json::read(text.trim().as_bytes(), 2, LoneSurrogates::Replace).ok()?;
    let items = json.as_array()?;
    Some(
        items
            .iter()
            .filter_map(Json::as_str)
            .map(str::to_owned)
            .collect(),
    )
}

/// A key of YAML that runs something, and what stands behind it.
fn yaml_key(line: &str) -> Option<(&str, &str)> {
    let body = line.trim_start();
    let body = body.strip_prefix("- ").unwrap_or(body).trim_start();
    let (key, value) = body.split_once(':')?;
    let spaced = value.is_empty() || value.starts_with(' ');
    (spaced && YAML_KEYS.contains(&key)).then_some((key, value.trim()))
}

/// The command of a line of a crontab: five fields of time, or `@daily`, and perhaps a user.
fn cron_command(line: &str) -> Option<&str> {
    let mut rest = line;
    if line.starts_with('@') {
        let (word, after) = split_word(line);
        let names = [
            "@reboot",
            "@hourly",
            "@daily",
            "@weekly",
            "@monthly",
            "@yearly",
            "@midnight",
        ];
        if !names.contains(&word) {
            return None;
        }
        rest = after;
    } else {
        for _ in 0..5 {
            let (field, after) = split_word(rest);
            let first = field.chars().next()?;
            let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '*' | '/' | ',' | '-');
            if !(first == '*' || first.is_ascii_digit() || is_day(field))
                || !field.chars().all(allowed)
            {
                return None;
            }
            rest = after;
        }
    }
    let (first, after) = split_word(rest);
    let users = [
        "root", "www-data", "nobody", "daemon", "ubuntu", "admin", "user", "dev",
    ];
    if rest.is_empty() {
        return None;
    }
    Some(if users.contains(&first) { after } else { rest })
}

fn is_day(field: &str) -> bool {
    let day = field
        .split(['-', ','])
        .next()
        .unwrap_or("")
        .to_ascii_lowercase();
    let names = [
        "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun",
        "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    names.contains(&day.as_str())
}

/// `ExecStart=…` of a unit, `Exec=…` of a desktop entry.
fn unit_command(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    let known = key == "Exec" || key == "TryExec" || (key.starts_with("Exec") && key.len() < 20);
    known.then(|| {
        value
            .trim()
            .trim_start_matches(['@', '-', ':', '+', '!', '|'])
    })
}

/// A command in git's settings: `x = !command`, or a key that runs its value.
fn git_command(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    let value = value.trim();
    let value = value
        .strip_prefix('"')
        .and_then(|v| v.strip_suffix('"'))
        .unwrap_or(value);
    if let Some(command) = value.strip_prefix('!') {
        return Some(command);
    }
    let plain = key.chars().all(|c| c.is_ascii_alphanumeric());
    let runs = GIT_KEYS.contains(&key.to_ascii_lowercase().as_str());
    (plain && runs && !matches!(value, "true" | "false" | "")).then_some(value)
}

/// `"key": "value",` of a fragment of JSON.
fn json_member(line: &str) -> Option<(&str, String)> {
    let (key, value) = line.strip_prefix('"')?.split_once("\":")?;
    let value = value.trim().trim_end_matches(',').trim_end();
    let json = Json::read(value.as_bytes(), 1, LoneSurrogates::Replace).ok()?;
    Some((key, json.as_str()?.to_owned()))
}

/// Whether a member of a fragment of package.json is a script rather than a version or a name.
fn looks_like_script(key: &str, value: &str) -> bool {
    let hook = [
        "preinstall",
        "install",
        "postinstall",
        "prepare",
        "prepublish",
        "prepublishOnly",
        "prepack",
        "postpack",
        "build",
        "test",
        "start",
        "pretest",
        "posttest",
        "prebuild",
        "postbuild",
        "dev",
        "lint",
    ];
    let described = matches!(
        key,
        "description" | "name" | "license" | "author" | "title" | "message" | "prompt" | "content"
    );
    hook.contains(&key) || (!described && (value.contains(" | ") || value.contains(" && ")))
}
