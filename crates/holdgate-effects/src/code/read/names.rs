//! Words that are no names, and how names are spelled.

use crate::code::Language;

/// Whether a word only stands before what matters: a modifier, a branch, a declaration.
pub(super) fn skipped(language: Language, word: &str) -> bool {
    use Language::{Compiled, JavaScript, Lua, Perl, Php, Python, Ruby};
    if matches!(language, Python | JavaScript) {
        return is_keyword(language, word);
    }
    match word {
        "if" | "elif" | "elsif" | "elseif" | "else" | "try" | "except" | "catch" | "finally"
        | "do" | "case" | "when" | "switch" | "unless" | "const" | "let" | "var" | "my" | "our"
        | "local" | "public" | "private" | "protected" | "static" | "final" | "async" | "await"
        | "export" | "break" | "continue" | "throw" | "raise" | "yield" | "new" | "not"
        | "typeof" | "void" | "in" | "and" | "or" | "abstract" | "override" | "extends"
        | "implements" | "throws" => true,
        "end" | "then" | "begin" | "rescue" | "ensure" => matches!(language, Ruby | Lua),
        "pub" | "mut" | "defer" | "go" | "unsafe" | "move" | "ref" | "dyn" | "where" => {
            language == Compiled
        }
        "match" | "assert" => language == Compiled,
        "BEGIN" | "END" => matches!(language, Perl | Ruby),
        "clone" => language == Php,
        "state" => language == Perl,
        _ => false,
    }
}

/// Whether a word only declares what is handed over: Perl's `open my $file, …`.
pub(super) fn declares_argument(language: Language, word: &str) -> bool {
    language == Language::Perl && matches!(word, "my" | "our" | "local" | "state")
}

/// Whether what is called so does not come back: what stands before its `or` is the value.
pub(super) fn gives_up(name: &str) -> bool {
    let name = name.trim_end_matches("()");
    matches!(
        name.rsplit(['.', ':']).next().unwrap_or(name),
        "die" | "exit" | "croak" | "confess" | "warn" | "carp" | "return" | "abort" | "raise"
    )
}

fn is_keyword(language: Language, word: &str) -> bool {
    match word {
        "if" | "else" | "try" | "finally" | "async" | "await" | "break" | "continue" | "yield"
        | "in" | "case" => true,
        "elif" | "except" | "raise" | "not" | "and" | "or" | "global" | "nonlocal" | "pass"
        | "with" | "is" | "del" | "match" | "assert" => language == Language::Python,
        "catch" | "do" | "switch" | "const" | "let" | "var" | "public" | "private"
        | "protected" | "static" | "export" | "throw" | "new" | "typeof" | "void" | "abstract"
        | "override" | "extends" | "implements" | "of" | "default" | "delete" | "readonly" => {
            language == Language::JavaScript
        }
        _ => false,
    }
}

/// Whether a word is a keyword only where it stands like one, and a name elsewhere.
pub(super) fn may_be_name(language: Language, word: &str) -> bool {
    match language {
        Language::Python => matches!(word, "match" | "case"),
        Language::JavaScript => matches!(
            word,
            "async"
                | "let"
                | "of"
                | "static"
                | "public"
                | "private"
                | "protected"
                | "abstract"
                | "override"
                | "implements"
                | "readonly"
        ),
        _ => false,
    }
}

/// Whether a word starts a declaration whose name follows.
pub(super) fn declares(language: Language, word: &str) -> bool {
    use Language::{JavaScript, Python};
    match word {
        "class" => true,
        "interface" | "enum" | "module" => language != Python,
        "struct" | "trait" | "impl" => !matches!(language, Python | JavaScript),
        _ => false,
    }
}

/// What a word that stands for a fixed value stands for.
pub(super) fn truth(language: Language, word: &str) -> Option<i64> {
    match (language, word) {
        (Language::Python, "True") => Some(1),
        (Language::Python, "False" | "None") => Some(0),
        (Language::Python, _) | (Language::JavaScript, "nil") => None,
        (_, "true") => Some(1),
        (_, "false" | "null" | "nil") => Some(0),
        _ => None,
    }
}

/// Whether a word starts the definition of a function.
pub(super) fn defines(language: Language, word: &str) -> bool {
    use Language::{Compiled, JavaScript, Lua, Perl, Php, Python, Ruby};
    match word {
        "def" => matches!(language, Python | Ruby | Compiled),
        "function" => matches!(language, JavaScript | Php | Lua),
        "sub" => language == Perl,
        "fn" | "func" | "fun" => language == Compiled,
        _ => false,
    }
}

/// A variable under one name: Perl's `@a` and `$a[0]` are the same list.
pub(super) fn variable(language: Language, name: &str) -> String {
    if language == Language::Perl
        && let Some(rest) = name.strip_prefix(['@', '%'])
    {
        return format!("${rest}");
    }
    name.to_owned()
}

/// The module that a text names, under the name that the table knows it by.
pub(in crate::code) fn module(language: Language, name: &str) -> String {
    if language == Language::Python {
        // The parts of the standard library that are written in C.
        return match name {
            "posix" | "nt" => "os".to_owned(),
            "_io" => "io".to_owned(),
            other => other.to_owned(),
        };
    }
    if language != Language::JavaScript {
        return name.to_owned();
    }
    let name = name.strip_prefix("node:").unwrap_or(name);
    match name {
        "fs/promises" | "graceful-fs" | "fs-extra" | "original-fs" => "fs".to_owned(),
        "shelljs" => "shell".to_owned(),
        "timers/promises" => "timers".to_owned(),
        other => other.to_owned(),
    }
}

/// Parts of a name that change nothing: `globalThis.eval` is `eval`.
pub(super) fn without_prefix(language: Language, name: &str) -> Option<&str> {
    let prefixes: &[&str] = match language {
        Language::Python => &["builtins.", "__builtins__.", "__builtin__.", "self."],
        Language::JavaScript => &[
            "globalThis.",
            "window.",
            "global.",
            "self.",
            "this.",
            "module.",
            "process.mainModule.",
        ],
        Language::Ruby => &["Kernel.", "Object.", "self.", "."],
        Language::Php | Language::Perl => &["CORE.GLOBAL.", "CORE.", ".", "main."],
        Language::Lua => &["_G.", "_ENV."],
        // `std::fs::write` is `fs.write`; but `set.remove` is not C's `remove`.
        Language::Compiled => {
            let (first, rest) = name.split_once('.')?;
            let plain = rest.contains('.')
                || matches!(first, "libc" | "std")
                || rest.starts_with(|c: char| c.is_ascii_uppercase());
            return plain.then_some(rest);
        }
        _ => &[],
    };
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))
}

/// What is reached through the insides of Python objects: `x.__globals__.system` is `system`.
pub(super) fn behind_dunders(name: &str) -> Option<&str> {
    let at = [
        "__globals__.",
        "__builtins__.",
        "__dict__.",
        "globals().",
        "locals().",
        "vars().",
        "sys.modules.",
    ]
    .iter()
    .filter_map(|word| name.rfind(word).map(|at| at + word.len()))
    .max()?;
    name.get(at..)
}
