//! All words that rules can use about effects, with their meanings.

use crate::effect::Kind;
use crate::host::HostClass;
use crate::path::PathClass;
use crate::tag::Tag;
use crate::value::Origins;

/// A word and what it means.
type Word = (&'static str, &'static str);

/// The words, by what they are words for.
fn words() -> [(&'static str, Vec<Word>); 5] {
    let kinds = Kind::ALL.iter().map(|kind| (kind.word(), kind.meaning()));
    let tags = Tag::ALL.iter().map(|tag| (tag.word(), tag.meaning()));
    let paths = PathClass::ALL.iter().map(|c| (c.word(), c.meaning()));
    let hosts = HostClass::ALL.iter().map(|c| (c.word(), c.meaning()));
    [
        ("Kinds of effects", kinds.collect()),
        ("Path classes", paths.collect()),
        ("Host classes", hosts.collect()),
        ("Origins", Origins::meanings().collect()),
        ("Tags", tags.collect()),
    ]
}

/// The last section of `docs/rules-language.md`.
pub fn vocabulary() -> String {
    let mut page = String::from(
        "## Words\n\nWritten by `holdgate rules words`. A rule that uses another word is refused. A sub-command\nwhose name is a tag here puts this tag on what it does, as `git push` does.\n",
    );
    for (title, words) in words() {
        page.push_str(&format!("\n### {title}\n\n| word | meaning |\n|---|---|\n"));
        for (word, meaning) in words {
            page.push_str(&format!("| `{word}` | {meaning} |\n"));
        }
    }
    page
}

#[cfg(test)]
mod tests;
