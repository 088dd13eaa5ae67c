//! sed scripts that only change text: `s/a/b/g`, `y/ab/cd/`, `2d`.

use super::posix;
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
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';']);
        if rest.is_empty() {
            return Some(());
        }
        if commands.len() >= MAX_COMMANDS {
            return None;
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let address = if let Some(after) = rest.strip_prefix('$') {
            rest = after;
            Address::Last
        } else if digits > 0 {
            let number = rest.get(..digits)?.parse().ok()?;
            rest = rest.get(digits..)?;
            Address::Line(number)
        } else {
            Address::All
        };
        let mut chars = rest.chars();
        let command = match chars.next()? {
            'd' => Command::Delete,
            'p' => Command::Print,
            's' => {
                let mark = chars.next()?;
                let pattern = part(&mut chars, mark)?;
                let with = part(&mut chars, mark)?;
                let flags: String = chars
                    .clone()
                    .take_while(|c| !matches!(c, ';' | '\n' | ' '))
                    .collect();
                chars = chars.as_str().get(flags.len()..)?.chars();
                // Other flags run or write something.
                if !flags.chars().all(|c| matches!(c, 'g' | 'i' | 'I')) {
                    return None;
                }
                let pattern = RegexBuilder::new(&posix::translated(&pattern, extended)?)
                    .case_insensitive(flags.contains(['i', 'I']))
                    .dot_matches_new_line(true)
                    .size_limit(1 << 16)
                    .dfa_size_limit(1 << 16)
                    .build();
                Command::Replace {
                    pattern: pattern.ok()?,
                    with: replacement(&with)?,
                    all: flags.contains('g'),
                }
            }
            'y' => {
                let mark = chars.next()?;
                let (from, to) = (part(&mut chars, mark)?, part(&mut chars, mark)?);
                let pairs: HashMap<char, char> = from.chars().zip(to.chars()).collect();
                let count = from.chars().count();
                let fits = count == to.chars().count() && count == pairs.len();
                if !fits || from.contains('\\') || to.contains('\\') {
                    return None;
                }
                Command::Exchange(pairs)
            }
            _ => return None,
        };
        commands.push((address, command));
        rest = chars.as_str().trim_start_matches([' ', '\t']);
        if !rest.is_empty() && !rest.starts_with([';', '\n']) {
            return None;
        }
    }
}

/// Up to the next `mark` that is not escaped.
fn part(chars: &mut std::str::Chars<'_>, mark: char) -> Option<String> {
    // Where a mark means something in a pattern, versions differ in what it means escaped.
    if !"/#,:@!_-%~=;'\"|".contains(mark) {
        return None;
    }
    let mut text = String::new();
    loop {
        match chars.next()? {
            '\\' if mark == '|' && chars.as_str().starts_with(mark) => return None,
            char if char == mark => return (text.len() <= 256).then_some(text),
            '\\' => match chars.next()? {
                char if char == mark => text.push(char),
                char => text.extend(['\\', char]),
            },
            char => text.push(char),
        }
    }
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
