//! What is set for the agent, and only for it, so that its requests come to our proxy.

use std::ffi::OsString;
use std::path::Path;

/// Marks what belongs to a run.
pub const MARK: &str = "HOLDGATE_RUN";
/// Claude Code treats other addresses than the vendor's as less able.
const FIRST_PARTY: &str = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL";
const OPENCODE: &str = "OPENCODE_CONFIG_CONTENT";
/// Requests to our own machine must not go through another proxy.
const PROXIES: &[&str] = &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

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

/// The variables for `program`, given those that are set already.
pub fn variables(
    base: &Base,
    program: &str,
    set: &dyn Fn(&str) -> Option<String>,
) -> Vec<(&'static str, String)> {
    let url = base.url.clone();
    let mut variables = vec![
        ("ANTHROPIC_BASE_URL", url.clone()),
        ("OPENAI_BASE_URL", format!("{url}/v1")),
        ("OPENAI_API_BASE", format!("{url}/v1")),
        ("GOOGLE_GEMINI_BASE_URL", url.clone()),
        (MARK, base.session.clone()),
    ];
    if base.first_party {
        variables.push((FIRST_PARTY, "1".into()));
    }
    if PROXIES.iter().any(|name| set(name).is_some()) {
        for name in ["NO_PROXY", "no_proxy"] {
            let others = set(name).filter(|value| !value.is_empty());
            let others = others.map_or_else(String::new, |value| format!("{value},"));
            variables.push((name, format!("{others}127.0.0.1,localhost")));
        }
    }
    if name(program) == "opencode" && set(OPENCODE).is_none() {
        let to = |path: &str| format!(r#"{{"options":{{"baseURL":"{url}{path}"}}}}"#);
        let providers = [
            ("anthropic", "/v1"),
            ("openai", "/v1"),
            ("google", "/v1beta"),
        ];
        let providers: Vec<String> = providers
            .iter()
            .map(|(provider, path)| format!(r#""{provider}":{}"#, to(path)))
            .collect();
        let text = format!(r#"{{"provider":{{{}}}}}"#, providers.join(","));
        variables.push((OPENCODE, text));
    }
    variables
}

/// The command as it is run: Codex takes its address from settings, which arguments override.
pub fn command(base: &Base, command: &[OsString]) -> Vec<OsString> {
    let Some((program, rest)) = command.split_first() else {
        return Vec::new();
    };
    let mut words = vec![program.clone()];
    if name(&program.to_string_lossy()) == "codex" {
        let url = &base.url;
        let provider = format!(
            r#"model_providers.holdgate={{name="Holdgate",base_url="{url}/v1",wire_api="responses",requires_openai_auth=true}}"#
        );
        for setting in [r#"model_provider="holdgate""#.to_owned(), provider] {
            words.extend(["-c".into(), setting.into()]);
        }
    }
    words.extend(rest.iter().cloned());
    words
}

fn name(program: &str) -> String {
    let name = Path::new(program).file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
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

    #[test]
    fn a_proxy_of_the_users_is_left_out_for_ours() {
        let set = |name: &str| match name {
            "HTTP_PROXY" => Some("http://proxy:3128".to_owned()),
            "NO_PROXY" => Some("intern".to_owned()),
            _ => None,
        };
        let found = variables(&base(), "claude", &set);
        assert!(found.contains(&("NO_PROXY", "intern,127.0.0.1,localhost".into())));
        let found = variables(&base(), "claude", &|_| None);
        assert!(!found.iter().any(|(name, _)| *name == "NO_PROXY"));
    }

    #[test]
    fn codex_is_told_by_arguments_and_opencode_by_its_settings() {
        let words = command(
            &base(),
            &["/usr/bin/codex".into(), "exec".into(), "hi".into()],
        );
        assert_eq!(words.len(), 7);
        assert_eq!(words[0], "/usr/bin/codex");
        assert_eq!(words[5..], ["exec", "hi"]);
        let setting = words[4].to_str().unwrap();
        let table: toml::Table = setting.parse().unwrap();
        let address = &table["model_providers"]["holdgate"]["base_url"];
        assert_eq!(address.as_str(), Some("http://127.0.0.1:9/s/x/v1"));
        assert_eq!(command(&base(), &["claude".into()]), ["claude"]);
        let found = variables(&base(), "opencode", &|_| None);
        let text = &found.iter().find(|(name, _)| *name == OPENCODE).unwrap().1;
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        let address = &json["provider"]["anthropic"]["options"]["baseURL"];
        assert_eq!(address, "http://127.0.0.1:9/s/x/v1");
    }
}
