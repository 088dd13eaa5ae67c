//! A text as its prints see it: letters and digits in lower case, without import lines.

/// How a line begins that only names what a file uses. The same lists stand in unrelated projects.
const IMPORTS: &[&str] = &[
    "use ",
    "pub use ",
    "pub(crate) use ",
    "extern crate ",
    "mod ",
    "pub mod ",
    "import ",
    "from ",
    "export * from ",
    "export {",
    "#include",
    "#import",
    "using ",
    "package ",
    "require ",
    "require(",
    "require_once",
    "const {",
    "namespace ",
];
/// Prose that begins with such a word has more words.
const WORDS: usize = 4;

/// The characters that count, in order.
pub(super) fn characters(text: &str) -> impl Iterator<Item = char> {
    text.lines()
        .filter(|line| !is_import(line))
        .flat_map(str::chars)
        .filter(|c| c.is_alphanumeric())
        .filter_map(|c| c.to_lowercase().next())
}

fn is_import(line: &str) -> bool {
    let line = line.trim();
    if !IMPORTS.iter().any(|word| line.starts_with(word)) {
        return false;
    }
    // `const { a } = require("b")`, but not `const { a } = f()`.
    if line.starts_with("const {") {
        return line.contains("require(");
    }
    line.ends_with(';') || line.contains(" import ") || line.split_whitespace().nth(WORDS).is_none()
}
