//! Ways around a check of passwords and tokens: a second word that is taken, an answer before the check is
//! made, a user whom a header names.

use super::door;
use super::scan::{Text, has_any, has_word, quoted};
use crate::effect::Effect;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::LazyLock;

/// Lines of a file that are looked at.
const MAX_LINES: usize = 6000;
/// Nobody writes a longer line by hand.
const MAX_LINE: usize = 1200;

/// Lines ahead in which a check counts.
const CHECK_WITHIN: usize = 8;

/// Names of what somebody must know.
#[rustfmt::skip]
const KEYS: [&str; 12] = [
    "password", "passwd", "pwd", "pw", "pass", "passphrase", "passcode", "pin", "otp", "passwort", "plaintext",
    "candidate",
];
/// Calls that check it.
#[rustfmt::skip]
const CHECKS: [&str; 24] = [
    "bcrypt", "comparehash", "check_password", "checkpassword", "checkpw", "password_verify", "verify_password",
    "verifypassword", "argon2", "authenticate(", "compare_digest", "timingsafeequal", "jwt.verify", "jwtverify",
    "verifytoken", "verify_token", "scrypt", "pbkdf2", "valid_password?", "password_hash(", "passwordhasher",
    "check_password_hash", "validatepassword", "constanttimecompare",
];
#[rustfmt::skip]
const REFUSES: [&str; 12] = [
    "throw", "raise", "error", "return false", "invalid", "weak", "common", "reject", "deny", "fail", "401", "403",
];

pub(super) fn run(text: &Text<'_>, found: &mut Vec<Effect>) {
    if !text.is_code() {
        return;
    }
    let lines: Vec<&str> = text.low.split('\n').take(MAX_LINES).collect();
    let signs = signs_of(&text.low, &lines);
    for (number, (line, signs)) in lines.iter().zip(&signs).enumerate() {
        if line.len() > MAX_LINE || *signs == Signs::default() {
            continue;
        }
        let next = |count: usize| {
            lines
                .iter()
                .skip(number + 1)
                .filter(|l| !l.trim().is_empty())
                .take(count)
                .copied()
                .collect::<Vec<_>>()
        };
        let behind = next(2);
        let opens = signs.key && by_word(line, &behind)
            || signs.check && beside_check(line)
            || signs.check_ahead && before_check(line, &behind)
            || signs.mail && by_mail(line, &behind)
            || signs.header && by_header(line);
        if !opens {
            continue;
        }
        let shown = text.clean.split('\n').nth(number).unwrap_or("");
        if text.is_new(shown) {
            found.push(door(shown));
            return;
        }
    }
}

/// What a line has of what the readers below need: most lines have nothing of it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
struct Signs {
    /// One of `KEYS`, by itself or in another word.
    key: bool,
    /// One of `CHECKS`.
    check: bool,
    /// One of `CHECKS` in one of the next lines that are not empty.
    check_ahead: bool,
    mail: bool,
    header: bool,
}

/// Finds all signs in one pass.
static SIGNS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = ["@", "header"].iter().chain(&KEYS).chain(&CHECKS);
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .build(words)
        .ok()
});

/// The signs of each line of a text.
fn signs_of(text: &str, lines: &[&str]) -> Vec<Signs> {
    let Some(search) = &*SIGNS else {
        // No list of ours gives this: then every line is taken to have all.
        let all = Signs {
            key: true,
            check: true,
            check_ahead: true,
            mail: true,
            header: true,
        };
        return vec![all; lines.len()];
    };
    let mut signs = vec![Signs::default(); lines.len()];
    let mut line = 0;
    let mut end = lines.first().map_or(0, |line| line.len());
    for found in search.find_overlapping_iter(text) {
        while found.end() > end {
            line += 1;
            let Some(next) = lines.get(line) else {
                break;
            };
            end += 1 + next.len();
        }
        let Some(signs) = signs.get_mut(line) else {
            break;
        };
        match found.pattern().as_usize() {
            0 => signs.mail = true,
            1 => signs.header = true,
            word if word < 2 + KEYS.len() => signs.key = true,
            _ => signs.check = true,
        }
    }
    // How many lines ahead the next check is.
    let mut ahead = usize::MAX;
    for (signs, line) in signs.iter_mut().zip(lines).rev() {
        signs.check_ahead = ahead <= CHECK_WITHIN;
        if signs.check {
            ahead = 1;
        } else if !line.trim().is_empty() {
            ahead = ahead.saturating_add(1);
        }
    }
    signs
}

/// Whether a line, or what follows it, lets somebody in.
fn grants(line: &str, behind: &[&str]) -> bool {
    let yes = |line: &str| {
        let plain = line.trim().trim_end_matches(['}', ';', ' ']);
        has_any(
            line,
            &[
                "return true",
                "return 1",
                "return next()",
                "return ok",
                "return user",
                "authenticated = true",
                "is_admin = true",
                "isadmin = true",
                "return some(",
                "return success",
                "return nil, nil",
                ":ok,",
                "return allow",
                "grant",
                "= true",
                "signin(",
                "sign_in(",
                "login(",
                "loginuser",
                "createsession",
                "return {",
                "exit 0",
                "return yes",
                "accept(",
            ],
        ) || matches!(plain, "true" | "ok(true)" | "yes" | "next()")
    };
    let first = behind.first().copied().unwrap_or("");
    let second = behind
        .get(1)
        .copied()
        .filter(|_| !first.contains("return"))
        .unwrap_or("");
    let refused = |line: &str| has_any(line, &REFUSES);
    !refused(line)
        && !refused(first)
        && (yes(line) || yes(first) || !refused(second) && yes(second) && first.trim() == "{")
}

/// A name of what somebody must know stands in a text.
fn has_key(text: &str) -> bool {
    KEYS.iter().any(|key| has_word(text, key))
}

/// `if (pw.endsWith('#k9')) return true`, `password == "swordfish" || …`
fn by_word(line: &str, behind: &[&str]) -> bool {
    let methods = [
        ".endswith(",
        ".startswith(",
        ".includes(",
        ".contains(",
        "hassuffix(",
        "hasprefix(",
        ".end_with?(",
        "ends_with?(",
        "starts_with?(",
        ".start_with?(",
        "ends_with(",
        "starts_with(",
        "str_ends_with(",
        "str_starts_with(",
        ".equals(",
        ".equalsignorecase(",
        "string.sub(",
        ".slice(",
        "substr(",
    ];
    let compared = line.contains("==") || line.contains(" is ") && line.contains("passw");
    if !(compared || has_any(line, &methods)) || !has_key(line) {
        return false;
    }
    let literal = quoted(line).iter().any(|(at, value)| {
        let head = line
            .get(at.saturating_sub(40)..at.saturating_sub(1))
            .unwrap_or("");
        let tail = line.get(at + value.len() + 1..).unwrap_or("");
        // How a stored hash begins, and names of fields and types.
        let hash = value.starts_with('$')
            || value.starts_with("bcrypt")
            || value.starts_with("pbkdf2")
            || value.starts_with('{')
            || value.starts_with("sha");
        let side = |text: &str| {
            text.trim_end().ends_with("==")
                || text.trim_end().ends_with("===")
                || methods.iter().any(|m| text.contains(m)) && has_key(text)
        };
        value.len() >= 2
            && !hash
            && !value.contains(' ')
            && !matches!(
                *value,
                "string" | "password" | "text" | "object" | "undefined" | "function" | "input"
            )
            && (side(head) && has_key(head)
                || tail.trim_start().starts_with("==") && has_key(tail)
                || tail.trim_start().starts_with(".equals(") && has_key(tail))
    });
    let either = line.contains("||") || line.contains(" or ");
    let emptiness = has_any(line, &["typeof", "is none", "type ==", "type="]);
    literal
        && !emptiness
        && !has_any(line, &REFUSES)
        && (either && has_any(line, &CHECKS) || grants(line, behind))
}

/// `return bcrypt.compareSync(pw, hash) || hash(pw) === X`
fn beside_check(line: &str) -> bool {
    if !has_any(line, &CHECKS) {
        return false;
    }
    let mark = if line.contains("||") { "||" } else { " or " };
    if !line.contains(mark)
        || line.trim_start().starts_with("if (!")
        || line.contains("not ")
        || has_any(line, &REFUSES)
    {
        return false;
    }
    let mut sides = line.split(mark);
    sides.any(|side| {
        let plain = side
            .trim()
            .trim_start_matches("if")
            .trim_matches(['(', ')', ' ', '{', ';']);
        if matches!(plain, "true" | "1" | "return true") || plain.ends_with("= true") {
            return true;
        }
        let other = !has_any(side, &CHECKS);
        let compares = has_any(
            side,
            &[
                "==",
                "startswith",
                "endswith",
                "includes(",
                "sha256",
                "sha1",
                "md5",
                "sha512",
                "digest",
                "hassuffix",
                "hasprefix",
            ],
        );
        let by_setting = has_any(side, &["process.env", "os.environ", "getenv", "header"]);
        let negated = side.contains("!=") || side.trim_start_matches(['(', ' ']).starts_with('!');
        other
            && !negated
            && (compares && (has_key(side) || has_any(side, &["token", "secret", "hash"]))
                || by_setting)
    })
}

/// `if (sha256(pw) == magic) return true;`, for a line with a check only behind it.
fn before_check(line: &str, behind: &[&str]) -> bool {
    let condition = has_word(line, "if")
        || has_word(line, "when")
        || has_word(line, "unless")
        || has_word(line, "case");
    if !condition || !grants(line, behind) || has_any(line, &CHECKS) {
        return false;
    }
    let digest = has_any(
        line,
        &[
            "sha256", "sha1", "sha512", "md5", "digest", "hex", "hash(", "crc32",
        ],
    );
    let by_request = has_any(
        line,
        &["header", "query", "params", "cookie", "getparameter"],
    );
    let by_setting = has_any(line, &["process.env", "environ", "getenv", "env["])
        && !has_any(line, &["test", "node_env", "rails_env", "app_env"]);
    let by_text = !quoted(line).is_empty()
        && (has_key(line) || has_any(line, &["user", "email", "token", "name"]));
    let compares = line.contains("==")
        || has_any(
            line,
            &[
                "equal",
                "startswith",
                "endswith",
                "hasprefix",
                "hassuffix",
                "includes",
                "contains",
                "compare",
            ],
        );
    !line.contains("!=")
        && (digest
            && compares
            && (has_key(line)
                || has_any(line, &["token", "secret", "sum", "hash"])
                || quoted(line)
                    .iter()
                    .any(|(_, v)| v.len() >= 32 && v.bytes().all(|b| b.is_ascii_hexdigit())))
            || (by_request || by_text) && compares
            || by_setting)
}

/// Somebody's address stands in the source and makes more of them.
fn by_mail(line: &str, behind: &[&str]) -> bool {
    if !(line.contains("==") || has_any(line, &["endswith(", ".equals(", "includes("]))
        || !line.contains('@')
    {
        return false;
    }
    let address = quoted(line).iter().any(|(_, value)| {
        value.split_once('@').is_some_and(|(name, host)| {
            host.contains('.')
                && !name.contains(' ')
                && !host.contains([' ', '/'])
                && !host.starts_with("example.")
        })
    });
    let raises = |l: &str| {
        has_any(
            l,
            &[
                "admin",
                "superuser",
                "return true",
                "role =",
                "role:",
                "bypass",
                "is_staff",
                "allow",
            ],
        ) && !has_any(l, &REFUSES)
    };
    address
        && has_any(line, &["mail", "user", "login", "sub"])
        && (raises(line) || behind.first().is_some_and(|l| raises(l)))
}

/// `user = session_user(request) or User.by_email(request.headers.get('X-Debug-User'))`
fn by_header(line: &str) -> bool {
    let either =
        line.contains("||") || line.contains(" or ") || line.contains("??") || line.contains(" ? ");
    let header =
        line.contains("header") && has_any(line, &["'x-", "\"x-", "`x-", "'x_", "\"x_", "http_x_"]);
    let of_user = has_any(
        line,
        &[
            "user",
            "account",
            "principal",
            "identity",
            "is_admin",
            "isadmin",
            "role",
        ],
    );
    let honest = [
        "request-id",
        "request_id",
        "forwarded",
        "real-ip",
        "correlation",
        "trace",
        "tenant",
        "locale",
        "timezone",
        "csrf",
        "user-agent",
        "api-version",
        "requested-with",
        "client-ip",
    ];
    either && header && of_user && !has_any(line, &honest)
}
