//! A connection to somebody outside, or a port for others, together with programs that run what comes over it.

use super::find::first;
use super::scan::{Text, has_any, quoted};
use crate::effect::{Actor, Effect, Kind};
use crate::host::HostClass;
use crate::scene::Scene;
use crate::tag::Tag;
use crate::value::Value;

/// Texts of one file that are looked at.
const MAX_TEXTS: usize = 2000;

pub(super) fn run(scene: &Scene<'_>, text: &Text<'_>, found: &mut Vec<Effect>) {
    if !text.is_code() {
        return;
    }
    let code = text.code.to_ascii_lowercase();
    let connects = ["socket", "tcp", "connect", "inet", "dial", "netconn", "udp"];
    let listens = ["listen", "bind", "accept", "serve"];
    let takes = [
        "recv",
        "readline",
        "read_line",
        "read-line",
        "receive",
        "getline",
        "gets",
        "readln",
        "read_until",
        "readuntil",
        "accept",
        "hgetline",
        "read-bytes",
        "readbytes",
        "read(",
        "readstring",
        "read_all",
        "lines",
        "line-seq",
        "reader",
        "listen(",
        "ondata",
        "on_data",
    ];
    let Some(at) = runs(&code, &text.low) else {
        return;
    };
    if !has_any(&code, &takes) || !has_any(&code, &connects) && !has_any(&code, &listens) {
        return;
    }
    let line = text.line(at);
    if !text.is_new(line) {
        return;
    }
    let outside = quoted(&text.clean)
        .into_iter()
        .take(MAX_TEXTS)
        .any(|(_, value)| {
            let address = value.parse::<std::net::Ipv4Addr>().is_ok();
            let host = scene.know.hosts.host(&Value::known(value));
            address && host.class == HostClass::External
                || is_bare_host(value)
                    && matches!(host.class, HostClass::External | HostClass::Drop)
        });
    let shells = [
        "\"sh\"",
        "'sh'",
        "\"bash\"",
        "'bash'",
        "/bin/sh",
        "/bin/bash",
        "sh -c",
        "cmd.exe",
        "powershell",
        "\"-c\"",
        "'-c'",
    ];
    let served = has_any(&code, &listens)
        && has_any(&code, &["socket", "tcp", "inet"])
        && has_any(&text.low, &shells);
    if outside && has_any(&code, &connects) || served {
        let shown = crate::json::shorten(line.trim(), 200);
        let actor = Actor::new("file", &shown);
        found.push(actor.does(Kind::ExecuteOpaque).tagged(Tag::BackDoor));
    }
}

/// `c2.evil.example`, and no address of a page.
fn is_bare_host(text: &str) -> bool {
    let labels: Vec<&str> = text.split('.').collect();
    labels.len() >= 2
        && labels
            .iter()
            .all(|l| !l.is_empty() && l.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
        && labels.last().is_some_and(|l| {
            matches!(l.len(), 2..=8)
                && l.bytes().all(|b| b.is_ascii_lowercase())
                && [
                    "com", "net", "org", "io", "example", "dev", "ru", "cn", "xyz", "info", "app",
                    "me", "co", "top", "online", "site", "biz",
                ]
                .contains(l)
        })
}

/// Where the code runs a program that it does not name.
fn runs(code: &str, low: &str) -> Option<usize> {
    let words = [
        "createprocess",
        "readprocess",
        "startprocess",
        "runprocess",
        "callcommand",
        "process.start",
        "process.run",
        "process/run",
        "processbuilder",
        "process.new",
        "os:cmd",
        "os.cmd",
        "open_port",
        "popen",
        "system(",
        "system ",
        "subprocess",
        "child_process",
        "spawn(\"",
        "spawn('",
        "spawnprocess",
        "posix_spawn",
        "executeshell",
        "execshell",
        "execcmd",
        "execcmdex",
        "shell(",
        "(shell",
        "shellexecute",
        "exec(",
        "exec.command",
        "command::new",
        "pipeprocess",
        "runcommand",
        "sh!",
        "osproc",
        "unix.open_process",
        "open_process",
        "process*",
        "with-output-to-string",
        "shell/sh",
        "(sh ",
        "process_create",
        "shell ",
        "qx",
        "run-shell-command",
        "call-process",
        "make-process",
        "ignorestatus",
        "process.execute",
    ];
    let at = words.iter().filter_map(|word| first(code, word)).min();
    let literal = [
        "sh -c",
        "\"/bin/sh\"",
        "'/bin/sh'",
        "\"/bin/bash\"",
        "cmd.exe /c",
        "\"cmd.exe\"",
    ];
    at.or_else(|| literal.iter().filter_map(|word| first(low, word)).min())
}
