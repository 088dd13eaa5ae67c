//! What `read` takes from standard input.

use super::Shell;
use crate::value::{HOLE_STR, Origins, Value};

/// What the options of `read` say.
#[derive(Default)]
struct Options {
    names: Vec<String>,
    array: bool,
    raw: bool,
    /// What ends it, if that is not the line's end.
    delimiter: Option<String>,
    /// It takes another part of the input than can be told.
    unclear: bool,
}

fn options(arguments: &[Value]) -> Options {
    let mut found = Options::default();
    let mut rest = arguments.iter().map(|a| a.text.as_str());
    while let Some(word) = rest.next() {
        let Some(letters) = word.strip_prefix('-') else {
            found.names.push(word.to_owned());
            continue;
        };
        for (at, letter) in letters.char_indices() {
            match letter {
                'r' => found.raw = true,
                'a' => found.array = true,
                'p' | 'd' | 'n' | 'N' | 't' | 'u' | 'i' | 'k' | 'q' => {
                    let attached = letters.get(at + 1..).filter(|v| !v.is_empty());
                    let value = attached.or_else(|| rest.next()).unwrap_or("");
                    match letter {
                        'd' => found.delimiter = Some(value.to_owned()),
                        'p' | 't' => {}
                        _ => found.unclear = true,
                    }
                    break;
                }
                _ => {}
            }
        }
    }
    found
}

impl Shell<'_, '_> {
    /// `read a b` takes what comes from standard input.
    pub(super) fn read(&mut self, arguments: &[Value]) {
        let options = options(arguments);
        let line = self.line(&options);
        let Some((last, names)) = options.names.split_last() else {
            self.assign("REPLY", vec![line]);
            return;
        };
        if !line.is_known() {
            for name in &options.names {
                self.assign(name, vec![line.clone()]);
            }
            return;
        }
        let separators = self.separators();
        let is_separator = |c: char| separators.contains(c);
        let is_blank = |c: char| is_separator(c) && c.is_whitespace();
        if options.array {
            let pieces = line.text.split(is_separator).filter(|p| !p.is_empty());
            let values = pieces.map(|p| line.map(p)).collect();
            self.set_array(last, values, false);
            return;
        }
        let mut rest = line.text.trim_matches(is_blank);
        for name in names {
            let end = rest.find(is_separator).unwrap_or(rest.len());
            let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.assign(name, vec![line.map(piece)]);
            // Blanks around a separator belong to it.
            let after = after.trim_start_matches(is_blank);
            rest = after.strip_prefix(is_separator).unwrap_or(after);
            rest = rest.trim_start_matches(is_blank);
        }
        // A separator at the end counts only if there are others.
        rest = match rest.strip_suffix(is_separator) {
            Some(before) if !before.contains(is_separator) => before,
            _ => rest,
        };
        self.assign(last, vec![line.map(rest)]);
    }

    fn line(&self, options: &Options) -> Value {
        let Some(stdin) = &self.stdin else {
            return Value::unknown(Origins::UNKNOWN);
        };
        let unknown = || stdin.map(HOLE_STR);
        // Lines after the first come in later rounds of the loop.
        if options.unclear || stdin.text.lines().nth(1).is_some() && !stdin.is_known() {
            return unknown();
        }
        let line = match options.delimiter.as_deref().map(|d| d.chars().next()) {
            Some(None) => stdin.text.as_str(),
            Some(Some(end)) => stdin.text.split(end).next().unwrap_or(""),
            None => stdin.text.split('\n').next().unwrap_or(""),
        };
        if options.raw || !line.contains('\\') {
            return stdin.map(line);
        }
        // What is escaped does not separate; one name takes it all anyway.
        if options.names.len() > 1 || options.array || line.ends_with(['\\', ' ', '\t']) {
            return unknown();
        }
        let mut escaped = false;
        let is_kept = |c: &char| {
            escaped = *c == '\\' && !escaped;
            !escaped
        };
        stdin.map(line.chars().filter(is_kept).collect::<String>())
    }

    /// `mapfile -t lines`
    pub(super) fn read_lines(&mut self, arguments: &[Value]) {
        let stdin = self.stdin.clone();
        let input = stdin.unwrap_or_else(|| Value::unknown(Origins::UNKNOWN));
        let (options, names): (Vec<&Value>, Vec<&Value>) =
            arguments.iter().partition(|a| a.text.starts_with('-'));
        let name = names.last().map_or("MAPFILE", |n| n.text.as_str());
        if !input.is_known() || options.iter().any(|o| o.text != "-t") {
            let unknown = input.map(HOLE_STR);
            self.set_array(name, vec![unknown], false);
            return;
        }
        let lines = input.text.split_inclusive('\n').take(256);
        let lines = lines.map(|line| {
            if options.is_empty() {
                line
            } else {
                line.trim_end_matches('\n')
            }
        });
        let values = lines.map(|line| input.map(line)).collect();
        self.set_array(name, values, false);
    }
}
