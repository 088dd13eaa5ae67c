//! Enums whose members have a word each, by which rules, tables and records name them.

/// Writes such an enum, the words for its members and the way back.
macro_rules! worded {
    (
        $(#[$about:meta])*
        pub enum $enum:ident { $($(#[$doc:meta])* $member:ident = $word:literal,)* }
    ) => {
        $(#[$about])*
        pub enum $enum { $($(#[$doc])* $member,)* }

        impl $enum {
            /// All there are.
            pub const ALL: &'static [$enum] = &[$($enum::$member,)*];

            /// The word for it in rules and records.
            pub fn word(self) -> &'static str {
                match self { $($enum::$member => $word,)* }
            }

            /// The one that `word` stands for.
            pub fn from_word(word: &str) -> Option<$enum> {
                $enum::ALL.iter().copied().find(|one| one.word() == word)
            }
        }
    };
}

pub(crate) use worded;
