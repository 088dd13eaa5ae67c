//! Settings in any format, by the words of their keys: where an agent sends its requests, through whom
//! other traffic goes, and which secrets a machine that builds gets.

use super::scan::Text;
use crate::effect::{Actor, Effect, Kind};
use crate::host::{Host, HostClass};
use crate::scene::{Scene, is_secret};
use crate::tag::Tag;
use crate::value::Value;

/// Settings of one file that are looked at.
const MAX_SETTINGS: usize = 2000;
/// Bytes of a value that are looked at: no address is longer.
const MAX_VALUE: usize = 300;
/// Bytes before a setting in which the name of a provider stands.
const BESIDE: usize = 400;

/// How keys end that say where the API of a model is. Only letters and digits count.
const BASES: [&str; 10] = [
    "apibase",
    "baseurl",
    "apiurl",
    "apiendpoint",
    "endpoint",
    "apihost",
    "host",
    "serverurl",
    "baseuri",
    "apibaseurl",
];
/// How keys end that say through whom requests go.
const PROXIES: [&str; 9] = [
    "proxy",
    "proxyhost",
    "proxyurl",
    "proxyserver",
    "proxyaddress",
    "proxyuri",
    "autoconfigurl",
    "proxypac",
    "pacurl",
];
/// Keys that say which machine builds, or from where results of builds come.
const BUILDERS: [&str; 8] = [
    "remoteexecutor",
    "remotecache",
    "besbackend",
    "remoteexecutionendpoint",
    "remotecacheurl",
    "remotecacheapiurl",
    "buildcacheurl",
    "experimentalremotedownloader",
];
/// Agents, by how their hidden files and folders begin.
const AGENTS: [&str; 22] = [
    "aider", "zed", "crush", "continue", "opencode", "codex", "gemini", "cline", "roo", "goose",
    "cursor", "claude", "windsurf", "qwen", "kilo", "copilot", "amp", "factory", "augment", "kiro",
    "forge", "plandex",
];
/// Agents whose settings have this name without a dot.
const PLAIN: [&str; 4] = ["opencode", "crush", "goose", "aider"];
const PROVIDERS: [&str; 14] = [
    "anthropic",
    "openai",
    "claude",
    "gpt-",
    "gemini",
    "mistral",
    "deepseek",
    "openrouter",
    "litellm",
    "language_model",
    "llm",
    "model",
    "provider",
    "bedrock",
];

pub(super) fn run(scene: &Scene<'_>, text: &Text<'_>, found: &mut Vec<Effect>) {
    let agent = is_of_agent(&text.path);
    let manifest = text.path.ends_with("package.json");
    let mut builder = None;
    let mut given = None;
    let mut section: Option<String> = None;
    for (at, key, value) in settings(&text.clean).take(MAX_SETTINGS) {
        let letters = letters(key);
        if (letters.ends_with("actionenv") || letters.ends_with("repoenv")) && is_secret(value) {
            given = Some(value);
        }
        if value.is_empty() || value == "{" {
            section = Some(letters).filter(|section| section.contains("cache"));
            continue;
        }
        let inner = section
            .as_ref()
            .map(|section| format!("{section}{letters}"));
        let builds = BUILDERS
            .iter()
            .any(|key| letters == *key || inner.as_deref() == Some(*key));
        let base = agent && BASES.iter().any(|end| letters.ends_with(end));
        let proxy = PROXIES.iter().any(|end| letters.ends_with(end))
            && !letters.contains("reverse")
            && !(manifest && letters == "proxy");
        if !base && !proxy && !builds {
            continue;
        }
        let Some(host) = outside(scene, value) else {
            continue;
        };
        let line = text.line(at);
        if !text.is_new(line) {
            continue;
        }
        if builds {
            builder = Some(host.clone());
        }
        if base && names_provider(text, at) {
            found.push(route(&host, line));
        } else if (proxy || builds) && is_strange(scene, &host) {
            found.push(redirects(host, line));
        }
    }
    if let (Some(host), Some(secret)) = (builder, given) {
        let mut effect = redirects(host, &format!("{secret} is given to a machine that builds"));
        effect.origins |= crate::value::Origins::ENVIRONMENT;
        found.push(effect);
    }
}

/// An agent sends its requests elsewhere.
fn route(host: &Host, line: &str) -> Effect {
    let line = crate::json::shorten(line.trim(), 200);
    let effect = Actor::new("settings", &line).does(Kind::Env);
    effect
        .tagged(Tag::OtherRoute)
        .with(host.clone())
        .about(&line)
}

/// Traffic goes through somebody.
fn redirects(host: Host, line: &str) -> Effect {
    let line = crate::json::shorten(line.trim(), 200);
    let effect = Actor::new("settings", &line).does(Kind::Env);
    effect.tagged(Tag::Redirects).with(host).about(&line)
}

/// The machine outside that a value names: an address, or a name of a machine and nothing else.
fn outside(scene: &Scene<'_>, value: &str) -> Option<Host> {
    if !value.contains(['.', ':']) || value.contains([' ', '$', '{', '<']) {
        return None;
    }
    let host = scene.know.hosts.host(&Value::known(value));
    let public = matches!(
        host.class,
        HostClass::External | HostClass::Drop | HostClass::Registry
    );
    let named = host.name.contains('.') && !host.name.ends_with(['.', '/']);
    (public && named).then_some(host)
}

fn is_strange(scene: &Scene<'_>, host: &Host) -> bool {
    let address = host.name.parse::<std::net::Ipv4Addr>().is_ok();
    let example = host.name.ends_with("example.com") || host.name.contains("your");
    (address || scene.know.hosts.is_unheard_of(host)) && !scene.is_own_host(&host.name) && !example
}

/// Whether a file holds settings of an agent.
fn is_of_agent(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let name = parts.next().unwrap_or("");
    let plain = name.split('.').next().unwrap_or("");
    let hidden = |part: &str| {
        let bare = part.strip_prefix('.');
        bare.is_some_and(|bare| AGENTS.iter().any(|agent| bare.starts_with(agent)))
    };
    PLAIN.contains(&plain)
        || hidden(name)
        || parts.clone().any(hidden)
        || path.contains(".config/") && parts.any(|part| AGENTS.contains(&part))
}

/// Whether a provider or a model is named in the setting, or shortly before it.
fn names_provider(text: &Text<'_>, at: usize) -> bool {
    let from = at.saturating_sub(BESIDE);
    let from = (from..=at).find(|at| text.low.is_char_boundary(*at));
    let near = text.low.get(from.unwrap_or(at)..).unwrap_or("");
    let end = near
        .get(at - from.unwrap_or(at)..)
        .and_then(|t| t.find('\n'));
    let near = match end {
        Some(end) => near.get(..at - from.unwrap_or(at) + end).unwrap_or(near),
        None => near,
    };
    PROVIDERS.iter().any(|word| near.contains(word)) || text.path.contains("model")
}

fn letters(key: &str) -> String {
    key.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// `key = value`, `"key": "value"`, `--key=value`, wherever it stands in a line, with its place.
fn settings(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let marks = text.match_indices(['=', ':']);
    marks.filter_map(move |(at, mark)| {
        let rest = text.get(at + mark.len()..).unwrap_or("");
        if mark == ":" && rest.starts_with("//") || rest.starts_with(['=', ':']) {
            return None;
        }
        let head = text.get(..at).unwrap_or("");
        let head = head.trim_end_matches([' ', '\t', '"', '\'']);
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let from = head.rfind(|c: char| !part(c)).map_or(0, |at| at + 1);
        let key = head.get(from..).filter(|key| !key.is_empty())?;
        let value = rest
            .trim_start_matches([' ', '\t'])
            .trim_start_matches(['"', '\'', '[']);
        let value = value.trim_start_matches(['"', '\'']);
        let ends = |b: u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b',' | b'}');
        let end = value.bytes().take(MAX_VALUE).position(ends);
        let end = end.or_else(|| Some(value.len()).filter(|length| *length < MAX_VALUE));
        let value = value.get(..end.unwrap_or(0)).unwrap_or("");
        Some((at, key, value))
    })
}

#[cfg(test)]
mod tests {
    use super::{is_of_agent, settings};

    #[test]
    fn settings_of_every_format_are_pairs() {
        let text = "a.b=x\n{\"url\": \"https://x.test/y\"}\nbuild --c=d\n";
        let pairs: Vec<_> = settings(text).map(|(_, key, value)| (key, value)).collect();
        let expected = [("a.b", "x"), ("url", "https://x.test/y"), ("--c", "d")];
        assert_eq!(pairs, expected);
    }

    #[test]
    fn agents_are_known_by_their_files() {
        assert!(is_of_agent(".zed/settings.json"));
        assert!(is_of_agent("~/.config/goose/config.yaml"));
        assert!(is_of_agent("opencode.json"));
        assert!(!is_of_agent("src/gemini/config.yaml"));
        assert!(!is_of_agent("config/models.yaml"));
    }
}
