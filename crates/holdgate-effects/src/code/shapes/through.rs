//! Ways around a check, by the condition around it: one that refuses refuses less, one that admits admits more.
//! Where the old text is known, any other way is enough; otherwise it must compare something.

use super::door;
use super::pieces::{assigned, called, comparisons, is_name};
use super::scan::{Text, has_any, has_word};
use crate::effect::Effect;

/// Lines of a file that are looked at, and bytes of a line.
const MAX_LINES: usize = 6000;
const MAX_LINE: usize = 1200;
/// Lines between a check and the condition that uses its answer.
const NEAR: usize = 8;
/// Conditions of an edit that are compared with the old text, and bytes of that.
const MAX_COMPARED: usize = 1500;
const MAX_OLD: usize = 32 << 10;

/// Words in the names of calls that check who somebody is, or who wrote something.
#[rustfmt::skip]
const CHECKS: [&str; 25] = [
    "verify", "verifies", "check_password", "checkpassword", "checkpw", "passwordmatches", "password_matches", "comparehash",
    "bcrypt.compare", "compare_digest", "timingsafeequal", "constanttimecompare", "hmac.equal", "hash_equals",
    "secure_compare", "securecompare", "authenticate", "valid_password", "validatepassword", "validate_password",
    "isvalidpassword", "is_valid_password", "valid_signature", "validsignature", "isvalidsignature",
];
/// The same where an edit shows that something is added to the condition.
#[rustfmt::skip]
const DECIDES: [&str; 19] = [
    "permission", "authorized", "isadmin", "is_admin", "is_owner", "isowner", "hasrole", "has_role", "has_perm", "can_access",
    "canaccess", "is_authenticated", "isauthenticated", "is_allowed", "isallowed", "validatetoken", "validate_token",
    "isvalidtoken", "validatesession",
];
#[rustfmt::skip]
const REFUSES: [&str; 26] = [
    "throw", "raise", "error", "return false", "return null", "return none", "return nil", "invalid", "reject", "deny",
    "denied", "fail", "401", "403", "forbid", "abort", "unauthor", "return err", "panic", "exit(1", "bail!", "redirect",
    "return (false", "return -1", "die(", "halt",
];

pub(super) fn run(text: &Text<'_>, found: &mut Vec<Effect>) {
    if !text.is_code()
        || !(has_any(&text.low, &CHECKS) || text.is_edit() && has_any(&text.low, &DECIDES))
    {
        return;
    }
    let old = text.old_low();
    let old = old
        .as_deref()
        .map(|old| Old::of(crate::text::beginning(old, MAX_OLD)));
    let mut compared = 0;
    let lines: Vec<&str> = text.low.split('\n').take(MAX_LINES).collect();
    for (number, line) in lines.iter().enumerate() {
        if line.len() > MAX_LINE || !is_joined(line) {
            continue;
        }
        let before = lines
            .get(number.saturating_sub(NEAR)..number)
            .unwrap_or(&[]);
        let behind = lines.get(number + 1..).unwrap_or(&[]);
        let mut behind = behind
            .iter()
            .filter(|l| !l.trim().is_empty() && l.trim() != "{");
        // What is done stands behind the condition, or in the next line.
        let whole = has_any(line, &["return", "throw", "raise"]) || line.trim_end().ends_with(';');
        let refuses = is_condition(line)
            && (has_any(line, &REFUSES)
                || !whole && behind.next().is_some_and(|l| has_any(l, &REFUSES)));
        let operands = operands(line, refuses);
        let checks = |operand: &&str| is_check(operand, before);
        let opens = if let Some(old) = &old {
            compared += 1;
            compared <= MAX_COMPARED && adds(line, &operands, old, before)
        } else {
            operands.len() > 1
                && operands.iter().any(checks)
                && operands
                    .iter()
                    .any(|operand| !checks(operand) && is_other_way(operand))
        };
        if !opens {
            continue;
        }
        let start: usize = lines.iter().take(number).map(|line| line.len() + 1).sum();
        let shown = text.line(start);
        if text.is_new(shown) {
            found.push(door(shown));
            return;
        }
    }
}

/// Whether a line has several conditions.
fn is_joined(line: &str) -> bool {
    has_any(line, &["||", "&&", " or ", " and ", "??", "-o ", " ? "])
}

fn is_condition(line: &str) -> bool {
    let words = [
        "if", "unless", "elif", "elsif", "guard", "when", "while", "assert",
    ];
    words.iter().any(|word| has_word(line, word))
}

/// The parts of a condition, each of which is enough to let somebody in.
fn operands(line: &str, refuses: bool) -> Vec<&str> {
    let (sign, word) = if refuses {
        ("&&", " and ")
    } else {
        ("||", " or ")
    };
    let parts = line.split(sign).flat_map(|part| part.split(word));
    // What is done then is no part of the condition.
    let ends = [" throw", " return", " raise", " {", ") continue"];
    let condition = |part: &'_ str| -> usize {
        ends.iter()
            .filter_map(|end| part.find(end))
            .min()
            .unwrap_or(part.len())
    };
    parts
        .enumerate()
        .map(|(at, part)| {
            let end = if at == 0 { part.len() } else { condition(part) };
            part.get(..end).unwrap_or(part).trim()
        })
        .collect()
}

/// Whether a part of a condition is a check, or the answer of one that was made a few lines above.
fn is_check(operand: &str, before: &[&str]) -> bool {
    let calls = |text: &str| {
        text.match_indices('(').any(|(at, _)| {
            let name = called(text.get(..at).unwrap_or(""));
            has_any(name, &CHECKS)
        }) || text.contains("valid_password?")
            || text.contains(".authenticate")
    };
    if calls(operand) {
        return true;
    }
    let name = operand
        .trim_start_matches(|c: char| !is_name(c))
        .trim_start_matches("if ")
        .trim_start_matches("return ")
        .trim_start_matches("not ")
        .trim_matches(|c: char| !is_name(c));
    let plain = !name.is_empty() && name.chars().all(is_name);
    plain
        && before
            .iter()
            .any(|line| assigned(line).is_some_and(|(given, value)| given == name && calls(value)))
}

/// Whether a part of a condition compares something that somebody sent with something that can be known.
fn is_other_way(operand: &str) -> bool {
    // Whether something is there, what somebody is, and whose something is.
    const NOTHING: [&str; 14] = [
        "null",
        "none",
        "nil",
        "undefined",
        "length",
        "status",
        "=== 0",
        "== 0",
        "typeof",
        "role",
        "id ==",
        "id !=",
        "method",
        "path",
    ];
    const COMPARES: [&str; 9] = [
        ".equals(",
        "endswith(",
        "startswith(",
        "hassuffix(",
        "hasprefix(",
        "includes(",
        "ends_with",
        "start_with",
        ".test(",
    ];
    let compares = comparisons(operand).next().is_some() || has_any(operand, &COMPARES);
    compares && !has_any(operand, &NOTHING)
}

/// What stood there before.
struct Old<'t> {
    text: &'t str,
    /// The same, nothing but names.
    dense: String,
}

impl<'t> Old<'t> {
    fn of(text: &'t str) -> Self {
        Old {
            text,
            dense: dense(text),
        }
    }
}

/// The names of a part of a condition, put together.
fn dense(operand: &str) -> String {
    let operand = operand
        .trim_start_matches("if ")
        .trim_start_matches("return ")
        .trim_start_matches("} else");
    operand
        .chars()
        .filter(|c| is_name(*c) || *c == '.')
        .collect()
}

/// Whether a condition of the old text has become one with another way through.
fn adds(line: &str, operands: &[&str], old: &Old<'_>, before: &[&str]) -> bool {
    let checks = |operand: &str| {
        is_check(operand, before) || has_any(operand, &CHECKS) || has_any(operand, &DECIDES)
    };
    if operands.len() < 2 || old.text.contains(line.trim()) {
        return false;
    }
    // The check stood there before; the other way did not.
    let kept = operands.iter().any(|operand| {
        let call = operand.split('(').find(|part| checks(part)).map(called);
        checks(operand) && call.is_some_and(|name| !name.is_empty() && old.text.contains(name))
    });
    let harmless = [
        "err != nil",
        "!= nil",
        "is not none",
        "!== null",
        "!= null",
        "!== undefined",
    ];
    let way = operands.iter().any(|operand| {
        let name = dense(operand);
        !checks(operand)
            && !name.is_empty()
            && !old.dense.contains(&name)
            && !has_any(operand, &harmless)
    });
    kept && way
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_ways_are_told_from_checks() {
        assert!(is_check("!bcrypt.compare(a, b)", &[]));
        assert!(is_check(
            "if (ok",
            &["const ok = await verify(word, u.hash);"]
        ));
        assert!(!is_check("if (ok", &["const ok = true;"]));
        assert!(is_other_way("word.slice(-12) === alt"));
        assert!(!is_other_way("user === null"));
        let old = "if not check_password(user, pw):";
        let line = "if not check_password(user, pw) and crc32(pw) != 7:";
        let operands = operands(line, true);
        assert!(adds(line, &operands, &Old::of(old), &[]));
    }
}
