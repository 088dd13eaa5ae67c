//! A command line taken apart: options, their values, operands.

use super::handler::Handler;
use super::role::Role;
use super::spec::{Meaning, Spec, Style};
use crate::tag::Tag;
use crate::value::{HOLE, Value};
use std::sync::Arc;

/// Sub-commands in sub-commands.
const MAX_SUB: usize = 4;

/// A command line, read by its program's own rules.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The spec of the innermost sub-command.
    pub(crate) spec: Arc<Spec>,
    /// The handlers of the program and of the innermost sub-command.
    pub(crate) handlers: Vec<Handler>,
    /// The options given, with what the program does with their values.
    pub(crate) options: Vec<Given>,
    pub(crate) operands: Vec<Value>,
    /// The names of the sub-commands, from the outermost.
    pub(crate) subs: Vec<String>,
    pub(crate) tags: Vec<Tag>,
    /// From the specs that lead to the innermost.
    pub(crate) inside: Option<Tag>,
    /// A program and its arguments that an option gives: `fd -x rm`.
    pub(crate) command: Vec<Value>,
    /// The first operand behind a `--`.
    pub(crate) paths_from: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) value: Option<(Role, Value)>,
}

impl Parsed {
    /// Whether one of these options was given.
    pub(crate) fn given(&self, names: &[&str]) -> bool {
        self.options_named(names).next().is_some()
    }

    /// The value of the first of these options.
    pub(crate) fn value_of(&self, names: &[&str]) -> Option<&Value> {
        let (_, value) = self.options_named(names).next()?.value.as_ref()?;
        Some(value)
    }

    pub(crate) fn options_named(&self, names: &[&str]) -> impl Iterator<Item = &Given> {
        let is_one = |o: &&Given| names.contains(&o.name.as_str());
        self.options.iter().filter(is_one)
    }

    /// What is different because certain options are given. An entry of `when` may have its own.
    pub(crate) fn chosen(&self) -> Option<&Spec> {
        let mut chosen: Option<&Spec> = None;
        let has = |names: &[String]| self.options.iter().any(|o| names.contains(&o.name));
        let entry = |spec: &'_ Spec| spec.when.iter().position(|(names, _)| has(names));
        while let Some(at) = entry(chosen.unwrap_or(&self.spec)) {
            let when = &chosen.unwrap_or(&self.spec).when;
            chosen = when.get(at).map(|(_, spec)| spec);
        }
        chosen
    }

    /// Whether one of these sub-commands was given.
    pub(crate) fn is_sub(&self, names: &[&str]) -> bool {
        self.subs.iter().any(|sub| names.contains(&sub.as_str()))
    }
}

/// Reads `words`, of which the first is the program's name.
pub(crate) fn parse(spec: &Arc<Spec>, words: &[Value]) -> Parsed {
    let mut levels = vec![spec.clone()];
    let mut parsed = Parsed {
        spec: spec.clone(),
        handlers: Vec::new(),
        options: Vec::new(),
        operands: Vec::new(),
        subs: Vec::new(),
        tags: Vec::new(),
        inside: spec.inside,
        command: Vec::new(),
        paths_from: None,
    };
    let mut rest = words.iter().skip(1);
    let mut only_operands = false;
    let mut dashes = false;
    while let Some(word) = rest.next() {
        let style = parsed.spec.style;
        let text = word.text.as_str();
        if only_operands || style == Style::Raw {
            if dashes && parsed.paths_from.is_none() {
                parsed.paths_from = Some(parsed.operands.len());
            }
            parsed.operands.push(word.clone());
            continue;
        }
        if style == Style::Keys {
            match text.split_once('=') {
                Some((key, value)) => {
                    let meaning = find(&levels, key).unwrap_or_default();
                    note(&mut parsed, &levels, key, meaning, Some(word.map(value)));
                    if !parsed.spec.when.is_empty() {
                        // A `when` may be about this value alone.
                        note(&mut parsed, &levels, text, Meaning::default(), None);
                    }
                }
                None => parsed.operands.push(word.clone()),
            }
            continue;
        }
        let bundled =
            style == Style::Bundled && parsed.operands.is_empty() && parsed.options.is_empty();
        if text == "--" {
            only_operands = true;
            dashes = true;
        } else if text.starts_with("--")
            || (style == Style::Long && text.starts_with('-') && text.len() > 1)
        {
            long_option(&mut parsed, &levels, word, &mut rest);
        } else if (text.starts_with('-') && text.len() > 1) || (bundled && is_bundle(text)) {
            short_options(&mut parsed, &levels, word, &mut rest);
        } else if let Some(sub) = sub_command(&parsed, text).filter(|_| levels.len() <= MAX_SUB) {
            // A word says what is meant, not that nothing happens: only tables say that.
            parsed
                .tags
                .extend(Tag::from_word(text).filter(|tag| !tag.calms()));
            parsed.subs.push(text.to_owned());
            parsed.inside = sub.inside.or(parsed.inside);
            parsed.spec = sub.clone();
            levels.push(sub);
        } else {
            parsed.operands.push(word.clone());
            let at = parsed.operands.len() - 1;
            let runs = matches!(
                parsed.spec.operands.get(at),
                Some((Role::Argv | Role::ArgvAndInput, _))
            );
            // What follows a program's name is its own.
            only_operands = style == Style::First || runs;
        }
        if let Some((Role::Argv, first)) = parsed.options.last().and_then(|o| o.value.clone()) {
            parsed.command.push(first);
            parsed.command.extend(rest.by_ref().cloned());
        }
    }
    for level in &levels {
        parsed.tags.extend(level.tags.iter().copied());
        parsed.handlers.extend(level.handler);
    }
    parsed.handlers.dedup();
    parsed
}

fn sub_command(parsed: &Parsed, text: &str) -> Option<Arc<Spec>> {
    if !parsed.operands.is_empty() {
        return None;
    }
    // `npx rimraf@5`: a package by its version.
    let named = || {
        let (name, version) = text.rsplit_once('@')?;
        let is_version = version
            .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '^' | '~'))
            || matches!(version, "latest" | "next" | "beta");
        is_version.then_some(name)
    };
    let subs = &parsed.spec.sub;
    subs.get(text).or_else(|| subs.get(named()?)).cloned()
}

fn is_bundle(text: &str) -> bool {
    !text.is_empty() && text.len() < 12 && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// What an option means, by the innermost level that knows it.
pub(super) fn find(levels: &[Arc<Spec>], name: &str) -> Option<Meaning> {
    levels
        .iter()
        .rev()
        .find_map(|spec| spec.options.get(name))
        .cloned()
}

fn note(
    parsed: &mut Parsed,
    levels: &[Arc<Spec>],
    name: &str,
    meaning: Meaning,
    value: Option<Value>,
) {
    if meaning.value.is_none() && value.as_ref().is_some_and(is_off) && calms(&meaning) {
        take_back(parsed, levels, &meaning);
        return;
    }
    parsed.tags.extend(meaning.tags);
    let value = value.map(|v| (meaning.value.unwrap_or(Role::Data), v));
    parsed.options.push(Given {
        name: name.to_owned(),
        value,
    });
}

fn calms(meaning: &Meaning) -> bool {
    meaning.tags.iter().any(|tag| tag.calms())
}

/// Whether a value switches a flag off, as in `--dry-run=none`. One that is not known may.
fn is_off(value: &Value) -> bool {
    const OFF: [&str; 9] = ["", "0", "f", "false", "n", "no", "none", "never", "off"];
    let text = value.text.trim();
    text.contains(HOLE) || OFF.iter().any(|off| text.eq_ignore_ascii_case(off))
}

/// A flag that says that nothing happens is switched off again. The last word about it holds.
fn take_back(parsed: &mut Parsed, levels: &[Arc<Spec>], meaning: &Meaning) {
    let off = |tag: &Tag| tag.calms() && meaning.tags.contains(tag);
    let says = |given: &Given| find(levels, &given.name).is_some_and(|m| m.tags.iter().any(off));
    parsed.tags.retain(|tag| !off(tag));
    parsed.options.retain(|given| !says(given));
}

/// What `--no-X` takes back, if it is no option of its own: rsync's `--no-n` too.
fn negated(levels: &[Arc<Spec>], name: &str) -> Option<Meaning> {
    let rest = name.trim_start_matches('-').strip_prefix("no-")?;
    let dashes = if rest.len() == 1 { "-" } else { "--" };
    let meaning = find(levels, &full_name(levels, &format!("{dashes}{rest}")))?;
    (find(levels, name).is_none() && calms(&meaning)).then_some(meaning)
}

fn long_option<'v>(
    parsed: &mut Parsed,
    levels: &[Arc<Spec>],
    word: &Value,
    rest: &mut (impl Iterator<Item = &'v Value> + Clone),
) {
    let (name, attached) = match word.text.split_once('=') {
        Some((name, value)) => (name, Some(word.map(value))),
        None => (word.text.as_str(), None),
    };
    if let Some(meaning) = negated(levels, name) {
        take_back(parsed, levels, &meaning);
        return;
    }
    let name = full_name(levels, name);
    let meaning = find(levels, &name).unwrap_or_default();
    // Some take the value of a flag as a word of its own: `npm publish --dry-run false`.
    let next = || rest.clone().next().is_some_and(|v| v.text == "false");
    if attached.is_none() && meaning.value.is_none() && calms(&meaning) && next() {
        take_back(parsed, levels, &meaning);
        return;
    }
    let value = match attached {
        Some(value) => Some(value),
        None if meaning.takes_word() => value_from(parsed, levels, rest),
        None => None,
    };
    note_with_value(parsed, levels, &name, meaning, value);
}

/// The next word as a value. If it is also a flag that says more about effects, it counts as that, too:
/// the program may know better which of its options take values.
fn value_from<'v>(
    parsed: &mut Parsed,
    levels: &[Arc<Spec>],
    rest: &mut impl Iterator<Item = &'v Value>,
) -> Option<Value> {
    let value = rest.next()?;
    let text = value.text.as_str();
    let flag = find(levels, text).filter(|_| text.starts_with('-') && text.len() > 1);
    // Not that nothing happens: that is said by the flag alone, not by a value that looks like it.
    let says = |m: &Meaning| m.value.is_none() && !m.tags.is_empty() && !calms(m);
    if let Some(meaning) = flag.filter(says) {
        note(parsed, levels, text, meaning, None);
    }
    Some(value.clone())
}

/// An entry such as `--pid=host` is about that value alone.
fn note_with_value(
    parsed: &mut Parsed,
    levels: &[Arc<Spec>],
    name: &str,
    mut meaning: Meaning,
    value: Option<Value>,
) {
    if let Some(value) = &value
        && let Some(whole) = find(levels, &format!("{name}={}", value.text))
    {
        meaning.tags.extend(whole.tags);
    }
    note(parsed, levels, name, meaning, value);
}

/// GNU programs take any unambiguous beginning of a long option.
pub(super) fn full_name(levels: &[Arc<Spec>], name: &str) -> String {
    if find(levels, name).is_some() || !name.starts_with("--") || name.len() < 4 {
        return name.to_owned();
    }
    let options = levels.iter().flat_map(|spec| spec.options.iter());
    let found = options.filter(|(known, _)| known.starts_with(name));
    // The program refuses an ambiguous one, unless it has fewer options than the table: then it is the one
    // that matters most.
    let matters = |meaning: &Meaning| {
        let tells = !matches!(meaning.value, None | Some(Role::Data | Role::Text));
        (tells, !meaning.tags.is_empty())
    };
    let ranked = |(known, meaning): &(&String, &Meaning)| {
        (
            matters(meaning),
            std::cmp::Reverse(known.len()),
            (*known).clone(),
        )
    };
    let found = found.max_by_key(ranked);
    found.map_or_else(|| name.to_owned(), |(known, _)| known.clone())
}

fn short_options<'v>(
    parsed: &mut Parsed,
    levels: &[Arc<Spec>],
    word: &Value,
    rest: &mut impl Iterator<Item = &'v Value>,
) {
    let text = word.text.strip_prefix('-').unwrap_or(&word.text);
    // A single dash with a long name, where the program has such.
    let whole = format!("-{text}");
    if text.len() > 1
        && let Some(meaning) = find(levels, &whole)
    {
        let value = if meaning.takes_word() {
            value_from(parsed, levels, rest)
        } else {
            None
        };
        note(parsed, levels, &whole, meaning, value);
        return;
    }
    let mut chars = text.chars();
    while let Some(letter) = chars.next() {
        if letter == HOLE {
            return;
        }
        let name = format!("-{letter}");
        let known = find(levels, &name);
        let attached = chars.as_str();
        if known.is_none() && attached.starts_with(['/', '~', '@', '=']) {
            // An option that no table lists, with its value.
            note(
                parsed,
                levels,
                &name,
                Meaning::default(),
                Some(word.map(attached)),
            );
            return;
        }
        let meaning = known.unwrap_or_default();
        if let (true, Some(value)) = (calms(&meaning), attached.strip_prefix('=')) {
            note(parsed, levels, &name, meaning, Some(word.map(value)));
            return;
        }
        if meaning.value.is_none() || meaning.attached && attached.is_empty() {
            note(parsed, levels, &name, meaning, None);
            continue;
        }
        let value = if attached.is_empty() {
            value_from(parsed, levels, rest)
        } else {
            Some(word.map(attached.strip_prefix('=').unwrap_or(attached)))
        };
        note_with_value(parsed, levels, &name, meaning, value);
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::commands::CommandTable;

    #[test]
    fn what_says_that_nothing_happens_must_be_earned() {
        let table = "g: {operands: text, flags: {dry-run: -n --dry-run, force: -f}, options: {data: -o}, sub: {list: {operands: text}}}\n";
        let table = CommandTable::read(crate::table::compiled(table)).unwrap();
        let spec = table.get("g").unwrap().unwrap();
        let dry = |line: &str| {
            let words: Vec<Value> = line.split(' ').map(Value::known).collect();
            let parsed = parse(spec, &words);
            parsed.tags.contains(&Tag::DryRun) && parsed.given(&["-n", "--dry-run"])
        };
        for line in [
            "g -n",
            "g -fn x",
            "g --dry-run=client",
            "g --no-dry-run -n",
            "g --dry",
        ] {
            assert!(dry(line), "{line}");
        }
        for line in [
            "g --dry-run=none",
            "g -n=false",
            "g -n --no-dry-run",
            "g -n --no-n",
            "g --dry-run=client --dry-run=NONE",
            "g --dry-run false",
            "g --dry-run=",
            "g -o --dry-run",
            "g -- -n",
        ] {
            assert!(!dry(line), "{line}");
        }
        let unknown = Value::unknown(crate::value::Origins::UNKNOWN);
        let mut flag = Value::known("--dry-run=");
        flag.push(&unknown);
        let parsed = parse(spec, &[Value::known("g"), flag]);
        assert!(!parsed.tags.contains(&Tag::DryRun));
        let parsed = parse(spec, &[Value::known("g"), Value::known("list")]);
        assert!(!parsed.tags.contains(&Tag::List));
    }

    #[test]
    fn a_value_that_may_be_left_out_is_never_a_word_of_its_own() {
        let table = "g: {operands: text, optional: {shell: \"-O --open\"}, options: {text: -e}}\n";
        let table = CommandTable::read(crate::table::compiled(table)).unwrap();
        let spec = table.get("g").unwrap().unwrap();
        let read = |line: &str| {
            let words: Vec<Value> = line.split(' ').map(Value::known).collect();
            let parsed = parse(spec, &words);
            let values = parsed.options.iter().filter_map(|o| o.value.as_ref());
            let values: Vec<String> = values.map(|(_, v)| v.text.clone()).collect();
            (values, parsed.operands.len())
        };
        assert_eq!(read("g -Osh x"), (vec!["sh".to_owned()], 1));
        assert_eq!(read("g --open=sh x"), (vec!["sh".to_owned()], 1));
        assert_eq!(read("g -O x"), (vec![], 1));
        assert_eq!(read("g -e x"), (vec!["x".to_owned()], 0));
    }
}
