//! A first look at code: whether it does anything at all.

use crate::code::Language;
use crate::code::functions::Functions;
use crate::code::lex::{Kind, Meaning, Token, Tokens};

/// Types that are kept of one text.
const MAX_TYPES: usize = 64;

/// Whether code asks a terminal to take text as if somebody had typed it there.
pub(super) fn types_into_terminals(tokens: &Tokens<'_>) -> bool {
    // The request by its name, and by its number on Linux and on macOS.
    let requests = ["TIOCSTI", "0x5412", "21522", "0x80017472"];
    let names = |token: &Token<'_>, words: &[&str]| words.iter().any(|w| token.text.contains(w));
    let has = |words: &[&str]| tokens.list.iter().any(|token| names(token, words));
    has(&["ioctl"]) && has(&requests)
}

/// Whether code names any function that does something, or may do so under another name.
pub(super) fn may_act(tokens: &Tokens<'_>, language: Language, table: &Functions) -> bool {
    let mut before = ["", ""];
    // Types of which something is made, and those of which a method is called.
    let (mut made, mut used): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let acts = tokens.list.iter().any(|token| {
        let [owner, mark] = before;
        let acts = match token.kind {
            Kind::Name => {
                let types = table.makes_under(token.text).iter().map(String::as_str);
                made.extend(types.take(MAX_TYPES.saturating_sub(made.len())));
                table.acts_under(token.text).is_some_and(|owners| {
                    // In compiled languages a method is of a type: `set.remove` is not `fs.remove`.
                    let member = matches!(mark, "." | "::" | "->");
                    let lower = token.text.starts_with(|c: char| c.is_ascii_lowercase());
                    let of_types = owners.iter().map(String::as_str);
                    used.extend(of_types.take(MAX_TYPES.saturating_sub(used.len())));
                    language != Language::Compiled
                        || !lower
                        || (!member && mark != "fn")
                        || owners.iter().any(|o| o == owner || o == "*")
                })
            }
            Kind::Text(quote) => quote.meaning == Meaning::Command,
            // `x['na' + 'me'](…)`, `('na' . 'me')(…)`, `$name(…)`
            Kind::Mark => token.text == "(" && (matches!(mark, "]" | ")") || mark.starts_with('$')),
            Kind::Number | Kind::Line(_) => false,
        };
        before = [mark, token.text];
        acts
    });
    // `File(home, "x").readText()`
    acts || made.iter().any(|made| used.contains(made))
}
