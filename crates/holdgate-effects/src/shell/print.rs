//! What `echo` and `printf` print.

use super::escape::{self, Style};
use super::number;
use crate::fuel::{Fuel, OutOfFuel};
use crate::value::{HOLE, HOLE_STR, MAX_VALUE, Value};

/// Wider columns are not worth following.
const MAX_WIDTH: usize = 256;

pub(super) fn echo(arguments: &[Value]) -> Value {
    let is_option = |w: &&Value| {
        w.text
            .strip_prefix('-')
            .is_some_and(|o| !o.is_empty() && o.chars().all(|c| matches!(c, 'n' | 'e' | 'E')))
    };
    let options = arguments.iter().take_while(is_option);
    let letters: String = options.clone().map(|o| o.text.as_str()).collect();
    let mut value = Value::join(arguments.get(options.count()..).unwrap_or(&[]), " ");
    let escapes = letters.rfind(['e', 'E']).and_then(|at| letters.get(at..));
    let mut ended = false;
    if escapes.is_some_and(|o| o.starts_with('e')) {
        (value.text, ended) = escape::decode_all(&value.text, Style::Echo);
    }
    if !ended && !letters.contains('n') {
        value.push_text("\n");
    }
    value
}

/// `printf format arguments…`, the format used again while there are arguments.
pub(super) fn printf(arguments: &[Value], fuel: &Fuel) -> Result<Value, OutOfFuel> {
    let Some((format, mut rest)) = arguments.split_first() else {
        return Ok(Value::default());
    };
    let mut printer = Printer::default();
    loop {
        fuel.spend_on(64 + format.text.len())?;
        let used = printer.print(&format.text, rest);
        for argument in rest.iter().take(used) {
            fuel.spend_on(64 + argument.text.len())?;
        }
        rest = rest.get(used..).unwrap_or(&[]);
        if used == 0 || rest.is_empty() || printer.ended {
            break;
        }
    }
    let mut output = Value::known(String::from_utf8_lossy(&printer.bytes));
    for argument in arguments {
        output.taint(argument);
    }
    Ok(output)
}

#[derive(Default)]
struct Printer {
    /// Bytes, for a character may be written as several escapes.
    bytes: Vec<u8>,
    /// After `\c` nothing more is printed.
    ended: bool,
}

impl Printer {
    fn push(&mut self, text: &str) {
        if self.bytes.len() + text.len() <= MAX_VALUE {
            self.bytes.extend(text.as_bytes());
        } else {
            self.bytes.extend(HOLE.encode_utf8(&mut [0; 4]).as_bytes());
            self.ended = true;
        }
    }

    /// Prints the format once. Returns how many arguments it took.
    fn print(&mut self, format: &str, arguments: &[Value]) -> usize {
        let mut used = 0;
        let mut rest = format;
        while let Some(at) = rest.find(['%', '\\']) {
            let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
            self.push(before);
            let (mark, after) = after.split_at_checked(1).unwrap_or_default();
            if mark == "\\" {
                let length = escape::decode(after, Style::Format, &mut self.bytes);
                rest = after.get(length.unwrap_or(0)..).unwrap_or("");
                continue;
            }
            if let Some(after) = after.strip_prefix('%') {
                self.push("%");
                rest = after;
                continue;
            }
            let is_flag = |c: char| c.is_ascii_digit() || "-+.# *'".contains(c);
            let end = after.find(|c| !is_flag(c)).unwrap_or(after.len());
            let (flags, after) = after.split_at_checked(end).unwrap_or_default();
            let after = after.trim_start_matches(['h', 'j', 'l', 'L', 't', 'z']);
            let kind = after.chars().next().unwrap_or(HOLE);
            rest = match kind {
                // The time, as it says up to the bracket.
                '(' => after.split_once(")T").map_or("", |(_, rest)| rest),
                _ => after.get(kind.len_utf8()..).unwrap_or(""),
            };
            // A width may be an argument too.
            used += flags.matches('*').count();
            let argument = arguments.get(used).map_or("", |a| a.text.as_str());
            used += 1;
            let text = self.converted(kind, argument);
            let text = text.and_then(|text| padded(text, flags, kind));
            self.push(text.as_deref().unwrap_or(HOLE_STR));
            if self.ended {
                return used;
            }
        }
        self.push(rest);
        used
    }

    fn converted(&mut self, kind: char, argument: &str) -> Option<String> {
        let number = || {
            let known = !argument.contains(HOLE);
            known.then(|| integer(argument)).flatten()
        };
        Some(match kind {
            's' => argument.to_owned(),
            'b' => {
                let (text, ended) = escape::decode_all(argument, Style::Argument);
                self.ended |= ended;
                text
            }
            'c' => {
                let first = argument.chars().next();
                let first = first.filter(char::is_ascii);
                first.map(String::from)?
            }
            'd' | 'i' => number()?.to_string(),
            'u' => number()?.cast_unsigned().to_string(),
            'x' => format!("{:x}", number()?),
            'X' => format!("{:X}", number()?),
            'o' => format!("{:o}", number()?),
            'q' => quoted(argument)?,
            _ => return None,
        })
    }
}

/// A number as printf reads it: `10`, `0x1f`, `017`, or the code of a character, `'a`.
fn integer(text: &str) -> Option<i64> {
    if let Some(char) = text.strip_prefix(['\'', '"']) {
        return char.chars().next().map(|c| i64::from(u32::from(c)));
    }
    let text = text.trim_start();
    match text.strip_prefix('+').unwrap_or(text) {
        "" => text.is_empty().then_some(0),
        digits if digits.contains('#') => None,
        digits => number::parse(digits),
    }
}

/// `%5s`, `%-5s`, `%03d`, `%.2s`; `None` for what is rarer.
fn padded(text: String, flags: &str, kind: char) -> Option<String> {
    if flags.is_empty() {
        return Some(text);
    }
    let (width, precision) = match flags.split_once('.') {
        Some((width, precision)) => (width, Some(precision)),
        None => (flags, None),
    };
    let left = width.starts_with('-');
    let width = width.strip_prefix('-').unwrap_or(width);
    let zeros = width.starts_with('0') && !left;
    let wanted: usize = match width.trim_start_matches('0') {
        "" => 0,
        digits => digits.parse().ok().filter(|w| *w <= MAX_WIDTH)?,
    };
    // Some count bytes and some count characters.
    if !text.is_ascii() {
        return None;
    }
    let is_text = matches!(kind, 's' | 'b' | 'c' | 'q');
    let text = match (precision, kind) {
        (None, _) => text,
        (Some(""), 's' | 'b') => String::new(),
        (Some(most), 's' | 'b') => text.chars().take(most.parse().ok()?).collect(),
        (Some(_), _) => return None,
    };
    let fill = |with: &str| with.repeat(wanted.saturating_sub(text.len()));
    Some(if left {
        format!("{text}{}", fill(" "))
    } else if zeros && !is_text {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text.as_str()),
        };
        format!("{sign}{}{digits}", fill("0"))
    } else {
        format!("{}{text}", fill(" "))
    })
}

/// `%q`: so that a shell reads it back.
fn quoted(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("''".to_owned());
    }
    let mut out = String::new();
    for char in text.chars() {
        match char {
            _ if char.is_ascii_alphanumeric() || "_-./:=@%+".contains(char) => out.push(char),
            HOLE => out.push(HOLE),
            _ if " \"'\\|&;()<>*[]?$`!{}".contains(char) => out.extend(['\\', char]),
            _ => return None,
        }
    }
    Some(out)
}
