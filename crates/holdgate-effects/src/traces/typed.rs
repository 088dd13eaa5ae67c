//! What was typed into terminals that stay open: their shells remember it.

/// Terminals that are kept, and bytes of each.
const MAX_TERMINALS: usize = 8;
const MAX_BYTES: usize = 4 << 10;

/// The last keys of each terminal, those typed into last at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Typed(Vec<(String, String)>);

impl Typed {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was typed into this terminal before.
    pub(crate) fn before(&self, terminal: &str) -> &str {
        let known = self.0.iter().find(|(name, _)| name == terminal);
        known.map_or("", |(_, keys)| keys)
    }

    /// These keys were typed. What is too old is forgotten, by whole lines as far as there are any.
    pub(crate) fn note(&mut self, terminal: &str, keys: &str) {
        let known = self.0.iter().position(|(name, _)| name == terminal);
        let (name, mut all) = known.map_or_else(
            || (terminal.to_owned(), String::new()),
            |at| self.0.remove(at),
        );
        all.push_str(keys);
        if let Some(over) = all.len().checked_sub(MAX_BYTES) {
            let over = all.ceil_char_boundary(over);
            let rest = all.get(over..).unwrap_or_default();
            let line = rest.find(['\n', '\r']).map_or(0, |end| end + 1);
            all.drain(..over + line);
        }
        self.0.push((name, all));
        if self.0.len() > MAX_TERMINALS {
            self.0.remove(0);
        }
    }

    /// About how many bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let terminals = self.0.iter();
        terminals
            .map(|(name, keys)| 64 + name.len() + keys.len())
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_told_apart_and_forgotten_by_lines() {
        let mut typed = Typed::default();
        typed.note("1", "a\n");
        typed.note("2", "b");
        typed.note("1", "c\n");
        assert_eq!((typed.before("1"), typed.before("2")), ("a\nc\n", "b"));
        for number in 0..MAX_BYTES {
            typed.note("1", &format!("echo {number}\n"));
        }
        assert!(typed.before("1").starts_with("echo "));
        assert!(typed.before("1").len() <= MAX_BYTES);
        typed.note("1", &"é".repeat(MAX_BYTES));
        assert!(typed.before("1").len() <= MAX_BYTES);
        for number in 0..20 {
            typed.note(&format!("t{number}"), "x");
        }
        assert_eq!(typed.before("1"), "");
        assert!(typed.bytes() < MAX_TERMINALS * (MAX_BYTES + 128));
    }
}
