//! Commands in files of lines: Dockerfiles, units, crontabs, git settings, and pieces of YAML and JSON.

use super::Reader;
use super::fragment::yaml_key;
use crate::code::make::joined_lines;
use crate::json::{Json, LoneSurrogates};
use crate::language::programs;
use crate::scene::Fueled;
use crate::tag::Tag;

impl Reader<'_, '_, '_> {
    pub(super) fn lines(&mut self, text: &str) -> Fueled {
        let lines: Vec<&str> = text.lines().collect();
        if is_dockerfile(text) {
            return self.dockerfile(text);
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
                self.shell("cron", command, None)?;
            } else if let Some(command) = unit_command(trimmed) {
                self.shell("unit", command, None)?;
            } else if let Some((key, value)) = yaml_key(line) {
                at = self.yaml(line, key, value, &lines, at)?;
            } else if let Some(command) = git_command(trimmed) {
                self.shell("git", command, None)?;
            } else if let Some((key, value)) = json_member(trimmed)
                && (super::tree::runs_in_json("", key) || looks_like_script(key, &value))
            {
                self.shell(key, &value, None)?;
            }
        }
        Ok(())
    }

    fn dockerfile(&mut self, text: &str) -> Fueled {
        let lines = joined_lines(text);
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
                self.words(&words, Some(Tag::Container))?;
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
                self.shell("docker", &script, Some(Tag::Container))?;
                continue;
            }
            self.shell("docker", rest, Some(Tag::Container))?;
        }
        Ok(())
    }
}

/// Whether a line begins with an instruction of a Dockerfile.
pub(super) fn is_dockerfile(text: &str) -> bool {
    let words = ["FROM", "RUN", "ENTRYPOINT", "CMD", "COPY", "WORKDIR"];
    text.lines().any(|line| {
        let first = line.split_whitespace().next();
        first.is_some_and(|word| words.contains(&word))
    })
}

fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

/// `["a", "b"]` as words.
pub(super) fn json_words(text: &str) -> Option<Vec<String>> {
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

/// The command of a line of a crontab: five fields of time, or `@daily`, and perhaps a user.
fn cron_command(line: &str) -> Option<&str> {
    let (times, rest) = programs::schedule(line)?;
    if !times.split_whitespace().all(is_time) {
        return None;
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

/// A field of time: `*/5`, `1-5`, `mon`, `@daily`.
fn is_time(field: &str) -> bool {
    if field.starts_with('@') {
        let names = [
            "@reboot",
            "@hourly",
            "@daily",
            "@weekly",
            "@monthly",
            "@yearly",
            "@annually",
            "@midnight",
        ];
        return names.contains(&field);
    }
    let day = field.split(['-', ',']).next().unwrap_or("");
    let names = [
        "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun",
        "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '*' | '/' | ',' | '-');
    let starts = field.starts_with(|c: char| c == '*' || c.is_ascii_digit());
    (starts || names.contains(&day.to_ascii_lowercase().as_str())) && field.chars().all(allowed)
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
    let runs = programs::git_setting_runs(key);
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
