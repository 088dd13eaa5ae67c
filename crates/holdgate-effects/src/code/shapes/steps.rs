//! Steps of a pipeline that hand a secret to a machine which the step itself names.

use crate::effect::{Actor, Effect, Kind};
use crate::scene::Scene;
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// A longer file is no pipeline.
const MAX_FILE: usize = 128 << 10;
/// Words in the names of settings that name a machine.
const LEADS: [&str; 11] = [
    "url",
    "host",
    "server",
    "registry",
    "endpoint",
    "address",
    "proxy",
    "remote",
    "repository",
    "domain",
    "dsn",
];

pub(super) fn run(scene: &Scene<'_>, path: &str, content: &str, found: &mut Vec<Effect>) {
    let pipeline = path.contains(".github/workflows/")
        || path.contains(".github/actions/")
        || path.contains(".gitea/")
        || path.contains(".forgejo/");
    if !pipeline || content.len() > MAX_FILE || !content.contains("secrets.") {
        return;
    }
    for step in steps(content) {
        if !step.contains("secrets.") || !(step.contains("with:") || step.contains("uses:")) {
            continue;
        }
        for (key, value) in settings(step) {
            let low = key.to_ascii_lowercase();
            if !LEADS.iter().any(|word| low.contains(word)) || value.contains("${{") {
                continue;
            }
            let host = scene.know.hosts.host(&Value::known(value));
            let own = scene.is_own_host(&host.name);
            if !host.name.contains('.')
                || host.name.contains(['/', ' '])
                || own
                || !scene.know.hosts.is_unheard_of(&host)
            {
                continue;
            }
            let shown = crate::json::shorten(&format!("{key}: {value}, with a secret"), 200);
            let mut effect = Actor::new("workflow", &shown)
                .does(Kind::Send)
                .with(host)
                .about(value);
            effect.origins |= Origins::ENVIRONMENT;
            found.push(effect.tagged(Tag::Ci));
            return;
        }
    }
}

/// The steps of a pipeline: from one `- ` with `uses`, `name` or `run` to the next.
fn steps(content: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in content.split_inclusive('\n') {
        let item = line.trim_start().strip_prefix("- ").unwrap_or("");
        if ["uses:", "name:", "run:", "id:", "if:", "with:", "env:"]
            .iter()
            .any(|key| item.starts_with(key))
        {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([content.len()]);
    let parts = starts.iter().zip(ends);
    parts
        .filter_map(|(from, to)| content.get(*from..to))
        .collect()
}

/// `key: value` of each line, also within braces.
fn settings(step: &str) -> impl Iterator<Item = (&str, &str)> {
    step.lines().flat_map(|line| {
        let inner = line
            .split_once('{')
            .filter(|_| line.contains("with:") || line.contains("env:"));
        let text = inner.map_or(line, |(_, inner)| inner);
        text.split(", ").filter_map(|part| {
            let (key, value) = part.split_once(": ")?;
            let marks = |c: char| c.is_whitespace() || "\"'{}".contains(c);
            let key = key.trim_matches(marks).trim_start_matches("- ");
            Some((key, value.trim_matches(marks))).filter(|(key, _)| !key.contains(' '))
        })
    })
}
