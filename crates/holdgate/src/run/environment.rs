//! What the agent, and only it, is given, so that its requests come to our proxy: variables for every
//! program, and for an agent that is known the way that no settings file of a repository overrides.

use super::settings;
use super::started::Started;
use crate::agents::{ADDRESS, Takes};
use crate::args::WrongUse;
use crate::config::RUN_VARIABLE;
use serde_json::{Map, Value as Json, json};
use std::ffi::OsString;
use std::io::Read as _;

/// Claude Code treats other addresses than the vendor's as less able.
const FIRST_PARTY: &str = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL";
const OPENCODE: &str = "OPENCODE_CONFIG_CONTENT";
/// Requests to our own machine must not go through another proxy.
const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];
/// Bytes of a settings file that is named on the command line.
const MAX_SETTINGS: u64 = 1 << 20;

/// Where the proxy is, as the agent is told.
#[derive(Clone, Debug)]
pub struct Base {
    /// `http://127.0.0.1:PORT/s/SESSION`
    pub url: String,
    /// The session.
    pub session: String,
    /// Whether requests end up at the vendor's own address.
    pub first_party: bool,
}

/// A command as it is run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Its words.
    pub words: Vec<OsString>,
    /// Variables that are set for it.
    pub variables: Vec<(String, String)>,
}

/// How to run `command`, given the variables that are set already.
pub fn start(
    base: &Base,
    command: &[OsString],
    set: &dyn Fn(&str) -> Option<String>,
) -> Result<Start, WrongUse> {
    let mut start = Start {
        words: command.to_vec(),
        variables: variables(base, set),
    };
    let Some(started) = Started::of(command) else {
        return Ok(start);
    };
    let mut given = Vec::new();
    let mut arguments = started.arguments.to_vec();
    match started.agent.takes {
        Takes::ClaudeSettings => {
            let theirs = take_settings(&mut arguments)?;
            let (settings, others) = claude_settings(base, theirs, &started, set);
            start.variables.extend(others);
            given = vec!["--settings".to_owned(), settings.to_string()];
        }
        Takes::CodexOverrides => given = codex_overrides(base),
        Takes::OpencodeContent => {
            let content = opencode_content(base, set(OPENCODE))?;
            start.variables.push((OPENCODE.to_owned(), content));
        }
        Takes::AiderFlags => {
            let url = &base.url;
            let openai = format!("{url}/v1");
            given.extend(["--openai-api-base".to_owned(), openai.clone()]);
            for (name, address) in [
                ("ANTHROPIC_API_BASE", url),
                (ADDRESS, url),
                ("OPENAI_API_BASE", &openai),
                ("OPENAI_BASE_URL", &openai),
                ("GEMINI_API_BASE", url),
            ] {
                given.extend(["--set-env".to_owned(), format!("{name}={address}")]);
            }
            let loopback = no_proxy(set);
            let both = NO_PROXY.map(|name| format!("{name}={loopback}"));
            given.extend(both.into_iter().flat_map(|v| ["--set-env".to_owned(), v]));
        }
        Takes::Variables => {
            // A `.env` file sets only what is not set yet.
            for detour in started.agent.variables {
                start
                    .variables
                    .push((detour.name.to_owned(), "false".to_owned()));
            }
        }
    }
    let given = given.into_iter().map(OsString::from);
    let launcher = started.launcher.iter().cloned();
    start.words = launcher.chain(given).chain(arguments).collect();
    Ok(start)
}

/// The variables for any program.
fn variables(base: &Base, set: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let url = base.url.clone();
    let openai = format!("{url}/v1");
    let mut variables = vec![
        (ADDRESS, url.clone()),
        ("OPENAI_BASE_URL", openai.clone()),
        ("OPENAI_API_BASE", openai),
        ("GOOGLE_GEMINI_BASE_URL", url.clone()),
        ("GOOGLE_VERTEX_BASE_URL", url.clone()),
        ("CODE_ASSIST_ENDPOINT", url),
        (RUN_VARIABLE, base.session.clone()),
    ];
    if base.first_party {
        variables.push((FIRST_PARTY, "1".into()));
    }
    let loopback = no_proxy(set);
    variables.extend(NO_PROXY.map(|name| (name, loopback.clone())));
    let owned = |(name, value): (&str, String)| (name.to_owned(), value);
    variables.into_iter().map(owned).collect()
}

/// Hosts that are reached without a proxy: the user's, and this machine.
fn no_proxy(set: &dyn Fn(&str) -> Option<String>) -> String {
    let others = NO_PROXY.iter().find_map(|name| set(name));
    let others = others.filter(|value| !value.is_empty());
    let others = others.map_or_else(String::new, |value| format!("{value},"));
    format!("{others}127.0.0.1,localhost")
}

/// What goes over all settings files but managed ones, and the variables of a file of the user's that
/// do not belong on a command line, where everybody can read them.
fn claude_settings(
    base: &Base,
    theirs: Vec<(Json, From)>,
    started: &Started<'_>,
    set: &dyn Fn(&str) -> Option<String>,
) -> (Json, Vec<(String, String)>) {
    let mut settings = Map::new();
    let mut env = Map::new();
    let mut others = Vec::new();
    for (json, from) in theirs {
        let Json::Object(members) = json else {
            continue;
        };
        for (name, member) in members {
            match (name.as_str(), member, from) {
                ("env", Json::Object(variables), From::CommandLine) => env.extend(variables),
                ("env", Json::Object(variables), From::File) => {
                    let text = |value: Json| match value.as_str() {
                        Some(text) => text.to_owned(),
                        None => value.to_string(),
                    };
                    others.extend(variables.into_iter().map(|(k, v)| (k, text(v))));
                }
                (_, member, _) => {
                    settings.insert(name, member);
                }
            }
        }
    }
    env.insert(started.agent.address.to_owned(), base.url.clone().into());
    for detour in started.agent.variables {
        env.insert(detour.name.to_owned(), "".into());
    }
    let loopback = no_proxy(set);
    for name in NO_PROXY {
        env.insert(name.to_owned(), loopback.clone().into());
    }
    others.retain(|(name, _)| !env.contains_key(name));
    settings.insert("env".to_owned(), Json::Object(env));
    (Json::Object(settings), others)
}

/// Where `--settings` came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    CommandLine,
    File,
}

/// Takes `--settings` of the user's out of the arguments.
fn take_settings(arguments: &mut Vec<OsString>) -> Result<Vec<(Json, From)>, WrongUse> {
    let mut taken = Vec::new();
    let mut at = 0;
    while let Some(word) = arguments.get(at).filter(|word| *word != "--") {
        let text = word.to_string_lossy().into_owned();
        let value = if text == "--settings" {
            arguments.remove(at);
            (at < arguments.len()).then(|| arguments.remove(at))
        } else if let Some(value) = text.strip_prefix("--settings=") {
            let value = OsString::from(value);
            arguments.remove(at);
            Some(value)
        } else {
            at += 1;
            continue;
        };
        let value = value.ok_or_else(|| WrongUse("--settings: a value is missing".to_owned()))?;
        taken.push(read_settings(&value)?);
    }
    Ok(taken)
}

fn read_settings(value: &OsString) -> Result<(Json, From), WrongUse> {
    let text = value.to_string_lossy();
    let wrong = |why: &dyn std::fmt::Display| WrongUse(format!("--settings {text}: {why}"));
    if text.trim_start().starts_with('{') {
        let json = settings::json(&text).map_err(|e| wrong(&e))?;
        return Ok((json, From::CommandLine));
    }
    let data = std::fs::metadata(value).map_err(|e| wrong(&e))?;
    if !data.is_file() {
        return Err(wrong(&"it is not a regular file"));
    }
    let mut read = String::new();
    let file = std::fs::File::open(value).map_err(|e| wrong(&e))?;
    let mut file = file.take(MAX_SETTINGS);
    file.read_to_string(&mut read).map_err(|e| wrong(&e))?;
    Ok((settings::json(&read).map_err(|e| wrong(&e))?, From::File))
}

/// Codex takes its address from settings, which arguments override; one argument for each setting.
fn codex_overrides(base: &Base) -> Vec<String> {
    let url = &base.url;
    let provider = format!(
        r#"model_providers.holdgate={{name="Holdgate",base_url="{url}/v1",wire_api="responses",requires_openai_auth=true}}"#
    );
    let settings = [r#"model_provider="holdgate""#.to_owned(), provider];
    let both = settings.into_iter().flat_map(|s| ["-c".to_owned(), s]);
    both.collect()
}

/// Ours over theirs. Providers that do not come to us are not there.
fn opencode_content(base: &Base, theirs: Option<String>) -> Result<String, WrongUse> {
    let theirs = theirs.unwrap_or_default();
    let wrong = |why: String| WrongUse(format!("{OPENCODE}: {why}"));
    let mut settings = match settings::json(&theirs).map_err(wrong)? {
        Json::Object(settings) => settings,
        Json::Null => Map::new(),
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
            return Err(wrong("it is not a JSON object".to_owned()));
        }
    };
    let providers = [
        ("anthropic", "/v1"),
        ("openai", "/v1"),
        ("google", "/v1beta"),
    ];
    let given = settings.entry("provider").or_insert_with(|| json!({}));
    for (name, path) in providers {
        let place = member(member(given, name), "options");
        *member(place, "baseURL") = format!("{}{path}", base.url).into();
    }
    let names: Vec<&str> = providers.iter().map(|(name, _)| *name).collect();
    settings.insert("enabled_providers".to_owned(), json!(names));
    Ok(Json::Object(settings).to_string())
}

/// A member of an object, made if it is not there.
fn member<'a>(value: &'a mut Json, name: &str) -> &'a mut Json {
    if !value.is_object() {
        *value = json!({});
    }
    // An object gives every member that it is asked for.
    &mut value[name]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Base {
        Base {
            url: "http://127.0.0.1:9/s/x".into(),
            session: "x".into(),
            first_party: false,
        }
    }

    fn started(command: &[&str], set: &dyn Fn(&str) -> Option<String>) -> Start {
        let words: Vec<OsString> = command.iter().map(OsString::from).collect();
        start(&base(), &words, set).unwrap()
    }

    fn variable(start: &Start, name: &str) -> Option<String> {
        let mut found = start.variables.iter().filter(|(n, _)| n == name);
        found.next_back().map(|(_, value)| value.clone())
    }

    fn settings_of(start: &Start) -> Json {
        assert_eq!(start.words[1], "--settings");
        serde_json::from_str(start.words[2].to_str().unwrap()).unwrap()
    }

    #[test]
    fn a_proxy_of_the_users_is_left_out_for_ours() {
        let set = |name: &str| (name == "NO_PROXY").then(|| "intern".to_owned());
        for (set, expected) in [
            (&set as &dyn Fn(&str) -> _, "intern,127.0.0.1,localhost"),
            (&|_: &str| None, "127.0.0.1,localhost"),
        ] {
            let start = started(&["claude"], set);
            assert_eq!(variable(&start, "no_proxy").as_deref(), Some(expected));
            assert_eq!(settings_of(&start)["env"]["NO_PROXY"], expected);
        }
    }

    #[test]
    fn claude_code_is_told_over_all_files_and_keeps_the_users_own_settings() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("s.json");
        std::fs::write(
            &file,
            r#"{"model":"a","env":{"ANTHROPIC_BASE_URL":"http://x","KEY":"k"}}"#,
        )
        .unwrap();
        let inline = r#"--settings={"env":{"ANTHROPIC_BASE_URL":"http://y","A":"b"}}"#;
        let command = [
            "claude",
            "-p",
            "hi",
            "--settings",
            file.to_str().unwrap(),
            inline,
        ];
        let start = started(&command, &|_| None);
        assert_eq!(start.words[3..], ["-p", "hi"]);
        let settings = settings_of(&start);
        assert_eq!(settings["model"], "a");
        assert_eq!(settings["env"]["A"], "b");
        assert_eq!(settings["env"]["ANTHROPIC_BASE_URL"], base().url);
        assert_eq!(settings["env"]["CLAUDE_CODE_USE_BEDROCK"], "");
        assert_eq!(settings["env"].get("KEY"), None);
        assert_eq!(variable(&start, "KEY").as_deref(), Some("k"));
        assert_eq!(variable(&start, "ANTHROPIC_BASE_URL"), Some(base().url));
        let words: Vec<OsString> = ["claude", "--settings", "/no/such"]
            .map(OsString::from)
            .to_vec();
        assert!(super::start(&base(), &words, &|_| None).is_err());
        let after = started(&["claude", "-p", "--", "--settings", "x"], &|_| None);
        assert_eq!(after.words[3..], ["-p", "--", "--settings", "x"]);
    }

    #[test]
    fn other_agents_are_told_by_what_goes_over_their_files() {
        let codex = started(&["/usr/bin/codex", "exec", "hi"], &|_| None);
        assert_eq!(codex.words[5..], ["exec", "hi"]);
        let table: toml::Table = codex.words[4].to_str().unwrap().parse().unwrap();
        let address = &table["model_providers"]["holdgate"]["base_url"];
        assert_eq!(address.as_str(), Some("http://127.0.0.1:9/s/x/v1"));

        let theirs =
            r#"{"theme":"t","provider":{"anthropic":{"options":{"baseURL":"http://x","k":1}}}}"#;
        let opencode = started(&["opencode"], &|name| {
            (name == OPENCODE).then(|| theirs.to_owned())
        });
        let text = variable(&opencode, OPENCODE).unwrap();
        let json: Json = serde_json::from_str(&text).unwrap();
        let anthropic = &json["provider"]["anthropic"]["options"];
        assert_eq!(anthropic["baseURL"], "http://127.0.0.1:9/s/x/v1");
        assert_eq!((&anthropic["k"], &json["theme"]), (&json!(1), &json!("t")));
        assert_eq!(
            json["enabled_providers"],
            json!(["anthropic", "openai", "google"])
        );

        let gemini = started(&["gemini"], &|_| None);
        assert_eq!(
            variable(&gemini, "GOOGLE_GENAI_USE_VERTEXAI").as_deref(),
            Some("false")
        );
        let aider = started(&["aider", "x.py"], &|_| None);
        let given = "ANTHROPIC_API_BASE=http://127.0.0.1:9/s/x";
        assert!(aider.words.iter().any(|word| word == given));
        assert_eq!(aider.words.last().unwrap(), "x.py");
        assert_eq!(started(&["sh"], &|_| None).words, ["sh"]);
    }
}
