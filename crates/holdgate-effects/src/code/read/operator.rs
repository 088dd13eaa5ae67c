//! Operators and numbers.

use crate::code::Language;
use crate::code::lex::Kind;
use crate::code::thing::AbstractValue;

/// Whether a token joins what stands before and behind it.
pub(super) fn is_operator(language: Language, word: &str, kind: Kind) -> bool {
    use Language::{JavaScript, Lua, Perl, Php, Python, Ruby};
    if kind == Kind::Name {
        return match word {
            "or" | "and" => matches!(language, Python | Ruby | Lua | Perl | Php),
            "in" => matches!(language, Python | JavaScript),
            "is" | "not" | "if" | "else" => language == Python,
            "instanceof" => matches!(language, JavaScript | Php),
            "x" | "eq" | "ne" => language == Perl,
            _ => false,
        };
    }
    match word {
        "." => matches!(language, Perl | Php | Language::Compiled),
        "?" | ":" => matches!(
            language,
            JavaScript | Php | Perl | Ruby | Language::Compiled
        ),
        ".." | "+" | "-" | "*" | "/" | "%" | "**" | "//" | "<<" | ">>" | "|" | "&" | "^" | "||"
        | "&&" | "??" | "==" | "===" | "!=" | "!==" | "<" | ">" | "<=" | ">=" | "=~" | "!~"
        | "<=>" => true,
        _ => false,
    }
}

/// Two whole numbers, joined.
pub(super) fn arithmetic(word: &str, a: i64, b: i64) -> Option<i64> {
    match word {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "^" => Some(a ^ b),
        "|" => Some(a | b),
        "&" => Some(a & b),
        "%" => a.checked_rem_euclid(b),
        "/" | "//" => a.checked_div(b),
        "<<" => a.checked_shl(u32::try_from(b).ok()?),
        ">>" => a.checked_shr(u32::try_from(b).ok()?),
        _ => None,
    }
}

/// A number as it is written.
pub(super) fn number(text: &str) -> AbstractValue {
    let plain = text.replace('_', "");
    let lower = plain.to_ascii_lowercase();
    let radix = [("0x", 16), ("0o", 8), ("0b", 2)];
    let marked = radix
        .iter()
        .find_map(|(mark, radix)| Some((lower.strip_prefix(mark)?, *radix)));
    // `04755`, as C, Perl, Ruby and PHP write modes.
    let octal =
        lower.len() > 3 && lower.starts_with('0') && lower.bytes().all(|b| b.is_ascii_digit());
    let (digits, radix) = marked.unwrap_or((&lower, if octal { 8 } else { 10 }));
    let parsed = i64::from_str_radix(digits, radix);
    parsed.map_or_else(|_| AbstractValue::text(text), AbstractValue::Number)
}
