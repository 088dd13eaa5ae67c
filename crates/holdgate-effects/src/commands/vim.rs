//! Commands of editors of vi's family that stand in their arguments: `-c '!command'`, `+'call system(…)'`.

use super::Call;
use crate::effect::{Actor, Kind};
use crate::language::Language;
use crate::scene::{Fueled, Scene};
use crate::value::Value;

/// Commands of one argument.
const MAX_COMMANDS: usize = 16;

/// Reads the commands in the arguments.
pub(super) fn run(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    let mut words = call.words.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let option =
            word.text.starts_with('-') && (word.text.ends_with('c') || word.text == "--cmd");
        let command = match word.text.strip_prefix('+') {
            Some(command) => Some(word.map(command)),
            None if option => words.next().cloned(),
            None => None,
        };
        if let Some(command) = command {
            one(scene, actor, &command)?;
        }
    }
    Ok(())
}

fn one(scene: &mut Scene<'_>, actor: &Actor, command: &Value) -> Fueled {
    let text = command.text.trim_start_matches([':', ' ']);
    // `:!command`, `:silent !command`, `:r !command`
    if let Some((before, run)) = text.split_once('!')
        && matches!(
            word_of(before.trim()),
            None | Some(Word::Silent | Word::Read)
        )
    {
        let run = command.map(run);
        scene.apart(|scene| scene.shell(actor, &run))?;
        return Ok(());
    }
    for part in text.split('|').take(MAX_COMMANDS) {
        let part = part.trim_start_matches([':', ' ', '%', '0', '1', ',', '$']);
        let end = part
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(part.len());
        let (name, rest) = part.split_at_checked(end).unwrap_or((part, ""));
        let path = command.map(rest.trim_start_matches('!').trim());
        if path.text.is_empty() || path.text.starts_with('%') {
            continue;
        }
        match word_of(name) {
            Some(Word::Read) => drop(scene.read(actor, &path)?),
            Some(Word::Write) => scene.touch(actor, Kind::Write, &path)?,
            Some(Word::Source) => {
                scene.apart(|scene| scene.script(actor, Language::Shell, &path))?;
            }
            Some(Word::Silent) | None => {}
        }
    }
    scene.suspect(actor, command)?;
    scene.code(Language::Other, command).map(drop)
}

enum Word {
    Read,
    Write,
    Source,
    Silent,
}

/// A command may be shortened: its shortest form, and the whole of it.
fn word_of(name: &str) -> Option<Word> {
    let is = |short: &str, long: &str| name.starts_with(short) && long.starts_with(name);
    let reads = [
        ("r", "read"),
        ("e", "edit"),
        ("sp", "split"),
        ("vs", "vsplit"),
        ("tabe", "tabedit"),
        ("tabnew", "tabnew"),
        ("vie", "view"),
        ("find", "find"),
        ("new", "new"),
        ("arge", "argedit"),
    ];
    let writes = [
        ("w", "write"),
        ("sav", "saveas"),
        ("up", "update"),
        ("wq", "wq"),
        ("x", "xit"),
    ];
    let has = |all: &[(&str, &str)]| all.iter().any(|(short, long)| is(short, long));
    if is("sil", "silent") {
        Some(Word::Silent)
    } else if has(&reads) {
        Some(Word::Read)
    } else if is("so", "source")
        || is("ru", "runtime")
        || is("luafile", "luafile")
        || is("py3f", "py3file")
    {
        Some(Word::Source)
    } else {
        has(&writes).then_some(Word::Write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_may_be_shortened() {
        assert!(matches!(word_of("so"), Some(Word::Source)));
        assert!(matches!(word_of("sourc"), Some(Word::Source)));
        assert!(matches!(word_of("r"), Some(Word::Read)));
        assert!(matches!(word_of("w"), Some(Word::Write)));
        assert!(word_of("set").is_none() && word_of("").is_none());
    }
}
