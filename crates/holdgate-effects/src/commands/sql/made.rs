//! Statements that are put together and then run: `execute 'dr' || 'op table x'`, `select format(…)
//! \gexec`, `prepare s from concat(…)`.

use crate::value::HOLE;

/// Pieces of one text that are looked at.
const MAX_TOKENS: usize = 4096;
/// Calls in calls.
const MAX_DEPTH: usize = 8;
/// Statements that one text may put together.
const MAX_MADE: usize = 32;

/// Whether a text puts statements together at all.
pub(super) fn puts_together(text: &str) -> bool {
    ["execute", "\\gexec", "prepare", "exec(", "exec "]
        .iter()
        .any(|word| text.contains(word))
}

/// The statements that `text` (in lower case) puts together, with holes for what is not known.
pub(super) fn statements(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut select = None;
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else {
            continue;
        };
        let start = match *word {
            "select" => {
                select = Some(at + 1);
                None
            }
            "\\gexec" => select.take(),
            "execute" if matches!(tokens.get(at + 1), Some(Token::Word("immediate"))) => {
                Some(at + 2)
            }
            "execute" | "exec" | "sp_executesql" => Some(at + 1),
            // `prepare name from …`
            "from" if at > 1 && matches!(tokens.get(at - 2), Some(Token::Word("prepare"))) => {
                Some(at + 1)
            }
            _ => None,
        };
        if let Some(start) = start {
            let rest = tokens.get(start..).unwrap_or(&[]);
            let mut reader = Reader {
                tokens: rest,
                at: 0,
            };
            found.push(reader.expression(0));
        }
        if found.len() == MAX_MADE {
            break;
        }
    }
    found.retain(|statement| !statement.is_empty());
    found
}

/// Whether nobody can tell what a statement does: even its first word is not known.
pub(super) fn is_unknown(statement: &str) -> bool {
    let first = statement.split_whitespace().next().unwrap_or("");
    first.contains(HOLE)
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token<'t> {
    Text(String),
    Word(&'t str),
    Mark(char),
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if tokens.len() == MAX_TOKENS {
            break;
        }
        let after = rest.get(first.len_utf8()..).unwrap_or("");
        let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        if first == '\'' {
            let (literal, behind) = literal(after);
            tokens.push(Token::Text(literal));
            rest = behind;
        } else if in_word(first) || first == '\\' {
            let end = after.find(|c| !in_word(c)).unwrap_or(after.len());
            let (word, behind) = rest
                .split_at_checked(first.len_utf8() + end)
                .unwrap_or((rest, ""));
            tokens.push(Token::Word(word));
            rest = behind;
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Mark(first));
            }
            rest = after;
        }
    }
    tokens
}

/// A text up to its closing quote, where two quotes are one, and what stands behind it.
fn literal(text: &str) -> (String, &str) {
    let mut whole = String::new();
    let mut rest = text;
    loop {
        let (part, behind) = rest.split_once('\'').unwrap_or((rest, ""));
        whole.push_str(part);
        let Some(next) = behind.strip_prefix('\'') else {
            return (whole, behind);
        };
        whole.push('\'');
        rest = next;
    }
}

struct Reader<'t, 'r> {
    tokens: &'r [Token<'t>],
    at: usize,
}

impl<'t> Reader<'t, '_> {
    fn peek(&self) -> Option<&Token<'t>> {
        self.tokens.get(self.at)
    }

    fn takes(&mut self, mark: char) -> bool {
        let is = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(is);
        is
    }

    /// `'a' || b + c`
    fn expression(&mut self, depth: usize) -> String {
        let mut whole = self.term(depth);
        while self.at < self.tokens.len() {
            let joins = self.takes('+') || (self.takes('|') && self.takes('|'));
            if !joins {
                break;
            }
            whole.push_str(&self.term(depth));
        }
        whole
    }

    fn term(&mut self, depth: usize) -> String {
        let unknown = HOLE.to_string();
        let Some(token) = self.peek().cloned() else {
            return String::new();
        };
        self.at += 1;
        match token {
            Token::Text(text) => text,
            Token::Mark('(') if depth < MAX_DEPTH => {
                let inner = self.expression(depth + 1);
                self.takes(')');
                inner
            }
            // `e'text'`, `n'text'`
            Token::Word("e" | "n" | "u") if matches!(self.peek(), Some(Token::Text(_))) => {
                self.term(depth)
            }
            Token::Word(name) if self.takes('(') && depth < MAX_DEPTH => {
                let mut arguments = Vec::new();
                while self.at < self.tokens.len() && !self.takes(')') {
                    let before = self.at;
                    arguments.push(self.expression(depth + 1));
                    self.takes(',');
                    // What is not understood is skipped.
                    self.at += usize::from(self.at == before);
                }
                called(name, &arguments)
            }
            Token::Word(_) => unknown,
            Token::Mark('@') => self.term(depth),
            Token::Mark(_) => String::new(),
        }
    }
}

/// What a function makes of its arguments.
fn called(name: &str, arguments: &[String]) -> String {
    let first = arguments.first().map_or("", String::as_str);
    match name {
        "concat" => arguments.concat(),
        "concat_ws" => arguments.get(1..).unwrap_or(&[]).join(first),
        "format" => formatted(first, arguments.get(1..).unwrap_or(&[])),
        "lower" | "upper" | "trim" | "quote_ident" | "quote_literal" => first.to_owned(),
        "reverse" => first.chars().rev().collect(),
        "replace" => match arguments {
            [text, from, to] if !from.is_empty() => text.replace(from.as_str(), to),
            _ => first.to_owned(),
        },
        _ => HOLE.to_string(),
    }
}

/// `format('%s table %I', …)`
fn formatted(form: &str, arguments: &[String]) -> String {
    let mut arguments = arguments.iter();
    let mut out = String::new();
    let mut chars = form.chars();
    while let Some(char) = chars.next() {
        if char != '%' {
            out.push(char);
            continue;
        }
        match chars.next() {
            Some('%') => out.push('%'),
            Some(_) => match arguments.next() {
                Some(argument) => out.push_str(argument),
                None => out.push(HOLE),
            },
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_put_together() {
        let made = |text: &str| statements(text).join("; ");
        assert_eq!(made("execute 'dr' || 'op table x';"), "drop table x");
        assert_eq!(
            made("do $$ begin execute format('%s table %i', 'drop', 'x'); end $$"),
            "drop table x"
        );
        assert_eq!(
            made("prepare s from concat('dr', 'op table x'); "),
            "drop table x"
        );
        assert_eq!(
            made("select format('%s database %i', 'dr'||'op', 'app') \\gexec"),
            "drop database app"
        );
        assert_eq!(made("exec('tru' + 'ncate table x')"), "truncate table x");
        assert!(is_unknown(&made("execute stmt;")));
        assert!(!is_unknown(&made("execute 'analyze ' || name;")));
        assert_eq!(made("select 1"), "");
    }
}
