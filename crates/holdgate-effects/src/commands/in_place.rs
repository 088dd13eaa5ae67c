//! Programs that change files in place: what `sed -i` and `perl -pi` put into them, by their scripts.

use super::argument::role_of;
use super::role::Role;
use super::units::Run;
use crate::code::sed::{self, Action};
use crate::language::Language;
use crate::tag::Tag;
use crate::value::{HOLE_STR, Value};

/// Commands of the scripts that are followed.
const MAX_EDITS: usize = 32;
/// A longer text is not changed.
const MAX_TEXT: usize = 64 << 10;

/// The changes that scripts make.
pub(super) struct Edits(Vec<Edit>);

struct Edit {
    /// What is replaced, if that is a plain text; otherwise lines are put in somewhere.
    old: Option<String>,
    new: String,
}

impl Edits {
    /// All that is new, one change below the other.
    pub(super) fn added(&self) -> Value {
        let new: Vec<&str> = self.0.iter().map(|edit| edit.new.as_str()).collect();
        Value::known(new.join("\n"))
    }

    /// What becomes of `text`. Where lines are put in does not matter: code runs at any place.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        let mut text = text.to_owned();
        for edit in &self.0 {
            match &edit.old {
                Some(old) if text.contains(old) => text = text.replace(old, &edit.new),
                // It may not be there.
                Some(_) => {}
                None => {
                    if !text.ends_with('\n') {
                        text.push('\n');
                    }
                    text.push_str(&edit.new);
                    text.push('\n');
                }
            }
            if text.len() > MAX_TEXT {
                return None;
            }
        }
        Some(text)
    }
}

/// What a program puts into the files that it changes in place; `None` if its scripts do not say.
pub(super) fn edits(run: Run<'_>) -> Option<Edits> {
    if !run.actor.is(Tag::InPlace) {
        return None;
    }
    let mut edits = Vec::new();
    for (_, script) in scripts(run) {
        for command in sed::commands(&script.text).take(MAX_EDITS) {
            edits.extend(edit(&command.action));
        }
    }
    edits.truncate(MAX_EDITS);
    (!edits.is_empty()).then_some(Edits(edits))
}

/// The scripts of a program that changes files in place.
fn scripts(run: Run<'_>) -> impl Iterator<Item = (Role, &Value)> {
    let parsed = run.parsed;
    let roles = match run.chosen {
        Some(spec) if !spec.operands.is_empty() => &spec.operands,
        _ => &parsed.spec.operands,
    };
    let count = parsed.operands.len();
    let operands = parsed.operands.iter().enumerate();
    let operands = operands.map(move |(at, script)| (role_of(roles, at, count), script));
    let options = parsed.options.iter().filter_map(|o| o.value.as_ref());
    let options = options.map(|(role, script)| (*role, script));
    options.chain(operands).filter(|(role, _)| is_script(*role))
}

/// Whether nothing is left of the files that a program changes: `truncate -s 0`, `sed -i d`.
pub(super) fn empties(run: Run<'_>) -> bool {
    const NOTHING: [&str; 6] = ["d", "1,$d", "1,$ d", "0,$d", "/^/d", "/.*/d"];
    if run.call.program == "truncate" {
        let size = run.parsed.value_of(&["-s", "--size"]);
        return size.is_some_and(|size| size.text.trim() == "0");
    }
    if !run.actor.is(Tag::InPlace) {
        return false;
    }
    let mut scripts = scripts(run).peekable();
    let language = |role| matches!(role, Role::Code(Language::Sed));
    let nothing = |(role, script): (Role, &Value)| {
        let script = script.text.trim();
        if language(role) {
            NOTHING.contains(&script)
        } else {
            // `perl -i -ne ''` prints no line.
            script.is_empty() && !run.parsed.given(&["-p"])
        }
    };
    scripts.peek().is_some() && scripts.all(nothing)
}

/// Perl writes a replacement as sed does.
fn is_script(role: Role) -> bool {
    matches!(role, Role::Code(Language::Sed | Language::Perl))
}

fn edit(action: &Action<'_>) -> Option<Edit> {
    match *action {
        Action::Insert(text) => Some(Edit {
            old: None,
            new: lines(text),
        }),
        Action::Substitute {
            mark,
            pattern,
            with,
            ..
        } => {
            let old = plain(pattern, mark);
            let new = replacement(with, old.as_deref());
            (!new.trim().is_empty()).then_some(Edit { old, new })
        }
        Action::Exchange { .. }
        | Action::Execute(_)
        | Action::Read(_)
        | Action::Write(_)
        | Action::Other(_) => None,
    }
}

/// The lines after `a`: `a\`, then lines that go on with a backslash, or a text on the same line.
fn lines(text: &str) -> String {
    let text = text.trim_start_matches([' ', '\t']);
    let text = text.strip_prefix('\\').unwrap_or(text);
    let text = text.strip_prefix('\n').unwrap_or(text);
    unescaped(text.trim_end_matches('\n'), |_| None)
}

/// A pattern that stands for itself.
fn plain(pattern: &str, mark: char) -> Option<String> {
    let mut text = String::new();
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next()? {
                char if char == mark || "./-\"'[]*$^&".contains(char) => text.push(char),
                _ => return None,
            },
            '*' | '[' | '^' | '$' | '(' | '|' | '{' | '+' | '?' => return None,
            char => text.push(char),
        }
    }
    (!text.is_empty()).then_some(text)
}

/// What is put in; `&` is what was found.
fn replacement(with: &str, found: Option<&str>) -> String {
    let found = found.unwrap_or(HOLE_STR);
    unescaped(with, |char| (char == '&').then_some(found))
}

/// A text without the backslashes that escape something.
fn unescaped<'f>(text: &str, stands_for: impl Fn(char) -> Option<&'f str>) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(digit) if digit.is_ascii_digit() => out.push_str(HOLE_STR),
                Some(char) => out.push(char),
                None => {}
            },
            char => match stands_for(char) {
                Some(text) => out.push_str(text),
                None => out.push(char),
            },
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(script: &str) -> Edits {
        let commands = sed::commands(script);
        Edits(commands.filter_map(|c| edit(&c.action)).collect())
    }

    #[test]
    fn what_scripts_put_in_is_known() {
        for (script, added) in [
            ("2i make all", "make all"),
            ("$a\\\necho 1\\\necho 2", "echo 1\necho 2"),
            ("/^test:/a \\\\tmake x", "\tmake x"),
            ("s|^exit 0|a \\| b|", "a | b"),
            ("s/old/new &/;s/x/y/", "new old\ny"),
            ("s/[0-9]*/&0/", "\u{fffc}0"),
            ("3d;p;s/x//", ""),
        ] {
            assert_eq!(of(script).added().text, added, "{script}");
        }
    }

    #[test]
    fn a_plain_text_is_replaced_where_it_stands() {
        let becomes = |script: &str| of(script).apply("T=~/x\nls $T\n").unwrap();
        assert_eq!(becomes("s/ls/rm -rf/"), "T=~/x\nrm -rf $T\n");
        assert_eq!(becomes("s/absent/rm/"), "T=~/x\nls $T\n");
        assert_eq!(becomes("1a rm $T"), "T=~/x\nls $T\nrm $T\n");
        assert_eq!(becomes("s/^ls/rm/"), "T=~/x\nls $T\nrm\n");
    }
}
