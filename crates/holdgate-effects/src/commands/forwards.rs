//! Programs that make a name or a port of this machine lead to another one.

use super::args::Parsed;
use super::units::Run;
use crate::scene::Scene;
use crate::value::Value;

/// Notes what `curl --connect-to`, `--resolve`, `ssh -L`, `kubectl port-forward` and `kubectl proxy` lead to.
pub(super) fn notes(scene: &mut Scene<'_>, run: Run<'_>) {
    let parsed = run.parsed;
    for value in values(parsed, &["--connect-to", "--resolve"]) {
        // `host:port:other:port`, `host:port:address`
        let mut parts = value.text.splitn(3, ':');
        let (from, _, to) = (parts.next(), parts.next(), parts.next());
        let from = from.filter(|from| !from.is_empty()).unwrap_or("*");
        let to = to.unwrap_or("").trim_start_matches('[');
        let to = to.split([':', ',', ']']).next().unwrap_or("");
        scene.forwards_to(from, &value.map(to));
    }
    for value in values(parsed, &["-L"]) {
        // `[bind:]port:host:port`
        let parts: Vec<&str> = value.text.split(':').collect();
        let [.., port, host, _] = parts.as_slice() else {
            continue;
        };
        let server = parsed.operands.first().filter(|_| is_here(host));
        let target = server.map_or_else(|| value.map(*host), Value::clone);
        scene.forwards_to(&format!("localhost:{port}"), &target);
    }
    if parsed.is_sub(&["port-forward", "proxy"]) {
        let names = ["-n", "--namespace", "--context", "--cluster"];
        let words = values(parsed, &names).map(|v| v.text.clone());
        let words = words.chain(parsed.operands.first().map(|o| o.text.replace('/', ".")));
        let mut name: Vec<String> = words.collect();
        name.push("cluster.internal".to_owned());
        let port = parsed
            .operands
            .last()
            .and_then(|o| o.text.split(':').next());
        let port = port.filter(|port| port.bytes().all(|b| b.is_ascii_digit()));
        let from = port.map_or("localhost".to_owned(), |port| format!("localhost:{port}"));
        scene.forwards_to(&from, &Value::known(name.join(".")));
    }
}

fn is_here(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "0.0.0.0" | "")
}

fn values<'p>(parsed: &'p Parsed, names: &[&str]) -> impl Iterator<Item = &'p Value> {
    let options = parsed.options_named(names).collect::<Vec<_>>();
    options
        .into_iter()
        .filter_map(|o| o.value.as_ref().map(|(_, v)| v))
}
