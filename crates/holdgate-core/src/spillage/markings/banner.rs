//! The blocks behind a level: `//SI-G ABCD/TK//SAR-NAME//FGI GBR//ORCON/REL TO USA, GBR//LES`.

use super::controls::{CONTROLS, Control, Tail};
use super::countries::is_code;
use super::tables::Level;
use super::words::{CATEGORIES, words};

/// Blocks and items of one banner that are read.
const MOST: usize = 24;
/// Words of a name, and codes of a list.
const MOST_WORDS: usize = 40;

/// What stands behind a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks {
    /// Bytes behind the level.
    pub(super) length: usize,
    /// Items that are control words or categories.
    pub(super) known: usize,
    /// Those that are used for nothing else.
    pub(super) strong: usize,
    /// Items in upper case that no table has: code words.
    pub(super) unknown: usize,
    /// Items that say that anybody may have it.
    pub(super) public: bool,
}

/// Reads the blocks at the start of `rest`.
pub(super) fn blocks(rest: &str, level: Level) -> Blocks {
    let mut found = Blocks::default();
    let mut at = 0;
    for _ in 0..MOST {
        let here = rest.get(at..).unwrap_or_default();
        let Some((gap, kind)) = separator(here, found.known + found.unknown > 0) else {
            break;
        };
        let item = here.get(gap..).unwrap_or_default();
        let Some((length, meaning)) = item_at(item, level, kind) else {
            break;
        };
        match meaning {
            Meaning::Strong => {
                found.known += 1;
                found.strong += 1;
            }
            Meaning::Known => found.known += 1,
            Meaning::Unknown => found.unknown += 1,
            Meaning::Public => found.public = true,
        }
        at += gap + length;
        found.length = at;
    }
    found
}

/// How an item is set off from what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    /// `//`.
    Blocks,
    /// `//` with spaces, `/` between items.
    Loose,
    /// A dash, a comma, a bracket or a space.
    Other,
}

fn separator(rest: &str, inside: bool) -> Option<(usize, Separator)> {
    let spaces = |s: &str| s.len() - s.trim_start_matches(' ').len();
    let before = spaces(rest);
    let rest = rest.get(before..).unwrap_or_default();
    let slashes = rest.len() - rest.trim_start_matches('/').len();
    if (1..=2).contains(&slashes) {
        let after = spaces(rest.get(slashes..).unwrap_or_default());
        let kind = match slashes {
            2 if before + after == 0 || inside => Separator::Blocks,
            1 if inside && before + after == 0 => Separator::Blocks,
            2 => Separator::Loose,
            _ => Separator::Other,
        };
        return Some((before + slashes + after, kind));
    }
    let signs = rest.len()
        - rest
            .trim_start_matches(['-', ',', ':', '(', ';', '.', '['])
            .len();
    if signs <= 1 && before + signs > 0 {
        let after = spaces(rest.get(signs..).unwrap_or_default());
        return Some((before + signs + after, Separator::Other));
    }
    None
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Strong,
    Known,
    Unknown,
    Public,
}

fn item_at(item: &str, level: Level, kind: Separator) -> Option<(usize, Meaning)> {
    for public in [
        "APPROVED FOR PUBLIC",
        "PUBLIC",
        "CLEARED FOR PUBLIC",
        "CLEARED FOR OPEN",
    ] {
        if starts_with_word(item, public) {
            return Some((public.len(), Meaning::Public));
        }
    }
    let control = CONTROLS
        .iter()
        .filter(|control| begins(item, control))
        .max_by_key(|control| control.word.len());
    let cui = matches!(level, Level::Cui | Level::Controlled | Level::Unclassified);
    let category = if cui { category(item) } else { None };
    match (control, category) {
        (Some(control), category) if category.is_none_or(|length| length <= control.word.len()) => {
            let named = control.strong || kind != Separator::Other;
            let upper = is_upper(item, control.word.len());
            let written = upper || kind == Separator::Blocks;
            if !named || !written {
                return None;
            }
            let rest = item.get(control.word.len()..).unwrap_or_default();
            let length = control.word.len() + tail(rest, control.tail);
            let meaning = match (control.strong, upper) {
                (true, _) => Meaning::Strong,
                (false, true) => Meaning::Known,
                // `SECRET//rel/notes` is a path.
                (false, false) => Meaning::Unknown,
            };
            Some((length, meaning))
        }
        (_, Some(length)) if kind != Separator::Other => Some((length, Meaning::Known)),
        _ if kind == Separator::Blocks => {
            au_caveat(item).or_else(|| code_word(item).map(|length| (length, Meaning::Unknown)))
        }
        _ => None,
    }
}

/// Whether the control word stands at the start of `item`, as a whole word.
fn begins(item: &str, control: &Control) -> bool {
    let word = control.word;
    if !item
        .get(..word.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(word))
    {
        return false;
    }
    let next = item.get(word.len()..).and_then(|rest| rest.chars().next());
    match control.tail {
        _ if word.ends_with(['-', ' ']) => next.is_some_and(|c| c.is_ascii_uppercase()),
        Tail::Numbers => next.is_none_or(|c| c.is_ascii_digit() || !is_word(c)),
        Tail::None | Tail::Compartments | Tail::Name | Tail::Countries | Tail::Anything => {
            next.is_none_or(|c| !is_word(c))
        }
    }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(is_word))
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_upper(text: &str, length: usize) -> bool {
    text.get(..length)
        .is_some_and(|word| !word.contains(|c: char| c.is_ascii_lowercase()))
}

/// The length of a category of controlled unclassified information: `SP-PRVCY`, `CTI`.
fn category(item: &str) -> Option<usize> {
    let name = item.strip_prefix("SP-").unwrap_or(item);
    let special = item.len() - name.len();
    let length = upper_word(name);
    let word = name.get(..length)?;
    let known = words(CATEGORIES).any(|category| category == word) || special > 0 && length >= 2;
    known.then_some(special + length)
}

/// The length of the upper-case word or number at the start of `text`; zero if it goes on in lower
/// case.
fn upper_word(text: &str) -> usize {
    let length = text
        .bytes()
        .take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        .count();
    let next = text.get(length..).and_then(|rest| rest.chars().next());
    if next.is_some_and(is_word) { 0 } else { length }
}

/// A code word of one or two words in upper case, up to the next slash or the end of the banner.
fn code_word(item: &str) -> Option<usize> {
    let mut length = 0;
    for word in item.split(' ').take(3) {
        let word_length = word.split('/').next().map_or(0, str::len);
        let name = word.get(..word_length).unwrap_or_default();
        let upper = name
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-');
        if name.len() < 2 || !upper || !name.bytes().any(|b| b.is_ascii_uppercase()) {
            break;
        }
        length += usize::from(length > 0) + word_length;
        if word_length < word.len() {
            break;
        }
    }
    (length > 1).then_some(length)
}

/// Australian blocks with a free text: `C LOBSTER`, `FG usa caveat`.
fn au_caveat(item: &str) -> Option<(usize, Meaning)> {
    let free = item
        .strip_prefix("FG ")
        .or_else(|| item.strip_prefix("C "))?;
    let end = free.find("//").unwrap_or(free.len()).min(60);
    (end > 0 && free.starts_with(|c: char| c.is_ascii_alphanumeric()))
        .then_some((item.len() - free.len() + end, Meaning::Known))
}

/// The length of what follows a control word.
fn tail(rest: &str, tail: Tail) -> usize {
    match tail {
        Tail::None => 0,
        Tail::Compartments => compartments(rest),
        Tail::Name => name(rest),
        Tail::Countries => countries(rest),
        Tail::Numbers => numbers(rest),
        Tail::Anything => rest.find("//").unwrap_or(rest.len()).min(80),
    }
}

/// `-G ABCD EFGH-X`.
fn compartments(rest: &str) -> usize {
    let mut at = 0;
    for _ in 0..MOST_WORDS {
        let here = rest.get(at..).unwrap_or_default();
        let Some(after) = here
            .strip_prefix('-')
            .or_else(|| here.strip_prefix(' ').filter(|_| at > 0))
        else {
            break;
        };
        let length = upper_word(after);
        // A longer word behind a space is the text that follows the banner.
        if length == 0 || here.starts_with(' ') && length > 5 {
            break;
        }
        at += 1 + length;
    }
    at
}

/// The name of a program: some words in upper case.
fn name(rest: &str) -> usize {
    let mut at = rest.len() - rest.trim_start_matches(['-', ' ']).len();
    let start = at;
    for number in 0..4 {
        let here = rest.get(at..).unwrap_or_default();
        let skip = usize::from(number > 0 && here.starts_with([' ', '-']));
        let length = upper_word(here.get(skip..).unwrap_or_default());
        if length == 0 || number > 0 && skip == 0 {
            break;
        }
        at += skip + length;
    }
    if at > start { at } else { 0 }
}

/// `USA, AUS, GBR`, `GBR NATO`.
fn countries(rest: &str) -> usize {
    let mut at = 0;
    for _ in 0..MOST_WORDS {
        let here = rest.get(at..).unwrap_or_default();
        let word = here.trim_start_matches([' ', ',']);
        let and = word
            .strip_prefix("AND ")
            .or_else(|| word.strip_prefix("and "))
            .unwrap_or(word);
        let and = and.strip_prefix('/').unwrap_or(and);
        let length = upper_word(and);
        let code = and.get(..length).unwrap_or_default();
        let listed = here.starts_with([',', '/']) && (3..=4).contains(&length);
        if !is_code(code) && !listed {
            break;
        }
        at += here.len() - and.len() + length;
    }
    at
}

/// `-SIGMA 14 20`, `-CNWDI`, `-N`, `1-HUM`.
fn numbers(rest: &str) -> usize {
    let mut at = 0;
    for _ in 0..MOST_WORDS {
        let here = rest.get(at..).unwrap_or_default();
        let word = here.trim_start_matches(['-', ' ']);
        let length = upper_word(word);
        let item = word.get(..length).unwrap_or_default();
        let number = !item.is_empty() && item.bytes().all(|b| b.is_ascii_digit());
        let named = matches!(
            item,
            "SIGMA" | "SG" | "CNWDI" | "N" | "NNPI" | "HUM" | "WMD"
        );
        if !number && !named || here.len() == word.len() && at > 0 {
            break;
        }
        at += here.len() - word.len() + length;
    }
    at
}
