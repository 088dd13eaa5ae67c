//! A whole home that is deleted: nothing is put behind its name.

use super::Doors;
use super::parts::{calls, end_of, first_argument, inside};
use crate::effect::{Actor, Effect, Kind};
use crate::scene::Scene;
use crate::tag::Tag;
use crate::value::Value;

impl Doors<'_> {
    /// Deletions of a whole home.
    pub(super) fn delete_homes(&self, scene: &Scene<'_>, found: &mut Vec<Effect>) {
        let (code, clean) = (self.text.code.as_str(), self.text.clean.as_str());
        for (at, _) in code.match_indices('(') {
            let before = end_of(code.get(..at).unwrap_or(""));
            let before = before.trim_end_matches('!');
            let name = before.rsplit([':', '>']).next().unwrap_or(before);
            let by_name = name.rsplit('.').next().unwrap_or(name);
            if !calls(&self.table.deletes, name) && !calls(&self.table.deletes, by_name) {
                continue;
            }
            let arguments = inside(code.get(at + 1..).unwrap_or(""));
            let length = first_argument(arguments).len();
            let first = clean.get(at + 1..at + 1 + length).unwrap_or("");
            let first = first.split(';').next().unwrap_or("").trim();
            // `dir: home`, `recursive: true`
            let first = first.split_once(": ").map_or(first, |(_, value)| value);
            let receiver = || {
                let line = clean.get(..at).unwrap_or("");
                let line = line.rsplit(['\n', ';', '=']).next().unwrap_or("");
                line.trim_end().strip_suffix(by_name).unwrap_or("").trim()
            };
            if self.is_whole_home(first) || self.is_whole_home(receiver()) {
                let shown = crate::json::shorten(before.trim(), 100);
                let actor = Actor::new(by_name.trim(), &shown).and(Tag::Recursive);
                found.push(actor.does(Kind::Delete).at(scene.place(&Value::known("~"))));
            }
        }
        self.delete_by_word(scene, found);
    }

    /// `delete home`, without brackets.
    fn delete_by_word(&self, scene: &Scene<'_>, found: &mut Vec<Effect>) {
        for line in self.text.clean.lines() {
            // `home >>= delete`
            let (line, handed) = match line.split_once(">>=") {
                Some((home, delete)) => (home, delete.split_whitespace().next()),
                None => (line, None),
            };
            let handed = handed.is_some_and(|word| self.table.deletes.iter().any(|d| d == word));
            if handed && self.is_whole_home(line.trim()) {
                let actor = Actor::new("file", line.trim()).and(Tag::Recursive);
                found.push(actor.does(Kind::Delete).at(scene.place(&Value::known("~"))));
            }
            let Some((word, rest)) = line.trim().split_once(' ') else {
                continue;
            };
            let by_word = self.table.deletes.iter().any(|name| name == word);
            if by_word && self.is_whole_home(rest) {
                let shown = crate::json::shorten(line.trim(), 100);
                let actor = Actor::new(word, &shown).and(Tag::Recursive);
                found.push(actor.does(Kind::Delete).at(scene.place(&Value::known("~"))));
            }
        }
    }

    /// Whether an expression is somebody's home and nothing in it.
    fn is_whole_home(&self, expression: &str) -> bool {
        let home = self.table.homes.iter().find_map(|home| {
            let (before, after) = expression.split_once(home.as_str())?;
            let joined = |c: char| c.is_alphanumeric() || c == '_';
            (!before.ends_with(joined) && !after.starts_with(joined)).then_some((before, after))
        });
        let Some((before, after)) = home else {
            return false;
        };
        let goes_on = |text: &str| {
            text.contains(['"', '\'', '`', '+', '/', ',', '|', '&', '='])
                || text.contains("join")
                || text.contains("resolve")
                || text.contains("parent")
        };
        let after = after.trim_start_matches(['"', '\'', ')', ']', '}', '(']);
        let before = before.trim_end_matches(['"', '\'']);
        !goes_on(before) && !goes_on(after)
    }
}
