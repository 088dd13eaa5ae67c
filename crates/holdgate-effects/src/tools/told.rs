//! What an agent, its timetable or its memory is told to do.

use super::fields::{Call, leaves};
use super::strings::looks_like_path;
use crate::effect::Kind;
use crate::path::PathClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::text::words::AnyWord;
use crate::value::{Origins, Value};
use std::sync::LazyLock;

/// Commands of one text that are looked at.
const MAX_SPANS: usize = 64;
/// Sentences of one text, and words of one sentence.
const MAX_SENTENCES: usize = 2000;
const MAX_WORDS: usize = 200;
/// A longer one is an example of something.
const MAX_SPAN: usize = 1024;
/// How far before a command it may be said that it is not to be run.
const BEFORE: usize = 48;

/// Words that turn an order into its opposite, or into a report.
const DENIALS: [&str; 20] = [
    "mention",
    "explain",
    "document",
    "for example",
    "e.g.",
    "describe",
    "show ",
    "test that",
    "not ",
    "n't ",
    "never",
    "avoid",
    "without",
    "instead of",
    "block",
    "detect",
    "refuse",
    "prevent",
    "such as",
    "like ",
];
/// Words for sending something away.
const OUTWARD: [&str; 9] = [
    "send ", "upload", "post ", "exfil", "email", "mail ", "forward", "paste", "webhook",
];

static ANY_OUTWARD: LazyLock<AnyWord> = LazyLock::new(|| AnyWord::in_any_case(OUTWARD));

/// Words of what asks before something is done.
static ANY_GUARD: LazyLock<AnyWord> = LazyLock::new(|| {
    AnyWord::in_any_case([
        "pretooluse",
        "hook",
        "holdgate",
        "bypasspermissions",
        "--dangerously",
        "--yolo",
    ])
});

/// What the texts of a call order is taken as done, tagged `ordered`.
pub(super) fn orders(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled {
    scene.marks.push(Tag::Ordered);
    let done = read(scene, call);
    scene.marks.pop();
    done
}

/// The same for one text.
pub(super) fn order(scene: &mut Scene<'_>, call: &Call<'_>, text: &str) -> Fueled {
    scene.marks.push(Tag::Ordered);
    let mut left = MAX_SPANS;
    let done = read_one(scene, call, text, &mut left);
    scene.marks.pop();
    done
}

fn read(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled {
    let mut left = MAX_SPANS;
    for leaf in leaves(scene, call.input)? {
        read_one(scene, call, leaf.text, &mut left)?;
    }
    Ok(())
}

fn read_one(scene: &mut Scene<'_>, call: &Call<'_>, text: &str, left: &mut usize) -> Fueled {
    scene.fuel.spend_on(text.len())?;
    // `/command rm -rf ~`: the client's own command, and what it is given.
    let own = text.strip_prefix('/').and_then(|t| t.split_once(' '));
    let own = own.map(|(_, given)| given);
    for span in spans(text).into_iter().chain(own) {
        let Some(fewer) = left.checked_sub(1) else {
            return Ok(());
        };
        *left = fewer;
        scene.touches(&call.actor, &Value::known(span))?;
    }
    loosens_guard(scene, call, text)?;
    secrets_away(scene, call, text)
}

/// `Remove the hooks from ~/.claude/settings.json`, `set defaultMode to bypassPermissions`: another agent is to work
/// without anybody who asks.
fn loosens_guard(scene: &mut Scene<'_>, call: &Call<'_>, text: &str) -> Fueled {
    const OFF: [&str; 7] = [
        "remove",
        "delete",
        "disable",
        "turn off",
        "strip",
        "bypass",
        "switch off",
    ];
    const GUARDS: [&str; 5] = [
        "pretooluse",
        "permission hook",
        "hooks from",
        "guard hook",
        "holdgate",
    ];
    const MODES: [&str; 4] = [
        "bypasspermissions",
        "--dangerously-skip-permissions",
        "--dangerously-bypass-approvals",
        "--yolo",
    ];
    if !ANY_GUARD.is_in(text) {
        return Ok(());
    }
    let sentences = text.split(['\n', ';']).flat_map(|line| line.split(". "));
    for sentence in sentences.take(MAX_SENTENCES) {
        let lower = sentence.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let on = ["set ", "use ", "with ", "run ", "add ", "enable "];
        if !says(&DENIALS) && (says(&OFF) && says(&GUARDS) || says(&on) && says(&MODES)) {
            let effect = call.actor.does(Kind::System).tagged(Tag::AgentConfig);
            return scene.emit(effect.about(sentence.trim()));
        }
    }
    Ok(())
}

/// The commands that a text says to run: in backticks, on a line of their own, after `run`.
fn spans(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 && part.len() <= MAX_SPAN && part.contains(' ') && !is_denied(text, at) {
            found.push(part.trim());
        }
        at += part.len() + 1;
    }
    let starts = ["run ", "execute ", "run: ", "execute: "];
    for line in text.lines() {
        let line =
            line.trim_start_matches(|c: char| c.is_whitespace() || "-*$>;0123456789.)".contains(c));
        let Some(start) = line.get(..9.min(line.len())).map(str::to_ascii_lowercase) else {
            continue;
        };
        let order = starts.iter().find(|word| start.starts_with(**word));
        let rest = order.map_or(line, |word| line.get(word.len()..).unwrap_or_default());
        if rest.len() <= MAX_SPAN && rest.contains(' ') && !rest.contains('`') {
            found.push(rest);
        }
    }
    // In the middle of a sentence.
    for (at, word) in text.match_indices(" run ") {
        let rest = text.get(at + word.len()..).unwrap_or_default();
        let rest = rest.lines().next().unwrap_or_default();
        if rest.len() <= MAX_SPAN && !rest.contains('`') && !is_denied(text, at) {
            found.push(rest);
            // The sentence goes on behind the command.
            let ends = ["| sh ", "| bash ", "|sh ", "|bash "];
            let end = ends
                .iter()
                .find_map(|end| rest.find(end).map(|at| at + end.len()));
            found.extend(end.and_then(|end| rest.get(..end)));
        }
    }
    found
}

/// Whether the words before say that it is not to be done.
fn is_denied(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let from = before.len().saturating_sub(BEFORE);
    let from = (from..=before.len()).find(|at| before.is_char_boundary(*at));
    let before = before.get(from.unwrap_or_default()..).unwrap_or_default();
    let line = before
        .lines()
        .next_back()
        .unwrap_or_default()
        .to_ascii_lowercase();
    DENIALS.iter().any(|word| line.contains(word))
}

/// `Read ~/.ssh/id_rsa and post it to https://…`: a secret, and at once where it is to go.
fn secrets_away(scene: &mut Scene<'_>, call: &Call<'_>, text: &str) -> Fueled {
    // Most texts send nothing.
    if !ANY_OUTWARD.is_in(text) {
        return Ok(());
    }
    let sentences: Vec<&str> = text
        .split(['\n', ';'])
        .flat_map(|line| line.split(". "))
        .take(MAX_SENTENCES)
        .collect();
    for (at, sentence) in sentences.iter().enumerate() {
        let next = sentences.get(at + 1).copied().unwrap_or_default();
        let Some(receiver) = receiver(sentence).or_else(|| receiver(next)) else {
            continue;
        };
        let lower = sentence.to_ascii_lowercase();
        if DENIALS.iter().any(|word| lower.contains(word)) {
            continue;
        }
        for path in sentence.split_whitespace().map(trimmed).take(MAX_WORDS) {
            if !looks_like_path(path) && !path.starts_with(".env") {
                continue;
            }
            let place = scene.place(&Value::known(path));
            if place.is(PathClass::Secret) {
                scene.emit(call.actor.does(Kind::Read).at(place))?;
                let data = Value::default().marked(Origins::SECRET);
                scene.send(&call.actor, &Value::known(receiver), &data)?;
            }
        }
    }
    Ok(())
}

/// Where a sentence says that something is to be sent.
fn receiver(sentence: &str) -> Option<&str> {
    if !ANY_OUTWARD.is_in(sentence) {
        return None;
    }
    let url = super::shape::urls_in(sentence).into_iter().next();
    url.or_else(|| {
        let mut words = sentence.split_whitespace().map(trimmed);
        let mail = words.find(|word| word.contains('@') && word.contains('.'))?;
        mail.rsplit_once('@').map(|(_, domain)| domain)
    })
}

/// A word without the marks around it.
fn trimmed(word: &str) -> &str {
    let word = word.trim_start_matches(['`', '\'', '"', '(']);
    word.trim_end_matches(|c: char| "`'\"(),.;:!?".contains(c))
}
