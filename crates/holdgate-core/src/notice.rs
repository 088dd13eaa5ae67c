//! The text that replaces a refused call, and the inert call that may follow it: how they are
//! written, and how they are recognised in a conversation.

use crate::answer::Answer;
use crate::call::Executor;
use crate::mask::Masked;
use crate::verdict::{Finding, Verdict};
use holdgate_effects::json::shorten;
use holdgate_effects::worded;

/// The start of the ids of inert calls.
const OUR_CALLS: &str = "toolu_holdgate_";

const START: &str = "[holdgate] ";
const CALL: &str = "The call to `";
const BLOCKED: &str = " was blocked and did not run";
const INCIDENT: &str = "(incident ";
const END: &str = "Do not repeat the call unchanged. (incident ";

worded! {
    /// How much a refusal tells the model. Who feels for the edge of a rule learns from all of it.
    pub enum Tell as "value" {
        All = "all": "The rule, the reason, the part that matched, and what to do instead.",
        Reason = "reason": "The reason, and what to do instead.",
        Nothing = "nothing": "Only that the call was refused.",
    }
}

/// What the model reads in place of its call: what was refused, by which rule, why, what to do.
#[derive(Debug)]
pub(crate) struct Notice<'a> {
    pub(crate) tool: Option<&'a str>,
    pub(crate) runs: &'a Executor,
    pub(crate) verdict: Verdict,
    pub(crate) findings: &'a [Finding],
    pub(crate) answer: Option<Answer>,
    pub(crate) tell: Tell,
    pub(crate) incident: &'a str,
}

impl Notice<'_> {
    pub(crate) fn text(&self) -> String {
        let what = match (self.runs, self.tool) {
            (Executor::Unknown(kind), _) => format!("A block of the kind `{}`", shorten(kind, 80)),
            (_, Some(tool)) => format!("{CALL}{}`", shorten(tool, 80)),
            (_, None) => "A tool call".to_owned(),
        };
        let ask = match (self.verdict, self.answer) {
            (Verdict::Ask, Some(Answer::Deny)) => ": a person was asked about it and said no",
            (Verdict::Ask, Some(Answer::Timeout)) => {
                ": a person must decide about it, and nobody answered in time"
            }
            (Verdict::Ask, Some(Answer::NoPin)) => {
                ": a person must decide about it, and nobody can be asked here: no terminal shows \
                 the question and no PIN is set (`holdgate pin`, by the operator)"
            }
            (Verdict::Ask, _) => ": a person must decide about it, and nobody can be asked here",
            (Verdict::Allow | Verdict::Audit | Verdict::Block | Verdict::Kill, _) => "",
        };
        let mut text = format!("{START}{what}{BLOCKED}{ask}.\n");
        let mut worst: Vec<&Finding> = self.findings.iter().collect();
        worst.retain(|f| !f.verdict.lets_pass());
        worst.sort_by_key(|f| std::cmp::Reverse(f.verdict));
        let told = if self.tell == Tell::Nothing { 0 } else { 3 };
        for finding in worst.iter().take(told) {
            if self.tell == Tell::All {
                text.push_str(&format!("Rule: {} ({})\n", finding.rule, finding.layer));
            }
            text.push_str(&format!("Why: {}.\n", finding.reason));
            if let Some(evidence) = &finding.evidence
                && self.tell == Tell::All
            {
                text.push_str(&format!("Matched: {evidence}\n"));
            }
            if let Some(instead) = &finding.instead {
                text.push_str(&format!("Instead: {instead}.\n"));
            }
        }
        let incident = self.incident;
        text.push_str(&format!("{END}{incident})"));
        Masked::of(&text).into_string()
    }
}

/// A refusal as a conversation shows it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The id of the inert call that may follow the notice, so that both are one refusal.
    pub(crate) id: String,
    /// The tool; empty if it is not named.
    pub(crate) tool: String,
}

/// Reads a notice. A model that writes such a text itself only adds a refusal.
pub(crate) fn read(text: &str) -> Option<Refused> {
    let (what, why) = text.strip_prefix(START)?.split_once(BLOCKED)?;
    let tool = what
        .strip_prefix(CALL)
        .and_then(|tool| tool.strip_suffix('`'));
    let (_, incident) = why.trim_end().strip_suffix(')')?.rsplit_once(INCIDENT)?;
    Some(Refused {
        id: call_id(incident),
        tool: tool.unwrap_or_default().to_owned(),
    })
}

/// The notices in a text into which a client has joined several blocks, and what stands between
/// them, in order.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(START) {
        let (before, notice) = rest.split_at(at);
        let end = notice.find(END).and_then(|end| {
            let after = notice.get(end..)?.find(')')?;
            Some(end + after + 1)
        });
        let (notice, after) = notice.split_at(end.unwrap_or(notice.len()));
        pieces.extend([before, notice]);
        rest = after;
    }
    pieces.push(rest);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The id of the inert call that replaces a refused one.
pub(crate) fn call_id(incident: &str) -> String {
    format!("{OUR_CALLS}{}", incident.replace('-', "_"))
}

/// Whether this is an inert call of ours. With arguments it is not, whatever its id.
pub(crate) fn is_our_call(id: &str, input: Option<&str>) -> bool {
    id.starts_with(OUR_CALLS) && input == Some("{}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::LayerName;

    #[test]
    fn a_notice_is_read_as_it_is_written() {
        let mut finding = Finding::block(LayerName::Gate, "a-rule", "it is (very) bad");
        finding.evidence = Some(Masked::of("rm"));
        let findings = [finding.instead("do less")];
        let check = |tool, runs: &Executor, answer, tell, expected: &str| {
            let notice = Notice {
                tool,
                runs,
                verdict: Verdict::Ask,
                findings: &findings,
                answer,
                tell,
                incident: "0a-7-1",
            };
            let text = notice.text();
            let shows = [
                "Rule: a-rule",
                "Matched: rm",
                "Why: it is",
                "Instead: do less",
            ];
            assert_eq!(
                shows.map(|part| text.contains(part)),
                match tell {
                    Tell::All => [true; 4],
                    Tell::Reason => [false, false, true, true],
                    Tell::Nothing => [false; 4],
                }
            );
            let read = read(&text).unwrap();
            assert_eq!(
                (&*read.id, &*read.tool),
                ("toolu_holdgate_0a_7_1", expected)
            );
        };
        for answer in [
            None,
            Some(Answer::Deny),
            Some(Answer::Timeout),
            Some(Answer::NoPin),
        ] {
            for tell in Tell::ALL {
                check(Some("To`ol"), &Executor::AtClient, answer, tell, "To`ol");
                check(None, &Executor::AtClient, answer, tell, "");
                check(
                    Some("x"),
                    &Executor::Unknown("odd".into()),
                    answer,
                    tell,
                    "",
                );
            }
        }
        let joined = "I will.\n\n[holdgate] The call to `a` was blocked and did not run.\n\
                      Do not repeat the call unchanged. (incident r-1)\n\n[holdgate] The call to `b` \
                      was blocked and did not run.\nDo not repeat the call unchanged. (incident r-2)!";
        let tools: Vec<_> = pieces(joined).into_iter().filter_map(read).collect();
        let tools: Vec<_> = tools.iter().map(|r| (&*r.id, &*r.tool)).collect();
        assert_eq!(
            tools,
            [("toolu_holdgate_r_1", "a"), ("toolu_holdgate_r_2", "b")]
        );
        assert_eq!(pieces(joined).concat(), joined);
        assert_eq!(read("[holdgate] something else (incident 1)"), None);
        assert!(is_our_call(&call_id("0a-7-1"), Some("{}")));
        assert!(!is_our_call(&call_id("0a-7-1"), Some(r#"{"a":1}"#)));
        assert!(!is_our_call("toolu_1", Some("{}")));
    }
}
