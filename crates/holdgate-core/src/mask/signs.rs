//! Signs without which an expression finds nothing. They are looked for first: an expression takes many
//! times as long, and nearly every text that is masked has none of them.

use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// Words of which one is in every name that counts, and then those of headers.
const WORDS: [&str; 13] = [
    "pass", "pwd", "secret", "token", "key", "cred", "auth", "jwt", "sig", "bearer", "otp", "pat",
    "cookie",
];

static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).build(WORDS).ok()
});

/// Which expressions may find something in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is about one expression"
)]
pub(super) struct Signs {
    /// A name, and then a sign that a value follows.
    pub(super) assigned: bool,
    /// A name behind a dash.
    pub(super) flag: bool,
    /// A word of a header, and then a colon or a comma.
    pub(super) header: bool,
    /// The word `bearer`.
    pub(super) bearer: bool,
}

impl Signs {
    const ALL: Signs = Signs {
        assigned: true,
        flag: true,
        header: true,
        bearer: true,
    };

    /// Those that `text` has. One pass over it.
    pub(super) fn in_text(text: &str) -> Signs {
        // Letters that are not ASCII may be the same as some of a word, in another case.
        let (Some(search), true) = (&*SEARCH, text.is_ascii()) else {
            return Signs::ALL;
        };
        let has_colon = memchr::memchr2(b':', b',', text.as_bytes()).is_some();
        let mut signs = Signs::default();
        // Up to here, names were looked at, and whether a dash stands in the last one.
        let (mut looked, mut dash) = (0, false);
        for found in search.find_iter(text) {
            let word = text.get(found.range()).unwrap_or_default();
            let is = |name: &str| word.eq_ignore_ascii_case(name);
            signs.bearer |= is("bearer");
            signs.header |= has_colon && ["auth", "cookie", "key", "token"].into_iter().any(is);
            if found.start() < looked {
                continue;
            }
            let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            let before = text.get(looked..found.start()).unwrap_or_default();
            let start = before.trim_end_matches(|c| name(c) || c == '.').len();
            let after = text.get(found.end()..).unwrap_or_default();
            let rest = after.trim_start_matches(name);
            let named = text.get(looked + start..text.len() - rest.len());
            dash = dash && start == 0 || named.is_some_and(|name| name.contains('-'));
            looked = text.len() - rest.len();
            signs.flag |= dash;
            signs.assigned |= is_assigned(rest);
            if signs == Signs::ALL {
                break;
            }
        }
        signs
    }
}

/// Whether what follows a name may be a sign and a value: `=`, `:` or a part of one, behind the end of a
/// quoted name.
fn is_assigned(rest: &str) -> bool {
    let rest = rest.trim_start_matches('\\');
    let rest = rest.strip_prefix(['"', '\'', '`']).unwrap_or(rest);
    let rest = rest.strip_prefix(']').unwrap_or(rest);
    rest.trim_start().starts_with(['=', ':'])
}

/// Whether a command may stand in a text that takes a password as a word.
pub(super) fn may_have_command(text: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has(&["sshpass"])
        || has(&["-p"]) && has(&["mysql", "mariadb", "login"])
        || has(&["-u", "-U", "--proxy-user"]) && has(&["curl", "wget", "http", "xh"])
        || has(&["machine"]) && has(&["password"])
        || has(&["redis-cli"])
        || has(&["sudo", "--password-stdin"]) && text.contains('|') && has(&["echo", "printf"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_found_is_told() {
        let signs = |text| Signs::in_text(text);
        assert_eq!(signs("cargo test --all"), Signs::default());
        assert!(signs("API_KEY = x").assigned && signs(r#"{\"token\": 1}"#).assigned);
        assert!(!signs("a key of mine = x").assigned);
        assert!(signs("curl --api-token x").flag && signs("key-token x").flag);
        assert!(signs("-a.pass.b.key x").flag && !signs("a - key x").flag);
        assert!(signs("Authorization: x").header && !signs("Authorization x").header);
        assert!(signs("Bearer x").bearer);
        assert_eq!(signs("to\u{212a}en: x"), Signs::ALL);
        assert!(may_have_command("echo x | sudo -S ls"));
        assert!(!may_have_command("echo x | ls; curl -s http://x"));
    }
}
