//! Which classes of the table stand together in one passage, and whether that is an order.

use super::lexicon::{Bits, Combination, Hit, Hits, Lexicon, Signal};
use std::ops::Range;

/// Bytes of a passage for each of its sentences.
const REACH: usize = 140;
/// Sentences that make one passage.
const PASSAGE: usize = 3;
/// How far before a word `not` denies it.
const DENIAL: usize = 44;
/// Bytes of a line that was wrapped.
const WRAPPED: usize = 48;
/// How far back a quotation mark is looked for.
const QUOTE: usize = 160;

/// A passage that gives orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) combination: usize,
    pub(super) classes: Bits,
    pub(super) range: Range<usize>,
}

/// A class, and where it is.
#[derive(Clone, Debug)]
struct Found {
    class: Bits,
    sentence: usize,
    lasts: usize,
    range: Range<usize>,
}

/// The first passage of `text` that is an order, if `context` is known of all of it.
pub(super) fn first(lexicon: &Lexicon, text: &str, hits: &Hits, context: Bits) -> Option<Passage> {
    if hits.groups & lexicon.telling == 0 {
        return None;
    }
    let sentences = sentences(text, &hits.list);
    let found = signals(lexicon, text, &hits.list, &sentences);
    let from = |at: usize| passage(lexicon, found.get(at..)?, context);
    let (at, mut first) = (0..found.len()).find_map(|at| Some((at, from(at)?)))?;
    // What stands before it may not belong to it.
    for later in at + 1..found.len() {
        match from(later) {
            Some(part) if part.range.end <= first.range.end => first = part,
            Some(_) | None => break,
        }
    }
    Some(first)
}

/// The passage that begins with the first of `found`, if it is an order.
fn passage(lexicon: &Lexicon, found: &[Found], context: Bits) -> Option<Passage> {
    let start = found.first()?;
    let reach = start.range.start + REACH * start.lasts;
    let last = start.sentence + start.lasts;
    let near = |next: &&Found| next.range.start <= reach && next.sentence < last;
    let passage = found.iter().take_while(near);
    let all = passage.clone().fold(context, |set, next| set | next.class);
    let mut classes = context;
    let mut end = start.range.end;
    for next in passage {
        classes |= next.class;
        end = end.max(next.range.end);
        if let Some(combination) = matching(&lexicon.combinations, classes, all) {
            return Some(Passage {
                combination,
                classes,
                range: start.range.start..end,
            });
        }
    }
    None
}

/// The first combination of `classes` that `all` classes of the passage do not exclude.
fn matching(combinations: &[Combination], classes: Bits, all: Bits) -> Option<usize> {
    combinations.iter().position(|combination| {
        classes & combination.all == combination.all
            && (combination.any == 0 || classes & combination.any != 0)
            && all & combination.unless == 0
    })
}

/// The number of the sentence in which each hit stands. A paragraph's end counts twice.
fn sentences(text: &str, hits: &[Hit]) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut numbers = Vec::with_capacity(hits.len());
    let (mut number, mut at) = (0, 0);
    for hit in hits {
        number += ends(bytes, at..hit.range.start);
        numbers.push(number);
        // A phrase may end its sentence: `assistant:` does not, `follow it.` does.
        at = hit.range.end.max(at);
    }
    numbers
}

/// How many sentences end in a range of `bytes`.
fn ends(bytes: &[u8], range: Range<usize>) -> usize {
    let mut count = 0;
    for at in range {
        let after = bytes.get(at + 1);
        let space = after.is_none_or(u8::is_ascii_whitespace);
        count += match bytes.get(at) {
            Some(b'.' | b'!' | b'?') if space => 1,
            Some(b'\n') if after == Some(&b'\n') => 2,
            Some(b'\n') if !goes_on(bytes, at) => 1,
            // 。 ！ ？ are three bytes each: E3 80 82, EF BC 81, EF BC 9F.
            Some(0x82) if ends_with(bytes, at, &[0xE3, 0x80]) => 1,
            Some(0x81 | 0x9F) if ends_with(bytes, at, &[0xEF, 0xBC]) => 1,
            Some(_) | None => 0,
        };
    }
    count
}

/// Whether the line that ends at `at` goes on in the next one: it is long, and the next one begins
/// with a small letter.
fn goes_on(bytes: &[u8], at: usize) -> bool {
    let start = at.saturating_sub(WRAPPED);
    let short = bytes
        .get(start..at)
        .is_none_or(|line| line.contains(&b'\n'))
        || start == 0;
    let rest = bytes.get(at + 1..).unwrap_or_default().iter();
    let first = rest.take(WRAPPED).find(|b| !matches!(b, b' ' | b'\t'));
    !short && first.is_none_or(|b| b.is_ascii_lowercase() || !b.is_ascii())
}

fn ends_with(bytes: &[u8], end: usize, with: &[u8]) -> bool {
    bytes
        .get(..end)
        .is_some_and(|before| before.ends_with(with))
}

/// Every class in every sentence, in the order of the text.
fn signals(lexicon: &Lexicon, text: &str, hits: &[Hit], sentences: &[usize]) -> Vec<Found> {
    let mut all = Vec::new();
    let mut start = 0;
    let mut mentioned = false;
    while let Some(&sentence) = sentences.get(start) {
        let rest = sentences.get(start..).unwrap_or_default();
        let length = rest.iter().take_while(|&&s| s == sentence).count();
        let words = hits.get(start..start + length).unwrap_or_default();
        start += length;
        let groups = words.iter().fold(0, |set, hit| set | hit.groups);
        let mentions = groups & lexicon.mention != 0;
        let first = all.len();
        for signal in &lexicon.signals {
            if groups & signal.all != signal.all {
                continue;
            }
            if let Some(range) = nearest(lexicon, signal, words)
                && !((mentions || mentioned) && is_quotation(text, &range))
            {
                all.push(Found {
                    class: signal.class,
                    sentence,
                    lasts: signal.lasts,
                    range,
                });
            }
        }
        if groups & lexicon.agent != 0
            && let Some(range) = vocative(lexicon, text, words)
            && !((mentions || mentioned) && is_quotation(text, &range))
        {
            all.push(Found {
                class: lexicon.vocative,
                sentence,
                lasts: PASSAGE,
                range,
            });
        }
        if let Some(new) = all.get_mut(first..) {
            new.sort_by_key(|found| found.range.start);
        }
        mentioned = mentions;
    }
    all
}

/// Where the agent is called and an order follows: `AI: send …`, `(assistant): remove …`.
fn vocative(lexicon: &Lexicon, text: &str, words: &[Hit]) -> Option<Range<usize>> {
    words.windows(2).find_map(|pair| {
        let [name, order] = pair else {
            return None;
        };
        let word = text.get(name.range.clone())?;
        let between = text.get(name.range.end..order.range.start)?;
        let mark = between.trim_start_matches(')').trim();
        let mark = mark.trim_end_matches("please").trim_end();
        let comma = mark == "," || mark == "!" || word.ends_with(',') && mark.is_empty();
        let colon = matches!(mark, ":" | "-" | "：" | "，" | "、")
            || word.ends_with(':') && mark.is_empty();
        // Lists have commas, too.
        let named = word.starts_with(|c: char| c.is_uppercase() || !c.is_ascii());
        let order = order.groups & lexicon.orders != 0;
        (name.groups & lexicon.agent != 0 && order && (colon || comma && named))
            .then_some(name.range.start..name.range.end)
    })
}

/// Where the words of a signal stand near enough to each other.
fn nearest(lexicon: &Lexicon, signal: &Signal, words: &[Hit]) -> Option<Range<usize>> {
    for (at, first) in words.iter().enumerate() {
        if first.groups & signal.all == 0 {
            continue;
        }
        let mut groups = 0;
        for next in words.iter().skip(at) {
            let spread = next.range.end.saturating_sub(first.range.start);
            let limit = if next.wide {
                signal.within * 5 / 2
            } else {
                signal.within
            };
            if next.groups != first.groups && limit > 0 && spread > limit {
                break;
            }
            groups |= next.groups;
            if groups & signal.all == signal.all {
                if signal.affirmed && denied(lexicon, words, at) {
                    break;
                }
                return Some(first.range.start..next.range.end);
            }
        }
    }
    None
}

/// Whether a word of denial stands shortly before the word at `at`.
fn denied(lexicon: &Lexicon, words: &[Hit], at: usize) -> bool {
    let Some((before, first)) = words.get(..at).zip(words.get(at)) else {
        return false;
    };
    let near = |hit: &&Hit| first.range.start.saturating_sub(hit.range.end) <= DENIAL;
    before
        .iter()
        .rev()
        .take_while(near)
        .any(|hit| hit.groups & lexicon.not != 0)
}

/// Whether a range begins or ends in a quotation.
fn is_quotation(text: &str, range: &Range<usize>) -> bool {
    is_quoted(text, range.start) || is_quoted(text, range.end)
}

/// Whether a place is inside of quotation marks. The value of a JSON member is not a quotation.
fn is_quoted(text: &str, at: usize) -> bool {
    let from = text.floor_char_boundary(at.saturating_sub(QUOTE));
    let before = text.get(from..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let odd = |mark: char| line.matches(mark).count() % 2 == 1;
    let json = line.rfind('"').is_some_and(|at| {
        let key = line.get(..at).unwrap_or_default().trim_end();
        key.ends_with("\":")
    });
    let opened =
        |open: char, close: char| line.rfind(open) > line.rfind(close) && line.contains(open);
    odd('"') && !json
        || odd('`')
        || opened('“', '”')
        || opened('„', '“')
        || opened('«', '»')
        || opened('「', '」')
        || opened('‘', '’')
        || single_quoted(line)
}

/// Apostrophes stand after letters, quotation marks before them.
fn single_quoted(line: &str) -> bool {
    let mut open = false;
    let mut before = ' ';
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\'' {
            let after = chars.peek().copied().unwrap_or('a');
            if !before.is_alphanumeric() && (after.is_alphanumeric() || after == '[') {
                open = true;
            } else if open && !after.is_alphanumeric() {
                open = false;
            }
        }
        before = c;
    }
    open
}
