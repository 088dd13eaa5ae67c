//! Files that a compiler or assembler puts into a program, by lines that are no code: `#embed`, `.incbin`,
//! `//go:embed`.

use crate::effect::Actor;
use crate::scene::{Fueled, Scene};
use crate::text::words::AnyWord;
use crate::value::Value;
use std::sync::LazyLock;

/// What stands before the name of the file.
const MARKS: [&str; 3] = ["#embed", ".incbin", "//go:embed"];
static ANY_MARK: LazyLock<AnyWord> = LazyLock::new(|| AnyWord::of(MARKS));
/// Such lines of one file that are looked at.
const MAX_LINES: usize = 64;

/// The files are read.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled {
    if !ANY_MARK.is_in(&code.text) {
        return Ok(());
    }
    scene.fuel.spend_on(code.text.len())?;
    let lines = code.text.lines().filter_map(|line| {
        let mark = MARKS.iter().find(|mark| line.contains(**mark))?;
        line.split_once(*mark).map(|(_, rest)| (line, rest))
    });
    for (line, rest) in lines.take(MAX_LINES) {
        let marks = |c: char| c.is_whitespace() || "\"'<>\\;)`".contains(c);
        let name = rest.split(marks).find(|word| !word.is_empty());
        if let Some(name) = name {
            let actor = Actor::new("compiler", &crate::json::shorten(line.trim(), 200));
            scene.read(&actor, &Value::known(name))?;
        }
    }
    Ok(())
}
