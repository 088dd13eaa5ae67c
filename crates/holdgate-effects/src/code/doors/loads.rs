//! Code from an address that is run: the address stands in the brackets of a function that runs what
//! it is given, or a name holds what was fetched, or a file does.

use super::Doors;
use super::parts::{calls, end_of, first_argument, identifiers, inside, names};
use crate::effect::{Actor, Effect, Kind};
use crate::host::{Host, HostClass};
use crate::knowledge::doors::Group;
use crate::language::programs;
use crate::scene::Scene;
use crate::value::{Origins, Value};

/// Addresses of one file that are looked at.
const MAX_ADDRESSES: usize = 64;
/// Bytes before an address in which the call may begin that it belongs to.
const MAX_BEFORE: usize = 600;
/// Bytes behind it in which it may be handed on.
const MAX_BEHIND: usize = 400;
/// Bytes in which what was fetched may be run under its name.
const MAX_REACH: usize = 3000;
/// Calls around an address.
const MAX_CALLS: usize = 8;

/// A call around a place: where its bracket is, and its name.
pub(super) struct Around<'t> {
    pub(super) bracket: usize,
    pub(super) name: &'t str,
    /// The word behind the bracket, which is the name where Lisp or Tcl is written.
    inner: &'t str,
}

/// An address that begins a literal or a word.
pub(super) struct Address<'t> {
    pub(super) at: usize,
    pub(super) url: &'t str,
    pub(super) host: Host,
}

impl<'t> Doors<'t> {
    /// Code that is run from an address.
    pub(super) fn load_scripts(&self, scene: &Scene<'_>, found: &mut Vec<Effect>) {
        for address in self.addresses(scene) {
            if self.is_loaded(&address) {
                let code = Value::unknown(Origins::FETCHED).with_source(address.url);
                let actor = Actor::new("source", address.url);
                let effect = actor.does(Kind::ExecuteFetched).of(&code);
                found.push(effect.with(address.host));
            }
        }
    }

    /// Addresses of others.
    pub(super) fn addresses(&self, scene: &Scene<'_>) -> Vec<Address<'t>> {
        let clean = self.text.clean.as_str();
        let mut found = Vec::new();
        if !self.present.has(Group::Addresses) {
            return found;
        }
        for (at, _) in clean.match_indices("://").take(MAX_ADDRESSES) {
            let before = clean.get(..at).unwrap_or("");
            let scheme = ["https", "http", "ftp"]
                .iter()
                .find(|s| before.ends_with(**s));
            let Some(at) = scheme.and_then(|s| at.checked_sub(s.len())) else {
                continue;
            };
            let rest = clean.get(at..).unwrap_or("");
            let begins = clean.get(..at).and_then(|b| b.chars().next_back());
            if begins.is_some_and(|c| !"\"'`( [{,".contains(c)) {
                continue;
            }
            let ends = ['"', '\'', '`', ' ', '\n', '<', '>', ')', ']', ';', ','];
            let url = rest.split(ends).next().unwrap_or("");
            let host = scene.know.hosts.host(&Value::known(url));
            let named = host.name.contains('.') && !host.name.contains(['$', '{', '%', '#']);
            let known = matches!(host.class, HostClass::Registry);
            if named && (known || matches!(host.class, HostClass::External | HostClass::Drop)) {
                found.push(Address { at, url, host });
            }
        }
        found
    }

    fn is_loaded(&self, address: &Address<'_>) -> bool {
        let code = self.text.code.as_str();
        let (around, start) = enclosing(code, address.at);
        if address.host.class == HostClass::Registry {
            let call = around.first();
            return call.is_some_and(|call| calls(&self.table.sources, call.name));
        }
        let aliases = self.aliases();
        let runs_text = |name: &str| {
            calls(&self.table.runs_text, name)
                || aliases.iter().any(|alias| ends_with_name(name, alias))
                || is_maker(name)
        };
        let runs = |name: &str| calls(&self.table.loads, name) || runs_text(name);
        for (index, call) in around.iter().enumerate() {
            let between = code.get(call.bracket..address.at).unwrap_or("");
            // A function that fetches is not what it fetches.
            if ["=>", "function", "lambda", "fn "]
                .iter()
                .any(|word| between.contains(word))
            {
                break;
            }
            let fetched = index > 0;
            if calls(&self.table.loads, call.name)
                || self.is_lisp_load(call.inner)
                || fetched && runs_text(call.name)
                || fetched && self.gives_interpreter(call)
            {
                return true;
            }
        }
        let statement = code.get(start..address.at).unwrap_or("").trim_start();
        let begins = |words: &String| statement.starts_with(words.as_str());
        if self.table.load_words.iter().any(begins) {
            return true;
        }
        // `get(address) |> eval`
        let behind = piece(code, address.at + address.url.len(), MAX_BEHIND);
        let behind = statement_end(behind);
        let hands_on = behind.match_indices("|>").any(|(at, _)| {
            let next = behind.get(at + 2..).unwrap_or("").trim_start();
            let end = next.find(|c: char| !(c.is_alphanumeric() || "_.:!".contains(c)));
            runs(next.get(..end.unwrap_or(next.len())).unwrap_or(""))
        });
        let in_lisp = |(at, _): (usize, &str)| {
            let next = behind.get(at + 1..).unwrap_or("");
            self.is_lisp_load(next.split([' ', ')']).next().unwrap_or(""))
        };
        hands_on
            || statement.starts_with('(') && behind.match_indices('(').any(in_lisp)
            || statement.starts_with("(->")
                && behind.split([' ', ')']).any(|w| self.is_lisp_load(w))
            || runs_parameter(behind, runs_text)
            || self.is_run_later(address, &around, statement, runs_text)
    }

    /// Names that the file gives to what makes functions of texts: `const F = eval`, `class F extends
    /// Function`.
    fn aliases(&self) -> Vec<&'t str> {
        let code = self.text.code.as_str();
        let mut found = Vec::new();
        for mark in ["extends Function", ".constructor", "= eval", "= Function"] {
            for (at, _) in code.match_indices(mark).take(MAX_CALLS) {
                let behind = code.get(at + mark.len()..).unwrap_or("");
                let line = code.get(..at).unwrap_or("").rsplit(['\n', ';']).next();
                let line = line.unwrap_or("");
                // `x.constructor(…)` and `x.constructor.name` name nothing.
                if behind.starts_with(|c: char| c.is_alphanumeric() || "_.([".contains(c)) {
                    continue;
                }
                let left = line.split_once('=').map_or(line, |(left, _)| left);
                // Other classes are made by their constructors too: only those of functions count.
                let of_function =
                    mark != ".constructor" || is_maker(code.get(..at + mark.len()).unwrap_or(""));
                found.extend(identifiers(left).last().filter(|_| of_function));
            }
        }
        found
    }

    /// Whether a call starts an interpreter with code as its argument.
    fn gives_interpreter(&self, call: &Around<'_>) -> bool {
        if !calls(&self.table.commands, call.name) {
            return false;
        }
        let given = inside(self.text.clean.get(call.bracket + 1..).unwrap_or(""));
        let mut words = given.split(['"', '\'', ',', ' ', '[', '(']);
        let takes_code = given.contains("-e") || given.contains("-c") || given.contains("--eval");
        let own = ["process.execPath", "sys.executable"]
            .iter()
            .any(|own| given.contains(own));
        takes_code && (own || words.any(|word| programs::interpreter(word).is_some()))
    }

    /// Whether a word that begins a list runs the rest of it.
    fn is_lisp_load(&self, word: &str) -> bool {
        !word.is_empty() && self.table.lisp_loads.iter().any(|name| name == word)
    }

    /// What was fetched has a name, or lies in a file, and that is run.
    fn is_run_later(
        &self,
        address: &Address<'_>,
        around: &[Around<'_>],
        statement: &str,
        runs_text: impl Fn(&str) -> bool,
    ) -> bool {
        let fetches = |call: &Around<'_>| calls(&self.table.fetches, call.name);
        let Some(call) = around.iter().find(|call| fetches(call)) else {
            return false;
        };
        let behind = address.at + address.url.len();
        let code = piece(&self.text.code, behind, MAX_REACH);
        let clean = piece(&self.text.clean, behind, MAX_REACH);
        // `body = get(address)`
        let left = statement.split_once('=').map_or("", |(left, _)| left);
        let name = identifiers(left).last();
        // `download(address, file)`
        let arguments = inside(self.text.clean.get(call.bracket + 1..).unwrap_or(""));
        let mut texts = arguments.split(['"', '\'']).skip(1).step_by(2);
        let file = texts.find(|text| !text.contains("://") && text.len() > 2);
        let downloads = call.name.to_ascii_lowercase().contains("download");
        let second = arguments.split(',').nth(1).unwrap_or("").trim();
        let held =
            Some(second).filter(|s| s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
        let held = held
            .filter(|s| !s.is_empty())
            .or(name)
            .filter(|_| downloads);
        for (at, _) in code.match_indices('(') {
            let before = end_of(code.get(..at).unwrap_or("")).trim_end();
            let given = inside(code.get(at + 1..).unwrap_or(""));
            let exact = clean.get(at + 1..at + 1 + given.len()).unwrap_or("");
            let has_file = file.is_some_and(|file| exact.contains(file));
            let first = first_argument(given);
            if runs_text(before) && name.is_some_and(|name| names(first, name)) {
                return true;
            }
            let has_held = held.is_some_and(|name| names(first, name));
            if (has_file || has_held) && calls(&self.table.loads, before) {
                return true;
            }
            if has_file && calls(&self.table.commands, before) && runs_file(exact, file) {
                return true;
            }
        }
        false
    }
}

/// The calls in whose brackets a place lies, the innermost first, and where the statement begins.
pub(super) fn enclosing(code: &str, at: usize) -> (Vec<Around<'_>>, usize) {
    let bytes = code.as_bytes();
    let first = at.saturating_sub(MAX_BEFORE);
    let mut found = Vec::new();
    let (mut depth, mut start) = (0u32, first);
    for place in (first..at.min(bytes.len())).rev() {
        match bytes.get(place).copied().unwrap_or(b' ') {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' if depth > 0 => depth -= 1,
            b'(' | b'[' | b'{' => {
                let before = end_of(code.get(..place).unwrap_or("")).trim_end();
                let behind = code.get(place + 1..).unwrap_or("");
                found.push(Around {
                    bracket: place,
                    name: before.trim_end_matches(['!', '?', '.']),
                    inner: behind.split([' ', '(', ')', '\n']).next().unwrap_or(""),
                });
                if found.len() == MAX_CALLS {
                    return (found, place);
                }
            }
            b'\n' | b';' if depth == 0 => {
                let before = code.get(..place).unwrap_or("").trim_end();
                let goes_on = before.ends_with(['(', '[', '{', ',', '=', '>', '+', '.', '&', '\\']);
                if !goes_on || bytes.get(place) == Some(&b';') {
                    start = place + 1;
                    break;
                }
            }
            _ => {}
        }
    }
    (found, start)
}

/// Whether an expression before a bracket makes functions of texts: `(class extends Function {})`,
/// `getPrototypeOf(function () {}).constructor`.
fn is_maker(expression: &str) -> bool {
    let line = expression
        .rsplit(['\n', ';'])
        .next()
        .unwrap_or("")
        .trim_end();
    if let Some(inner) = line.strip_suffix(')') {
        let inner = inner.trim_end();
        return inner.ends_with('}') && inner.contains("extends Function")
            || inner.ends_with("Function")
            || inner.ends_with("eval");
    }
    let made = line.strip_suffix(".constructor").unwrap_or("");
    made.ends_with(".constructor")
        || made.ends_with(')') && (line.contains("function") || line.contains("=>"))
}

fn ends_with_name(text: &str, name: &str) -> bool {
    let before = text.strip_suffix(name);
    before.is_some_and(|b| !b.ends_with(|c: char| c.is_alphanumeric() || "_.$".contains(c)))
}

/// Whether a chain of functions behind an address runs what it hands on: `.then(t => eval(t))`.
fn runs_parameter(behind: &str, runs_text: impl Fn(&str) -> bool) -> bool {
    let mut parameters: Vec<&str> = Vec::new();
    for (at, _) in behind.match_indices("=>").take(MAX_CALLS) {
        let before = behind.get(..at).unwrap_or("").trim_end();
        let list = match before.strip_suffix(')') {
            Some(list) => list.rsplit('(').next().unwrap_or(""),
            None => before.rsplit(['(', ' ', ',']).next().unwrap_or(""),
        };
        parameters.extend(identifiers(list));
    }
    behind.match_indices('(').any(|(at, _)| {
        let before = end_of(behind.get(..at).unwrap_or("")).trim_end();
        let first = first_argument(inside(behind.get(at + 1..).unwrap_or("")));
        runs_text(before) && parameters.iter().any(|name| names(first, name))
    })
}

/// Whether an interpreter is given this file as its script, by what stands in a call.
fn runs_file(given: &str, file: Option<&str>) -> bool {
    let words = given.split(['"', '\'', ' ', ',', '[', ']', '(', ')']);
    let mut words = words.filter(|word| !word.is_empty() && !word.starts_with('-'));
    let Some(program) = words.next() else {
        return false;
    };
    let is_file = |word: &str| {
        Some(word.trim_start_matches("./")) == file.map(|f| f.trim_start_matches("./"))
    };
    if is_file(program) {
        return true;
    }
    let starts = |word: &str| programs::interpreter(word).is_some();
    (starts(program) || words.find(|word| starts(word)).is_some())
        && words.next().is_some_and(is_file)
}

/// The text from a place, of this length at the most.
fn piece(text: &str, from: usize, length: usize) -> &str {
    crate::text::beginning(text.get(from..).unwrap_or(""), length)
}

/// A text up to the end of its statement: lines that go on with a mark belong to it.
fn statement_end(text: &str) -> &str {
    let goes_on = |next: &str| {
        let next = next.trim_start();
        ["|>", ".", "(", ")"]
            .iter()
            .any(|mark| next.starts_with(mark))
    };
    let mut ends = text.match_indices('\n');
    let end = ends.find(|(at, _)| !goes_on(text.get(at + 1..).unwrap_or("")));
    text.get(..end.map_or(text.len(), |(at, _)| at))
        .unwrap_or("")
}
