//! Kinds of things in a cluster: `cm,secret`, `secret/db`, `secrets.v1.` are secrets in other spellings, and
//! whatever sub-command is told to print them in full shows what they hold, also when it changes nothing.

use super::units::Run;
use crate::effect::Kind;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// The programs.
const CLIENTS: [&str; 5] = ["kubectl", "k", "oc", "kubecolor", "microk8s.kubectl"];
/// Sub-commands that print what they make, or only names.
#[rustfmt::skip]
const OTHERS: [&str; 14] = [
    "create", "delete", "explain", "auth", "api-resources", "wait", "logs", "exec", "rollout", "run",
    "expose", "describe", "config", "events",
];
/// Forms that show names only.
const NAMES: [&str; 2] = ["name", "wide"];

/// What the program prints, with secrets in it if it shows them.
pub(super) fn shows(scene: &mut Scene<'_>, run: Run<'_>, output: Value) -> Fueled<Value> {
    if !CLIENTS.contains(&run.call.program) || !prints_secrets(run) {
        return Ok(output);
    }
    let mut actor = run.actor.clone();
    // That nothing is changed hides nothing.
    actor.tags.retain(|tag| *tag != Tag::DryRun);
    let mut effect = actor.does(Kind::Read).tagged(Tag::SecretStore);
    if scene.captured > 0 {
        effect = effect.tagged(Tag::Captured);
    }
    scene.emit(effect)?;
    let mut output = output;
    output.push(&Value::unknown(Origins::SECRET).with_source(&actor.program));
    Ok(output)
}

fn prints_secrets(run: Run<'_>) -> bool {
    let words = run.call.words.get(1..).unwrap_or(&[]);
    let texts = || words.iter().map(|word| word.text.as_str());
    if let Some(raw) = after(words, "--raw") {
        return raw.contains("/secrets");
    }
    let Some(sub) = run.parsed.subs.first().map(String::as_str) else {
        return texts().any(|t| t == "extract") && texts().any(is_secret);
    };
    let settled = run.parsed.subs.iter().any(|s| is_secret(s));
    if OTHERS.contains(&sub) || settled || !texts().any(is_secret) {
        return false;
    }
    sub == "extract"
        || texts().any(is_template)
        || form(words).is_some_and(|form| !shows_names(form))
}

/// `custom-columns=NAME:.metadata.name,TYPE:.type`: what a secret is called, and nothing of it.
pub(super) fn shows_names(form: &str) -> bool {
    const SHOWN: [&str; 5] = [
        ".metadata.name",
        ".metadata.namespace",
        ".metadata.creationTimestamp",
        ".type",
        ".kind",
    ];
    let columns = form.strip_prefix("custom-columns=");
    NAMES.contains(&form)
        || columns.is_some_and(|columns| {
            let mut paths = columns
                .split(',')
                .map(|c| c.split_once(':').map(|(_, path)| path));
            paths.all(|path| path.is_some_and(|path| SHOWN.contains(&path)))
        })
}

fn is_template(word: &str) -> bool {
    word == "--template" || word.starts_with("--template=")
}

/// The form in which it prints: `-o yaml`, `-oyaml`, `--output=json`.
fn form(words: &[Value]) -> Option<&str> {
    let attached = words.iter().find_map(|word| {
        let text = word.text.as_str();
        let value = text.strip_prefix("-o").filter(|v| !v.is_empty());
        value.map(|v| v.trim_start_matches('='))
    });
    attached
        .or_else(|| after(words, "-o"))
        .or_else(|| after(words, "--output"))
}

/// The value of an option.
fn after<'w>(words: &'w [Value], option: &str) -> Option<&'w str> {
    let attached = words.iter().find_map(|word| {
        let rest = word.text.strip_prefix(option)?;
        rest.strip_prefix('=')
    });
    attached.or_else(|| {
        let mut pairs = words.windows(2);
        pairs.find_map(|pair| match pair {
            [name, value] if name.text == option => Some(value.text.as_str()),
            _ => None,
        })
    })
}

/// Whether a word names secrets among the kinds in it.
fn is_secret(word: &str) -> bool {
    let file = [".yaml", ".yml", ".json"];
    if word.starts_with('-') || file.iter().any(|end| word.ends_with(end)) || word.len() > 200 {
        return false;
    }
    word.split(',').any(|part| {
        let kind = part.split(['/', '.']).next().unwrap_or("");
        kind.eq_ignore_ascii_case("secret") || kind.eq_ignore_ascii_case("secrets")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_in_every_spelling() {
        for word in ["secret", "cm,secrets", "secret/db", "secrets.v1.", "Secret"] {
            assert!(is_secret(word), "{word}");
        }
        for word in [
            "secret.yaml",
            "sealedsecret",
            "-secret",
            "cm,deploy",
            "my-secret",
        ] {
            assert!(!is_secret(word), "{word}");
        }
    }

    #[test]
    fn forms_are_read_in_every_spelling() {
        let form = |line: &str| {
            let words: Vec<Value> = line.split(' ').map(Value::known).collect();
            form(&words).map(str::to_owned)
        };
        for line in [
            "-o yaml",
            "-oyaml",
            "-o=yaml",
            "--output yaml",
            "--output=yaml",
        ] {
            assert_eq!(form(line).as_deref(), Some("yaml"), "{line}");
        }
        assert_eq!(form("get pods"), None);
    }
}
