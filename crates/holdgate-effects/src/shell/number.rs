//! Shell arithmetic on what is known.

/// Operators on two numbers by how strongly they bind, weakest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];
/// Operators that must not be taken for their first half.
const LONG: [&str; 9] = ["||", "&&", "**", "<<", ">>", "<=", ">=", "==", "!="];
const ASSIGNING: [&str; 11] = [
    "<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "=",
];
const MAX_DEPTH: u32 = 24;
/// Longer expressions are not worth following.
const MAX_LENGTH: usize = 512;
/// Variables that one expression sets.
const MAX_ASSIGNED: usize = 32;

/// What an expression comes to.
pub(super) struct Outcome {
    pub(super) value: i64,
    /// The variables that it sets on the way.
    pub(super) assigned: Vec<(String, i64)>,
}

/// A number as a shell reads it: `10`, `0x1f`, `017`, `2#101`.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let is_digit = |c: char| c.is_ascii_alphanumeric() || c == '#';
    if !digits.chars().all(is_digit) {
        return None;
    }
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    let value = if let Some(hex) = hex {
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

/// What `text` comes to; `names` knows the variables. `None` if that cannot be known.
pub(super) fn evaluate(text: &str, names: &dyn Fn(&str) -> Option<i64>) -> Option<Outcome> {
    let text = text.trim();
    if text.len() > MAX_LENGTH {
        return None;
    }
    let mut reader = Reader {
        text,
        at: 0,
        names,
        assigned: Vec::new(),
        depth: 0,
    };
    let value = if text.is_empty() { 0 } else { reader.all()? };
    reader.skip();
    let assigned = reader.assigned;
    (reader.at == text.len()).then_some(Outcome { value, assigned })
}

/// The variables that `text` sets, whatever it comes to.
pub(super) fn assigned_in(text: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let steps = ["++", "--"];
    let mut found = Vec::new();
    let mut before = "";
    let mut rest = text;
    while let Some(start) = rest.find(is_name).filter(|_| found.len() < MAX_ASSIGNED) {
        let (between, from) = rest.split_at_checked(start).unwrap_or_default();
        if !between.trim().is_empty() {
            before = between.trim();
        }
        let end = from.find(|c| !is_name(c)).unwrap_or(from.len());
        let (name, after) = from.split_at_checked(end).unwrap_or_default();
        rest = after;
        let after = after.trim_start();
        let is_set = ASSIGNING.iter().any(|o| after.starts_with(o)) && !after.starts_with("==");
        let steps = steps
            .iter()
            .any(|s| after.starts_with(s) || before.ends_with(s));
        if (is_set || steps) && !name.starts_with(|c: char| c.is_ascii_digit()) {
            found.push(name);
        }
    }
    found
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    names: &'a dyn Fn(&str) -> Option<i64>,
    assigned: Vec<(String, i64)>,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// `a, b`
    fn all(&mut self) -> Option<i64> {
        let mut value = self.deeper(Self::assignment)?;
        while self.eat(",") {
            value = self.deeper(Self::assignment)?;
        }
        Some(value)
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Option<i64>) -> Option<i64> {
        self.depth += 1;
        let value = if self.depth > MAX_DEPTH {
            None
        } else {
            read(self)
        };
        self.depth -= 1;
        value
    }

    /// `x = 1`, `x += 1`
    fn assignment(&mut self) -> Option<i64> {
        let start = self.at;
        if let Some(name) = self.name() {
            self.skip();
            let rest = self.rest();
            let operator = ASSIGNING.iter().find(|o| rest.starts_with(**o));
            if let Some(operator) = operator.filter(|_| !rest.starts_with("==")) {
                self.at += operator.len();
                let right = self.deeper(Self::assignment)?;
                let value = match operator.strip_suffix('=') {
                    Some("") | None => right,
                    Some(operator) => apply(operator, self.value_of(name)?, right)?,
                };
                self.assigned.push((name.to_owned(), value));
                return Some(value);
            }
            self.at = start;
        }
        self.choice()
    }

    /// `a ? b : c`
    fn choice(&mut self) -> Option<i64> {
        let condition = self.level(0)?;
        if !self.eat("?") {
            return Some(condition);
        }
        let before = self.assigned.len();
        let first = self.all()?;
        let after_first = self.assigned.split_off(before);
        if !self.eat(":") {
            return None;
        }
        let second = self.assignment()?;
        if condition == 0 {
            return Some(second);
        }
        self.assigned.truncate(before);
        self.assigned.extend(after_first);
        Some(first)
    }

    fn level(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else {
            return self.power();
        };
        let mut left = self.level(level + 1)?;
        loop {
            self.skip();
            let rest = self.rest();
            let found = operators.iter().find(|o| rest.starts_with(**o));
            let longer = |own: &&str| {
                LONG.iter()
                    .any(|l| l.len() > own.len() && rest.starts_with(l))
            };
            let Some(operator) = found.filter(|o| !longer(o)) else {
                return Some(left);
            };
            self.at += operator.len();
            let before = self.assigned.len();
            let right = self.level(level + 1)?;
            let decided = match *operator {
                "&&" => left == 0,
                "||" => left != 0,
                _ => false,
            };
            if decided {
                // What need not be known is not run.
                self.assigned.truncate(before);
            }
            left = apply(operator, left, right)?;
        }
    }

    fn power(&mut self) -> Option<i64> {
        let left = self.term()?;
        if !self.eat("**") {
            return Some(left);
        }
        let right = self.deeper(Self::power)?;
        apply("**", left, right)
    }

    fn term(&mut self) -> Option<i64> {
        self.skip();
        self.deeper(Self::inner_term)
    }

    fn inner_term(&mut self) -> Option<i64> {
        for (step, token) in [(1, "++"), (-1, "--")] {
            if self.rest().starts_with(token) {
                self.at += token.len();
                self.skip();
                let name = self.name()?;
                let value = self.value_of(name)?.wrapping_add(step);
                self.assigned.push((name.to_owned(), value));
                return Some(value);
            }
        }
        let first = self.rest().chars().next()?;
        match first {
            '(' => {
                self.at += 1;
                let value = self.all()?;
                self.eat(")").then_some(value)
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
            _ if first.is_ascii_digit() => {
                let is_digit = |c: char| c.is_ascii_alphanumeric() || c == '#' || c == '_';
                let rest = self.rest().trim_start_matches(is_digit);
                let word = self.rest().strip_suffix(rest)?;
                self.at += word.len();
                parse(word)
            }
            _ => {
                let name = self.name()?;
                let value = self.value_of(name)?;
                for (step, token) in [(1, "++"), (-1, "--")] {
                    if self.eat(token) {
                        self.assigned
                            .push((name.to_owned(), value.wrapping_add(step)));
                        break;
                    }
                }
                Some(value)
            }
        }
    }

    /// A variable's name; elements of arrays are not followed.
    fn name(&mut self) -> Option<&'a str> {
        self.skip();
        let rest = self.rest();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let name = rest.get(..length)?;
        let indexed = rest.get(length..)?.starts_with('[');
        if name.is_empty() || indexed || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.at += length;
        Some(name)
    }

    fn value_of(&self, name: &str) -> Option<i64> {
        match self.assigned.iter().rev().find(|(own, _)| own == name) {
            Some((_, value)) => Some(*value),
            None => (self.names)(name),
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
