//! Closed sets of words: each word that rules, tables and records use is declared once, with a
//! sentence that says what it means.

/// Writes an enum, the word and the meaning of each member, and the way back from a word.
#[macro_export]
macro_rules! worded {
    (
        $(#[$about:meta])*
        $visible:vis enum $enum:ident as $what:literal { $($(#[$attribute:meta])* $member:ident = $word:literal: $meaning:literal,)* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visible enum $enum { $(#[doc = $meaning] $(#[$attribute])* $member,)* }

        impl $enum {
            /// All members, in the order of their declaration.
            $visible const ALL: [$enum; [$($word,)*].len()] = [$($enum::$member,)*];

            /// The word for it in rules, tables and records.
            $visible fn word(self) -> &'static str {
                match self { $($enum::$member => $word,)* }
            }

            /// What the word means, in a sentence.
            #[allow(dead_code, reason = "not every set of words is listed for users")]
            $visible fn meaning(self) -> &'static str {
                match self { $($enum::$member => $meaning,)* }
            }

            /// The member that `word` stands for; otherwise a message that suggests another word.
            $visible fn read(word: &str) -> Result<$enum, String> {
                let known = || $enum::ALL.iter().map(|member| member.word()).collect::<Vec<_>>();
                $enum::from_word(word).ok_or_else(|| $crate::worded::unknown($what, word, &known()))
            }

            /// The member that `word` stands for.
            $visible fn from_word(word: &str) -> Option<$enum> {
                match word { $($word => Some($enum::$member),)* _ => None }
            }
        }

        impl<'de> serde::Deserialize<'de> for $enum {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = <String as serde::Deserialize>::deserialize(from)?;
                $enum::read(&word).map_err(serde::de::Error::custom)
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

pub(crate) use worded;

/// Names longer than this are not compared.
const MAX_NAME: usize = 64;
/// More words than this are not listed in a message.
const MAX_LISTED: usize = 64;

/// ``unknown tag `x`, did you mean `y`?``
pub fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    format!("unknown {what} `{word}`, {}", suggestion(word, known))
}

/// ``did you mean `x`?``, or all that would be known.
pub fn suggestion(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "and there are no others".to_owned(),
        None if known.len() > MAX_LISTED => "see `holdgate rules words` for the list".to_owned(),
        None => format!("write one of {}", known.join(", ")),
    }
}

/// The known name that `word` most likely means.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .filter(|name| word.len() <= MAX_NAME && name.len() <= MAX_NAME)
        .map(|name| (distance(word, name), name))
        .min()
        .filter(|(distance, _)| *distance <= 1 + word.chars().count() / 3)
        .map(|(_, name)| name)
}

/// Edit distance of two short names.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, cell) in b.chars().zip(row.iter_mut().skip(1)) {
            let best = (diagonal + usize::from(x != y))
                .min(left + 1)
                .min(*cell + 1);
            diagonal = std::mem::replace(cell, best);
            left = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
