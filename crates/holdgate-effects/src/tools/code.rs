//! Code that tools are given: what its language hands on to a shell, and what pages give away.

use super::shape;
use crate::effect::{Actor, Kind};
use crate::host::{Host, HostClass};
use crate::language::Language;
use crate::scene::{Fueled, Scene};
use crate::value::{HOLE_STR, Origins, Value};

/// Code of a language runs.
pub(super) fn run_code(
    scene: &mut Scene<'_>,
    actor: &Actor,
    language: Language,
    text: &str,
) -> Fueled {
    let code = Value::known(text);
    if text.contains("do shell script") || text.contains("tell application") {
        let words = [Value::known("osascript"), Value::known("-e"), code];
        scene.argv(&words, None)?;
        for command in scripted(text) {
            scene.apart(|scene| scene.shell(actor, &Value::known(command)).map(drop))?;
        }
        return Ok(());
    }
    let start = scene.effects.len();
    if language == Language::Shell {
        scene.shell(actor, &code)?;
    } else {
        scene.interpret(actor, language, &code)?;
    }
    if language == Language::Python {
        for line in shell_lines(text) {
            scene.shell(actor, &Value::known(line))?;
        }
    }
    storage_sent(scene, actor, start, text)
}

/// What a cell of a notebook hands to a shell: `!command`, `%%bash` and all that follows.
pub(super) fn shell_lines(text: &str) -> Vec<&str> {
    let start = text.trim_start();
    let cells = ["%%bash", "%%sh", "%%script", "%%system"];
    if let Some(rest) = cells.iter().find_map(|mark| start.strip_prefix(mark)) {
        return rest
            .split_once('\n')
            .map(|(_, body)| body)
            .into_iter()
            .collect();
    }
    let marks = ["!!", "!", "%sx ", "%system "];
    let lines = text.lines().map(str::trim_start);
    let given = lines.filter_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)));
    given
        .filter(|line| !line.starts_with('='))
        .take(256)
        .collect()
}

/// The commands that `AppleScript` gives to a shell: `do shell script "…"`.
fn scripted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, mark) in text.match_indices("do shell script").take(16) {
        let rest = text.get(at + mark.len()..).unwrap_or_default().trim_start();
        let Some(rest) = rest.strip_prefix('"') else {
            continue;
        };
        let mut command = String::new();
        let mut chars = rest.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => command.extend(chars.next()),
                c => command.push(c),
            }
        }
        found.push(command);
    }
    found
}

/// A script for a page that reads what the page keeps for its user, and speaks to another host.
fn storage_sent(scene: &mut Scene<'_>, actor: &Actor, start: usize, text: &str) -> Fueled {
    let kept = [
        "document.cookie",
        "localStorage",
        "sessionStorage",
        "indexedDB",
        ".cookies(",
        "type=password",
        "type=\"password",
        "type='password",
    ];
    // A login with what is kept is the page's own way.
    let logs_in = text.contains("Authorization") || text.contains("headers");
    if logs_in || !kept.iter().any(|word| text.contains(word)) {
        return Ok(());
    }
    let outside = |host: &Host| matches!(host.class, HostClass::External | HostClass::Drop);
    let done = scene.effects.get(start..).unwrap_or_default();
    let mut hosts: Vec<Value> = done
        .iter()
        .filter(|effect| matches!(effect.kind, Kind::Send | Kind::Fetch | Kind::Connect))
        .filter_map(|effect| effect.host.as_ref())
        .filter(|host| outside(host))
        .map(|host| Value::known(host.name.as_str()))
        .collect();
    let speaks = [
        ".src",
        "sendBeacon",
        "location",
        "WebSocket",
        "XMLHttpRequest",
        "fetch(",
        ".post(",
        "goto(",
    ];
    if hosts.is_empty() && speaks.iter().any(|word| text.contains(word)) {
        let urls = shape::urls_in(text).into_iter();
        // `'//host/path'`: by whatever scheme the page has.
        let short = text.split(['"', '\'', '`']).skip(1).step_by(2);
        let short = short.filter_map(|part| part.strip_prefix("//"));
        let urls = urls
            .chain(short.filter(|part| part.contains('.')))
            .map(Value::known);
        hosts.extend(urls.filter(|url| outside(&scene.know.hosts.host(url))));
    }
    let data = Value::known(HOLE_STR).marked(Origins::SECRET);
    for host in hosts.iter().take(4) {
        scene.send(actor, host, &data)?;
    }
    Ok(())
}
