//! Orders in what tools return: text that speaks to the agent instead of the user.
//!
//! A text is read as a person would see it (`unseen`), then in its parts that nobody sees
//! (`carriers`) and in what its encoded parts say (`encoded`). Each reading is searched for the words
//! of a table (`lexicon`), and is suspicious if classes of them that make an order stand in one
//! passage (`passages`). Single phrases are not: texts about such orders quote them. A short result that
//! is nothing but a prompt is suspicious as a whole (`prompts`).

mod anchors;
mod blocks;
mod carriers;
mod encoded;
mod lexicon;
mod names;
mod passages;
mod prompts;
mod terms;
#[cfg(test)]
mod tests;
mod unseen;

use crate::mask::Masked;
use crate::verdict::{Finding, LayerName};
use lexicon::{Bits, Hits, Lexicon, lexicon};
use passages::Passage;
use prompts::Voice;
use std::ops::Range;

/// Bytes of a text that are read; what is longer is not read to its end.
const MAX_TEXT: usize = 1 << 20;
/// How often what was decoded is decoded again.
const MAX_DEPTH: usize = 3;
/// Bytes of all readings together beyond those of the text.
const MAX_READ: usize = 1 << 20;
/// Characters of evidence that are shown.
const MAX_EVIDENCE: usize = 240;
/// Bytes of a result that may be one request.
const MAX_BARE: usize = 320;
/// Bytes before and after the matched passage that are shown with it.
const AROUND: usize = 80;

/// Why a text is suspected of giving orders.
#[derive(Clone, Debug)]
pub struct Suspicion {
    /// What was found, as the name of a rule.
    pub rule: &'static str,
    /// The reason, as a clause.
    pub reason: String,
    /// The part that matched, as a reader would understand it.
    pub evidence: Masked,
    /// Where the part is in the text, if the text was read as it is written.
    pub range: Option<Range<usize>>,
}

impl Suspicion {
    /// The same as a finding.
    pub fn finding(&self) -> Finding {
        let mut finding = Finding::audit(LayerName::Injection, self.rule, self.reason.clone());
        finding.evidence = Some(self.evidence.clone());
        finding
    }
}

/// Whether what a tool returned gives orders to the agent.
pub fn examine(text: &str) -> Option<Suspicion> {
    look(text, false)
}

/// The same; if `thorough`, all of the text is searched, also where no order can stand.
pub(crate) fn look(text: &str, thorough: bool) -> Option<Suspicion> {
    let text = text
        .get(..text.floor_char_boundary(MAX_TEXT))
        .unwrap_or(text);
    let mut reader = Reader {
        lexicon: lexicon()?,
        left: MAX_READ,
        thorough,
    };
    reader.read(text, Context::default())
}

/// Reads the table and builds the expressions now, so that the first result need not wait for them.
pub fn prepare() {
    lexicon();
    carriers::prepare();
    encoded::prepare();
}

/// What is known of a reading as a whole.
#[derive(Clone, Copy, Debug, Default)]
struct Context {
    hidden: bool,
    encoded: bool,
    depth: usize,
}

struct Reader {
    lexicon: &'static Lexicon,
    left: usize,
    /// Searches all of a text, also where no order can stand.
    thorough: bool,
}

impl Reader {
    fn read(&mut self, text: &str, context: Context) -> Option<Suspicion> {
        let seen = unseen::look(text);
        let as_written = context.depth == 0 && seen.text.len() == text.len();
        let found = self.search(&seen.text, context);
        if let Some(mut suspicion) = found {
            let valid = |range: &Range<usize>| as_written && text.get(range.clone()).is_some();
            suspicion.range = suspicion.range.filter(valid);
            return Some(suspicion);
        }
        let deeper = Context {
            depth: context.depth + 1,
            ..context
        };
        let hidden = Context {
            hidden: true,
            ..deeper
        };
        for other in &seen.others {
            let found = self.within(other, |reader| reader.search(other, deeper));
            if let Some(mut suspicion) = found {
                suspicion.range = None;
                return Some(suspicion);
            }
        }
        for message in &seen.messages {
            let found = self.within(message, |reader| reader.search(message, hidden));
            if let Some(mut suspicion) = found {
                suspicion.range = None;
                return Some(suspicion);
            }
        }
        let first = seen.messages.first().map(String::as_str);
        let unreadable = seen.long_run.then_some("invisible characters");
        first.or(unreadable).map(|evidence| Suspicion {
            rule: "hidden-text",
            reason: "the text contains a message in invisible characters".to_owned(),
            evidence: Masked::start(evidence, MAX_EVIDENCE),
            range: None,
        })
    }

    /// Uses up what may still be read.
    fn within<T>(&mut self, text: &str, read: impl FnOnce(&mut Reader) -> Option<T>) -> Option<T> {
        self.left = self.left.checked_sub(text.len())?;
        read(self)
    }

    /// Searches one reading, the parts of it that are not seen, and what is encoded in it.
    fn search(&mut self, text: &str, context: Context) -> Option<Suspicion> {
        let bare = context.depth == 0 && is_bare(text);
        let hits = if context.depth > 0 || bare {
            self.lexicon.find(text)
        } else {
            self.find(text)
        };
        let classes = self.classes(context) | if bare { self.lexicon.class("bare") } else { 0 };
        if let Some(passage) = passages::first(self.lexicon, text, &hits, classes) {
            return Some(self.suspicion(text, &passage));
        }
        if context.depth == 0 && prompts::is_prompt(text, || self.voice(text)) {
            return Some(bare_prompt(text));
        }
        if context.depth >= MAX_DEPTH {
            return None;
        }
        if context.depth == 0 {
            let names = names::sentences(text);
            let hits = self.find(&names);
            if let Some(passage) = passages::first(self.lexicon, &names, &hits, classes)
                && self.lexicon.in_names(text, &self.lexicon.find(text))
            {
                let mut suspicion = self.suspicion(&names, &passage);
                suspicion.range = None;
                return Some(suspicion);
            }
        }
        let deeper = Context {
            depth: context.depth + 1,
            ..context
        };
        let hidden = Context {
            hidden: true,
            ..deeper
        };
        if !context.hidden {
            for range in carriers::parts(text) {
                let part = text.get(range.clone()).unwrap_or_default();
                let found = self.within(part, |reader| reader.search(part, hidden));
                if let Some(mut suspicion) = found {
                    suspicion.range = Some(range);
                    return Some(suspicion);
                }
            }
        }
        let encoded = Context {
            encoded: true,
            ..deeper
        };
        for part in encoded::decoded(text, &hits) {
            let found = self.within(&part, |reader| reader.read(&part, encoded));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The words of a text that is read as it is written, where an order may stand.
    fn find(&self, text: &str) -> Hits {
        if self.thorough {
            return self.lexicon.find(text);
        }
        let outline = self.lexicon.anchors.outline(self.lexicon, text);
        if outline.turned {
            self.lexicon.find(text)
        } else {
            self.lexicon.find_in(text, &outline.parts)
        }
    }

    /// Whether a text is about orders, and whether it speaks to somebody.
    fn voice(&self, text: &str) -> Voice {
        let groups = self.lexicon.find(text).groups;
        if groups & self.lexicon.report != 0
            && groups & (self.lexicon.you | self.lexicon.orders) == 0
        {
            Voice::Report
        } else if groups & self.lexicon.about != 0 {
            Voice::About
        } else {
            Voice::Own
        }
    }

    fn classes(&self, context: Context) -> Bits {
        let class = |holds: bool, name: &str| if holds { self.lexicon.class(name) } else { 0 };
        class(context.hidden, "hidden") | class(context.encoded, "encoded")
    }

    fn suspicion(&self, text: &str, passage: &Passage) -> Suspicion {
        let from = text.floor_char_boundary(passage.range.start.saturating_sub(AROUND));
        let to = text.ceil_char_boundary((passage.range.end + AROUND).min(text.len()));
        let before = text.get(from..passage.range.start).unwrap_or_default();
        let from = before.rfind('\n').map_or(from, |at| from + at + 1);
        let after = text.get(passage.range.end..to).unwrap_or_default();
        let to = after.find('\n').map_or(to, |at| passage.range.end + at);
        let combination = self.lexicon.combinations.get(passage.combination);
        let meanings: Vec<&str> = self.lexicon.meanings(passage.classes).collect();
        Suspicion {
            rule: combination.map_or("orders", |combination| combination.rule.as_str()),
            reason: format!("the text {}", listed(&meanings)),
            evidence: Masked::start(text.get(from..to).unwrap_or_default(), MAX_EVIDENCE),
            range: Some(passage.range.clone()),
        }
    }
}

/// What is said of a result that is a prompt.
fn bare_prompt(text: &str) -> Suspicion {
    let start = text.len() - text.trim_start().len();
    Suspicion {
        rule: "bare-prompt",
        reason: "the text is nothing but a prompt to a model".to_owned(),
        evidence: Masked::start(text.trim(), MAX_EVIDENCE),
        range: Some(start..text.trim_end().len().max(start)),
    }
}

/// Whether the whole result is a sentence or two to somebody: no program answers so.
fn is_bare(text: &str) -> bool {
    let text = text.trim();
    if text.len() > MAX_BARE {
        return false;
    }
    let lines = text.lines().count();
    let words = text.split_whitespace().count();
    let prose = text
        .bytes()
        .filter(|b| b.is_ascii_alphabetic() || *b == b' ')
        .count();
    lines <= 2 && words >= 3 && prose * 10 >= text.len() * 7
}

/// `a, b and c`.
fn listed(parts: &[&str]) -> String {
    match parts {
        [] => "gives orders".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
