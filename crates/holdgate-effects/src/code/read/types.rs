//! Types of `TypeScript`, which run nothing and are left out.

use super::Reader;
use crate::code::lex::Kind;

/// A type with more tokens than this is not looked through.
const MAX_TOKENS: usize = 96;

impl Reader<'_, '_, '_> {
    /// Where the type ends that starts at `at`.
    pub(super) fn type_end(&self, at: usize, end: usize) -> usize {
        let mut at = at;
        for _ in 0..MAX_TOKENS {
            let Some(token) = self.token_at(at).filter(|_| at < end) else {
                return at;
            };
            let prefix = match token.kind {
                Kind::Name => matches!(
                    token.text,
                    "typeof" | "keyof" | "readonly" | "unique" | "infer" | "asserts" | "new"
                ),
                Kind::Mark => matches!(token.text, "|" | "&" | "-"),
                Kind::Number | Kind::Text(_) | Kind::Line(_) => false,
            };
            if prefix {
                at += 1;
                continue;
            }
            at = match token.kind {
                Kind::Mark if matches!(token.text, "(" | "[" | "{") => self.close_of(at, end) + 1,
                Kind::Name | Kind::Number | Kind::Text(_) => at + 1,
                Kind::Mark | Kind::Line(_) => return at,
            };
            at = self.type_suffix_end(at, end);
            // A function's type goes on behind its arrow, unless that starts a body.
            let of_function = token.is_mark("(") && self.is_mark(at, "=>");
            let next = at
                + usize::from(matches!(
                    self.token_at(at).map(|t| t.kind),
                    Some(Kind::Line(_))
                ));
            if of_function {
                at += 1;
            } else if next < end
                && (self.is_mark(next, "|")
                    || self.is_mark(next, "&")
                    || self.name_at(next) == Some("is"))
            {
                at = next + 1;
            } else {
                return at;
            }
        }
        at
    }

    /// Where `.Member`, `<Type>` and `[]` end that follow a type.
    fn type_suffix_end(&self, at: usize, end: usize) -> usize {
        let mut at = at;
        while at < end {
            if self.is_mark(at, ".") && self.name_at(at + 1).is_some() {
                at += 2;
            } else if self.is_mark(at, "[") {
                at = self.close_of(at, end) + 1;
            } else if let Some(after) = self.type_arguments_end(at, end) {
                at = after;
            } else {
                break;
            }
        }
        at
    }

    /// Where the `<…>` ends that starts at `at`, if it can be a list of types.
    pub(super) fn type_arguments_end(&self, at: usize, end: usize) -> Option<usize> {
        if !self.is_mark(at, "<") {
            return None;
        }
        let mut depth = 0usize;
        let mut at = at;
        for _ in 0..MAX_TOKENS {
            let token = self.token_at(at).filter(|_| at < end)?;
            if token.kind == Kind::Mark {
                match token.text {
                    "<" => depth += 1,
                    ">" | ">>" => {
                        depth = depth.checked_sub(token.text.len())?;
                        if depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    "(" | "[" | "{" => at = self.close_of(at, end),
                    "." | "," | "|" | "&" | "?" | ":" | "=>" | "=" | "..." | "-" => {}
                    _ => return None,
                }
            }
            at += 1;
        }
        None
    }
}
