//! PowerShell and cmd, lightly: the commands that delete, fetch, run and persist.

mod commands;

use crate::decode;
use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::text::words::AnyWord;
use crate::value::{HOLE_STR, Origins, Value};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Says what a script does.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    scene.fuel.spend_on(code.text.len() * 4)?;
    if let Some(decoded) = encoded_command(code.text.trim()) {
        let actor = Actor::new("powershell", &crate::json::shorten(&code.text, 200));
        let code = code.map(decoded).marked(Origins::DECODED);
        return scene.interpret(&actor, super::Language::PowerShell, &code);
    }
    let mut reader = Reader {
        scene,
        code,
        variables: HashMap::new(),
        connects: None,
        runs_received: false,
        item: Value::unknown(Origins::UNKNOWN),
    };
    reader.hidden_names()?;
    for statement in statements(&code.text) {
        reader.statement(statement)?;
    }
    reader.finish()?;
    Ok(Value::default())
}

impl Reader<'_, '_, '_> {
    /// Names that matter even if they are put together: the scanner in memory, and what starts programs on events.
    fn hidden_names(&mut self) -> Fueled {
        let joins = ['\'', '"', '+', ' ', '`', '(', ')'];
        let mut text = self.code.text.replace(joins, "");
        text.make_ascii_lowercase();
        let has = |names: &[&str]| names.iter().any(|name| text.contains(name));
        let kind = if has(&["amsiutils", "amsiinitfailed", "amsiscanbuffer"]) {
            Kind::System
        } else if has(&[
            "commandlineeventconsumer",
            "activescripteventconsumer",
            "register-wmievent",
        ]) {
            Kind::Persist
        } else {
            return Ok(());
        };
        let actor = Actor::new("powershell", &crate::json::shorten(&self.code.text, 200));
        let effect = actor.does(kind);
        let effect = if kind == Kind::System {
            effect.tagged(Tag::SecurityOff)
        } else {
            effect
        };
        self.scene.emit(effect)
    }
}

/// Short names of cmdlets that are no programs elsewhere.
const ALIASES: [&str; 6] = ["iwr", "irm", "iex", "icm", "gci", "spps"];

static ANY_ALIAS: LazyLock<AnyWord> =
    LazyLock::new(|| AnyWord::of(ALIASES.into_iter().chain(["$env:"])));

/// Whether a command line is meant for PowerShell: a statement begins with a cmdlet (`Get-Item`), or
/// with what no other shell has.
pub(crate) fn is_meant(text: &str) -> bool {
    let is_cmdlet = |word: &str| {
        let (verb, noun) = word.split_once('-').unwrap_or(("", ""));
        let named = |part: &str| {
            part.len() > 1
                && part.starts_with(|c: char| c.is_ascii_uppercase())
                && part.chars().all(|c| c.is_ascii_alphanumeric())
        };
        named(verb) && named(noun)
    };
    let begins = |part: &&str| {
        let part = part.trim_start();
        let word = part
            .split([' ', '\t', ')', '\r', '\n'])
            .next()
            .unwrap_or("");
        is_cmdlet(word) || ALIASES.contains(&word) || part.starts_with("$env:")
    };
    // Most command lines have nothing of it.
    let bytes = text.as_bytes();
    let is_noun = |at: usize| bytes.get(at + 1).is_some_and(u8::is_ascii_uppercase);
    let may_be = memchr::memchr_iter(b'-', bytes).any(is_noun) || ANY_ALIAS.is_in(text);
    may_be
        && statements(text)
            .iter()
            .any(|s| s.split(['|', '(', '=']).any(|part| begins(&part)))
}

/// What `-EncodedCommand` was given: UTF-16 in base64. `None` for anything else.
pub(super) fn encoded_command(text: &str) -> Option<String> {
    let plausible = text.len() >= 16
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
    if !plausible {
        return None;
    }
    let bytes = decode::base64(text)?;
    let zeros = bytes.iter().skip(1).step_by(2).filter(|b| **b == 0).count();
    (zeros * 4 > bytes.len()).then(|| decode::utf16(&bytes))
}

fn actor(program: &str, evidence: &str) -> Actor {
    Actor::new(program, &crate::json::shorten(evidence, 200))
}

struct Reader<'s, 'w, 'c> {
    scene: &'s mut Scene<'w>,
    code: &'c Value,
    variables: HashMap<String, Value>,
    connects: Option<Value>,
    runs_received: bool,
    /// What the last pipeline yielded: `$_` in the block that follows it.
    item: Value,
}

/// A word, and whether it was quoted.
#[derive(Debug)]
struct Word {
    value: Value,
    quoted: bool,
}

impl Reader<'_, '_, '_> {
    fn statement(&mut self, statement: &str) -> Fueled {
        self.scene.fuel.spend(2)?;
        let trimmed = statement
            .trim()
            .trim_start_matches(['&', '{', '}', '@', '('])
            .trim();
        if trimmed.is_empty() || trimmed.starts_with('#') || trimmed.starts_with("::") {
            return Ok(());
        }
        // `foreach ($item in …)`: each of them.
        if let Some(each) = trimmed.strip_prefix("foreach")
            && let Some((name, list)) = each.trim_start_matches([' ', '(']).split_once(" in ")
        {
            let made = self.pipeline(list.trim_end_matches([')', ' ']))?;
            let name = name.trim().trim_start_matches('$').to_ascii_lowercase();
            self.variables.insert(name, made);
            return Ok(());
        }
        if let Some((name, value)) = assignment(trimmed) {
            let made = self.pipeline(value)?;
            self.variables.insert(name.to_ascii_lowercase(), made);
            return Ok(());
        }
        self.pipeline(trimmed).map(drop)
    }

    /// Commands joined by `|`: each gets what the one before yields.
    fn pipeline(&mut self, text: &str) -> Fueled<Value> {
        let mut input = Value::default();
        for stage in split_outside_quotes(text, |c| c == '|') {
            input = self.stage(stage.trim(), &input)?;
            self.item.clone_from(&input);
        }
        Ok(input)
    }

    fn stage(&mut self, stage: &str, input: &Value) -> Fueled<Value> {
        let words = self.words(stage);
        let made = self.calls(stage, &words)?;
        let Some(first) = words.first() else {
            return Ok(made);
        };
        if first.quoted && words.len() == 1 {
            let mut value = first.value.clone();
            value.taint(&made);
            return Ok(value);
        }
        let result = self.command(stage, &words, input, &made)?;
        let mut result = if result.text.is_empty() { made } else { result };
        if result.text.is_empty() && stage.starts_with('$') {
            result = first.value.clone();
        }
        Ok(result)
    }

    /// What is called anywhere in a stage: `(New-Object Net.WebClient).DownloadString('…')`, and a
    /// raw connection that is given what it sends to run.
    fn calls(&mut self, stage: &str, words: &[Word]) -> Fueled<Value> {
        let mut made = Value::default();
        for (at, word) in words.iter().enumerate() {
            let lower = word.value.text.to_ascii_lowercase();
            let argument = |index: usize| words.get(at + index).map(|w| &w.value);
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
            let parts = || lower.split(|c| !is_part(c)).filter(|part| !part.is_empty());
            let name = parts().next_back().unwrap_or("");
            let shells = ["cmd.exe", "powershell.exe", "/bin/"];
            self.runs_received |= matches!(name, "iex" | "invoke-expression")
                || shells.iter().any(|shell| lower.contains(shell));
            if word.quoted {
                continue;
            }
            match (name, argument(1)) {
                ("downloadstring" | "downloaddata" | "downloadfile" | "openread", Some(url)) => {
                    let actor = actor(name, stage);
                    made = self.scene.fetch(&actor, url)?;
                    if let Some(path) = argument(2).filter(|_| name == "downloadfile") {
                        self.scene.write(&actor, path, &made, false)?;
                    }
                }
                // `iex (iwr address)`
                (
                    "iwr" | "irm" | "invoke-webrequest" | "invoke-restmethod" | "curl" | "wget",
                    _,
                ) if at > 0 => {
                    let mut behind = words.get(at + 1..).unwrap_or(&[]).iter();
                    if let Some(url) = behind.find(|word| word.value.text.contains("://")) {
                        made = self.scene.fetch(&actor(name, stage), &url.value)?;
                    }
                }
                ("frombase64string", Some(data)) => {
                    let is_wide = |w: &Word| w.value.text.to_ascii_lowercase().contains("unicode");
                    let text = match data.as_known().and_then(decode::base64) {
                        Some(bytes) if words.iter().any(is_wide) => decode::utf16(&bytes),
                        Some(bytes) => decode::text_of(bytes),
                        None => HOLE_STR.to_owned(),
                    };
                    made = data.map(text).marked(Origins::DECODED);
                }
                (_, host) if parts().any(|part| part == "tcpclient") => {
                    let unknown = || Value::unknown(Origins::UNKNOWN);
                    let host = host.cloned().unwrap_or_else(unknown);
                    let actor = actor("TcpClient", stage);
                    self.scene.reaches(&actor, Kind::Connect, &host)?;
                    self.connects = Some(host);
                }
                _ => {}
            }
        }
        let creates = |word: &Word| {
            let text = word.value.text.to_ascii_lowercase();
            text.contains("scriptblock]::create")
        };
        if made.origins.any(Origins::FETCHED | Origins::DECODED) && words.iter().any(creates) {
            let actor = actor("scriptblock", stage);
            self.scene
                .interpret(&actor, crate::language::Language::PowerShell, &made)?;
        }
        Ok(made)
    }

    fn finish(&mut self) -> Fueled {
        let Some(host) = self.connects.take().filter(|_| self.runs_received) else {
            return Ok(());
        };
        let actor = actor("powershell", &self.code.text);
        self.scene.reaches(&actor, Kind::RemoteShell, &host)
    }

    /// Words with quotes taken off and variables put in; brackets and commas part words too.
    fn words(&self, text: &str) -> Vec<Word> {
        let mut words = Vec::new();
        let mut word = Value::default();
        let mut quoted = false;
        let mut open: Option<char> = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match (c, open) {
                (quote, Some(current)) if quote == current => open = None,
                ('\'' | '"', None) => {
                    open = Some(c);
                    quoted = true;
                }
                ('`', None | Some('"')) => {
                    let mut buffer = [0; 4];
                    if let Some(next) = chars.next() {
                        word.push_text(next.encode_utf8(&mut buffer));
                    }
                }
                ('$', None | Some('"')) => {
                    let mut name = String::new();
                    while let Some(c) =
                        chars.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '{' | '}'))
                    {
                        name.push(c);
                    }
                    word.push(&self.variable(name.trim_matches(['{', '}'])));
                }
                (c, None) if c.is_whitespace() || matches!(c, ',' | '(' | ')') => {
                    if quoted || !word.text.is_empty() {
                        let value = std::mem::take(&mut word);
                        words.push(Word { value, quoted });
                    }
                    quoted = false;
                }
                ('+', None) if word.text.is_empty() || quoted => {
                    // `'a' + 'b'` is one text.
                    while chars.next_if(|c| c.is_whitespace()).is_some() {}
                }
                (c, _) => word.push_text(c.encode_utf8(&mut [0; 4])),
            }
        }
        if quoted || !word.text.is_empty() {
            words.push(Word {
                value: word,
                quoted,
            });
        }
        words
    }

    fn variable(&self, name: &str) -> Value {
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            // What a block is given, one after the other.
            "_" | "psitem" => return self.item.clone(),
            "home" | "env:userprofile" | "env:home" | "env:homepath" => {
                return Value::known(self.scene.world.home.clone());
            }
            "env:temp" | "env:tmp" => return Value::known("/tmp"),
            "env:systemroot" | "env:windir" => return Value::known("C:/Windows"),
            "env:systemdrive" => return Value::known("C:"),
            "pwd" | "psscriptroot" => return Value::known("."),
            _ => {}
        }
        match self.variables.get(&lower) {
            Some(value) => value.clone(),
            None => Value::unknown(Origins::UNKNOWN),
        }
    }
}

fn assignment(statement: &str) -> Option<(&str, &str)> {
    let (name, value) = statement.strip_prefix('$')?.split_once('=')?;
    let name = name.trim();
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (plain && !value.starts_with('=')).then_some((name, value.trim()))
}

/// The statements of a script, those in blocks too.
fn statements(text: &str) -> Vec<&str> {
    let ends = |c: char| matches!(c, ';' | '{' | '}' | '&');
    text.lines()
        .flat_map(|line| split_outside_quotes(line, ends))
        .collect()
}

fn split_outside_quotes(text: &str, separates: impl Fn(char) -> bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut open: Option<char> = None;
    let mut from = 0;
    for (at, c) in text.char_indices() {
        match open {
            Some(quote) if c == quote => open = None,
            None if matches!(c, '"' | '\'') => open = Some(c),
            None if separates(c) => {
                pieces.push(text.get(from..at).unwrap_or(""));
                from = at + c.len_utf8();
            }
            Some(_) | None => {}
        }
    }
    pieces.push(text.get(from..).unwrap_or(""));
    pieces
}
