//! awk: a program to its tokens, and what it runs, reads and writes.

mod texts;
mod token;

use crate::code::act::is_shell;
use crate::code::fold;
use crate::code::thing::AbstractValue;
use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::value::{HOLE_STR, Origins, Value};
use std::collections::HashMap;
use token::{Token, tokens};

/// Says what an awk program does.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    scene.fuel.spend_on(code.text.len() * 4)?;
    let tokens = tokens(&code.text);
    let mut reader = Reader {
        scene,
        code,
        variables: HashMap::new(),
        connects: None,
        runs_unknown: false,
        output: Value::default(),
    };
    // What it prints for each line that it reads is not known.
    let only_begins = tokens.contains(&Token::Name("BEGIN")) && blocks(&tokens) == 1;
    for (index, token) in tokens.iter().enumerate() {
        let after = tokens.get(index + 1..).unwrap_or(&[]);
        match token {
            Token::Name("system") => {
                let command = reader.value(after.get(1..).unwrap_or(&[]));
                reader.shell(&command)?;
            }
            Token::Name("sub" | "gsub") => reader.substitutes(after),
            Token::Mark("@") => {
                // `@include "file"`
                if let Some(Token::Text(text)) = after.get(1) {
                    let (actor, word) = (reader.actor(), Value::known(text.clone()));
                    reader.scene.touches(&actor, &word)?;
                }
            }
            Token::Name("print" | "printf") if only_begins => reader.prints(after),
            Token::Name(name) if matches!(after.first(), Some(Token::Mark("("))) => {
                // A function of an extension, or of the program's own.
                let first = after.get(1);
                if let (false, Some(Token::Text(text))) = (BUILT_IN.contains(name), first) {
                    let actor = reader.actor();
                    let word = Value::known(text.clone());
                    reader.scene.touches(&actor, &word)?;
                }
            }
            Token::Mark("|" | "|&") => reader.pipe(&tokens, index)?,
            Token::Mark(">" | ">>") if prints(&tokens, index) => {
                let path = reader.value(after);
                let append = *token == Token::Mark(">>");
                let actor = reader.actor();
                // What is printed is what was read.
                let content = Value::unknown(Origins::NONE);
                if !path.is_blank() {
                    reader.scene.write(&actor, &path, &content, append)?;
                }
            }
            Token::Mark("<") if statement_has(&tokens, index, &["getline"]) => {
                let path = reader.value(after);
                if !reader.network(&path)? && !path.is_blank() {
                    let actor = reader.actor();
                    reader.scene.read(&actor, &path)?;
                }
            }
            Token::Mark("=") => {
                let name = index.checked_sub(1).and_then(|i| tokens.get(i));
                if let Some(Token::Name(name)) = name {
                    let value = reader.value(after);
                    reader.network(&value)?;
                    reader.variables.insert((*name).to_owned(), value);
                } else if sets_item(tokens.get(..index).unwrap_or(&[]), "ARGV") {
                    // It is read like a file of the command line.
                    let path = reader.value(after);
                    let actor = reader.actor();
                    reader.scene.read(&actor, &path)?;
                }
            }
            Token::Text(text) if text.starts_with("/inet") => {
                reader.network(&Value::known(text.clone()))?;
            }
            Token::Text(_) | Token::Name(_) | Token::Mark(_) | Token::End => {}
        }
    }
    reader.finish()?;
    Ok(reader.output)
}

/// Functions whose texts name nothing that is touched.
const BUILT_IN: [&str; 20] = [
    "print", "printf", "sprintf", "sub", "gsub", "gensub", "match", "split", "patsplit", "substr",
    "index", "length", "toupper", "tolower", "strftime", "close", "fflush", "if", "while",
    "return",
];

/// Functions that make a text of texts.
const MAKE_TEXTS: [&str; 6] = [
    "substr", "sprintf", "gensub", "toupper", "tolower", "strftime",
];

/// How many rules a program has.
fn blocks(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0_usize;
    let mut count = 0;
    for token in tokens {
        match token {
            Token::Mark("{") => {
                count += usize::from(depth == 0);
                depth += 1;
            }
            Token::Mark("}") => depth = depth.saturating_sub(1),
            Token::Text(_) | Token::Name(_) | Token::Mark(_) | Token::End => {}
        }
    }
    count
}

/// Whether `tokens` end with an item of the array `name`.
fn sets_item(tokens: &[Token<'_>], name: &str) -> bool {
    matches!(tokens, [.., Token::Name(array), Token::Mark("["), _, Token::Mark("]")] if *array == name)
}

/// The field that `{ print $2 }` shows of each line; `None` for a program that does anything else.
pub(crate) fn printed_field(code: &str) -> Option<usize> {
    match tokens(code).as_slice() {
        [
            Token::Mark("{"),
            Token::Name("print"),
            Token::Mark("$"),
            Token::Name(field),
            Token::Mark("}"),
        ] => field.parse().ok(),
        _ => None,
    }
}

struct Reader<'s, 'w, 'c> {
    scene: &'s mut Scene<'w>,
    code: &'c Value,
    variables: HashMap<String, Value>,
    connects: Option<Value>,
    /// Whether it runs what it has read.
    runs_unknown: bool,
    /// What it prints without reading anything.
    output: Value,
}

impl Reader<'_, '_, '_> {
    fn actor(&self) -> Actor {
        Actor::new("awk", &crate::json::shorten(&self.code.text, 200))
    }

    /// The value of the texts and variables that stand first in `tokens`.
    fn value(&self, tokens: &[Token<'_>]) -> Value {
        let mut value = Value::default();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            let rest = tokens.get(at..).unwrap_or(&[]);
            match token {
                // `ENVIRON["HOME"]`
                Token::Name("ENVIRON") => {
                    let key = rest.iter().take(3).find_map(|t| match t {
                        Token::Text(key) => Some(key.as_str()),
                        Token::Name(_) | Token::Mark(_) | Token::End => None,
                    });
                    at += 3;
                    value.push(&self.environment(key.unwrap_or_default()));
                }
                Token::Text(text) => {
                    value.push_text(text);
                    if text.contains(HOLE_STR) {
                        value.taint(self.code);
                    }
                }
                Token::Name("getline" | "print" | "close" | "if" | "while" | "next") => break,
                Token::Name(name)
                    if MAKE_TEXTS.contains(name) && rest.first() == Some(&Token::Mark("(")) =>
                {
                    let (made, taken) = self.made(name, rest);
                    value.push(&made);
                    at += taken;
                }
                Token::Name(name) => match self.variables.get(*name) {
                    Some(known) => value.push(known),
                    None => value.push_text(HOLE_STR),
                },
                Token::Mark("(" | "$") => {}
                Token::Mark(_) | Token::End => break,
            }
        }
        value
    }

    /// A variable of the environment.
    fn environment(&self, name: &str) -> Value {
        match self.scene.variable(name) {
            Some([value, ..]) => value.clone(),
            _ if name == "HOME" => Value::known(self.scene.world.home.clone()),
            _ if name == "PWD" => Value::known(self.scene.folder()),
            _ => Value::unknown(Origins::UNKNOWN),
        }
    }

    /// What a `print` behind which these tokens stand prints, if it goes to the output.
    fn prints(&mut self, after: &[Token<'_>]) {
        let end = |t: &Token<'_>| matches!(t, Token::End | Token::Mark(";" | "}"));
        let until = after.iter().position(end).unwrap_or(after.len());
        let printed = after.get(..until).unwrap_or(&[]);
        let goes_on = |t: &Token<'_>| matches!(t, Token::Mark(">" | ">>" | "|" | "|&"));
        if !printed.iter().any(goes_on) {
            let is_comma = |t: &Token<'_>| *t == Token::Mark(",");
            let mut parts = printed.split(is_comma);
            let format = parts
                .next()
                .map(|part| self.value(part))
                .unwrap_or_default();
            if format.text.contains('%') {
                let parts: Vec<AbstractValue> = parts.map(|part| self.argument(part)).collect();
                self.output.push(&fold::format_percent(&format, &parts));
                return;
            }
            let parts = printed.split(is_comma).map(|part| self.value(part));
            let parts: Vec<Value> = parts.collect();
            self.output.push(&Value::join(&parts, " "));
            self.output.push_text("\n");
        }
    }

    /// An argument of `printf`.
    fn argument(&self, tokens: &[Token<'_>]) -> AbstractValue {
        match tokens {
            [Token::Name(digits)] if let Ok(number) = digits.parse() => {
                AbstractValue::Number(number)
            }
            _ => AbstractValue::value(self.value(tokens)),
        }
    }

    fn shell(&mut self, command: &Value) -> Fueled {
        if command.text.trim().is_empty() {
            return Ok(());
        }
        if command.is_blank() {
            // Fields of the input: what runs is not known, as with xargs.
            self.runs_unknown = true;
            let actor = self.actor();
            if let Some([input, ..]) = self.scene.variable(super::STANDARD_INPUT) {
                let mut code = input.clone();
                code.taint(command);
                if code.is_known() {
                    self.scene.shell(&actor, &code)?;
                    return Ok(());
                }
                if code.origins.any(Origins::FETCHED | Origins::DECODED) {
                    return self.scene.executes(&actor, &code);
                }
            }
            let opaque = self.actor().does(Kind::ExecuteOpaque);
            return self.scene.emit(opaque.of(command));
        }
        self.runs_unknown |= is_shell(&command.text);
        let actor = self.actor();
        super::act::heard("shell", std::slice::from_ref(command));
        self.scene.shell(&actor, command)?;
        Ok(())
    }

    /// `"command" | getline`, `print | "command"`.
    fn pipe(&mut self, tokens: &[Token<'_>], index: usize) -> Fueled {
        if let Some(Token::Name("getline")) = tokens.get(index + 1) {
            let before = tokens.get(..index).unwrap_or(&[]);
            let start = before
                .iter()
                .rposition(|t| match t {
                    Token::Mark(mark) => !matches!(*mark, ")" | "$"),
                    Token::Name(name) => matches!(*name, "while" | "if" | "getline" | "print"),
                    Token::End => true,
                    Token::Text(_) => false,
                })
                .map_or(0, |at| at + 1);
            let command = self.value(before.get(start..).unwrap_or(&[]));
            if self.network(&command)? {
                return Ok(());
            }
            return self.shell(&command);
        }
        let after = tokens.get(index + 1..).unwrap_or(&[]);
        if matches!(after.first(), Some(Token::Text(_) | Token::Name(_))) {
            let command = self.value(after);
            if command.is_blank() || self.network(&command)? {
                return Ok(());
            }
            if is_shell(&command.text) {
                // What is printed is what the shell reads.
                let before = tokens.get(..index).unwrap_or(&[]);
                let print = before
                    .iter()
                    .rposition(|t| matches!(t, Token::Name("print" | "printf")));
                let printed = self.value(print.and_then(|at| before.get(at + 1..)).unwrap_or(&[]));
                self.shell(&printed)?;
            }
            return self.shell(&command);
        }
        Ok(())
    }

    /// `/inet/tcp/0/host/port` is a connection.
    fn network(&mut self, path: &Value) -> Fueled<bool> {
        if !path.text.starts_with("/inet") {
            return Ok(false);
        }
        let host = path.text.split('/').nth(4).unwrap_or(HOLE_STR).to_owned();
        let host = path.map(host);
        if self.connects.is_none() {
            self.scene.reaches(&self.actor(), Kind::Connect, &host)?;
        }
        self.connects = Some(host);
        Ok(true)
    }

    fn finish(&mut self) -> Fueled {
        match self.connects.take().filter(|_| self.runs_unknown) {
            Some(host) => self.scene.reaches(&self.actor(), Kind::RemoteShell, &host),
            None => Ok(()),
        }
    }
}

/// Whether `>` at `index` follows a `print`.
fn prints(tokens: &[Token<'_>], index: usize) -> bool {
    statement_has(tokens, index, &["print", "printf"])
        && !matches!(tokens.get(index + 1), Some(Token::Mark(_)) | None)
}

fn statement_has(tokens: &[Token<'_>], index: usize, names: &[&str]) -> bool {
    let before = tokens.get(..index).unwrap_or(&[]);
    before
        .iter()
        .rev()
        .take(24)
        .take_while(|t| !matches!(t, Token::End | Token::Mark("{" | "}" | ";")))
        .any(|t| matches!(t, Token::Name(name) if names.contains(name)))
}
