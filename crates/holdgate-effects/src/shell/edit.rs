//! sed scripts that only change text: `s/a/b/g`, `y/ab/cd/`, `2d`.

use super::posix;
use crate::code::sed::{self, Action};
use crate::value::{MAX_VALUE, Value};
use regex::{Regex, RegexBuilder};
use std::collections::HashMap;

/// Longer texts are not worth following.
const MAX_TEXT: usize = 16 << 10;
/// Commands of one script.
const MAX_COMMANDS: usize = 8;

enum Command {
    Replace {
        pattern: Regex,
        with: String,
        all: bool,
    },
    Exchange(HashMap<char, char>),
    Delete,
    Print,
}

/// Which lines a command is for.
enum Address {
    All,
    Line(usize),
    Last,
}

/// What `sed` makes of `text`; `None` if it does anything but change text.
pub(super) fn sed(arguments: &[Value], text: &str) -> Option<String> {
    let (mut quiet, mut extended) = (false, false);
    let mut scripts = Vec::new();
    let mut rest = arguments.iter().map(|a| a.text.as_str());
    let mut operand = None;
    while let Some(word) = rest.next() {
        match word {
            "-n" => quiet = true,
            "-E" | "-r" => extended = true,
            "-e" => scripts.push(rest.next()?),
            _ if word.starts_with('-') || operand.is_some() => return None,
            _ => operand = Some(word),
        }
    }
    match (operand, scripts.is_empty()) {
        (Some(script), true) => scripts.push(script),
        (None, false) => {}
        (Some(_), false) | (None, true) => return None,
    }
    let mut commands = Vec::new();
    for script in scripts {
        read(script, extended, &mut commands)?;
    }
    // What a letter is beyond ASCII, the locale says.
    if !text.is_ascii() || text.len() > MAX_TEXT || grows_too_much(&commands, text) {
        return None;
    }
    let last = text.split_inclusive('\n').count();
    let mut output = String::new();
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let end = if line.ends_with('\n') { "\n" } else { "" };
        let mut line = line.trim_end_matches('\n').to_owned();
        let mut deleted = false;
        for (address, command) in &commands {
            let meant = match address {
                Address::All => true,
                Address::Line(own) => *own == number,
                Address::Last => number == last,
            };
            if !meant {
                continue;
            }
            match command {
                Command::Replace { pattern, with, all } => {
                    let limit = usize::from(!all);
                    line = pattern.replacen(&line, limit, with.as_str()).into_owned();
                }
                Command::Exchange(pairs) => {
                    let exchange = |c: char| pairs.get(&c).copied().unwrap_or(c);
                    line = line.chars().map(exchange).collect();
                }
                Command::Delete => {
                    deleted = true;
                    break;
                }
                Command::Print => output = output + &line + end,
            }
        }
        if !quiet && !deleted {
            output = output + &line + end;
        }
    }
    Some(output)
}

/// Whether replacing could make more of `text` than a value may hold.
fn grows_too_much(commands: &[(Address, Command)], text: &str) -> bool {
    let mut length = text.len().max(1);
    for (_, command) in commands {
        if let Command::Replace {
            with, all: true, ..
        } = command
        {
            // What was found may stand in it more than once.
            length = length.saturating_mul(with.len().max(1));
        }
    }
    length > MAX_VALUE
}

fn read(script: &str, extended: bool, commands: &mut Vec<(Address, Command)>) -> Option<()> {
    for command in sed::commands(script) {
        if commands.len() >= MAX_COMMANDS || !command.is_separate {
            return None;
        }
        let address = match command.address {
            "" => Address::All,
            "$" => Address::Last,
            number => Address::Line(number.parse().ok()?),
        };
        let command = match command.action {
            Action::Other('d') => Command::Delete,
            Action::Other('p') => Command::Print,
            Action::Substitute {
                mark,
                pattern,
                with,
                flags,
                file: None,
            } if flags.chars().all(|c| matches!(c, 'g' | 'i' | 'I')) => {
                let pattern = posix::translated(&part(pattern, mark)?, extended)?;
                let pattern = RegexBuilder::new(&pattern)
                    .case_insensitive(flags.contains(['i', 'I']))
                    .dot_matches_new_line(true)
                    .size_limit(1 << 16)
                    .dfa_size_limit(1 << 16)
                    .build();
                Command::Replace {
                    pattern: pattern.ok()?,
                    with: replacement(&part(with, mark)?)?,
                    all: flags.contains('g'),
                }
            }
            Action::Exchange { mark, from, to } => {
                let (from, to) = (part(from, mark)?, part(to, mark)?);
                let pairs: HashMap<char, char> = from.chars().zip(to.chars()).collect();
                let count = from.chars().count();
                let fits = count == to.chars().count() && count == pairs.len();
                if !fits || from.contains('\\') || to.contains('\\') {
                    return None;
                }
                Command::Exchange(pairs)
            }
            // The rest runs, reads or writes something, or depends on more than one line.
            Action::Substitute { .. }
            | Action::Execute(_)
            | Action::Read(_)
            | Action::Write(_)
            | Action::Insert(_)
            | Action::Other(_) => return None,
        };
        commands.push((address, command));
    }
    Some(())
}

/// A part of a command without the backslashes that escape its mark.
fn part(text: &str, mark: char) -> Option<String> {
    // Where a mark means something in a pattern, versions differ in what it means escaped.
    if !"/#,:@!_-%~=;'\"|".contains(mark) {
        return None;
    }
    let mut part = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next()? {
                '|' if mark == '|' => return None,
                char if char == mark => part.push(char),
                char => part.extend(['\\', char]),
            },
            // Versions differ in what ends a pattern: this mark stands in brackets.
            char if char == mark => return None,
            char => part.push(char),
        }
    }
    (part.len() <= 256).then_some(part)
}

/// What `&` and `\1` stand for, as the regex crate writes it.
fn replacement(with: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = with.chars();
    while let Some(char) = chars.next() {
        match char {
            '&' => out.push_str("${0}"),
            '$' => out.push_str("$$"),
            '\\' => match chars.next()? {
                digit if digit.is_ascii_digit() => out.push_str(&format!("${{{digit}}}")),
                'n' => out.push('\n'),
                't' => out.push('\t'),
                '$' => out.push_str("$$"),
                letter if letter.is_ascii_alphabetic() => return None,
                other => out.push(other),
            },
            char => out.push(char),
        }
    }
    Some(out)
}
