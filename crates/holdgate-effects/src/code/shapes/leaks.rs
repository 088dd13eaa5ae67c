//! Secrets beside an address: pieces of a path that lead to a place of secrets, whatever joins them, or the
//! environment handed to something that reports, in a file that names a machine outside.

use super::scan::{Text, around, has_any, quoted};
use crate::effect::{Actor, Effect, Kind};
use crate::host::{Host, HostClass};
use crate::language::Language;
use crate::path::PathClass;
use crate::scene::{Scene, is_secret};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Texts of one file that are looked at.
const MAX_TEXTS: usize = 4000;
/// Pieces of a path that are joined.
const MAX_PIECES: usize = 3;
/// Bytes between two pieces of one path.
const MAX_GAP: usize = 60;
/// Lines around a secret in which what sends it stands.
const NEAR: usize = 14;

/// Parts of names of secret places.
const PLACES: [&str; 27] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".docker",
    "gcloud",
    ".git-credentials",
    "login data",
    "cookies",
    "logins.json",
    "key4.db",
    "keychain",
    ".azure",
    ".config/gh",
    ".pgpass",
    "shadow",
    "_history",
    ".password-store",
    "keyrings",
    ".mozilla",
    ".electrum",
    "wallet",
    "vault-token",
    "solana",
];

pub(super) fn run(scene: &Scene<'_>, text: &Text<'_>, found: &mut Vec<Effect>) {
    let Some((host, host_at)) = outside(scene, text) else {
        return;
    };
    if has_any(&text.low, &PLACES)
        && let Some((at, path)) = secret(scene, text)
    {
        let near = around(&text.low, at, NEAR, NEAR, 1400);
        let sends = [
            "post", "put", "send", "upload", "request", "http", "fetch", "socket", "write", "tcp",
            "smtp", "ftp", "curl",
        ];
        let line = crate::json::shorten(text.line(at).trim(), 200);
        if text.is_new(text.line(at)) && (text.is_code() || text.language == Language::Lines) {
            let close =
                text.is_code() && near.contains(host.name.as_str()) && has_any(near, &sends);
            let program = if close { "file" } else { "beside" };
            let mut effect = Actor::new(program, &line)
                .does(Kind::Send)
                .with(host.clone())
                .about(&path);
            effect.origins |= if close {
                Origins::SECRET | Origins::FILE
            } else {
                Origins::FILE
            };
            found.push(effect);
            return;
        }
    }
    if text.is_code() && text.language != Language::Other {
        environment(scene, text, &host, host_at, found);
    } else {
        settings(text, &host, found);
    }
}

/// The first machine outside that a text of the file names.
fn outside(scene: &Scene<'_>, text: &Text<'_>) -> Option<(Host, usize)> {
    let by_scheme = text
        .low
        .match_indices("://")
        .take(256)
        .filter_map(|(at, _)| {
            let rest = text.low.get(at + 3..)?;
            let end = rest.find(|c: char| {
                c.is_whitespace()
                    || matches!(
                        c,
                        '"' | '\'' | '`' | '<' | '>' | ')' | ',' | ';' | '/' | '?' | '}' | ']'
                    )
            });
            Some((at, rest.get(..end.unwrap_or(rest.len()))?))
        });
    let texts = if text.is_code() || text.language == Language::Lines {
        quoted(&text.low)
    } else {
        Vec::new()
    };
    let bare = texts.into_iter().take(MAX_TEXTS).filter(|(at, value)| {
        let head = text.low.get(at.saturating_sub(18)..*at).unwrap_or("");
        let named = has_any(head, &["host", "server", "addr", "endpoint", "domain"])
            && !head.contains('\n');
        looks_like_host(value, if named { 2 } else { 3 })
    });
    let elements = text
        .low
        .match_indices("host>")
        .filter_map(|(at, _)| Some((at, text.low.get(at + 5..)?.split('<').next()?)))
        .filter(|(_, v)| looks_like_host(v, 2));
    let found = by_scheme.chain(bare).chain(elements);
    found
        .map(|(at, name)| (scene.know.hosts.host(&Value::known(name)), at))
        .find(|(host, _)| {
            let named = host.name.contains('.')
                && !host.name.contains(['$', '{', '%', '#', '*', '\\', '(']);
            named
                && matches!(host.class, HostClass::External | HostClass::Drop)
                && !is_document(&host.name)
        })
}

/// Hosts whose names stand in source as names, and as links to documents.
fn is_document(host: &str) -> bool {
    let names = [
        "w3.org",
        "schema.org",
        "json-schema.org",
        "schemas.microsoft.com",
        "schemas.xmlsoap.org",
        "apache.org",
        "opensource.org",
        "example.com",
        "example.org",
        "example.net",
        "docs.",
        "developer.",
        "github.com",
        "stackoverflow.com",
        "wikipedia.org",
        "readthedocs.io",
        "gnu.org",
        "mozilla.org",
        "xmlns",
        "purl.org",
        "ietf.org",
        "spdx.org",
    ];
    names.iter().any(|name| {
        host == *name
            || host.ends_with(&format!(".{name}"))
            || name.ends_with('.') && host.starts_with(name)
    })
}

/// `collect.evil.example`, `203.0.113.9`: a name of a machine and nothing else.
fn looks_like_host(text: &str, least: usize) -> bool {
    let (name, port) = text.split_once(':').unwrap_or((text, "1"));
    let labels: Vec<&str> = name.split('.').collect();
    let address = labels.len() == 4 && labels.iter().all(|l| l.parse::<u8>().is_ok());
    let named = labels.len() >= least
        && labels
            .iter()
            .all(|l| !l.is_empty() && l.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
        && labels.last().is_some_and(|l| {
            l.len() >= 2
                && l.bytes().all(|b| b.is_ascii_alphabetic())
                && !matches!(
                    *l,
                    "js" | "ts"
                        | "py"
                        | "json"
                        | "md"
                        | "txt"
                        | "html"
                        | "css"
                        | "java"
                        | "yml"
                        | "yaml"
                        | "xml"
                        | "lock"
                        | "conf"
                        | "log"
                        | "class"
                        | "name"
                        | "id"
                        | "get"
                        | "set"
                        | "value"
                        | "test"
                        | "spec"
                        | "local"
                        | "tsx"
                        | "jsx"
                        | "d"
                        | "go"
                        | "rs"
                        | "internal"
                        | "svc"
                        | "map"
                )
        });
    (address || named) && port.parse::<u16>().is_ok()
}

/// A secret place that pieces in texts lead to.
fn secret(scene: &Scene<'_>, text: &Text<'_>) -> Option<(usize, String)> {
    let mut texts = quoted(&text.clean);
    if matches!(text.language, Language::Other | Language::Lines) {
        texts.extend(bare_words(&text.clean));
    }
    for (index, (at, piece)) in texts.iter().enumerate().take(MAX_TEXTS) {
        let low = piece.to_ascii_lowercase();
        if piece.len() > 200 || !has_any(&low, &PLACES) {
            continue;
        }
        let mut path = String::new();
        let mut end = *at;
        for (from, next) in texts.iter().skip(index).take(MAX_PIECES) {
            let gap = text.clean.get(end..*from).unwrap_or("");
            if from.saturating_sub(end) > MAX_GAP
                || gap.contains([';', '{', '}'])
                || next.contains("://")
                || next.len() > 200
            {
                break;
            }
            end = from + next.len();
            let next = next.trim_matches('/');
            path = if path.is_empty() {
                next.to_owned()
            } else {
                format!("{path}/{next}")
            };
            for candidate in candidates(&path) {
                if scene
                    .place(&Value::known(candidate.as_str()))
                    .is(PathClass::Secret)
                {
                    return Some((*at, candidate));
                }
            }
        }
    }
    None
}

/// Words without quotes: Tcl and settings need none.
fn bare_words(text: &str) -> Vec<(usize, &str)> {
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '[' | ']' | '{' | '}' | '"' | '\'' | '(' | ')' | ',' | '=' | ';'
            )
    };
    let mut from = 0;
    let mut found = Vec::new();
    for (at, mark) in text.match_indices(ends).take(MAX_TEXTS) {
        if at > from
            && let Some(word) = text.get(from..at)
        {
            found.push((from, word));
        }
        from = at + mark.len();
    }
    found
}

/// Where a path may lead: from the home, and from what stands behind a variable in it.
fn candidates(path: &str) -> Vec<String> {
    let mut all = vec![format!("~/{}", path.trim_start_matches(['~', '/']))];
    if let Some(at) = path.find("/.") {
        all.push(format!("~{}", path.get(at..).unwrap_or("")));
    }
    if path.starts_with("etc/") || path.starts_with("home/") || path.starts_with("root/") {
        all.push(format!("/{path}"));
    }
    all
}

/// The environment, or a secret variable of it, in what is reported.
fn environment(
    scene: &Scene<'_>,
    text: &Text<'_>,
    host: &Host,
    host_at: usize,
    found: &mut Vec<Effect>,
) {
    let table = &scene.know.doors;
    let whole = table.environment.iter().flat_map(|name| {
        text.code
            .match_indices(name.as_str())
            .map(move |(at, _)| (at, name.len()))
    });
    let plain = table.environments.iter().flat_map(|name| {
        text.code
            .match_indices(name.as_str())
            .map(move |(at, _)| (at, name.len()))
    });
    let plain = plain.filter(|(at, length)| {
        let after = text
            .code
            .get(at + length..)
            .unwrap_or("")
            .trim_start_matches([' ', ')']);
        !after.starts_with(['.', '[', '?', '_', '-', '=', '!'])
            && !after.starts_with(char::is_alphanumeric)
            && !after.starts_with("&&")
    });
    for (at, _) in whole.chain(plain).take(64) {
        let before = around(&text.low, at, 2, 0, 160);
        let before = text.low.get(at.saturating_sub(160)..at).unwrap_or(before);
        let statement = before.rsplit([';', '\n']).next().unwrap_or("");
        let child = [
            "env:",
            "env =",
            "env=",
            "environment:",
            "environment=",
            "environment =",
            "spawn",
            "subprocess",
            "popen",
            "exec",
            "parse(",
            "cleanenv",
            "keys(",
            "fork(",
            "env(",
            "env,",
            "load",
            "expand",
            "config",
            "settings",
            "merge",
            "setenv",
            "withenv",
        ];
        let statement_before = before.rsplit(';').next().unwrap_or("");
        let logged = logs(&text.line(at).to_ascii_lowercase());
        if !logged && has_any(statement, &child)
            || !logged
                && has_any(
                    statement_before
                        .get(statement_before.len().saturating_sub(60)..)
                        .unwrap_or(""),
                    &["env:", "env =", "env=", "spawn(", "exec"],
                )
        {
            continue;
        }
        if !reports(before) || !text.is_new(text.line(at)) {
            continue;
        }
        let close = at.abs_diff(host_at) < 700;
        found.push(sent(text.line(at), host, close));
        return;
    }
    // What people send, in what is reported about them.
    let brought = [
        "authorization",
        "req.body",
        "request.body",
        "cookie",
        "password",
        "request.form",
        "request.post",
        "request.get_json",
    ];
    let reported = [
        ".track(",
        "capture",
        "identify(",
        "setextra",
        "set_extra",
        "setcontext",
        "set_context",
        "extra:",
        "extra =",
        "properties:",
        "breadcrumb",
        "logevent",
        "log_event",
    ];
    for (line, shown) in text.low.lines().zip(text.clean.lines()) {
        if has_any(line, &reported) && has_any(line, &brought) && text.is_new(shown) {
            let shown = crate::json::shorten(shown.trim(), 200);
            let effect = Actor::new("file", &shown)
                .does(Kind::Send)
                .with(host.clone());
            found.push(effect.tagged(Tag::Grabs).about(&shown));
            return;
        }
    }
    for name in secret_variables(&text.clean).take(128) {
        let (at, _) = name;
        let line = text.line(at).to_ascii_lowercase();
        if logs(&line) && text.is_new(text.line(at)) {
            found.push(sent(text.line(at), host, false));
            return;
        }
    }
}

fn sent(line: &str, host: &Host, whole: bool) -> Effect {
    let line = crate::json::shorten(line.trim(), 200);
    let mut effect = Actor::new("file", &line)
        .does(Kind::Send)
        .with(host.clone())
        .about(&line);
    effect.origins |= Origins::ENVIRONMENT;
    if whole {
        effect.tagged(Tag::WholeEnvironment)
    } else {
        effect
    }
}

/// Whether what is built here is reported: an event, a body, attributes of something.
fn reports(before: &str) -> bool {
    let words = [
        "extra",
        "context",
        "tags",
        "properties",
        "props",
        "metadata",
        "meta:",
        "body",
        "data",
        "payload",
        "attribut",
        "event",
        "capture",
        "track",
        "identify",
        "log",
        "info(",
        "warn",
        "error(",
        "debug(",
        "send",
        "emit",
        "report",
        "json",
        "post",
        "stringify",
        "dumps",
        "encode",
        "fields",
        "labels",
        "record",
        "scope",
        "params",
        "message",
        "details",
        "breadcrumb",
        "publish",
        "write",
        "query",
        "qs",
        "custom",
        "trace",
        "span",
        "baggage",
        "resource",
        "request",
        "traits",
        "user",
    ];
    has_any(before, &words)
}

/// Whether a line hands something to what keeps or reports events.
fn logs(line: &str) -> bool {
    let words = [
        "log.",
        "logger",
        "logging.",
        ".info(",
        ".warn(",
        ".warning(",
        ".error(",
        ".debug(",
        "capture",
        ".track(",
        "identify(",
        "set_tag",
        "settag",
        "setextra",
        "set_extra",
        "setcontext",
        "set_context",
        "breadcrumb",
        "gauge(",
        "increment(",
        "attributes",
        "properties",
        "setattribute",
        "set_attribute",
        "extra:",
        "extra=",
        "tags:",
        "labels:",
        "report(",
    ];
    let shown = [
        "console.",
        "missing",
        "not set",
        "is not",
        "required",
        "undefined",
    ];
    has_any(line, &words) && !has_any(line, &shown)
}

/// Reads of single variables whose names say that they hold a secret.
fn secret_variables(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let marks = [
        "env.",
        "env['",
        "env[\"",
        "environ['",
        "environ[\"",
        "environ.get('",
        "environ.get(\"",
        "getenv('",
        "getenv(\"",
        "Getenv(\"",
        "ENV['",
        "ENV[\"",
        "ENV.fetch('",
        "ENV.fetch(\"",
        "get_env(\"",
        "var(\"",
        "GetEnvironmentVariable(\"",
    ];
    marks
        .into_iter()
        .flat_map(move |mark| text.match_indices(mark))
        .filter_map(move |(at, mark)| {
            let rest = text.get(at + mark.len()..)?;
            let end =
                rest.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))?;
            let name = rest.get(..end)?;
            (name.len() > 3 && is_secret(name)).then_some((at, name))
        })
}

/// Settings that put a secret variable into what goes out, and not into what opens the door there.
fn settings(text: &Text<'_>, host: &Host, found: &mut Vec<Effect>) {
    for (at, _) in text.clean.match_indices("${").take(256) {
        let rest = text.clean.get(at + 2..).unwrap_or("");
        let name = rest.trim_start_matches("env:").trim_start_matches("env.");
        let end = name
            .find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
            .unwrap_or(name.len());
        let name = name.get(..end).unwrap_or("");
        if name.len() < 4 || !is_secret(name) {
            continue;
        }
        let line = text.line(at);
        let low = line.to_ascii_lowercase();
        let head = low.split("${").next().unwrap_or("");
        let opens = [
            "key", "token", "secret", "pass", "auth", "cred", "dsn", "url", "uri", "header",
            "bearer", "user", "id", "cert", "account", "export", "arg", "env", "run", "login",
            "curl", "-h ", "conn",
        ];
        let carries = [
            "pattern",
            "value",
            "attribute",
            "tag",
            "label",
            "message",
            "msg",
            "format",
            "extra",
            "field",
            "body",
            "template",
            "prefix",
            "suffix",
            "add_",
            "content",
            "query",
            "text",
        ];
        let named = head.replace(['"', '\''], "");
        // `{key: x, action: insert, value: "${…}"}`
        let last = named.rsplit([',', '{', '<']).next().unwrap_or("");
        if has_any(last, &carries) && !has_any(last, &opens) && text.is_new(line) {
            found.push(sent(line, host, false));
            return;
        }
    }
}
