//! The monotonic oracle: what was once blocked stays blocked, what was once allowed stays allowed.
//!
//! Every case must end as expected. The exceptions stand in a file, each with the reason why
//! somebody has accepted it, so that no verdict changes unseen, for better or for worse.

use super::Judged;
use super::cases::{Case, Expect};
use super::judge::Outcome;
use crate::args::WrongUse;
use holdgate_core::Verdict;
use std::collections::BTreeMap;
use std::path::Path;

/// The accepted exceptions.
#[derive(Debug)]
pub(super) struct Oracle {
    name: String,
    /// By the case's id.
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    verdict: String,
    reason: String,
}

/// Reads lines of the form `VERDICT ID REASON`; empty lines and those that start with `#` are
/// comments.
pub(super) fn read(path: &Path) -> Result<Oracle, WrongUse> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| WrongUse(format!("{name}: {e}")))?;
    parse(name, &text).map_err(WrongUse)
}

fn parse(name: String, text: &str) -> Result<Oracle, String> {
    let mut entries = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let here = |what: &str| format!("{name}:{}: {what}", index + 1);
        let parts = line.split_once(char::is_whitespace);
        let parts = parts.and_then(|(verdict, rest)| {
            let (id, reason) = rest.trim_start().split_once(char::is_whitespace)?;
            Some((verdict, id, reason.trim_start()))
        });
        let Some((verdict, id, reason)) = parts else {
            return Err(here("write `VERDICT ID REASON`"));
        };
        if !["block", "ask", "allow"].contains(&verdict) {
            let what = format!("`{verdict}` is not a verdict, write block, ask or allow");
            return Err(here(&what));
        }
        let entry = Entry {
            verdict: verdict.to_owned(),
            reason: reason.to_owned(),
        };
        if entries.insert(id.to_owned(), entry).is_some() {
            return Err(here(&format!("`{id}` is listed twice")));
        }
    }
    Ok(Oracle { name, entries })
}

impl Oracle {
    /// Why a case ends otherwise than expected, if somebody has said so.
    pub(super) fn reason(&self, id: &str) -> Option<&str> {
        self.entries.get(id).map(|entry| entry.reason.as_str())
    }

    /// Every case that ends otherwise than it must, and every entry that is not true.
    pub(super) fn differences<'a>(&self, files: impl Iterator<Item = &'a Judged>) -> Vec<String> {
        let mut open: BTreeMap<&str, &Entry> = self
            .entries
            .iter()
            .map(|(id, entry)| (id.as_str(), entry))
            .collect();
        let mut differences = Vec::new();
        for (case, outcome) in files.flat_map(|file| &file.cases) {
            let Some(outcome) = outcome else { continue };
            let (is, must) = (word(outcome), expected(case));
            match open.remove(case.id.as_str()) {
                None if is != must => differences.push(format!(
                    "case `{}`: the verdict is `{is}`, expected `{must}`. If that is right, add it to {} with the reason",
                    case.id, self.name
                )),
                Some(_) if is == must => differences.push(format!(
                    "case `{}`: the verdict is `{is}` as expected. Remove its entry from {}",
                    case.id, self.name
                )),
                Some(entry) if entry.verdict != is => differences.push(format!(
                    "case `{}`: the verdict is `{is}`, but {} says `{}`",
                    case.id, self.name, entry.verdict
                )),
                None | Some(_) => {}
            }
        }
        let gone = open
            .keys()
            .map(|id| format!("{}: there is no case `{id}`", self.name));
        differences.extend(gone);
        differences
    }
}

/// Whether a case ended as expected.
pub(super) fn as_expected(case: &Case, outcome: &Outcome) -> bool {
    word(outcome) == expected(case)
}

/// The verdict as the oracle calls it: what is only recorded passes.
pub(super) fn word(outcome: &Outcome) -> &'static str {
    match outcome.verdict {
        Verdict::Block | Verdict::Kill => "block",
        Verdict::Ask => "ask",
        Verdict::Audit | Verdict::Allow => "allow",
    }
}

fn expected(case: &Case) -> &'static str {
    match case.expect {
        Expect::Block => "block",
        Expect::Allow => "allow",
        Expect::Flag => "ask",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(lines: &[(&str, &str, Verdict)]) -> Judged {
        let case = |(id, expect, verdict): &(&str, &str, Verdict)| {
            let line = format!(
                r#"{{"id":"{id}","expect":"{expect}","call":{{"tool":"Bash","input":{{"command":"x"}}}}}}"#
            );
            let case = super::super::read("cases", &line).unwrap().remove(0);
            let outcome = Outcome {
                verdict: *verdict,
                ..Outcome::empty()
            };
            (case, Some(outcome))
        };
        Judged {
            name: "cases".to_owned(),
            cases: lines.iter().map(case).collect(),
            tally: super::super::Tally::default(),
        }
    }

    #[test]
    fn a_changed_verdict_is_named_unless_somebody_has_accepted_it() {
        let oracle = parse(
            "list".to_owned(),
            "# why\nask known the host is the user's own\nask worse reason\nallow better reason\nallow gone reason\n",
        )
        .unwrap();
        let file = judged(&[
            ("fine", "block", Verdict::Block),
            ("quiet", "allow", Verdict::Audit),
            ("known", "block", Verdict::Ask),
            ("new", "allow", Verdict::Ask),
            ("worse", "block", Verdict::Allow),
            ("better", "block", Verdict::Block),
        ]);
        let differences = oracle.differences(std::iter::once(&file)).join("\n");
        for part in [
            "case `new`: the verdict is `ask`, expected `allow`",
            "case `worse`: the verdict is `allow`, but list says `ask`",
            "case `better`: the verdict is `block` as expected. Remove",
            "list: there is no case `gone`",
        ] {
            assert!(
                differences.contains(part),
                "{part} is missing in\n{differences}"
            );
        }
        assert_eq!(differences.lines().count(), 4, "{differences}");
        assert_eq!(oracle.reason("known"), Some("the host is the user's own"));
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        assert!(
            parse("list".to_owned(), "ask known")
                .unwrap_err()
                .starts_with("list:1: ")
        );
        assert!(parse("list".to_owned(), "deny a b").is_err());
        assert!(parse("list".to_owned(), "ask a b\nask a b").is_err());
    }
}
