//! Which agent a command line starts.

use crate::agents::{AGENTS, Agent};
use std::ffi::OsString;
use std::path::Path;

/// Programs that start another one, which they are given with its arguments.
const LAUNCHERS: [&str; 15] = [
    "npx", "bunx", "pnpx", "pnpm", "yarn", "bun", "uvx", "pipx", "env", "nice", "timeout", "nohup",
    "stdbuf", "setsid", "mise",
];
/// Options of theirs whose value is not what is started.
const PACKAGE_OPTIONS: [&str; 4] = ["-p", "--package", "--from", "--with"];

/// A command line that starts an agent that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Started<'a> {
    pub(super) agent: &'static Agent,
    /// The words up to the agent's own name.
    pub(super) launcher: &'a [OsString],
    /// Its arguments.
    pub(super) arguments: &'a [OsString],
}

impl<'a> Started<'a> {
    /// What a command line starts, if that is known.
    pub(super) fn of(command: &'a [OsString]) -> Option<Started<'a>> {
        let launched = command
            .first()
            .is_some_and(|word| LAUNCHERS.contains(&name(word).as_str()));
        let words = command.iter().enumerate();
        let reach = if launched { command.len() } else { 1 };
        let (at, agent) = words.take(reach).find_map(|(at, word)| {
            let before = at.checked_sub(1).and_then(|at| command.get(at));
            let is_option = before.is_some_and(|w| PACKAGE_OPTIONS.iter().any(|o| w == o));
            let name = name(word);
            let mut agents = AGENTS.into_iter().filter(|_| !is_option);
            Some((at, agents.find(|agent| agent.programs.contains(&&*name))?))
        })?;
        let (launcher, arguments) = command.split_at_checked(at + 1)?;
        Some(Started {
            agent,
            launcher,
            arguments,
        })
    }

    /// Whether it asks no model this time.
    pub(super) fn is_idle(&self) -> bool {
        let first = self.arguments.first();
        first.is_some_and(|word| self.agent.idle.split(' ').any(|idle| word == idle))
    }

    /// A variable that the launcher sets for it: `env NAME=VALUE claude`.
    pub(super) fn assigned(&self, variable: &str) -> Option<String> {
        let words = self.launcher.iter().rev();
        let mut words = words.filter_map(|word| word.to_str()?.split_once('='));
        let (_, value) = words.find(|(name, _)| *name == variable)?;
        Some(value.to_owned())
    }

    /// The value of an argument that is a detour: `--name`, `--name value`, `--name=value`; for a
    /// name of two words, `--name key=value`.
    pub(super) fn argument(&self, name: &str) -> Option<String> {
        let (option, key) = name.split_once(' ').unwrap_or((name, ""));
        let end = self.arguments.iter().position(|word| word == "--");
        let words = self.arguments.iter().take(end.unwrap_or(usize::MAX));
        let words: Vec<&str> = words
            .map(|word| word.to_str().unwrap_or_default())
            .collect();
        let given = words.iter().enumerate().filter_map(|(at, word)| {
            if *word == option {
                return Some(words.get(at + 1).copied().unwrap_or("1"));
            }
            let rest = word.strip_prefix(option)?;
            let short = !option.starts_with("--") && !rest.is_empty();
            rest.strip_prefix('=').or(short.then_some(rest))
        });
        let mut given = given.filter(|value| value.starts_with(key));
        given.next().map(str::to_owned)
    }
}

/// The name of a program or package: `/usr/bin/claude`, `@anthropic-ai/claude-code@2.1.0`.
fn name(word: &OsString) -> String {
    let name = Path::new(word).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let name = name.split('@').next().unwrap_or_default();
    let stem = name.strip_suffix(".exe").or(name.strip_suffix(".js"));
    stem.unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(command: &str) -> Option<(&'static str, usize)> {
        let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        let started = Started::of(&words)?;
        Some((started.agent.name, started.launcher.len()))
    }

    #[test]
    fn an_agent_is_known_however_it_is_started() {
        assert_eq!(started("claude -p hi"), Some(("Claude Code", 1)));
        assert_eq!(started("/opt/x/codex exec"), Some(("Codex", 1)));
        let npx = started("npx -y @anthropic-ai/claude-code@2.1.0 -p hi");
        assert_eq!(npx, Some(("Claude Code", 3)));
        let named = started("npx -p @anthropic-ai/claude-code claude mcp");
        assert_eq!(named, Some(("Claude Code", 4)));
        assert_eq!(started("env A=b gemini"), Some(("Gemini CLI", 3)));
        assert_eq!(started("uvx --from aider-chat aider"), Some(("aider", 4)));
        assert_eq!(started("bash -c claude"), None);
        assert_eq!(started("cat claude"), None);
    }

    #[test]
    fn arguments_that_lead_elsewhere_are_found() {
        let check = |command: &str, name: &str, value: Option<&str>| {
            let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
            let found = Started::of(&words).unwrap().argument(name);
            assert_eq!(found.as_deref(), value, "{command}");
        };
        check("codex --oss exec", "--oss", Some("exec"));
        check("codex exec -- --oss", "--oss", None);
        check("codex --local-provider=x", "--local-provider", Some("x"));
        let key = "-c model_provider";
        check(
            "codex -c model=x -c model_provider=y",
            key,
            Some("model_provider=y"),
        );
        check("codex -cmodel_provider=y", key, Some("model_provider=y"));
        check("codex -c model=x", key, None);
        check("aider --model bedrock/x", "--model", Some("bedrock/x"));
        check("env CLAUDE_CODE_USE_BEDROCK=1 claude", "--x", None);
    }
}
