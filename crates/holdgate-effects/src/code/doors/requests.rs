//! What a request brings: commands and code that are run.

use super::parts::{
    assignment, calls, first_argument, identifiers, inside, makes_any_object, names,
};
use super::{Doors, back_door};
use crate::effect::{Effect, Kind};
use crate::knowledge::doors::Group;
use crate::language::programs;
use crate::tag::Tag;

/// Lines for which a name keeps what it was given.
const LINES_OF_NAME: usize = 40;
/// Names that are followed at once.
const MAX_NAMES: usize = 32;
/// Calls around an expression that leave it what it is.
const MAX_WRAPPERS: usize = 6;

/// A name that holds what a request brought.
#[derive(Clone, Copy)]
pub(super) struct Held<'t> {
    name: &'t str,
    /// The line where it got it.
    since: usize,
    /// It holds just that, and not what was made of it.
    plain: bool,
}

/// How far a request decides about what runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Brings {
    /// It adds to it.
    Part,
    /// It is the whole command or code.
    All,
}

impl Doors<'_> {
    /// Commands and code that a request brings.
    pub(super) fn run_requests(&self, found: &mut Vec<Effect>) {
        let mut held: Vec<Held<'_>> = Vec::new();
        let mut offset = 0;
        let mut answers = None;
        let spaces = self.namespaces();
        for (number, line) in self.text.code.split('\n').enumerate() {
            let end = offset + line.len();
            let clean = self.text.clean.get(offset..end).unwrap_or("");
            held.retain(|held| number - held.since <= LINES_OF_NAME);
            self.hold(line, clean, number, &mut held);
            let has = |mark: &&str| line.contains(*mark);
            if self.present.of(Group::Routes).iter().any(has) {
                answers = Some(true);
            } else if self.present.of(Group::Chats).iter().any(has) {
                answers = Some(false);
            } else if line.contains("def ")
                && let Some(plain) = answers.take()
            {
                let parameters = line.split_once('(').map_or("", |(_, p)| inside(p));
                let parts = parameters.split(',').filter_map(|p| identifiers(p).next());
                held.extend(parts.map(|name| Held {
                    name,
                    since: number,
                    plain,
                }));
            }
            let here = offset;
            offset = end + 1;
            // Without a name of a request, or one that holds a part of it, nothing is brought.
            if held.is_empty() && !self.present.has(Group::Requests) {
                continue;
            }
            let runs = line.match_indices('(').filter_map(|(at, _)| {
                let before = line.get(..at).unwrap_or("").trim_end();
                if !before.contains('$') && !self.table.may_act(before) && !self.is_alias(before) {
                    return None;
                }
                let rest = self.text.code.get(here + at + 1..).unwrap_or("");
                let arguments = inside(rest);
                let exact = self.text.clean.get(here + at + 1..);
                let exact = exact.and_then(|e| e.get(..arguments.len())).unwrap_or("");
                self.runs(before, arguments, exact, clean, &held)
            });
            let quoted = line.match_indices('`').filter_map(|(at, _)| {
                let inner = clean.get(at + 1..).unwrap_or("");
                let inner = inner
                    .strip_prefix("#{")
                    .or_else(|| inner.strip_prefix("{$").and(inner.get(1..)))
                    .or_else(|| inner.strip_prefix('$').map(|_| inner))
                    .filter(|inner| !inner.starts_with("${"))?;
                let inner = inner.split('`').next().unwrap_or("");
                self.brings(inner, &held)
            });
            let given = assignment(line).filter(|(left, _)| is_arguments(left));
            let given =
                given.filter(|(_, right)| self.is_brought(right, &held) && names_shell(clean));
            let bare = self.bare(line, &held);
            let raised = self.raises(line, clean, &held) || self.picks(line, &spaces, &held);
            let raised = raised.then_some(Brings::Part);
            let bare = bare.into_iter().chain(raised);
            for brings in runs
                .chain(quoted)
                .chain(bare)
                .chain(given.map(|_| Brings::Part))
            {
                let door = back_door(Kind::ExecuteOpaque, clean);
                found.push(match brings {
                    Brings::All => door.tagged(Tag::WholeCommand),
                    Brings::Part => door,
                });
            }
        }
    }

    pub(super) fn brings_anything(&self) -> bool {
        let groups = [
            Group::Requests,
            Group::Parameters,
            Group::Routes,
            Group::Chats,
            Group::Handlers,
            Group::Typed,
        ];
        groups.into_iter().any(|group| self.present.has(group))
    }

    /// Whether `before` ends with a name that the file gives to a function that runs a command.
    fn is_alias(&self, before: &str) -> bool {
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let name = before.rsplit(|c| !part(c)).next().unwrap_or("");
        let of_object = before
            .strip_suffix(name)
            .is_some_and(|rest| rest.ends_with('.'));
        self.aliases.contains(name) && !of_object
    }

    /// Whether a call whose name ends `before` runs what it is given, and that was brought.
    fn runs(
        &self,
        before: &str,
        arguments: &str,
        exact: &str,
        line: &str,
        held: &[Held<'_>],
    ) -> Option<Brings> {
        let first = first_argument(arguments);
        // `$f($x)`: the request says which function is called.
        let by_name = before.strip_suffix(']').unwrap_or(before);
        if before.contains('$')
            && (held
                .iter()
                .any(|h| h.plain && h.name.starts_with('$') && by_name.ends_with(h.name))
                || before.ends_with(']') && self.is_direct(last_word(before), held))
            && self.is_brought(first, held)
        {
            return Some(Brings::All);
        }
        // `create_function('', $body)`: the code comes last.
        let quoted_first = first.trim_start().starts_with(['"', '\'', '`']);
        let code = match arguments.rsplit_once(',') {
            Some((_, last)) if quoted_first => last,
            _ => first,
        };
        let is_code = calls(&self.table.code, before);
        let is_command = calls(&self.table.commands, before) || self.is_alias(before);
        if quoted_first && is_code && !is_command && self.is_brought(code, held) {
            return Some(Brings::Part);
        }
        if !quoted_first && is_code && self.is_brought(first, held) {
            // Who gives code an environment of its own has thought about it.
            let alone = first.len() == arguments.trim_end().len();
            let all = alone && self.brings(first, held) == Some(Brings::All);
            if all || !is_command {
                return Some(if all { Brings::All } else { Brings::Part });
            }
        }
        if calls(&self.table.callers, before) && self.is_brought(first, held) {
            return self.brings(first, held);
        }
        let yaml = before.ends_with("yaml.load") && makes_any_object(arguments);
        if (yaml || calls(&self.table.objects, before)) && self.is_brought(first, held) {
            return Some(Brings::Part);
        }
        if calls(&self.table.named, before) && self.is_brought(arguments, held) {
            return Some(Brings::Part);
        }
        if calls(&self.table.files, before) && self.brings(first, held) == Some(Brings::All) {
            return Some(Brings::Part);
        }
        // Who signed it is asked by a key or a list of algorithms.
        let alone = first.len() == arguments.trim_end().len();
        if alone && calls(&self.table.tokens, before) && self.is_brought(first, held) {
            return Some(Brings::Part);
        }
        if calls(&self.table.arguments, before) && names_shell(line) {
            return self.brings(first, held);
        }
        if !is_command {
            return None;
        }
        self.runs_command(first, arguments, exact, held)
    }

    /// Whether a command is what was brought: the first argument, or what a shell is given.
    fn runs_command(
        &self,
        first: &str,
        arguments: &str,
        exact: &str,
        held: &[Held<'_>],
    ) -> Option<Brings> {
        let exact_first = exact
            .get(..first.len())
            .unwrap_or("")
            .trim_start_matches(['[', ' ', '{', '(']);
        let literal = exact_first.trim_start_matches(['f', '$', '@']);
        let word = literal
            .get(1..)
            .unwrap_or("")
            .split(['"', '\'', '`', ' '])
            .next()
            .unwrap_or("");
        let quoted = literal.starts_with(['"', '\'', '`']);
        if quoted && programs::is_shell(word) {
            let last = arguments.rsplit(',').next().unwrap_or("");
            // `"/c " + command`
            let plus = exact.contains("c \" +") || exact.contains("c ' +");
            let last = match last.split_once('+') {
                Some((_, command)) if plus => command,
                _ => last,
            };
            let last = last.trim_matches([' ', '[', ']', ')', '}', '{', '"', '$', '@', '\\']);
            return match self.brings(last, held) {
                Some(brings) => Some(brings),
                None => self.is_brought(arguments, held).then_some(Brings::Part),
            };
        }
        // Where a text comes first, the request only adds to it.
        let starts_with_hole = ["${", "#{", "{"]
            .iter()
            .any(|hole| literal.get(1..).unwrap_or("").starts_with(hole));
        if quoted && !word.is_empty() && !starts_with_hole {
            return None;
        }
        self.brings(first, held)
    }

    /// How much of an expression was brought.
    pub(super) fn brings(&self, expression: &str, held: &[Held<'_>]) -> Option<Brings> {
        if !self.is_brought(expression, held) {
            return None;
        }
        let all = !expression.contains(['+', '%', '?']) && self.is_direct(expression, held);
        Some(if all { Brings::All } else { Brings::Part })
    }

    pub(super) fn is_requested(&self, expression: &str) -> bool {
        self.is_brought(expression, &[])
    }

    pub(super) fn is_brought(&self, expression: &str, held: &[Held<'_>]) -> bool {
        let requests = self.present.of(Group::Requests);
        requests.iter().any(|name| names(expression, name))
            || held.iter().any(|held| names(expression, held.name))
    }

    /// Whether an expression is a part of a request as it is, or a name that holds one.
    fn is_direct(&self, expression: &str, held: &[Held<'_>]) -> bool {
        let mut rest = expression.trim_start_matches(['(', '&', ' ', '[', '*', '@']);
        for _ in 0..MAX_WRAPPERS {
            let mut wrappers = self.table.wrappers.iter();
            let Some(inner) = wrappers.find_map(|w| rest.strip_prefix(w.as_str())) else {
                break;
            };
            rest = inner.trim_start_matches(['(', '&', ' ', '[', '*', '"', '\'', '$', '{']);
        }
        let begins = |name: &str| {
            let part = |c: char| c.is_alphanumeric() || c == '_';
            rest.strip_prefix(name)
                .is_some_and(|after| !name.ends_with(part) || !after.starts_with(part))
        };
        // `$r->input('x')`
        let member = rest
            .strip_prefix('$')
            .and_then(|name| name.find("->").map(|at| (name, at)));
        let by_member = member.is_some_and(|(name, at)| {
            let member = name.get(at..).unwrap_or("");
            let mut requests = self.table.requests.iter();
            requests
                .any(|request| request.starts_with("->") && member.starts_with(request.as_str()))
        });
        by_member
            || self.table.requests.iter().any(|name| begins(name))
            || held.iter().any(|held| held.plain && begins(held.name))
    }

    /// Notes the names that a line gives what a request brought.
    fn hold<'l>(&self, line: &'l str, clean: &'l str, number: usize, held: &mut Vec<Held<'l>>) {
        for mark in self.present.of(Group::Parameters) {
            let Some((_, after)) = split_at(clean, mark) else {
                continue;
            };
            let after = if mark.ends_with('(') {
                after.split_once(')').map_or("", |(_, a)| a)
            } else {
                after
            };
            let end = after.trim_start_matches(['(', ' ']).find([',', ')', '=']);
            let skipped = after.len() - after.trim_start_matches(['(', ' ']).len();
            let part = after.get(..skipped + end.unwrap_or(0)).unwrap_or("");
            held.extend(identifiers(part).map(|name| Held::plain(name, number)));
        }
        for name in self.handled(line, clean) {
            held.push(Held::plain(name, number));
        }
        let parts = line.split(';').filter(|_| line.contains('='));
        for part in parts {
            let Some((left, right)) = assignment(part) else {
                continue;
            };
            if !self.is_brought(right, held) {
                continue;
            }
            let plain = self.brings(right, held) == Some(Brings::All);
            let names = identifiers(left).map(|name| Held {
                name,
                since: number,
                plain,
            });
            held.extend(names);
        }
        let over = held.len().saturating_sub(MAX_NAMES);
        held.drain(..over);
    }

    fn has_connections(&self) -> bool {
        let clean = &self.text.clean;
        clean.contains("'connection'")
            || clean.contains("\"connection\"")
            || clean.contains("net.createServer")
    }

    /// The parameters of a function that answers requests, where a line shows that it does.
    fn handled<'l>(&self, line: &'l str, clean: &str) -> Vec<&'l str> {
        let mut found = Vec::new();
        let marks = self.present.of(Group::Handlers).iter();
        let marks = marks.filter(|mark| line.contains(**mark));
        let marks = marks.flat_map(|mark| line.match_indices(*mark).take(MAX_WRAPPERS));
        for (at, mark) in marks {
            let from = at + mark.len();
            let path = clean.get(from..).unwrap_or("").trim_start();
            // `.get('/path', …)`; other calls of that name ask for something. `.on` is of a peer if
            // there are connections.
            let of_peer = mark == ".on(" && self.has_connections();
            let path = path.get(1..).unwrap_or("").starts_with('/');
            if mark.starts_with('.') && !path && !of_peer {
                continue;
            }
            let rest = line.get(from..).unwrap_or("");
            let Some((before, _)) = rest.split_once("=>") else {
                continue;
            };
            let before = before.trim_end();
            let first = match before.strip_suffix(')') {
                Some(list) => list.rsplit('(').next().and_then(|l| l.split(',').next()),
                None => before.rsplit([',', '(']).next(),
            };
            found.extend(first.and_then(|first| identifiers(first).last()));
        }
        if self.present.has(Group::Typed) && line.contains("fn ") {
            for mark in self.present.of(Group::Typed) {
                let Some((before, _)) = split_at(line, mark) else {
                    continue;
                };
                let type_of = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
                let before = before.trim_end_matches(type_of).trim_end();
                found.extend(identifiers(before.trim_end_matches([':', ')'])).last());
            }
        }
        // `def show(conn, %{"name" => name})`
        if line.contains("def ") && line.contains("(conn") {
            let parts = line.split("=>").skip(1);
            found.extend(parts.filter_map(|part| identifiers(part).next()));
        }
        found
    }
}

impl<'t> Held<'t> {
    fn plain(name: &'t str, since: usize) -> Self {
        Held {
            name,
            since,
            plain: true,
        }
    }
}

/// What stands before and behind a mark, if a text has it: most have not, and that is seen quickly.
fn split_at<'l>(text: &'l str, mark: &str) -> Option<(&'l str, &'l str)> {
    text.contains(mark).then(|| text.split_once(mark)).flatten()
}

/// The last expression of a text, up to a blank or an operator.
fn last_word(text: &str) -> &str {
    text.rsplit([' ', '=', ';', '{', '(', ',', '@'])
        .next()
        .unwrap_or(text)
}

/// Whether what is assigned to is the arguments of a program.
fn is_arguments(left: &str) -> bool {
    let (left, end) = (left.trim_end().as_bytes(), b".arguments");
    let start = left.len().checked_sub(end.len());
    let last = start.and_then(|start| left.get(start..));
    last.is_some_and(|last| last.eq_ignore_ascii_case(end))
}

/// Whether a line names a shell as a program.
fn names_shell(line: &str) -> bool {
    let words = line.split(['"', '\'']).skip(1).step_by(2);
    words.take(16).any(programs::is_shell)
}
