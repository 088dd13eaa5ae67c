//! `CMake`: what it runs, downloads and deletes, put as commands of a shell.

use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::text::words::AnyWord;
use crate::value::Value;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// Invocations of one file that are looked at, and the words of one.
const MAX_INVOCATIONS: usize = 512;
const MAX_WORDS: usize = 256;
/// `install(CODE "…")` in `install(CODE "…")`.
const MAX_NESTED: u32 = 3;

static ANY_MARK: LazyLock<AnyWord> = LazyLock::new(|| {
    AnyWord::of([
        "execute_process",
        "add_custom_",
        "(DOWNLOAD",
        "(REMOVE",
        "(UPLOAD",
        "(WRITE",
        "(APPEND",
        "(RENAME",
        "(CODE",
    ])
});

/// Whether a file holds what is read here.
pub(super) fn is_cmake(text: &str) -> bool {
    ANY_MARK.is_in(text)
}

/// Reads the file as a script of what it does.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled {
    scene.fuel.spend_on(code.text.len() * 2)?;
    let mut script = String::new();
    translate(&code.text, MAX_NESTED, &mut script);
    judge(scene, "cmake", code, script)
}

/// What a script that stands for a file does, if somebody builds with that.
pub(super) fn judge(scene: &mut Scene<'_>, program: &str, code: &Value, script: String) -> Fueled {
    if script.is_empty() {
        return Ok(());
    }
    let actor = Actor::new(program, &crate::json::shorten(script.trim(), 200));
    let script = code.map(script);
    let (files, links, before) = (scene.files.clone(), scene.links.len(), scene.effects.len());
    scene.marks.push(Tag::Suspect);
    let done = scene.apart(|scene| scene.shell(&actor, &script).map(drop));
    scene.marks.pop();
    scene.files = files;
    scene.links.truncate(links);
    done?;
    super::forget(scene, before, &[Kind::Unreadable, Kind::ExecuteOpaque]);
    Ok(())
}

/// A word of an invocation.
struct Word {
    text: String,
    quoted: bool,
}

impl Word {
    /// Whether it is a keyword, such as `WORKING_DIRECTORY`.
    fn is_keyword(&self) -> bool {
        let upper = |b: u8| b.is_ascii_uppercase() || b == b'_';
        !self.quoted && self.text.len() > 2 && self.text.bytes().all(upper)
    }

    fn in_shell(&self) -> String {
        let text = variables(&self.text);
        if self.quoted {
            // What a shell would put in stays to be put in.
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", text.replace('`', "\\`"))
        } else {
            text
        }
    }
}

fn translate(text: &str, depth: u32, script: &mut String) {
    let mut rest = text;
    for _ in 0..MAX_INVOCATIONS {
        let Some((before, after)) = rest.split_once('(') else {
            break;
        };
        let name = before.trim_end();
        let part = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let name = name.rsplit(part).next().unwrap_or("").to_ascii_lowercase();
        let known = matches!(
            name.as_str(),
            "execute_process"
                | "add_custom_command"
                | "add_custom_target"
                | "file"
                | "include"
                | "install"
        );
        // A comment names things too.
        let line = before.rsplit('\n').next().unwrap_or("");
        if !known || line.contains('#') {
            rest = after;
            continue;
        }
        let (words, end) = words(after);
        invocation(&name, &words, depth, script);
        rest = after.get(end..).unwrap_or("");
    }
}

fn invocation(name: &str, words: &[Word], depth: u32, script: &mut String) {
    let shown = |words: &[Word]| {
        let words: Vec<String> = words.iter().map(Word::in_shell).collect();
        words.join(" ")
    };
    let first = words.first().map_or("", |word| word.text.as_str());
    match (name, first) {
        ("file", "DOWNLOAD") => {
            if let Some([url, file]) = words.get(1..3) {
                let (url, file) = (url.in_shell(), file.in_shell());
                let _ = writeln!(script, "curl -sSL -o {file} {url}");
            }
        }
        ("file", "REMOVE_RECURSE") => {
            let _ = writeln!(script, "rm -rf {}", shown(words.get(1..).unwrap_or(&[])));
        }
        ("file", "REMOVE") => {
            let _ = writeln!(script, "rm -f {}", shown(words.get(1..).unwrap_or(&[])));
        }
        ("file", "RENAME") => {
            let _ = writeln!(script, "mv {}", shown(words.get(1..3).unwrap_or(&[])));
        }
        ("file", "UPLOAD") => {
            if let Some([file, url]) = words.get(1..3) {
                let (file, url) = (file.in_shell(), url.in_shell());
                let _ = writeln!(script, "curl -sS -T {file} {url}");
            }
        }
        // What stands below the folders of the project is generated.
        ("file", "WRITE" | "APPEND") => {
            if let Some([file, text, ..]) = words.get(1..)
                && ["/", "~", "$ENV{"]
                    .iter()
                    .any(|start| file.text.starts_with(start))
            {
                let (file, text) = (file.in_shell(), text.in_shell());
                let _ = writeln!(script, "printf %s {text} >> {file}");
            }
        }
        ("include", _) if first.contains(['/', '.']) => {
            let _ = writeln!(script, "sh {}", shown(words.get(..1).unwrap_or(&[])));
        }
        ("install", "CODE") if depth > 0 => {
            if let Some(code) = words.get(1) {
                translate(&code.text, depth - 1, script);
            }
        }
        ("execute_process" | "add_custom_command" | "add_custom_target", _) => {
            let mut commands = Vec::new();
            for part in words
                .split(|word| word.is_keyword() && word.text == "COMMAND")
                .skip(1)
            {
                let end = part.iter().position(Word::is_keyword);
                let command = part.get(..end.unwrap_or(part.len())).unwrap_or(&[]);
                if !command.is_empty() {
                    commands.push(shown(command));
                }
            }
            // Those of one process are a pipe.
            let joined = if name == "execute_process" {
                " | "
            } else {
                "\n"
            };
            let _ = writeln!(script, "{}", commands.join(joined));
        }
        _ => {}
    }
}

/// The words up to the closing bracket, and where they end.
fn words(text: &str) -> (Vec<Word>, usize) {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut chars = text.char_indices();
    let mut depth = 0u32;
    while let Some((at, c)) = chars.next() {
        match c {
            '"' if word.is_empty() => {
                let mut quoted = String::new();
                while let Some((_, c)) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => quoted.extend(chars.next().map(|(_, c)| c)),
                        c => quoted.push(c),
                    }
                }
                found.push(Word {
                    text: quoted,
                    quoted: true,
                });
            }
            c if c.is_whitespace() || c == ')' => {
                if !word.is_empty() {
                    found.push(Word {
                        text: std::mem::take(&mut word),
                        quoted: false,
                    });
                }
                if c == ')' && depth == 0 {
                    return (found, at + 1);
                }
                depth -= u32::from(c == ')');
            }
            '(' => depth += 1,
            c => word.push(c),
        }
        if found.len() >= MAX_WORDS {
            return (found, at + 1);
        }
    }
    (found, text.len())
}

/// `$ENV{HOME}` as a shell writes it; other variables are folders of the project.
fn variables(text: &str) -> String {
    if !text.contains('$') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let inside = |open| {
            after
                .strip_prefix(open)
                .and_then(|inner: &str| inner.split_once('}'))
        };
        if let Some((name, behind)) = inside("ENV{") {
            out.push_str("${");
            out.push_str(name);
            out.push('}');
            rest = behind;
        } else if let Some((name, behind)) = inside("{") {
            out.push_str(name);
            rest = behind;
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}
