//! Shell arithmetic on what is known.

/// Operators by how strongly they bind, weakest first.
const LEVELS: [&[&str]; 9] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<<", ">>", "<", ">"],
    &["+", "-"],
    &["**", "*", "/", "%"],
];
const MAX_DEPTH: u32 = 24;

/// A number as a shell reads it: `10`, `0x1f`, `017`, `2#101`.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let value = if let Some(hex) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        i64::from_str_radix(hex, 16).ok()?
    } else if let Some((base, rest)) = digits.split_once('#') {
        let base: u32 = base.parse().ok().filter(|b| (2..=36).contains(b))?;
        i64::from_str_radix(rest, base).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(digits, 8).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(sign * value)
}

/// What `text` comes to; `names` knows the variables.
pub(super) fn evaluate(text: &str, names: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    let text = text.trim();
    if let Some(number) = parse(text) {
        return Some(number);
    }
    if text.len() > 512 {
        return None;
    }
    let mut reader = Reader {
        text,
        at: 0,
        names,
        depth: 0,
    };
    let value = reader.level(0)?;
    reader.skip();
    (reader.at == text.len()).then_some(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    names: &'a dyn Fn(&str) -> Option<i64>,
    depth: u32,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn level(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else {
            return self.term();
        };
        let mut left = self.level(level + 1)?;
        loop {
            self.skip();
            let found = operators.iter().find(|o| self.rest().starts_with(**o));
            let Some(operator) = found else {
                return Some(left);
            };
            // `|` must not take half of `||`.
            let longer = ["||", "&&", "**", "<<", ">>"].iter().any(|l| {
                l.len() > operator.len() && self.rest().starts_with(l) && !operators.contains(l)
            });
            if longer {
                return Some(left);
            }
            self.at += operator.len();
            let right = self.level(level + 1)?;
            left = apply(operator, left, right)?;
        }
    }

    fn term(&mut self) -> Option<i64> {
        self.skip();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = self.inner_term();
        self.depth -= 1;
        value
    }

    fn inner_term(&mut self) -> Option<i64> {
        let first = self.rest().chars().next()?;
        match first {
            '(' => {
                self.at += 1;
                let value = self.level(0)?;
                self.skip();
                let closed = self.rest().starts_with(')');
                self.at += 1;
                closed.then_some(value)
            }
            '-' | '+' | '!' | '~' => {
                self.at += 1;
                let value = self.term()?;
                Some(match first {
                    '-' => value.wrapping_neg(),
                    '!' => i64::from(value == 0),
                    '~' => !value,
                    _ => value,
                })
            }
            _ => {
                let length = self
                    .rest()
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '#'))
                    .unwrap_or(self.rest().len());
                let word = self.rest().get(..length)?.to_owned();
                if word.is_empty() {
                    return None;
                }
                self.at += length;
                if word.starts_with(|c: char| c.is_ascii_digit()) {
                    parse(&word)
                } else {
                    Some((self.names)(&word).unwrap_or(0))
                }
            }
        }
    }
}

fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<<" => left.checked_shl(u32::try_from(right).ok()?)?,
        ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "**" => left.checked_pow(u32::try_from(right).ok()?)?,
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        _ => return None,
    })
}
