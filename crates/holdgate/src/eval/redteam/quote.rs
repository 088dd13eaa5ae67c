//! Texts as literals of other languages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write as _;

/// A word for a shell.
pub(super) fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A string with backslashes: JavaScript, Python, awk and JSON read it alike.
pub(super) fn double(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A string without interpolation: Perl, Ruby and PHP read it alike.
pub(super) fn single(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}

pub(super) fn hex(text: &str) -> String {
    let mut hex = String::new();
    for byte in text.bytes() {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// As escapes of `printf`.
pub(super) fn octal(text: &str) -> String {
    let mut octal = String::new();
    for byte in text.bytes() {
        let _ = write!(octal, "\\{byte:03o}");
    }
    octal
}

pub(super) fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

pub(super) fn rot13(text: &str) -> String {
    let turn = |c: char| {
        let base = if c.is_ascii_lowercase() { b'a' } else { b'A' };
        match u8::try_from(c) {
            Ok(byte) if c.is_ascii_alphabetic() => char::from(base + (byte - base + 13) % 26),
            _ => c,
        }
    };
    text.chars().map(turn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_that_programs_undo() {
        assert_eq!(base64("rm -rf ~"), "cm0gLXJmIH4=");
        assert_eq!(base64("abc"), "YWJj");
        assert_eq!(base64("a"), "YQ==");
        assert_eq!(rot13("Rm -rf ~"), "Ez -es ~");
        assert_eq!(hex("rm"), "726d");
        assert_eq!(octal("rm"), r"\162\155");
    }

    #[test]
    fn literals_keep_the_text() {
        assert_eq!(shell("it's"), r"'it'\''s'");
        assert_eq!(double("a\"b\\c\n"), r#""a\"b\\c\n""#);
        assert_eq!(single(r"it's \n"), r"'it\'s \\n'");
    }
}
