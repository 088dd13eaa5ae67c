//! What a shell script is made of, once it has been read.

use std::sync::Arc;

/// Commands, one after the other.
pub(crate) type Block = Vec<Node>;

/// A command of any kind.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Simple(Simple),
    /// Joined by `|`.
    Pipe(Vec<Node>),
    /// After `&&` or `||`: it may run or not.
    Maybe(Box<Node>),
    /// Beside `||`, or in the background: the script can succeed without it.
    Loose(Box<Node>),
    /// `( … )`
    Subshell(Block),
    /// `{ …; }`
    Group(Block),
    /// `if` and its branches: conditions and bodies in order.
    If(Vec<Block>),
    /// `while` and `until`.
    Loop {
        condition: Block,
        body: Block,
    },
    /// `for` and `select`.
    For {
        name: String,
        /// `None`: over the arguments.
        items: Option<Vec<Word>>,
        body: Block,
    },
    Case {
        word: Word,
        patterns: Vec<Word>,
        arms: Vec<Block>,
    },
    Function {
        name: String,
        body: Arc<Node>,
    },
    /// `[[ … ]]`: nothing but what its words do on the way.
    Test(Vec<Word>),
    /// `(( … ))`
    Arithmetic(Word),
    /// Any of these but a simple command, with redirections behind it.
    Redirected(Box<Node>, Vec<Redirect>),
}

impl Node {
    /// The command itself, however it is joined to others.
    pub(crate) fn tight(&self) -> &Node {
        if let Node::Loose(node) = self {
            node
        } else {
            self
        }
    }
}

/// A program and its arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    /// Arrays among the arguments of `declare` and its like.
    pub(crate) declared: Vec<Assignment>,
}

/// `NAME=value`, `NAME+=value`, `NAME[index]=value`, `NAME=(a b)`.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) index: Option<Word>,
    pub(crate) append: bool,
    pub(crate) values: Vec<Word>,
    pub(crate) array: bool,
}

/// `2>file`, `<<EOF`, `<<<word`.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    pub(crate) descriptor: Option<u32>,
    pub(crate) kind: RedirectKind,
    pub(crate) target: Word,
    /// The number of the here-document that becomes the target once it has been read.
    pub(super) body: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    Write,
    Append,
    ReadWrite,
    /// `<&`, `>&` with a number or a dash.
    Duplicate,
    /// `&>`, `>&` with a file: output and errors.
    WriteBoth,
    AppendBoth,
    /// The target is the text itself: here-documents and here-strings.
    Text,
}

/// One argument before evaluation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
}

#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// As it stands, open to tilde, braces and globs.
    Plain(String),
    /// In quotes or escaped: it means itself.
    Quoted(String),
    Variable(Variable),
    /// `$( … )` and backticks.
    Command {
        block: Block,
        quoted: bool,
    },
    /// `<( … )` and `>( … )`.
    Process {
        block: Block,
        writes: bool,
    },
    /// `$(( … ))`
    Arithmetic(Word),
}

/// Two parts are never compared for more than their plain text.
impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        matches!((self, other), (Part::Plain(a), Part::Plain(b)) | (Part::Quoted(a), Part::Quoted(b)) if a == b)
    }
}

/// `$name` and all that `${…}` can do.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// `${!name…}`: the variable that this one names is meant.
    pub(crate) indirect: bool,
    pub(crate) index: Index,
    pub(crate) operation: Operation,
    pub(crate) quoted: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Index {
    None,
    /// `[@]`, `[*]`; quoted, the latter is one word.
    All {
        joins: bool,
    },
    At(Box<Word>),
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    None,
    Length,
    /// `-`, `:-`, `=`, `:=`
    Default {
        word: Box<Word>,
        assigns: bool,
        /// What is empty counts as unset.
        colon: bool,
    },
    /// `+`, `:+`
    Alternative {
        word: Box<Word>,
        /// What is empty counts as unset.
        colon: bool,
    },
    /// `${x#…}`, `${x##…}`, or from the end `${x%…}`, `${x%%…}`
    Remove {
        pattern: Box<Word>,
        from_end: bool,
        longest: bool,
    },
    /// `/`, `//`
    Replace {
        pattern: Box<Word>,
        with: Box<Word>,
        all: bool,
    },
    /// `:offset:length`
    Slice(Box<Word>, Option<Box<Word>>),
    /// `?`, `:?`: the message is evaluated if there is nothing else.
    Message(Box<Word>),
    /// `^`, `^^` and which characters.
    Upper(bool, Box<Word>),
    /// `,`, `,,` and which characters.
    Lower(bool, Box<Word>),
    /// `@E`, `@Q`, `@P`
    Transform(char),
    /// Anything else: its result is not known, but its word is evaluated.
    Other(Box<Word>),
}

impl Word {
    /// A word that means `text`.
    pub(crate) fn quoted(text: impl Into<String>) -> Self {
        Word {
            parts: vec![Part::Quoted(text.into())],
        }
    }

    /// The text, if it stands there without anything to evaluate.
    pub(crate) fn as_literal(&self) -> Option<String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Plain(t) | Part::Quoted(t) => text.push_str(t),
                Part::Variable(_)
                | Part::Command { .. }
                | Part::Process { .. }
                | Part::Arithmetic(_) => return None,
            }
        }
        Some(text)
    }

    /// The text, if nothing in it is quoted: what can be a keyword.
    pub(crate) fn as_plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Plain(text)] => Some(text),
            _ => None,
        }
    }
}
