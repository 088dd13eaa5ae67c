//! Texts that may be commands: in a file that runs later, whatever no reader has seen to run. Each is
//! read as a command and tagged `suspect`, so that it counts only if it alone would be denied.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::language::{Language, programs};
use crate::tag::Tag;
use crate::text::words::AnyWord;
use crate::value::Value;
use std::sync::LazyLock;

/// Texts that are tried for one call: honest files have a few.
const MAX_TRIED: u32 = 64;
/// Lines of one text that are tried.
const MAX_LINES: usize = 16;
/// A longer line is data.
const MAX_LINE: usize = 4096;

impl Scene<'_> {
    /// A text is tried as a command: each of its lines, or all of it if it is a script.
    pub(crate) fn tries(&mut self, actor: &Actor, text: &Value) -> Fueled {
        let trimmed = text.text.trim_start();
        self.fuel.spend(1 + trimmed.len() as u64 / 32)?;
        if trimmed.len() < 4 || !trimmed.contains([' ', '\t', '(']) {
            return Ok(());
        }
        if let Some(line) = trimmed.strip_prefix("#!") {
            let line = line.lines().next().unwrap_or("");
            let program = line.split([' ', '/']).rfind(|word| !word.is_empty());
            let language = program.and_then(programs::interpreter);
            return self.tries_code(actor, language.unwrap_or(Language::Shell), text, trimmed);
        }
        if runs_powershell(trimmed) {
            self.tries_code(actor, Language::PowerShell, text, trimmed)?;
        }
        let mut found = Vec::new();
        for line in trimmed.lines().filter(|line| line.len() <= MAX_LINE) {
            if let Some(command) = self.command_in(line) {
                found.push(command);
            }
            if found.len() == MAX_LINES {
                break;
            }
        }
        for command in found {
            self.tries_code(actor, Language::Shell, text, command)?;
        }
        Ok(())
    }

    /// Whether a text is worth a try, at a first look.
    pub(crate) fn looks_like_command(&self, text: &str) -> bool {
        let text = text.trim_start();
        text.len() >= 4
            && text.contains([' ', '\t', '('])
            && (text.starts_with(['#', '-', '/'])
                || text.contains('\\')
                || runs_powershell(text)
                || text.lines().any(|line| self.command_in(line).is_some()))
    }

    /// Reads `code`, a part of `text`, as if it ran.
    fn tries_code(
        &mut self,
        actor: &Actor,
        language: Language,
        text: &Value,
        code: &str,
    ) -> Fueled {
        if self.tried >= MAX_TRIED {
            return Ok(());
        }
        self.tried += 1;
        self.fuel.spend_on(self.files.bytes())?;
        let (files, links, before) = (self.files.clone(), self.links.len(), self.effects.len());
        let code = text.map(code.trim_end());
        let actor = Actor::new(&actor.program, &crate::json::shorten(&code.text, 200));
        self.marks.push(Tag::Suspect);
        let done = self.apart(|scene| {
            if language == Language::Shell {
                scene.shell(&actor, &code).map(drop)
            } else {
                scene.code(language, &code).map(drop)
            }
        });
        self.marks.pop();
        self.files = files;
        self.links.truncate(links);
        done?;
        // A text that is no command cannot be read as one: that tells nothing.
        let later = self.effects.split_off(before.min(self.effects.len()));
        let told = |kind: Kind| !matches!(kind, Kind::Unreadable | Kind::ExecuteOpaque);
        self.effects
            .extend(later.into_iter().filter(|e| told(e.kind)));
        Ok(())
    }

    /// The command that a line is, or that a shell in it is given.
    fn command_in<'t>(&self, line: &'t str) -> Option<&'t str> {
        let line = line
            .trim()
            .trim_start_matches(['$', '!', '@', '-', '>', ' ', '&', '(']);
        if self.begins_command(line) {
            return Some(line);
        }
        // `/C …`, `-c "…"`: arguments of a shell.
        let rest = line
            .strip_prefix(['c', 'C'])
            .or_else(|| line.strip_prefix("/c"));
        let rest = rest.or_else(|| line.strip_prefix("/C"))?;
        let rest = rest.strip_prefix(' ')?.trim_start();
        let inner = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
        let inner = inner.strip_suffix(['"', '\'']).unwrap_or(inner);
        self.begins_command(inner).then_some(inner)
    }

    /// Whether a text begins as commands do that are worth a look.
    fn begins_command(&self, text: &str) -> bool {
        let (word, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        if rest.trim().is_empty() || word.len() > 64 {
            return false;
        }
        if let Some((_, value)) = word.split_once('=').filter(|(name, _)| is_variable(name)) {
            return !value.contains('=') && self.begins_command(rest.trim_start());
        }
        if programs::is_telling(word) {
            return true;
        }
        let joins = rest.contains(['|', ';', '&', '>', '`']) || rest.contains("$(");
        let name = programs::base_name(word);
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.+[".contains(c);
        joins && name.chars().all(plain) && self.know.commands.get(name).is_some()
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

static ANY_HINT: LazyLock<AnyWord> =
    LazyLock::new(|| AnyWord::of(["iex", "IEX", "Iex", "nvoke-", "NVOKE-", "ownload", "ncoded"]));

/// Whether a text is a script that only `PowerShell` takes, and that fetches or runs something.
fn runs_powershell(text: &str) -> bool {
    if !ANY_HINT.is_in(text) {
        return false;
    }
    let start = text
        .get(..text.len().min(2048))
        .unwrap_or(text)
        .to_ascii_lowercase();
    let runs = [
        "iex ",
        "iex(",
        "invoke-expression",
        "downloadstring(",
        "-encodedcommand",
    ];
    runs.iter().any(|word| start.contains(word))
}
