//! What code is cut into.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) enum Kind {
    /// A name, a variable with its sigil, or a keyword.
    Name,
    /// A number.
    Number,
    /// A literal; the token's text is what stands between the quotes.
    Text(Quote),
    /// An operator or a bracket.
    Mark,
    /// The start of a line, with its indentation.
    Line(u32),
}

/// How a literal is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) struct Quote {
    pub(in crate::code) escapes: Escapes,
    pub(in crate::code) holes: Holes,
    pub(in crate::code) meaning: Meaning,
}

impl Quote {
    pub(in crate::code) fn new(escapes: Escapes, holes: Holes, meaning: Meaning) -> Quote {
        Quote {
            escapes,
            holes,
            meaning,
        }
    }
}

/// Which backslashes mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) enum Escapes {
    /// None: raw text.
    None,
    /// Only the backslash itself and the quote.
    Quotes,
    /// All that the language has; elsewhere the backslash means nothing.
    All,
    /// All that the language has; elsewhere the backslash stands for itself.
    Listed,
}

/// Which code may stand inside a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) enum Holes {
    None,
    /// `{x}`
    Braces,
    /// `${x}`
    DollarBraces,
    /// `#{x}`
    HashBraces,
    /// `$x`, `${x}`, `@x`
    Sigils,
}

/// What a literal stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) enum Meaning {
    Text,
    /// A shell runs it.
    Command,
    /// A list of words.
    Words,
    /// A pattern or the like: never a command or a path.
    Pattern,
}

/// A piece of code.
#[derive(Clone, Copy, Debug)]
pub(in crate::code) struct Token<'a> {
    pub(in crate::code) kind: Kind,
    pub(in crate::code) text: &'a str,
    /// Where it stands in the code, quotes included.
    pub(in crate::code) start: u32,
    pub(in crate::code) end: u32,
    /// Whether white space stands before it.
    pub(in crate::code) spaced: bool,
}

impl Token<'_> {
    pub(in crate::code) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }
}

/// Code as tokens, with the partner of each bracket.
#[derive(Debug, Default)]
pub(in crate::code) struct Tokens<'a> {
    pub(in crate::code) code: &'a str,
    pub(in crate::code) list: Vec<Token<'a>>,
    /// For an opening bracket the index of the closing one; else 0.
    pub(in crate::code) partners: Vec<u32>,
    /// The lines that start outside of all brackets, with their indentation.
    pub(in crate::code) lines: Vec<(usize, u32)>,
}
