//! The environment, a secret variable of it or what people send, in what is reported to a machine outside.

use super::find::places;
use super::scan::{Text, around, has_any};
use crate::effect::{Actor, Effect, Kind};
use crate::host::Host;
use crate::scene::{Scene, is_secret};
use crate::tag::Tag;
use crate::value::Origins;

/// The environment, or a secret variable of it, in what is reported.
pub(super) fn environment(
    scene: &Scene<'_>,
    text: &Text<'_>,
    host: &Host,
    host_at: usize,
    found: &mut Vec<Effect>,
) {
    let table = &scene.know.doors;
    let whole = table
        .environment
        .iter()
        .flat_map(|name| places(&text.code, name.as_str()).map(move |at| (at, name.len())));
    let plain = table
        .environments
        .iter()
        .flat_map(|name| places(&text.code, name.as_str()).map(move |at| (at, name.len())));
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
        let end = statement_before.len().saturating_sub(60);
        let end = statement_before.get(end..).unwrap_or("");
        let of_child = has_any(statement, &child)
            || has_any(end, &["env:", "env =", "env=", "spawn(", "exec"]);
        if of_child && !logged {
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
        .flat_map(move |mark| places(text, mark).map(move |at| (at, mark)))
        .filter_map(move |(at, mark)| {
            let rest = text.get(at + mark.len()..)?;
            let end =
                rest.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))?;
            let name = rest.get(..end)?;
            (name.len() > 3 && is_secret(name)).then_some((at, name))
        })
}

/// Settings that put a secret variable into what goes out, and not into what opens the door there.
pub(super) fn settings(text: &Text<'_>, host: &Host, found: &mut Vec<Effect>) {
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
