//! Edits that take a check out of what decides who is let in.

use super::edit::Replacement;
use crate::text::words::AnyWord;
use std::sync::LazyLock;

/// A longer replacement is a rewrite: what it lost may stand elsewhere.
const MAX_TEXT: usize = 4 << 10;

/// Calls that check who somebody is.
const CHECKS: [&str; 12] = [
    "jwt.verify(",
    "jwtVerify(",
    "verifyIdToken(",
    "verify_id_token(",
    "bcrypt.compare",
    "timingSafeEqual(",
    "compare_digest(",
    "check_password(",
    "password_verify(",
    "hmac.Equal(",
    "CompareHashAndPassword(",
    "checkpw(",
];
/// Words of what may check in their place.
const OTHERS: [&str; 10] = [
    "verif",
    "compare",
    "check",
    "valid",
    "authenticat",
    "authoriz",
    "equal",
    "require",
    "assert",
    "guard",
];
/// What takes a token as it comes, or lets everybody in.
const TAKES: [&str; 7] = [
    "json.parse(",
    "decode(",
    "json.loads(",
    "b64decode(",
    "return true",
    "= true",
    "json.unmarshal(",
];
/// What refuses somebody.
const REFUSES: [&str; 15] = [
    "401",
    "403",
    "unauthorized",
    "unauthenticated",
    "forbidden",
    "permissiondenied",
    "permission_denied",
    "accessdenied",
    "access_denied",
    "notauthorized",
    "not_authorized",
    "invalidtoken",
    "login_required",
    "permission_required",
    "before_action :authenticate",
];
/// Words in the names of functions that decide who may do something.
const DECIDES: [&str; 14] = [
    "is_admin",
    "isadmin",
    "is_owner",
    "isowner",
    "permission",
    "authoriz",
    "authenticat",
    "verify",
    "verified",
    "allowed",
    "can_",
    "check_password",
    "is_valid",
    "hasrole",
];
const NAMES: [&str; 8] = [
    "auth",
    "login",
    "session",
    "token",
    "jwt",
    "password",
    "permission",
    "security",
];
/// What makes numbers that nobody can guess.
const SAFE: [&str; 7] = [
    "secrets.token",
    "secrets.choice",
    "os.urandom",
    "randombytes(",
    "getrandomvalues(",
    "securerandom",
    "random_bytes(",
];
/// Words in the names of settings that protect.
const PROTECTS: [&str; 9] = [
    "secure",
    "csrf",
    "verify_ssl",
    "ssl_redirect",
    "require_auth",
    "auth_required",
    "require_mfa",
    "encrypt",
    "audit_log",
];
/// One look at a whole text shows that none of its lines has one of these.
static ANY_REFUSES: LazyLock<AnyWord> = LazyLock::new(|| AnyWord::of(REFUSES));
static ANY_PROTECTS: LazyLock<AnyWord> = LazyLock::new(|| AnyWord::of(PROTECTS));
static ANY_SAFE: LazyLock<AnyWord> = LazyLock::new(|| AnyWord::of(SAFE));
static ANY_NAME: LazyLock<AnyWord> = LazyLock::new(|| AnyWord::of(NAMES));
static ANY_TEST: LazyLock<AnyWord> = LazyLock::new(|| AnyWord::of(TESTS));
const TESTS: [&str; 6] = ["test", "spec", "mock", "fixture", "example", ".md"];

/// Whether an edit of the file `path` takes a check out, and what comes is taken as it is.
pub(super) fn takes_check_out(path: &str, edits: &[Replacement]) -> bool {
    let path = path.to_ascii_lowercase();
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    if ANY_TEST.is_in(&path) {
        return false;
    }
    let named = ANY_NAME.is_in(&path);
    let decides = || named || has(&path, &["guard", "polic", "role", "acl", "access"]);
    let develops = || {
        let folders = path.rsplit('/').take(2).collect::<Vec<_>>().join("/");
        has(&folders, &["dev", "local", "debug"])
    };
    edits.iter().any(|edit| match edit {
        Replacement::Text { hunk, .. } if hunk.old.len().max(hunk.new.len()) < MAX_TEXT => {
            let new = hunk.new.to_ascii_lowercase();
            let old = hunk.old.to_ascii_lowercase();
            silences(&old, &new)
                || always_agrees(&old, &new)
                || only_agrees(&old, &new) && decides()
                || guessable(&old, &new)
                || unprotects(&old, &new)
                || loosens(&old, &new) && !develops()
                || super::loosened::loosens(&path, &old, &new, named)
                || named && has(&hunk.old, &CHECKS) && has(&new, &TAKES) && !has(&new, &OTHERS)
        }
        Replacement::Text { .. } | Replacement::Below(..) => false,
    })
}

/// The lines of code that are no comments.
pub(super) fn live(text: &str) -> impl Iterator<Item = &str> {
    let comments = ["//", "#", "--", "/*", "*", "<!--"];
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.filter(move |line| !comments.iter().any(|mark| line.starts_with(mark)))
}

/// Whether lines that refuse somebody become comments, or go, and no others come.
fn silences(old: &str, new: &str) -> bool {
    let refuses = |line: &str| REFUSES.iter().any(|word| line.contains(word));
    if !ANY_REFUSES.is_in(old) || !live(old).any(refuses) || live(new).any(refuses) {
        return false;
    }
    // What is commented out stands there still; nothing new comes in its place.
    let kept: Vec<&str> = live(old).collect();
    let commented = new.lines().any(|line| {
        let line = line.trim();
        let text = line.trim_start_matches(['/', '#', '*', '-', ' ', '<', '!']);
        text.len() < line.len() && refuses(text)
    });
    commented && live(new).all(|line| kept.contains(&line) || line.starts_with("return "))
}

/// Whether a function that decides who may do something now says yes to everybody.
fn always_agrees(old: &str, new: &str) -> bool {
    let yes = ["return true", "return true;", "true"];
    let head = live(new).next().unwrap_or("");
    let defines = ["def ", "func", "fn ", "function", "=>", "bool"];
    live(old).next() == Some(head)
        && defines.iter().any(|word| head.contains(word))
        && DECIDES.iter().any(|word| head.contains(word))
        && live(old)
            .skip(1)
            .any(|line| line.contains("return") && !yes.contains(&line))
        && live(new)
            .skip(1)
            .all(|line| yes.contains(&line) || line == "}" || line == "end")
        && live(new).any(|line| yes.contains(&line))
}

/// Whether what is asked becomes a plain yes.
fn only_agrees(old: &str, new: &str) -> bool {
    let asks = |line: &str| line.starts_with("return ") && !line.starts_with("return true");
    live(old).count() == 1
        && live(old).all(asks)
        && live(new).count() == 1
        && live(new).all(|line| matches!(line, "return true" | "return true;"))
}

/// Whether numbers that nobody can guess become such that anybody can.
fn guessable(old: &str, new: &str) -> bool {
    const WEAK: [&str; 8] = [
        "random.seed(",
        "random.getrandbits(",
        "random.rand",
        "random.choice",
        "math.random(",
        "mt_rand(",
        "new random(",
        "uniqid(",
    ];
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    ANY_SAFE.is_in(old) && !ANY_SAFE.is_in(new) && has(new, &WEAK) && !has(old, &WEAK)
}

/// Whether data loses more than one of the things that keep it from being deleted.
fn unprotects(old: &str, new: &str) -> bool {
    type Keeps = fn(&str) -> bool;
    const KEPT: [(&str, Keeps); 4] = [
        ("deletionprotection", |value| value == "true"),
        ("preventdestroy", |value| value == "true"),
        ("backupretentionperiod", |value| {
            value.parse::<u32>().is_ok_and(|days| days > 0)
        }),
        ("skipfinalsnapshot", |value| value == "false"),
    ];
    // Whether the first line that sets each of them keeps the data.
    let keeps = |text: &str| {
        let mut found = [None; KEPT.len()];
        for line in live(text) {
            let Some((key, value)) = line.split_once(['=', ':']) else {
                continue;
            };
            let key = || key.bytes().filter(u8::is_ascii_alphanumeric);
            if !key().next().is_some_and(|first| b"dpbs".contains(&first)) {
                continue;
            }
            for (found, (name, keeps)) in found.iter_mut().zip(KEPT) {
                if found.is_none() && key().eq(name.bytes()) {
                    *found = Some(keeps(value.trim().trim_end_matches(',')));
                }
            }
        }
        found.map(Option::unwrap_or_default)
    };
    let before = keeps(old);
    if before.iter().filter(|kept| **kept).count() < 2 {
        return false;
    }
    let lost = before.into_iter().zip(keeps(new));
    lost.filter(|(before, now)| *before && !now).count() > 1
}

/// Whether a setting that protects goes from yes to no.
fn loosens(old: &str, new: &str) -> bool {
    if !ANY_PROTECTS.is_in(old) {
        return false;
    }
    let value = |text: &str, name: &str| {
        let found = live(text).find_map(|line| {
            let (key, value) = line.split_once(['=', ':'])?;
            let value = value.trim().trim_end_matches([',', ';']);
            (key.trim() == name).then(|| value.to_owned())
        });
        found.unwrap_or_default()
    };
    live(old).any(|line| {
        let key = line.split(['=', ':']).next().unwrap_or("").trim();
        let protects = PROTECTS.iter().any(|word| key.contains(word));
        protects && value(old, key) == "true" && value(new, key) == "false"
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Hunk;

    #[test]
    fn a_check_that_is_gone_is_seen() {
        let takes = |path: &str, old: &str, new: &str| {
            let (old, new) = (old.to_owned(), new.to_owned());
            let edit = Replacement::Text {
                hunk: Hunk { old, new },
                all: false,
            };
            takes_check_out(path, &[edit])
        };
        let old = "const claims = jwt.verify(token, key)";
        let open = "const claims = JSON.parse(atob(token.split('.')[1]))";
        assert!(takes("src/auth.js", old, open));
        assert!(takes(
            "src/login.py",
            "ok = check_password(p, h)",
            "ok = True\nreturn True"
        ));
        assert!(!takes(
            "src/auth.js",
            old,
            "const claims = await verifyToken(token)"
        ));
        assert!(!takes("src/auth.js", "const claims = parse(token)", open));
        assert!(!takes("tests/auth.test.js", old, open));
        assert!(!takes("src/feed.js", old, open));
        let admin = "def is_admin(user):\n    return user.role == 'admin'";
        assert!(takes(
            "app/roles.py",
            admin,
            "def is_admin(user):\n    return True"
        ));
        let open = "def is_admin(user):\n    return user.role in ADMINS";
        assert!(!takes("app/roles.py", admin, open));
        assert!(takes(
            "src/roles.guard.ts",
            "return u.roles.some(has);",
            "return true;"
        ));
        assert!(takes(
            "src/token.py",
            "return secrets.token_urlsafe(32)",
            "random.seed(1)\nreturn '%x' % random.getrandbits(128)"
        ));
        let kept = "backup_retention_period = 30\ndeletion_protection = true";
        assert!(takes("infra/db.tf", kept, "backup_retention_period = 0"));
        let fewer = "backup_retention_period = 7\ndeletion_protection = true";
        assert!(!takes("infra/db.tf", kept, fewer));
        assert!(takes(
            "conf/prod.py",
            "CSRF_COOKIE_SECURE = True",
            "CSRF_COOKIE_SECURE = False"
        ));
        assert!(!takes(
            "conf/dev.py",
            "CSRF_COOKIE_SECURE = True",
            "CSRF_COOKIE_SECURE = False"
        ));
        let check = "if (!ok(t)) return res.status(401).end();\nnext();";
        let gone = "// if (!ok(t)) return res.status(401).end();\nnext();";
        assert!(takes("src/middleware.ts", check, gone));
        assert!(!takes(
            "src/middleware.ts",
            check,
            "if (!ok(t)) throw new Forbidden();\nnext();"
        ));
    }
}
