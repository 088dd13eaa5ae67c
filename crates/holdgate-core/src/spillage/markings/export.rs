//! Export control: a notice that *this* document or item is controlled. Licences that forbid exports,
//! notices about public cryptography and texts about the regulations do not count.

use super::place::has_word;

/// Laws and lists.
const REGIMES: &[&str] = &[
    "itar",
    "arms export control act",
    "international traffic in arms",
    "usml",
    "munitions list",
    "eccn",
    "export administration",
    "22 cfr 12",
    "22 cfr part 12",
    "15 cfr 7",
    "2021/821",
    "428/2009",
    "22 u.s.c. 2751",
    "22, u.s.c",
];

/// Words by which a notice says that what it stands on is controlled.
const CLAIMS: &[&str] = &[
    "contains technical data",
    "technical data whose export",
    "technical data, the export",
    "export is restricted",
    "export of which is restricted",
    "itar controlled",
    "itar-controlled",
    "itar data",
    "itar technical data",
    "itar restricted",
    "itar-restricted",
    "controlled technical data",
    "controlled technical information",
    "contains information subject to",
    "contains itar",
    "export controlled information",
    "export-controlled information",
    "export controlled data",
    "export-controlled data",
    "export controlled technical",
    "export-controlled technical",
    "export controlled technology",
    "export-controlled technology",
    "export controlled document",
    "is a deemed export",
    "constitutes a deemed export",
    "contains export controlled",
    "contains export-controlled",
    "export controlled -",
    "export controlled:",
    "export control warning",
    "export warning",
    "technical data controlled",
    "information is controlled under",
    "data is controlled under",
    "document is controlled",
    "drawing is controlled",
    "is subject to the itar",
    "is subject to itar",
    "document is subject to the international traffic",
    "information is subject to the international traffic",
    "technical data subject to",
    "itar warning",
    "itar notice",
    "contains information controlled",
    "contains data controlled",
];

/// Words that go with the number of an item.
const ITEM_CLAIMS: &[&str] = &[
    "export control",
    "do not transfer",
    "do not export",
    "not be exported",
    "license required",
    "licence required",
    "export authori",
    "export licen",
    "controlled",
    "warning",
    "dual-use",
    "dual use",
    "restricted",
    "no transfer",
    "not be transferred",
    "not be released",
];

/// Words of licences, of notices about public software, and of texts about the law.
const OTHERWISE: &[&str] = &[
    "license exception",
    "licence exception",
    "publicly available",
    "740.13",
    "740.17",
    "742.15",
    "ear99",
    "no licence",
    "no license",
    "not subject to",
    "open source",
    "open-source",
    "bureau of industry and",
    "you may not",
    "you agree",
    "you shall",
    "you represent",
    "you are responsible",
    "licensee",
    "end user license",
    "end-user license",
    "comply with",
    "complies with",
    "apache software",
    "what is itar",
    "wikipedia",
    "applicable law",
    "our compliance",
    "learn more",
    "guide to",
    "for example",
    "training course",
    "you must",
    "you will not",
    "not itar",
    "does not contain",
    "no itar",
    "no technical data",
    "no export",
    "webinar",
];

/// Whether `window`, in lower case and with single spaces, is such a notice.
pub(super) fn is_notice(window: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| has_word(window, word));
    if !has(REGIMES) || has(OTHERWISE) {
        return false;
    }
    let listed = is_item(window) || has_munitions_category(window);
    has(CLAIMS) || listed && has(ITEM_CLAIMS)
}

/// A number of a control list: `5e002`, `9e610.a`.
fn is_item(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| match word.as_bytes() {
            [category, group, rest @ ..] => {
                category.is_ascii_digit()
                    && matches!(group, b'a'..=b'e')
                    && rest.len() == 3
                    && rest.iter().all(u8::is_ascii_digit)
            }
            _ => false,
        })
}

/// `usml category xi(c)`.
fn has_munitions_category(text: &str) -> bool {
    [
        "usml category ",
        "usml cat. ",
        "usml cat ",
        "munitions list category ",
    ]
    .iter()
    .any(|start| {
        text.match_indices(start).any(|(at, found)| {
            let rest = text.get(at + found.len()..).unwrap_or_default();
            let numeral = rest
                .bytes()
                .take_while(|b| matches!(b, b'i' | b'v' | b'x'))
                .count();
            let next = rest.get(numeral..).and_then(|rest| rest.chars().next());
            numeral > 0 && next.is_none_or(|c| !c.is_alphanumeric())
        })
    })
}
