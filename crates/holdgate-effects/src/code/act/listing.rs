//! Listings of folders. What is in a folder is not known, but where it is: `folder/*`.

use super::Call;
use crate::code::functions::Role;
use crate::code::lex::{Kind, Token};
use crate::code::read::{Arguments, Reader};
use crate::code::thing::AbstractValue;
use crate::effect::Actor;
use crate::language::Language;
use crate::path::PathClass;
use crate::scene::{ARGUMENTS, Fueled};
use crate::tag::Tag;
use crate::value::{HOLE_STR, Origins, Value};

/// Tokens behind a listing that may choose among its entries.
const MAX_AHEAD: usize = 48;

/// Which entries of a listing the code goes on with, as far as the tokens behind it say.
#[derive(PartialEq, Eq)]
enum Chosen {
    /// All of them, hidden ones too.
    All,
    /// Those that match a pattern.
    Like(String),
    /// Some of them.
    Some,
}

/// `if name[:2] == '.e'`, `.filter(f => f.startsWith('.e'))`, `if 'env' in name`. What stands behind the
/// point where a file is opened chooses among contents, not among entries.
fn chosen(ahead: &[Token<'_>]) -> Chosen {
    let opens = |token: &Token<'_>| token.kind == Kind::Name && OPENING.contains(&token.text);
    let end = ahead.iter().position(opens).unwrap_or(ahead.len());
    let ahead = ahead.get(..end).unwrap_or(ahead);
    let mut all = true;
    for (at, token) in ahead.iter().enumerate() {
        if token.kind == Kind::Name && CHOOSING.contains(&token.text) {
            all = false;
        }
        if let (Kind::Text(_), 2..=16) = (token.kind, token.text.len())
            && let Some(like) = likeness(ahead, at)
        {
            return like;
        }
    }
    if all { Chosen::All } else { Chosen::Some }
}

/// What the text at `at` says of the names of entries.
fn likeness(ahead: &[Token<'_>], at: usize) -> Option<Chosen> {
    let word = |back: usize| {
        let before = at.checked_sub(back).and_then(|i| ahead.get(i));
        before.map_or("", |token| token.text)
    };
    let name = ahead.get(at)?.text;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let called = if word(1) == "(" { word(2) } else { "" };
    let same = matches!(word(1), "==" | "===");
    let within = ahead.get(at + 1).is_some_and(|token| token.text == "in");
    let pattern = match called {
        "startswith" | "startsWith" => format!("{name}*"),
        "endswith" | "endsWith" => ending(name),
        "includes" | "contains" => format!(".*{}*", name.trim_start_matches('.')),
        _ if within => format!(".*{}*", name.trim_start_matches('.')),
        // `name[1:] == 'env'`
        _ if same && word(2) == "]" && word(3) == ":" => ending(name),
        // `name[:2] == '.e'`
        _ if same && word(2) == "]" => format!("{name}*"),
        _ if same && matches!(word(2), "suffix" | ")") => format!("*{name}"),
        _ if same => name.to_owned(),
        _ => return None,
    };
    let left_out = |token: &Token<'_>| {
        matches!(token.text, "continue" | "next" | "False" | "false") && token.kind == Kind::Name
    };
    let skipped = ahead.iter().skip(at).take(6).any(left_out) || !name.chars().all(plain);
    Some(if skipped {
        Chosen::Some
    } else {
        Chosen::Like(pattern)
    })
}

/// The pattern of the names with this end. Hidden ones are what matters.
fn ending(end: &str) -> String {
    if end.starts_with('.') {
        format!("*{end}")
    } else {
        format!(".*{end}")
    }
}

/// Names that stand where files are opened.
const OPENING: [&str; 12] = [
    "open",
    "read_text",
    "read_bytes",
    "read",
    "readFileSync",
    "readFile",
    "createReadStream",
    "file_get_contents",
    "write_text",
    "unlink",
    "remove",
    "rmtree",
];

/// Names that stand where entries are told apart.
const CHOOSING: [&str; 16] = [
    "suffix",
    "suffixes",
    "endswith",
    "endsWith",
    "splitext",
    "extname",
    "match",
    "fnmatch",
    "search",
    "test",
    "startswith",
    "startsWith",
    "is_dir",
    "isdir",
    "isDirectory",
    "filter",
];

/// Whether folders in the folder are listed too: `{recursive: true}`.
fn recursive(call: &Call<'_>) -> bool {
    call.named("recursive")
        .is_some_and(|thing| thing.number() == Some(1))
}

impl Reader<'_, '_, '_> {
    /// What a listing of a folder yields.
    pub(super) fn lists(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let pattern = match self.value(call, 1)? {
            pattern if pattern.text.is_empty() && recursive(call) => Value::known("**"),
            pattern => pattern,
        };
        let chosen = chosen(self.ahead(MAX_AHEAD));
        let mut entries = Vec::new();
        let mut folders = self.values(call, 0)?;
        if folders.is_empty() {
            // `os.listdir()`
            folders.push(Value::known("."));
        }
        for folder in folders {
            let folder = if folder.text.is_empty() {
                Value::known(".")
            } else {
                folder
            };
            let actor = call.actor.and(Tag::List);
            self.scene.read(&actor, &folder)?;
            self.entries(call, &folder, &pattern, &chosen, &mut entries);
        }
        self.wanted(call, &entries)?;
        Ok(AbstractValue::list(entries))
    }

    /// Perl's `find(sub { … }, $folder)` and `find({wanted => sub { … }}, $folder)`: the function gets each
    /// entry as `$_`.
    fn wanted(&mut self, call: &Call<'_>, entries: &[AbstractValue]) -> Fueled {
        let first = call.arguments.positional.first();
        let function = first.and_then(|first| first.get("wanted")).or(first);
        if let (Language::Perl, Role::Below, Some(function), Some(entry)) =
            (self.language, call.act.role, function, entries.first())
            && matches!(function, AbstractValue::Function(_))
        {
            for name in ["$_", "$File.Find.name"] {
                self.assign(name, entry.clone())?;
            }
            let given = Arguments::of(vec![entry.clone()]);
            self.call(function, given, call.start)?;
        }
        Ok(())
    }

    /// The entries of one folder.
    fn entries(
        &mut self,
        call: &Call<'_>,
        folder: &Value,
        pattern: &Value,
        chosen: &Chosen,
        entries: &mut Vec<AbstractValue>,
    ) {
        let below = |what: &str| {
            let folder_text = folder.text.trim_end_matches('/');
            folder.map(format!("{folder_text}/{what}"))
        };
        let path = |value: Value| match call.receiver {
            AbstractValue::Object(object) if object.kind == "Path" => {
                AbstractValue::object("Path", value)
            }
            _ => AbstractValue::object("Entry", value),
        };
        // Most of what is in a home is hidden, and a listing shows it, other than a glob.
        let place = self.scene.place(folder);
        let hidden = place.is(PathClass::HomeRoot)
            || place.is(PathClass::ProjectRoot) && *chosen == Chosen::All;
        let with_hidden = |shown: AbstractValue, hides: AbstractValue| {
            if hidden {
                AbstractValue::any(vec![shown, hides])
            } else {
                shown
            }
        };
        // With their types they are more than names.
        let typed = call.arguments.positional.len() > 1 && !recursive(call);
        let names = call.act.role == Role::Names && !typed;
        if let (Chosen::Like(name), Role::Entries | Role::Names) = (chosen, call.act.role) {
            entries.push(if names {
                AbstractValue::text(name.as_str())
            } else {
                path(below(name))
            });
        }
        // What a walk over all that is there goes on with.
        let name = match chosen {
            Chosen::All => "*",
            Chosen::Like(name) => name,
            Chosen::Some => HOLE_STR,
        };
        let given = pattern.is_known() && !pattern.text.is_empty();
        entries.push(match call.act.role {
            Role::Names if names && given => AbstractValue::value(pattern.clone()),
            Role::Names if names => {
                with_hidden(AbstractValue::text("*"), AbstractValue::text(".*"))
            }
            Role::Below if given && pattern.text != "*" => {
                path(below(&format!("**/{}", pattern.text)))
            }
            Role::Below if given || *chosen != Chosen::All => path(below(&format!("**/{name}"))),
            Role::Below => path(below("**")),
            Role::Walk => {
                let any = || AbstractValue::list(vec![AbstractValue::text(name)]);
                AbstractValue::list(vec![AbstractValue::value(below("**")), any(), any()])
            }
            Role::Matches => path(folder.clone()),
            // `Path.glob` has a pattern.
            _ if given => path(below(&pattern.text)),
            _ => with_hidden(path(below("*")), path(below(".*"))),
        });
    }

    /// `@ARGV = 'file'`: what `<>` reads.
    pub(in crate::code) fn reads_later(&mut self, thing: &AbstractValue) -> Fueled {
        let actor = Actor::new(self.language.word(), "@ARGV");
        for one in thing.items().unwrap_or(thing.each()).iter().take(64) {
            let path = self.value_of(one)?;
            if !path.text.is_empty() && !path.is_blank() {
                self.scene.read(&actor, &path)?;
            }
        }
        Ok(())
    }

    /// The words that the program was started with, as far as they are known.
    pub(in crate::code) fn command_line(&self) -> AbstractValue {
        let Some(words) = self.scene.variable(ARGUMENTS) else {
            return AbstractValue::value(Value::unknown(Origins::UNKNOWN));
        };
        // In Perl, Ruby and Lua the name of the script is no part of them.
        let before: &[&str] = match self.language {
            Language::Python | Language::Php => &["-"],
            Language::JavaScript => &["node"],
            _ => &[],
        };
        let before = before.iter().map(|word| AbstractValue::text(*word));
        let words = words.iter().cloned().map(AbstractValue::value);
        AbstractValue::List(before.chain(words).collect())
    }
}
