//! Loops over lists: what their variables hold.

use super::{Reader, names};
use crate::code::Language;
use crate::code::lex::{Kind, Token};
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;

impl Reader<'_, '_, '_> {
    /// `… for LIST`: what `$_` is in the statement that starts here.
    pub(super) fn bind_modifier(&mut self, end: usize) -> Fueled {
        let start = self.at;
        let ends = |token: Token<'_>| {
            token.is_mark(";") || token.is_mark("}") || matches!(token.kind, Kind::Line(_))
        };
        let mut at = start;
        while at < end.min(start + 64) && self.token_at(at).is_some_and(|t| !ends(t)) {
            if at > start && matches!(self.name_at(at), Some("for" | "foreach")) {
                self.at = at + 1;
                let items = self.expression(end)?;
                self.variables.insert("$_".to_owned(), items.item());
                self.at = start;
                break;
            }
            at += 1;
        }
        Ok(())
    }

    /// `for x in list`, `for (x of list)`, `foreach (list as x)`, `for my $x (list)`.
    pub(super) fn for_loop(&mut self, end: usize) -> Fueled {
        self.at += 1;
        let start = self.at;
        if self.is_mark(start, "(") && self.is_mark(start + 1, ";") {
            self.network.endless = true;
        }
        let header = (start..end.min(start + 16)).find(|&index| {
            matches!(self.name_at(index), Some("in" | "of" | "range"))
                || self.token_at(index).is_none_or(|t| {
                    t.is_mark("{") || t.is_mark(";") || matches!(t.kind, Kind::Line(_))
                })
        });
        let separator = header.filter(|&index| self.name_at(index).is_some());
        let mut names: Vec<&str> = Vec::new();
        let items = match separator {
            Some(separator) => {
                names.extend((start..separator).filter_map(|index| self.name_at(index)));
                self.at = separator + 1;
                let in_brackets = self.is_mark(start, "(");
                let loose = std::mem::replace(&mut self.loose, in_brackets);
                let items = self.expression(end)?;
                self.loose = loose;
                items
            }
            None if self.language == Language::Php && self.is_mark(start, "(") => {
                self.at += 1;
                let items = self.expression(end)?;
                if self.name_at(self.at) == Some("as") {
                    let close = self.close_of(start, end);
                    names.extend((self.at + 1..close).filter_map(|index| self.name_at(index)));
                    self.at = close;
                }
                items
            }
            None if self.language == Language::Perl => {
                let open = (start..start + 3).find(|index| self.is_mark(*index, "("));
                let Some(open) = open else {
                    return Ok(());
                };
                names.extend((start..open).filter_map(|index| self.name_at(index)));
                self.at = open;
                let items = self.expression(end)?;
                if names.is_empty() {
                    names.push("$_");
                }
                items
            }
            None => return Ok(()),
        };
        names.retain(|name| !names::skipped(self.language, name));
        let item = items.item();
        let last = names.len().saturating_sub(1);
        for (index, name) in names.iter().enumerate() {
            let value = match item.items() {
                Some(parts) if parts.len() == names.len() => {
                    parts.get(index).cloned().unwrap_or_default()
                }
                _ if index == last => item.clone(),
                _ => AbstractValue::Nothing,
            };
            if *name != "_" {
                self.assign(name, value)?;
            }
        }
        Ok(())
    }
}
