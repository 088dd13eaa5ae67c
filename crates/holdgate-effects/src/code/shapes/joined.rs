//! Files of one session that together do what none of them does alone: one gathers the environment or a secret, one
//! sends what it is given, and one names both.

use super::scan::{has_any, quoted};
use crate::effect::{Actor, Effect, Kind};
use crate::host::Host;
use crate::scene::Scene;
use crate::value::{Origins, Value};

/// Files of the session that are looked at, and bytes of each.
const MAX_FILES: usize = 48;
const MAX_BYTES: usize = 16 << 10;

/// The whole environment, in languages that have modules.
#[rustfmt::skip]
const GATHERS: [&str; 20] = [
    "...process.env", "stringify(process.env", "entries(process.env", "= process.env;", "=> process.env", "return process.env",
    "dict(os.environ", "**os.environ", "os.environ.items", "os.environ.copy", "= os.environ\n", "return os.environ\n", "ENV.to_h",
    "ENV.to_a", "os.Environ()", "env::vars()", "System.getenv()", "assign({}, process.env", "json.dumps(os.environ", "exports = process.env",
];
const PLACES: [&str; 10] = [
    ".ssh/",
    "id_rsa",
    "id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".git-credentials",
    ".config/gh",
    ".kube/config",
    ".npmrc",
    ".docker/config",
];
const SENDS: [&str; 14] = [
    "fetch(",
    ".post(",
    ".put(",
    "request(",
    "urlopen(",
    "sendBeacon(",
    "http.client",
    "https.get(",
    "axios",
    "got(",
    "Net::HTTP",
    "http.Post",
    "socket",
    "requests.",
];

/// Looks at the file that is written at `path` together with those that were written before.
pub(super) fn run(scene: &Scene<'_>, path: &str, content: &str, found: &mut Vec<Effect>) {
    if content.len() > MAX_BYTES || scene.files.is_empty() {
        return;
    }
    let own = Part::of(scene, path, content);
    if own.names.is_empty() && !own.gathers && own.sends.is_none() {
        return;
    }
    let others = scene.files.iter().take(MAX_FILES);
    let others = others.filter(|(_, other)| other.text.len() <= MAX_BYTES && other.text != content);
    let mut parts: Vec<Part<'_>> = others
        .filter(|(at, _)| is_source(at))
        .map(|(at, other)| Part::of(scene, at, &other.text))
        .collect();
    parts.push(own);
    let names = |part: &Part<'_>, other: &Part<'_>| {
        part.stem == other.stem || part.names.contains(&other.stem)
    };
    for gathering in parts.iter().filter(|part| part.gathers) {
        for sending in parts.iter().filter(|part| part.stem != gathering.stem) {
            let Some((host, url)) = &sending.sends else {
                continue;
            };
            if parts
                .iter()
                .any(|part| names(part, gathering) && names(part, sending))
            {
                let shown = format!(
                    "{} gathers, {} sends to {url}",
                    gathering.stem, sending.stem
                );
                let actor = Actor::new("beside", &shown);
                let mut effect = actor.does(Kind::Send).with(host.clone()).about(url);
                effect.origins |= Origins::FILE;
                found.push(effect);
                return;
            }
        }
    }
}

/// What one file does.
struct Part<'t> {
    /// Its name, without what ends it.
    stem: &'t str,
    /// The modules that it names.
    names: Vec<&'t str>,
    gathers: bool,
    sends: Option<(Host, String)>,
}

impl<'t> Part<'t> {
    fn of(scene: &Scene<'_>, path: &'t str, text: &'t str) -> Self {
        Part {
            stem: stem(path),
            names: modules(text),
            gathers: has_any(text, &GATHERS) || has_any(text, &PLACES) && text.contains("read"),
            sends: has_any(text, &SENDS)
                .then(|| outside(scene, text))
                .flatten(),
        }
    }
}

fn is_source(path: &str) -> bool {
    let end = path.rsplit('.').next().unwrap_or("");
    matches!(
        end,
        "js" | "mjs"
            | "cjs"
            | "ts"
            | "mts"
            | "cts"
            | "jsx"
            | "tsx"
            | "py"
            | "rb"
            | "go"
            | "php"
            | "lua"
            | "pl"
    )
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

/// The modules beside it that a file names: `require('./a')`, `from .a import b`, `import a`.
fn modules(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines().take(400) {
        let line = line.trim();
        if line.contains("'./")
            || line.contains("\"./")
            || line.contains("../")
            || line.contains("require_relative")
        {
            let texts = quoted(line).into_iter().map(|(_, text)| text);
            found.extend(
                texts
                    .filter(|text| text.starts_with('.') || line.contains("require_relative"))
                    .map(stem_of_module),
            );
        }
        if line.starts_with("from ") || line.starts_with("import ") {
            let words =
                line.split(|c: char| c.is_whitespace() || matches!(c, ',' | '.' | '(' | ')'));
            found.extend(
                words.filter(|word| word.len() > 1 && !matches!(*word, "from" | "import" | "as")),
            );
        }
        if found.len() > 64 {
            break;
        }
    }
    found
}

fn stem_of_module(module: &str) -> &str {
    stem(module.rsplit('/').next().unwrap_or(module))
}

/// The first machine outside that a text names and that few people know.
fn outside(scene: &Scene<'_>, text: &str) -> Option<(Host, String)> {
    text.match_indices("://").take(8).find_map(|(at, _)| {
        let head = text.get(..at)?;
        let start = head
            .rfind(|c: char| !c.is_ascii_alphabetic())
            .map_or(0, |at| at + 1);
        let url = text.get(start..)?;
        let url = url.split(['"', '\'', '`', ' ', '\n', ')', ',']).next()?;
        let host = scene.know.hosts.host(&Value::known(url));
        let named = host.name.contains('.') && !host.name.contains(['$', '{']);
        (named && scene.know.hosts.is_unheard_of(&host)).then(|| (host, url.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_found() {
        assert_eq!(
            modules("require('./report')(require('../lib/snapshot.js')())"),
            ["report", "snapshot"]
        );
        assert_eq!(modules("from .keys import all_keys"), ["keys", "all_keys"]);
        assert_eq!(stem("/a/b/c.test.js"), "c");
    }
}
