//! Code from an address that is run: the address stands in the brackets of a function that runs what
//! it is given, or a name holds what was fetched, or a file does.

use super::parts::{calls, end_of, identifiers, inside, names};
use super::Doors;
use crate::effect::{Actor, Effect, Kind};
use crate::host::{Host, HostClass};
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
        for (at, _) in clean.match_indices("://").take(MAX_ADDRESSES) {
            let before = clean.get(..at).unwrap_or("");
            let scheme = ["https", "http", "ftp"].iter().find(|s| before.ends_with(**s));
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
        let runs = |name: &str| calls(&self.table.loads, name) || calls(&self.table.runs_text, name);
        if around.iter().any(|call| runs(call.name) || self.is_lisp_load(call.inner)) {
            return true;
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
            || self.is_run_later(address, &around, statement, start)
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
        start: usize,
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
        let name = identifiers(left).last().filter(|name| name.len() > 1 || start > 0);
        // `download(address, file)`
        let arguments = inside(self.text.clean.get(call.bracket + 1..).unwrap_or(""));
        let mut texts = arguments.split(['"', '\'']).skip(1).step_by(2);
        let file = texts.find(|text| !text.contains("://") && text.len() > 2);
        for (at, _) in code.match_indices('(') {
            let before = end_of(code.get(..at).unwrap_or("")).trim_end();
            let given = inside(code.get(at + 1..).unwrap_or(""));
            let exact = clean.get(at + 1..at + 1 + given.len()).unwrap_or("");
            let has_file = file.is_some_and(|file| exact.contains(file));
            if calls(&self.table.runs_text, before) && name.is_some_and(|name| names(given, name)) {
                return true;
            }
            if has_file && calls(&self.table.loads, before) {
                return true;
            }
            let mut words = exact.split(['"', '\'', ' ']);
            if has_file
                && calls(&self.table.commands, before)
                && words.any(|word| programs::interpreter(word).is_some())
            {
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

/// The text from a place, of this length at the most.
fn piece(text: &str, from: usize, length: usize) -> &str {
    crate::text::beginning(text.get(from..).unwrap_or(""), length)
}

/// A text up to the end of its statement: lines that go on with a mark belong to it.
fn statement_end(text: &str) -> &str {
    let goes_on = |next: &str| {
        let next = next.trim_start();
        ["|>", ".", "(", ")"].iter().any(|mark| next.starts_with(mark))
    };
    let mut ends = text.match_indices('\n');
    let end = ends.find(|(at, _)| !goes_on(text.get(at + 1..).unwrap_or("")));
    text.get(..end.map_or(text.len(), |(at, _)| at)).unwrap_or("")
}
