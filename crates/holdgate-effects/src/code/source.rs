//! The texts in code of any language, for what no reader resolves: a text that is handed to something
//! is tried as a command. What a function shows or compares is left out, and so are comments,
//! documentation and lists of texts.

use crate::effect::Actor;
use crate::language::programs;
use crate::scene::{Fueled, Scene};
use crate::value::{HOLE_STR, Value};

/// Brackets in brackets that are kept apart.
const MAX_OPEN: usize = 64;

/// Methods with which a text runs as a command.
const RUNS: [&str; 5] = [".execute(", ".!", ".!!", ".lazyLines", ".exec("];

/// A comment of Go whose command is run.
const GENERATES: &str = "//go:generate ";

/// Tries the texts of a file.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    scene.fuel.spend_on(code.text.len() * 4)?;
    if super::cmake::is_cmake(&code.text) {
        super::cmake::run(scene, code)?;
    }
    if super::meson::is_meson(&code.text) {
        super::meson::run(scene, code)?;
    }
    let mut scan = Scan::new(&code.text);
    let actor = Actor::new("file", "");
    if code.text.contains(GENERATES) {
        for line in code.text.lines() {
            if let Some((_, command)) = line.split_once(GENERATES) {
                scene.tries(&actor, &code.map(command))?;
            }
        }
    }
    let mut fetch: Option<(usize, &str)> = None;
    while let Some(text) = scan.next_text() {
        scene.fuel.spend(1)?;
        // `"curl …" #| "sh"`: what one program prints goes to the next.
        if let Some((end, command)) = fetch.take() {
            let between = code.text.get(end..scan.at).unwrap_or("\n");
            if programs::is_shell(text.content) && !between.contains('\n') {
                scene.tries(&actor, &code.map(format!("{command} | {}", text.content)))?;
            }
        }
        if text.content.starts_with("curl ") || text.content.starts_with("wget ") {
            fetch = Some((scan.at, text.content));
        }
        if !(text.runs || text.handed) || !scene.looks_like_command(text.content) {
            continue;
        }
        let shown = |name: &&str| scene.know.files.is_shown(name);
        if !text.runs && text.names.iter().any(shown) {
            continue;
        }
        let mut command = unescaped(text.content);
        with_home(scene, &mut command, scan.rest());
        // `("powershell", "-c …")`: a program with its arguments as one text.
        if let Some(program) = text.program.filter(|_| command.starts_with(['-', '/'])) {
            command = format!("{program} {command}");
        }
        scene.tries(&actor, &code.map(command))?;
    }
    Ok(Value::default())
}

/// A command whose last word is put behind it, or into it: `"rm -rf " + home`.
fn with_home(scene: &Scene<'_>, command: &mut String, behind: &str) {
    let behind = behind.trim_start();
    let joins = ["..", ",", "+", ".", "<>", "&"];
    let Some(behind) = joins.iter().find_map(|mark| behind.strip_prefix(mark)) else {
        return;
    };
    let behind = behind.trim_start().trim_start_matches("os.");
    let mut homes = scene.know.doors.homes.iter();
    if !homes.any(|home| behind.starts_with(home.trim_start_matches("os."))) {
        return;
    }
    if command.contains("%s") {
        *command = command.replacen("%s", "~", 1);
    } else if command.contains("{}") {
        *command = command.replacen("{}", "~", 1);
    } else if command.ends_with(' ') {
        command.push('~');
    }
}

/// A text in code.
struct Text<'t> {
    content: &'t str,
    /// What it is handed to: the function, the key, the variable.
    names: [&'t str; 2],
    /// The interpreter that is the first of the texts around it.
    program: Option<&'t str>,
    /// Whether something may run it, by what stands around it.
    handed: bool,
    /// Whether a method of the text itself runs it.
    runs: bool,
}

/// An open bracket.
#[derive(Clone, Copy)]
struct Open<'t> {
    bracket: u8,
    /// What stands before it.
    name: &'t str,
    /// The first text in it.
    first: Option<&'t str>,
    /// The texts in it so far.
    count: usize,
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    open: Vec<Open<'t>>,
    /// The name that was read last, and whether only blanks follow it.
    name: &'t str,
    /// What stands between the name and here.
    mark: u8,
    compared: bool,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        Scan {
            text,
            at: 0,
            open: Vec::new(),
            name: "",
            mark: 0,
            compared: false,
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip_past(&mut self, end: &str) {
        let rest = self.rest();
        let found = memchr::memmem::find(rest.as_bytes(), end.as_bytes());
        self.at += found.map_or(rest.len(), |at| at + end.len());
    }

    /// The next text that is not a comment or documentation.
    fn next_text(&mut self) -> Option<Text<'t>> {
        while let Some(byte) = self.text.as_bytes().get(self.at).copied() {
            match byte {
                b'"' | b'\'' | b'`' => {
                    if let Some(text) = self.quoted(byte) {
                        return Some(text);
                    }
                }
                b'/' if self.rest().starts_with("//") && !self.before_is(b':') => {
                    self.skip_past("\n");
                }
                b'/' if self.rest().starts_with("/*") => self.skip_past("*/"),
                b'#' if self.at == 0 || self.before_is_blank() => self.skip_past("\n"),
                b'-' if self.rest().starts_with("-- ") => self.skip_past("\n"),
                b'(' | b'[' | b'{' => {
                    self.opens(byte);
                    self.at += 1;
                }
                b')' | b']' | b'}' => {
                    self.open.pop();
                    self.mark = byte;
                    self.at += 1;
                }
                b'\n' | b';' => {
                    if self.mark != b'=' && self.mark != b':' && self.mark != b',' {
                        self.name = "";
                        self.compared = false;
                    }
                    self.at += 1;
                }
                b if b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80 => {
                    self.word();
                }
                b'=' | b'!' | b'<' | b'>' | b'~' => {
                    let next = self.text.as_bytes().get(self.at + 1);
                    let twice = matches!(next, Some(b'=' | b'~')) && byte != b'>';
                    self.compared = twice || (self.compared && byte != b'=');
                    self.mark = b'=';
                    self.at += 1 + usize::from(twice);
                    while self.rest().starts_with('=') {
                        self.at += 1;
                    }
                }
                // Joined texts are handed to the same.
                b' ' | b'\t' | b'\r' | b'+' | b'.' | b'@' | b'&' | b'%' => self.at += 1,
                b => {
                    self.mark = b;
                    self.at += 1;
                }
            }
        }
        None
    }

    fn before_is(&self, byte: u8) -> bool {
        self.at > 0 && self.text.as_bytes().get(self.at - 1) == Some(&byte)
    }

    fn before_is_blank(&self) -> bool {
        let before = self
            .at
            .checked_sub(1)
            .and_then(|at| self.text.as_bytes().get(at));
        before.is_some_and(u8::is_ascii_whitespace)
    }

    /// A name, with what it is a part of: `a.b-c`, `a::b`.
    fn word(&mut self) {
        let rest = self.rest();
        let end = rest
            .find(|c: char| {
                !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':' | '-' | '?' | '!'))
            })
            .unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or("");
        self.at += end.max(1);
        // `key: "…"`: the colon is a mark.
        let name = word.trim_end_matches([':', '.', '-', '?', '!']);
        if word.ends_with(':') {
            self.mark = b':';
        } else {
            self.mark = 0;
        }
        self.compared = matches!(name, "in" | "case" | "when" | "is" | "assert" | "not");
        self.name = name;
    }

    fn opens(&mut self, bracket: u8) {
        if self.open.len() >= MAX_OPEN {
            self.open.clear();
        }
        // `[]string{` and `&.{` are lists too.
        let before = self.text.get(..self.at).unwrap_or("").trim_end();
        let after = self.rest().get(1..).unwrap_or("").trim_start();
        let list = bracket == b'{'
            && (before.ends_with([']', '.', '&'])
                || before.ends_with(['=', '(', ',']) && after.starts_with(['"', '\'']));
        let bracket = if list { b'[' } else { bracket };
        self.open.push(Open {
            bracket,
            name: self.name,
            first: None,
            count: 0,
        });
        self.mark = 0;
        self.compared = false;
        if bracket == b'{' {
            self.name = "";
        }
    }

    /// A text between quotes; `None` if it is no text, or one that documents.
    fn quoted(&mut self, quote: u8) -> Option<Text<'t>> {
        let rest = self.rest();
        let start = self.at;
        let triple = match quote {
            b'"' if rest.starts_with("\"\"\"") => Some("\"\"\""),
            b'\'' if rest.starts_with("'''") => Some("'''"),
            // An indented text of Nix.
            b'\'' if rest.starts_with("''\n") => Some("''"),
            _ => None,
        };
        let (from, length) = if let Some(marks) = triple {
            let inner = rest.get(marks.len()..).unwrap_or("");
            (marks.len(), inner.find(marks).unwrap_or(inner.len()))
        } else {
            let Some(length) = closing(rest.as_bytes(), quote) else {
                // An apostrophe, a lifetime.
                self.at += 1;
                return None;
            };
            (1, length)
        };
        let text = rest.get(from..from + length).unwrap_or("");
        self.at += from + length + from;
        let documents = triple.is_some() && {
            let line = self.text.get(..start).unwrap_or("").rsplit('\n').next();
            let line = line.unwrap_or("").trim_start();
            line.is_empty() || line.starts_with('@')
        };
        let frame = self.open.last().copied();
        if let Some(open) = self.open.last_mut() {
            open.first = open.first.or(Some(text));
            open.count += 1;
        }
        let list = frame.filter(|open| open.bracket == b'[');
        let first = frame.and_then(|open| open.first);
        let program = first.filter(|word| programs::is_shell(word));
        let in_list = list.is_none_or(|open| {
            program.is_some() || first.is_some_and(|word| word.starts_with('-')) || {
                let next = self.rest().trim_start();
                open.count == 0 && next.starts_with([']', '}', ')'])
            }
        });
        let outer = frame.map_or("", |open| open.name);
        let text = Text {
            content: text,
            names: [self.name, outer],
            program,
            handed: !documents && !self.compared && in_list,
            runs: RUNS.iter().any(|method| self.rest().starts_with(method)),
        };
        self.mark = b'"';
        Some(text)
    }
}

/// Where the quote that opens `bytes` closes, behind it; for the short quotes on the same line.
fn closing(bytes: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' if quote != b'`' => return None,
            byte if *byte == quote => return Some(at - 1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The text that a literal stands for, as most languages write it: what is put in is a hole, unless a
/// shell would put it in as well.
fn unescaped(text: &str) -> String {
    if !text.contains(['\\', '$', '#']) {
        return text.to_owned();
    }
    // `$$HOME` is how make and others write `$HOME`.
    let text = text.replace("$ENV{", "${").replace("$$", "$");
    let text = &with_holes(&text);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (char, chars.clone().next()) {
            ('\\', Some('n')) => {
                out.push('\n');
                chars.next();
            }
            ('\\', Some('t')) => {
                out.push('\t');
                chars.next();
            }
            ('\\', Some(next @ ('"' | '\'' | '\\' | '`' | '$'))) => {
                out.push(next);
                chars.next();
            }
            _ => out.push(char),
        }
    }
    out
}

/// `${a.b()}` and `#{a}` as holes; `${NAME}` stays.
fn with_holes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${").into_iter().chain(rest.find("#{")).min() {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let inner = from.get(2..).unwrap_or("");
        let (name, after) = inner.split_once('}').unwrap_or((inner, ""));
        let plain = name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        if plain && from.starts_with('$') {
            out.push_str("${");
            out.push_str(name);
            out.push('}');
        } else {
            out.push_str(HOLE_STR);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
