//! `commands.yaml`: what programs do with their arguments, as written and ready to use.

use super::handler::Handler;
use super::role::Role;
use crate::effect::Kind;
use crate::table::{Node, Table, TableError};
use crate::tag::Tag;
use rustc_hash::FxHashMap as HashMap;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A program or sub-command as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    /// Options without a value, by the tag that they put on all effects: `force: -f --force`.
    flags: BTreeMap<String, String>,
    /// Options with a value, by the value's role: `write: -o --output`.
    options: BTreeMap<String, String>,
    /// The same for options whose value may be left out: it is always attached, `-Osh`.
    optional: BTreeMap<String, String>,
    /// Roles of what is no option, in order; `read...` repeats.
    operands: Roles,
    /// What standard input is for.
    stdin: Option<String>,
    /// What running it does in any case: a kind of effect and tags, `vcs push`.
    does: Vec<String>,
    /// What it prints.
    prints: Prints,
    /// Tags for all effects.
    tags: Vec<Tag>,
    style: Style,
    /// What runs inside acts on another machine or a container: a tag for its effects.
    inside: Option<Tag>,
    /// The files of the folder that it runs: `Makefile`.
    builds: String,
    /// The files below the folder that it runs, by patterns: `test_*.py`, `.git/hooks/*`.
    runs: String,
    /// Whether it writes what it reads, to the letter.
    copies: bool,
    /// Code of our own that knows more.
    handler: Option<Handler>,
    /// Sub-commands.
    sub: BTreeMap<String, Written>,
    /// For entries of `when`: the options of which one must be given.
    #[serde(rename = "if")]
    if_given: Option<String>,
    /// What is different if certain options are given; the first that fits holds.
    when: Vec<Written>,
}

/// One role or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Roles {
    One(String),
    Many(Vec<String>),
}

impl Default for Roles {
    fn default() -> Self {
        Roles::Many(Vec::new())
    }
}

/// What a program prints.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Prints {
    /// Something made of what it reads: where that came from, its output comes from.
    #[default]
    Input,
    /// What it reads, to the letter.
    Same,
    /// Nothing of what it reads: counts, names, sums, reports.
    Report,
    /// The environment.
    Environment,
    /// A secret: passwords, tokens, keys.
    Secret,
    /// What it reads, decoded.
    Decoded,
    /// Nothing at all.
    Nothing,
    /// The same again and again, until somebody stops it.
    Endless,
}

/// How options look.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Style {
    /// `-abc --long --long=value`, options anywhere.
    #[default]
    Gnu,
    /// The same, but the first operand ends the options.
    First,
    /// `-long value`, no bundles.
    Long,
    /// `key=value`.
    Keys,
    /// As `Gnu`, and the first operand may be options without their dash: `tar czf`, `ps aux`.
    Bundled,
    /// No options at all.
    Raw,
}

/// A program or sub-command, ready.
#[derive(Debug, Default)]
pub(crate) struct Spec {
    pub(crate) options: HashMap<String, Meaning>,
    pub(crate) operands: Vec<(Role, bool)>,
    pub(crate) stdin: Option<Role>,
    pub(crate) does: Vec<(Kind, Vec<Tag>)>,
    pub(crate) prints: Prints,
    pub(crate) tags: Vec<Tag>,
    pub(crate) style: Style,
    pub(crate) inside: Option<Tag>,
    pub(crate) builds: Vec<String>,
    pub(crate) runs: Vec<String>,
    pub(crate) copies: bool,
    pub(crate) handler: Option<Handler>,
    pub(crate) sub: HashMap<String, Arc<Spec>>,
    pub(crate) when: Vec<(Vec<String>, Spec)>,
}

/// What an option means.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meaning {
    /// The role of its value, if it takes one.
    pub(crate) value: Option<Role>,
    /// Its value is never a word of its own.
    pub(crate) attached: bool,
    pub(crate) tags: Vec<Tag>,
}

impl Meaning {
    /// Whether the next word is its value, if none is attached.
    pub(crate) fn takes_word(&self) -> bool {
        self.value.is_some() && !self.attached
    }
}

/// All programs that are known. An entry is read when its program is first met: most sessions need
/// a few dozen of them.
#[derive(Debug)]
pub struct CommandTable {
    programs: HashMap<&'static str, usize>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// Its first line in the file.
    line: u32,
    names: &'static str,
    node: Node<'static>,
    spec: OnceLock<Result<Arc<Spec>, String>>,
}

impl Entry {
    /// The entry, ready to use, or what is wrong with it and where.
    fn read(&self) -> Result<Spec, String> {
        let written = self.node.read::<Written>();
        let written = written.map_err(|e| self.error(&e.to_string()))?;
        let names = self.names;
        compile(&written).map_err(|e| self.error(&format!("{names}: {e}")))
    }

    fn error(&self, what: &str) -> String {
        format!("commands.yaml:{}: {what}", self.line)
    }
}

impl CommandTable {
    /// Finds the entries of the table. A key may name several programs.
    pub fn read(table: Table<'static>) -> Result<Self, String> {
        let wrong = |e: TableError| format!("commands.yaml: {e}");
        let mut entries = Vec::new();
        let mut programs = HashMap::default();
        for (key, node) in table.entries().map_err(wrong)? {
            let entry = Entry {
                line: key.line,
                names: key.text().map_err(wrong)?,
                node,
                spec: OnceLock::new(),
            };
            for name in entry.names.split_whitespace() {
                if programs.insert(name, entries.len()).is_some() {
                    return Err(entry.error(&format!("`{name}` has two entries")));
                }
            }
            entries.push(entry);
        }
        Ok(CommandTable { programs, entries })
    }

    /// What is known about a program, by its name without folder. An entry that cannot be read is an
    /// error: its program is not harmless.
    pub(crate) fn get(&self, program: &str) -> Option<Result<&Arc<Spec>, &str>> {
        if let Some(number) = self.programs.get(program) {
            return self.entry(*number);
        }
        let number = |name: &str| self.programs.get(name).copied();
        let plain = without_ending(program);
        self.entry(number(plain).or_else(|| number(without_version(plain)))?)
    }

    fn entry(&self, number: usize) -> Option<Result<&Arc<Spec>, &str>> {
        let entry = self.entries.get(number)?;
        let spec = entry.spec.get_or_init(|| entry.read().map(Arc::new));
        Some(spec.as_ref().map_err(String::as_str))
    }

    /// Reads every entry now, so that no verdict has to wait for it.
    pub fn warm(&self) {
        for number in 0..self.entries.len() {
            self.entry(number);
        }
    }

    /// Reads every entry, and says what is wrong with the first bad one.
    pub fn check(&self) -> Result<(), String> {
        let mut entries = self.entries.iter();
        entries.try_for_each(|entry| entry.read().map(drop))
    }

    /// The names of all programs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.programs.keys().copied()
    }
}

/// `npm.cmd`, `kubectl.exe`, `kafka-topics.sh`. A script of a project has a name of one word.
fn without_ending(program: &str) -> &str {
    let ending = |end: &str| program.strip_suffix(end);
    let windows = [".exe", ".cmd", ".bat"].into_iter().find_map(ending);
    let script = ending(".sh").filter(|name| name.contains('-'));
    windows.or(script).unwrap_or(program)
}

/// `python3.12`, `gcc-13`, `pip3`, `terraform_1.9`, `kubectl-v1.30`: the version is no part of the name.
fn without_version(program: &str) -> &str {
    let base = program.trim_end_matches(|c: char| c.is_ascii_digit() || ".-_@".contains(c));
    let marked = base.strip_suffix("-v").or_else(|| base.strip_suffix("_v"));
    marked.filter(|_| base != program).unwrap_or(base)
}

fn compile(written: &Written) -> Result<Spec, String> {
    let mut options: HashMap<String, Meaning> = HashMap::default();
    for (tag, names) in &written.flags {
        // Listed only because it is the beginning of another option, or for a `when`.
        let tag = match tag.as_str() {
            "plain" => None,
            word => Some(Tag::read(word)?),
        };
        for name in names.split_whitespace() {
            let meaning = options.entry(name.to_owned()).or_default();
            meaning.tags.extend(tag);
        }
    }
    let optional = written.optional.iter().map(|o| (o, true));
    let listed = written.options.iter().map(|o| (o, false));
    for ((role, names), attached) in listed.chain(optional) {
        // `write+in-place`: a role, and tags that the option puts on.
        let mut words = role.split('+');
        let role = self::role(words.next().unwrap_or(""))?;
        let tags = words.map(Tag::read).collect::<Result<Vec<_>, _>>()?;
        for name in names.split_whitespace() {
            let meaning = options.entry(name.to_owned()).or_default();
            meaning.value = Some(role);
            meaning.attached = attached;
            meaning.tags.extend(&tags);
        }
    }
    let listed: &[String] = match &written.operands {
        Roles::One(one) => std::slice::from_ref(one),
        Roles::Many(many) => many,
    };
    let one = matches!(written.operands, Roles::One(_));
    let mut operands = Vec::new();
    for word in listed {
        let repeats = one || word.ends_with("...");
        operands.push((role(word.trim_end_matches("..."))?, repeats));
    }
    let mut does = Vec::new();
    for text in &written.does {
        let mut words = text.split_whitespace();
        let kind = Kind::read(words.next().unwrap_or(""))?;
        does.push((kind, words.map(Tag::read).collect::<Result<_, _>>()?));
    }
    let mut sub = HashMap::default();
    for (names, written) in &written.sub {
        let spec = Arc::new(compile(written).map_err(|e| format!("{names}: {e}"))?);
        for name in names.split_whitespace() {
            sub.insert(name.to_owned(), spec.clone());
        }
    }
    let mut when = Vec::new();
    for written in &written.when {
        let names = written
            .if_given
            .as_deref()
            .ok_or("an entry of `when` has no `if`")?;
        let names = names.split_whitespace().map(str::to_owned).collect();
        when.push((names, compile(written)?));
    }
    let stdin = written.stdin.as_deref().map(role).transpose()?;
    Ok(Spec {
        options,
        operands,
        stdin,
        does,
        prints: written.prints,
        tags: written.tags.clone(),
        style: written.style,
        inside: written.inside,
        builds: names(&written.builds),
        runs: names(&written.runs),
        copies: written.copies,
        handler: written.handler,
        sub,
        when,
    })
}

fn names(list: &str) -> Vec<String> {
    list.split_whitespace().map(str::to_owned).collect()
}

fn role(word: &str) -> Result<Role, String> {
    Role::from_word(word).ok_or_else(|| format!("`{word}` is not a role"))
}

#[cfg(test)]
mod tests;
