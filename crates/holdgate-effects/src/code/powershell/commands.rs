//! What single commands of PowerShell and cmd do.

use super::{Reader, Word, actor, encoded_command};
use crate::code::Language;
use crate::effect::{Actor, Kind};
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Words that start no command.
const KEYWORDS: &[&str] = &[
    "if",
    "else",
    "elseif",
    "foreach",
    "for",
    "while",
    "do",
    "try",
    "catch",
    "finally",
    "function",
    "param",
    "return",
    "switch",
    "begin",
    "process",
    "end",
    "throw",
    "using",
    "class",
    "echo",
    "write-host",
    "write-output",
    "set",
    "setlocal",
    "rem",
    "goto",
    "pause",
    "exit",
    "}",
    "{",
];

impl Reader<'_, '_, '_> {
    pub(super) fn command(
        &mut self,
        stage: &str,
        words: &[Word],
        input: &Value,
        made: &Value,
    ) -> Fueled<Value> {
        let Some(first) = words.first() else {
            return Ok(Value::default());
        };
        let name = first.value.text.to_ascii_lowercase();
        let name = name.rsplit(['/', '\\']).next().unwrap_or("");
        let name = name.strip_suffix(".exe").unwrap_or(name);
        let rest = words.get(1..).unwrap_or(&[]);
        let actor = actor(name, stage);
        if let Some(content) = self.file_command(&actor, name, rest, input)? {
            return Ok(content);
        }
        if let "new-localuser" | "add-localgroupmember" | "new-aduser" | "add-adgroupmember" = name
        {
            let effect = actor.does(Kind::System).tagged(Tag::User);
            self.scene.emit(effect.about(&joined(rest)))?;
            return Ok(Value::default());
        }
        if let Some((kind, text)) = system_command(name, words) {
            if let Some(kind) = kind {
                self.scene.emit(actor.does(kind).about(&text))?;
            }
            return Ok(Value::default());
        }
        match name {
            "remove-item" | "ri" | "rm" | "del" | "erase" | "rd" | "rmdir" => {
                self.removes(actor, rest, input)?;
            }
            "get-childitem" | "gci" | "ls" | "dir" | "get-item" | "gi" | "resolve-path" => {
                return Ok(listing(name, rest));
            }
            "where-object" | "?" | "select-object" | "sort-object" | "foreach-object" | "%" => {
                return Ok(input.clone());
            }
            "invoke-webrequest" | "iwr" | "invoke-restmethod" | "irm" | "wget" | "curl"
            | "start-bitstransfer" => return self.requests(&actor, rest),
            "invoke-expression" | "iex" => {
                let code = match rest.first() {
                    Some(word) if made.text.is_empty() && !word.value.text.starts_with('-') => {
                        word.value.clone()
                    }
                    _ if !made.text.is_empty() => made.clone(),
                    _ => input.clone(),
                };
                if code.is_known() || code.origins.any(Origins::FETCHED | Origins::DECODED) {
                    self.scene.interpret(&actor, Language::PowerShell, &code)?;
                }
            }
            "powershell" | "pwsh" | "cmd" => self.nested(&actor, rest)?,
            "start-process" | "saps" | "start" => self.starts(&actor, rest)?,
            "set-location" | "cd" | "sl" | "push-location" | "pushd" => {
                if let Some(folder) = operands(rest, &["-path"]).first() {
                    self.scene.enter(folder);
                }
            }
            "new-item" | "ni" | "mkdir" | "md" | "test-path" | "new-object" | "add-type"
            | "import-module" | "split-path" | "join-path" | "get-command" => {}
            _ if name.is_empty()
                || first.quoted
                || name.contains(['$', '=', '[', '.', crate::value::HOLE])
                || KEYWORDS.contains(&name)
                || name.starts_with("write-")
                || name.starts_with("format-") => {}
            // A cmdlet that is not known touches what it names.
            _ if name.contains('-') => {
                for word in rest {
                    self.scene.touches(&actor, &word.value)?;
                }
            }
            _ => {
                // Programs that are not PowerShell's own are the same everywhere.
                let words: Vec<Value> = words.iter().map(|w| w.value.clone()).collect();
                return self.scene.argv(&words, None);
            }
        }
        Ok(Value::default())
    }

    /// Commands that read, write and copy files. `None` for any other.
    fn file_command(
        &mut self,
        actor: &Actor,
        name: &str,
        rest: &[Word],
        input: &Value,
    ) -> Fueled<Option<Value>> {
        match name {
            "get-content" | "gc" | "cat" | "type" => {
                let mut content = Value::default();
                for path in operands(rest, &["-path", "-literalpath"]) {
                    content = self.scene.read(actor, &path)?;
                }
                return Ok(Some(content));
            }
            "set-content" | "sc" | "out-file" | "add-content" | "ac" | "tee-object" => {
                let append = matches!(name, "add-content" | "ac") || has(rest, "-append");
                let paths = operands(rest, &["-path", "-filepath", "-literalpath"]);
                if let Some(path) = paths.first() {
                    let content = paths.get(1).unwrap_or(input).clone();
                    let content = option(rest, &["-value"]).unwrap_or(content);
                    self.scene.write(actor, path, &content, append)?;
                }
            }
            "copy-item" | "cp" | "copy" | "move-item" | "mv" | "move" | "xcopy" | "robocopy" => {
                let paths = operands(rest, &["-path", "-destination", "-literalpath"]);
                if let [from, to, ..] = paths.as_slice() {
                    let content = if name.starts_with('m') {
                        self.scene.touch(actor, Kind::Move, from)?;
                        Value::default()
                    } else {
                        self.scene.read(actor, from)?
                    };
                    self.scene.write(actor, to, &content, false)?;
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(Value::default()))
    }

    fn removes(&mut self, mut actor: Actor, rest: &[Word], input: &Value) -> Fueled {
        let recursive = rest.iter().any(|word| {
            let flag = word.value.text.to_ascii_lowercase();
            flag == "/s" || (flag.len() >= 2 && "-recurse".starts_with(&flag)) || flag == "-rf"
        });
        if recursive {
            actor.tags.push(Tag::Recursive);
        }
        let mut paths = operands(rest, &["-path", "-literalpath"]);
        if paths.is_empty() && !input.text.is_empty() {
            paths.push(input.clone());
        }
        for path in paths {
            self.scene.delete(&actor, &path)?;
        }
        Ok(())
    }

    fn starts(&mut self, actor: &Actor, rest: &[Word]) -> Fueled {
        let words = operands(rest, &["-filepath", "-argumentlist"]);
        if has(rest, "runas") {
            self.scene.emit(actor.does(Kind::Elevate))?;
        }
        if !words.is_empty() {
            self.scene.argv(&words, None)?;
        }
        Ok(())
    }

    fn requests(&mut self, actor: &Actor, rest: &[Word]) -> Fueled<Value> {
        let url =
            option(rest, &["-uri", "-source"]).or_else(|| operands(rest, &[]).into_iter().next());
        let Some(url) = url else {
            return Ok(Value::default());
        };
        let mut data = option(rest, &["-body"]).unwrap_or_default();
        if let Some(file) = option(rest, &["-infile"]) {
            data = self.scene.read(actor, &file)?;
        }
        let answer = if data.text.is_empty() {
            self.scene.fetch(actor, &url)?
        } else {
            self.scene.send(actor, &url, &data)?
        };
        if let Some(path) = option(rest, &["-outfile", "-destination", "-o"]) {
            self.scene.write(actor, &path, &answer, false)?;
        }
        Ok(answer)
    }

    /// `powershell -EncodedCommand …`, `cmd /c …`.
    fn nested(&mut self, actor: &Actor, rest: &[Word]) -> Fueled {
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            let flag = word.value.text.to_ascii_lowercase();
            if flag.starts_with("-e") && !flag.starts_with("-ex") {
                if let Some(code) = words.next().and_then(|w| encoded_command(&w.value.text)) {
                    let code = Value::known(code).marked(Origins::DECODED);
                    self.scene.interpret(actor, Language::PowerShell, &code)?;
                }
            } else if matches!(flag.as_str(), "/c" | "/k" | "-c" | "-command") {
                let code = Value::known(
                    words
                        .by_ref()
                        .map(|w| w.value.text.as_str())
                        .collect::<Vec<_>>()
                        .join(" "),
                );
                self.scene.interpret(actor, Language::PowerShell, &code)?;
            }
        }
        Ok(())
    }
}

/// What a listing yields: all that lies in a folder, or the thing itself.
fn listing(name: &str, rest: &[Word]) -> Value {
    let path = operands(rest, &["-path", "-literalpath"]);
    let path = path.first().cloned().unwrap_or_else(|| Value::known("."));
    if matches!(name, "get-item" | "gi" | "resolve-path") || path.text.contains('*') {
        return path;
    }
    let inside = format!("{}/*", path.text.trim_end_matches('/'));
    path.map(inside)
}

/// What is neither a flag nor the value of one, apart from the named ones.
fn operands(words: &[Word], named: &[&str]) -> Vec<Value> {
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.value.text.to_ascii_lowercase();
        if text.starts_with('-') && !word.quoted {
            if named.contains(&text.as_str()) {
                found.extend(words.next().map(|w| with_slashes(&w.value)));
            } else if takes_value(&text) {
                words.next();
            }
        } else if !(text.starts_with('/') && text.len() == 2) {
            found.push(with_slashes(&word.value));
        }
    }
    found
}

/// A path in the form that all readers share.
fn with_slashes(path: &Value) -> Value {
    path.map(path.text.replace('\\', "/"))
}

fn takes_value(flag: &str) -> bool {
    matches!(
        flag,
        "-uri"
            | "-outfile"
            | "-o"
            | "-method"
            | "-body"
            | "-headers"
            | "-encoding"
            | "-filter"
            | "-include"
            | "-exclude"
            | "-value"
            | "-erroraction"
            | "-ea"
            | "-verb"
            | "-infile"
            | "-windowstyle"
            | "-totalcount"
            | "-tail"
            | "-credential"
            | "-destination"
    )
}

fn option(words: &[Word], names: &[&str]) -> Option<Value> {
    let at = words.iter().position(|word| {
        let text = word.value.text.to_ascii_lowercase();
        !word.quoted && names.contains(&text.as_str())
    })?;
    words.get(at + 1).map(|word| word.value.clone())
}

fn has(words: &[Word], flag: &str) -> bool {
    words
        .iter()
        .any(|w| w.value.text.eq_ignore_ascii_case(flag))
}

fn joined(words: &[Word]) -> String {
    let words: Vec<&str> = words.iter().map(|w| w.value.text.as_str()).collect();
    words.join(" ")
}

/// Commands about the system: the kind of what they change, if they change anything, and their text.
fn system_command(name: &str, words: &[Word]) -> Option<(Option<Kind>, String)> {
    let text = joined(words.get(1..).unwrap_or(&[]));
    let lower = text.to_ascii_lowercase();
    let kind = match name {
        "stop-process" | "taskkill" | "kill" | "spps" => Some(Kind::Kill),
        "schtasks" if !lower.contains("/create") => None,
        "schtasks" | "register-scheduledtask" | "new-service" | "new-scheduledtask" => {
            Some(Kind::Persist)
        }
        "reg" if !lower.starts_with("add") && !lower.starts_with("delete") => None,
        "reg" | "new-itemproperty" | "set-itemproperty" => {
            if lower.contains("\\run") || lower.contains("winlogon") {
                Some(Kind::Persist)
            } else {
                Some(Kind::System)
            }
        }
        "set-executionpolicy"
        | "set-mppreference"
        | "add-mppreference"
        | "format-volume"
        | "clear-disk"
        | "vssadmin"
        | "wevtutil"
        | "bcdedit"
        | "netsh"
        | "clear-eventlog"
        | "format"
        | "diskpart"
        | "set-netfirewallprofile"
        | "disable-windowsoptionalfeature" => return Some((Some(Kind::System), joined(words))),
        _ => return None,
    };
    Some((kind, text))
}
