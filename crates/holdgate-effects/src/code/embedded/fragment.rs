//! Commands in lines of YAML that are not YAML by themselves: a piece of a file, or one with a template.

use super::Reader;
use super::lines::json_words;
use super::tree::{Format, elsewhere};
use crate::code::Language;
use crate::scene::Fueled;
use crate::tag::Tag;

/// Keys of YAML whose value is a command or a script.
pub(super) const YAML_KEYS: &[&str] = &[
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

impl Reader<'_, '_, '_> {
    /// The value of a YAML key that runs: in line, a block, or a list below it.
    pub(super) fn yaml(
        &mut self,
        line: &str,
        key: &str,
        value: &str,
        lines: &[&str],
        from: usize,
    ) -> Fueled<usize> {
        let own = indent(line)
            + if line.trim_start().starts_with("- ") {
                2
            } else {
                0
            };
        let elsewhere = elsewhere(Format::Yaml, key);
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
                match yaml_key(next) {
                    None => self.run(key, unquoted(item), elsewhere, language)?,
                    // Deeper ones are read as they come.
                    Some((_, "")) => {}
                    Some((key, value)) => at = self.yaml(next, key, value, lines, at)?,
                }
            }
            return Ok(at);
        }
        if value.starts_with('[')
            && let Some(words) = json_words(value)
        {
            self.words(&words, elsewhere.then_some(Tag::Ci))?;
            return Ok(at);
        }
        self.run(key, unquoted(value), elsewhere, language)?;
        Ok(at)
    }

    fn run(&mut self, key: &str, script: &str, elsewhere: bool, language: Language) -> Fueled {
        if elsewhere {
            self.step(key, script, language)
        } else {
            self.shell(key, script, None)
        }
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
        if let Some(language) = line
            .strip_prefix("shell:")
            .map(str::trim)
            .and_then(shell_language)
        {
            return language;
        }
    }
    Language::Shell
}

/// The language of scripts that a step gives to `shell`, if it is not a shell's own.
pub(super) fn shell_language(shell: &str) -> Option<Language> {
    crate::language::programs::interpreter(shell).filter(|language| *language != Language::Shell)
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

/// A key of YAML that runs something, and what stands behind it.
pub(super) fn yaml_key(line: &str) -> Option<(&str, &str)> {
    let body = line.trim_start();
    let body = body.strip_prefix("- ").unwrap_or(body).trim_start();
    let (key, value) = body.split_once(':')?;
    let spaced = value.is_empty() || value.starts_with(' ');
    (spaced && YAML_KEYS.contains(&key)).then_some((key, value.trim()))
}
