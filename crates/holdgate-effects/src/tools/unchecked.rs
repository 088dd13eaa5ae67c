//! Edits that take a check out of what decides who is let in.

use super::edit::Replacement;

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
const TESTS: [&str; 6] = ["test", "spec", "mock", "fixture", "example", ".md"];

/// Whether an edit of the file `path` takes a check out, and what comes is taken as it is.
pub(super) fn takes_check_out(path: &str, edits: &[Replacement]) -> bool {
    let path = path.to_ascii_lowercase();
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    has(&path, &NAMES)
        && !has(&path, &TESTS)
        && edits.iter().any(|edit| match edit {
            Replacement::Text { hunk, .. } if hunk.old.len().max(hunk.new.len()) < MAX_TEXT => {
                let new = hunk.new.to_ascii_lowercase();
                has(&hunk.old, &CHECKS) && has(&new, &TAKES) && !has(&new, &OTHERS)
            }
            Replacement::Text { .. } | Replacement::Below(..) => false,
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
    }
}
