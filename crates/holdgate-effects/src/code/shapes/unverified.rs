//! Checks that are switched off: a name that speaks of verifying certificates, hosts or signatures with a value
//! that says no, or with a function that agrees to everything.

use super::agrees::agrees;
use super::scan::{Text, has_any};
use crate::effect::{Actor, Effect, Kind};
use crate::tag::Tag;
use crate::text::words::AnyWord;
use aho_corasick::Anchored;
use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use std::sync::LazyLock;

/// Names of one file that are looked at.
const MAX_NAMES: usize = 2048;
const MIN_NAME: usize = 4;
const MAX_NAME: usize = 80;
/// Bytes before a name that tell how it is used.
const MAX_BEFORE: usize = 160;
/// What is found in one file is enough to ask.
const MAX_FOUND: usize = 8;
/// Bytes behind a name in which its value stands.
const MAX_VALUE: usize = 320;

/// What a name says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    /// It checks while it is on.
    Guards,
    /// It leaves a check out while it is on.
    Opens,
}

pub(super) fn run(text: &Text<'_>, found: &mut Vec<Effect>) {
    takes_any(text, found);
    let mut looked = 0;
    for (start, name) in names(&text.clean) {
        if looked >= MAX_NAMES || found.len() >= MAX_FOUND {
            break;
        }
        let at = start + name.len();
        let Some(says) = says(text, name) else {
            continue;
        };
        looked += 1;
        let end = (at + MAX_VALUE).min(text.clean.len());
        let end = (end..=text.clean.len()).find(|at| text.clean.is_char_boundary(*at));
        let behind = text.clean.get(at..end.unwrap_or(at)).unwrap_or("");
        let from = start.saturating_sub(MAX_BEFORE);
        let from = (from..=start).find(|at| text.clean.is_char_boundary(*at));
        let before = text.clean.get(from.unwrap_or(start)..start).unwrap_or("");
        let Some(length) = is_off(says, name, behind, before) else {
            continue;
        };
        let piece = text.clean.get(start..at + length).unwrap_or(name);
        if text.is_new(piece) {
            let line = crate::json::shorten(text.line(start).trim(), 200);
            let actor = Actor::new("file", &line);
            found.push(actor.does(Kind::System).tagged(Tag::Insecure).about(&line));
        }
    }
}

/// Each name that `says` has an answer for has one of these in it, without the marks between its words.
#[rustfmt::skip]
const SIGNS: [&str; 26] = [
    "ssl", "tls", "cert", "hostname", "peer", "signature", "unauthorized", "serveridentity", "hostkey", "x509",
    "servertrust", "signingkey", "signedtoken", "trustmanager", "issuer", "signed", "verif", "insecure", "anonymous",
    "grant", "emptypassword", "auth", "protectedmode", "requirepass", "securityenabled", "algorithm",
];

static ANY_SIGN: LazyLock<Option<DFA>> = LazyLock::new(|| {
    DFA::builder()
        .ascii_case_insensitive(true)
        .build(SIGNS)
        .ok()
});

/// The names that may say something, and where they start: one step of the search for each byte, since most
/// of a file is names that say nothing.
fn names(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let search = ANY_SIGN
        .as_ref()
        .and_then(|search| Some((search, search.start_state(Anchored::No).ok()?)));
    let first = search.map(|(_, first)| first);
    let mut state = first;
    let mut start = 0;
    // Without a search, which no list of ours gives, every name is one.
    let mut signed = search.is_none();
    // One byte more ends the last name.
    for (at, byte) in text.bytes().chain([b' ']).enumerate() {
        if !is_part(byte) {
            if signed
                && let Some(name) = text.get(start..at)
                && (MIN_NAME..=MAX_NAME).contains(&name.len())
            {
                found.push((start, name));
            }
            start = at + 1;
            state = first;
            signed = search.is_none();
        } else if !signed
            && byte.is_ascii_alphanumeric()
            && let (Some((search, _)), Some(from)) = (search, state)
        {
            let next = search.next_state(Anchored::No, from, byte);
            signed = search.is_match(next);
            state = Some(next);
        }
    }
    found
}

/// Certificates that are taken as they come, by what is done with them and not by a name.
fn takes_any(text: &Text<'_>, found: &mut Vec<Effect>) {
    static MARKS: LazyLock<AnyWord> = LazyLock::new(|| {
        AnyWord::of([
            "certificate-error",
            "urlcredential(trust:",
            "ssl=false",
            "ssl = false",
        ])
    });
    if !MARKS.is_in(&text.low) {
        return;
    }
    let forms: [(&str, &[&str], &str); 4] = [
        ("certificate-error", &["callback(true)"], "\u{0}"),
        (
            "urlcredential(trust:",
            &[".usecredential"],
            "sectrustevaluate",
        ),
        ("ssl=false", &["aiohttp", "connector"], "\u{0}"),
        ("ssl = false", &["aiohttp", "connector"], "\u{0}"),
    ];
    for (mark, besides, unless) in forms {
        let Some(at) = text.low.find(mark) else {
            continue;
        };
        if has_any(&text.low, besides) && !text.low.contains(unless) && text.is_new(text.line(at)) {
            let line = crate::json::shorten(text.line(at).trim(), 200);
            let actor = Actor::new("file", &line);
            found.push(actor.does(Kind::System).tagged(Tag::Insecure).about(&line));
        }
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$')
}

/// What the words of a name say.
fn says(text: &Text<'_>, name: &str) -> Option<Says> {
    const CHECKS: [&str; 9] = [
        "verif", "validat", "check", "strict", "reject", "enforce", "certreqs", "want", "isvalid",
    ];
    const OF_PEERS: [&str; 16] = [
        "ssl",
        "tls",
        "cert",
        "hostname",
        "peer",
        "signature",
        "unauthorized",
        "serveridentity",
        "hostkey",
        "x509",
        "servertrust",
        "signingkey",
        "signedtoken",
        "trustmanager",
        "issuer",
        "signed",
    ];
    const LEAVES_OUT: [&str; 17] = [
        "insecure",
        "skip",
        "ignore",
        "disable",
        "allow",
        "accept",
        "bypass",
        "trustall",
        "unverified",
        "untrusted",
        "selfsigned",
        "danger",
        "noverif",
        "trustany",
        "trustself",
        "trustserver",
        "unsafe",
    ];
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let of_peers = has_any(&plain, &OF_PEERS);
    if has_any(&plain, &LEAVES_OUT) {
        let opens = of_peers
            || has_any(
                &plain,
                &[
                    "skipverif",
                    "noverif",
                    "unverified",
                    "disableverif",
                    "ignoreverif",
                    "bypassverif",
                ],
            )
            || matches!(
                plain.as_str(),
                "insecure" | "insecuremode" | "insecureregistry"
            )
            || !text.is_code()
                && matches!(
                    plain.as_str(),
                    "allowanonymous"
                        | "anonymousenable"
                        | "anonymousauth"
                        | "skipgranttables"
                        | "permitemptypasswords"
                        | "disableauth"
                        | "skipauth"
                        | "allowemptypassword"
                );
        return opens.then_some(Says::Opens);
    }
    let settings = !text.is_code()
        && (matches!(
            plain.as_str(),
            "protectedmode"
                | "requirepass"
                | "authenabled"
                | "authorization"
                | "authentication"
                | "requireauth"
                | "authrequired"
                | "securityenabled"
        ) || plain.ends_with("securityenabled")
            || plain.ends_with("authenabled"));
    let whole = matches!(
        plain.as_str(),
        "verify"
            | "verification"
            | "verifymode"
            | "sslverify"
            | "certreqs"
            | "skipverify"
            | "algorithms"
            | "algorithm"
            | "validatecerts"
    );
    let opens = !text.is_code()
        && matches!(
            plain.as_str(),
            "anonymousenable" | "permitemptypasswords" | "skipgranttables"
        );
    if opens {
        return Some(Says::Opens);
    }
    (whole || settings || of_peers && has_any(&plain, &CHECKS)).then_some(Says::Guards)
}

/// Whether what stands behind a name switches a check off; how much of it says so.
fn is_off(says: Says, name: &str, behind: &str, before: &str) -> Option<usize> {
    let trimmed = behind.trim_start_matches(['"', '\'', ']', '`', ' ', '\t']);
    let skipped = behind.len() - trimmed.len();
    let operators = ["=>", ":=", "->", "=", ":", ",", "("];
    let operator = operators.iter().find(|o| {
        trimmed.starts_with(**o) && !trimmed.starts_with("==") && !trimmed.starts_with("::")
    });
    let (operator, value) = match operator {
        Some(operator) => (*operator, trimmed.get(operator.len()..).unwrap_or("")),
        // `protected-mode no`
        None if behind.starts_with([' ', '\t']) && !trimmed.starts_with('\n') => (" ", trimmed),
        None => ("", trimmed),
    };
    let at = skipped + operator.len();
    let value = value.trim_start();
    let low = value
        .get(..value.len().min(48))
        .unwrap_or(value)
        .to_ascii_lowercase();
    let word: String = low
        .trim_start_matches(['"', '\'', ':', '(', '[', ' ', '.', '{'])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    // `!1` is how tools write no.
    let word = match low.as_bytes() {
        [b'!', b'1', ..] => "false".to_owned(),
        [b'!', b'0', ..] => "true".to_owned(),
        _ => word,
    };
    let plain_name = name.to_ascii_lowercase().replace(['_', '-'], "");
    let ends = |word: &str| {
        let found = behind
            .get(at..)
            .and_then(|b| b.to_ascii_lowercase().find(word));
        at + found.map_or(0, |from| from + word.len())
    };
    match says {
        Says::Guards => {
            let off = [
                "false",
                "none",
                "no",
                "off",
                "nil",
                "null",
                "undefined",
                "verify_none",
                "cert_none",
                "never",
                "disabled",
                "disable",
                "insecure",
            ];
            let whole = !low.trim_start_matches(['"', '\'']).starts_with("0.");
            let zero = word == "0" && whole && operator != "(" && operator != " ";
            // `verify(None)` and `checkCert(null)` hand something over.
            let given = operator == "(" && word != "false";
            // A name in a text, a type or a parameter that defaults to nothing.
            let unset = matches!(word.as_str(), "none" | "null" | "nil" | "undefined")
                && matches!(operator, ":" | "=" | ",")
                && !plain_name.contains("algorithm")
                && !plain_name.contains("certreqs")
                && !low.starts_with([':', '"', '\'']);
            let bare = operator == " "
                && !(matches!(
                    word.as_str(),
                    "no" | "off" | "false" | "none" | "disabled" | "never"
                ) && starts_line(before));
            if (off.contains(&word.as_str()) || zero)
                && !given
                && !unset
                && !bare
                && !operator.is_empty()
                && !low.starts_with("\"\"")
            {
                return Some(ends(&word));
            }
            if plain_name.starts_with("algorithm")
                && matches!(operator, "=" | ":" | "=>")
                && low.starts_with('[')
                && (low.contains("\"none\"") || low.contains("'none'"))
            {
                return Some(at + 8);
            }
            // `hostnameVerifier { _, _ -> true }`
            if matches!(operator, "" | " ") && trimmed.starts_with('{') && agrees(trimmed, false) {
                return Some(at);
            }
            if matches!(operator, "=" | ":" | "=>" | "," | ":=" | "+=" | "(")
                && agrees(value, operator == "(")
            {
                return Some(at);
            }
            None
        }
        Says::Opens => {
            let on = ["true", "yes", "on", "1", "enabled", "always", "all"];
            let one = word != "1" || operator == "=" || operator == ":";
            let bare = operator == " " && !starts_line(before);
            if on.contains(&word.as_str()) && !bare && !operator.is_empty() && one {
                return Some(ends(&word));
            }
            // `ssh.InsecureIgnoreHostKey()`, `InsecureTrustManagerFactory.INSTANCE`, `UnsafeAllowNoneSignatureType`
            let head = before.trim_end_matches(['.', ':']);
            let defines = [
                "func",
                "def",
                "fn",
                "function",
                "class",
                "struct",
                "enum",
                "interface",
                "type",
                "const",
                "void",
                "import",
                "bool",
                "boolean",
                "var",
                "let",
            ]
            .iter()
            .any(|word| head.trim_end().ends_with(word));
            let type_of = name.starts_with(|c: char| c.is_ascii_uppercase())
                && name.contains(|c: char| c.is_ascii_lowercase());
            let handed = before
                .trim_end_matches(' ')
                .ends_with(['.', '(', ',', '=', ':', '['])
                || before.trim_end().ends_with("return")
                || before.trim_end().ends_with("new");
            let used = trimmed.starts_with("()")
                || behind.starts_with('.')
                || behind.trim_start().starts_with([')', ',', ';', ']']);
            (type_of
                && handed
                && used
                && !defines
                && !before.trim_end_matches(' ').ends_with(['"', '\'']))
            .then_some(skipped)
        }
    }
}

/// Whether nothing but blanks stands between here and the start of the line.
fn starts_line(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or("");
    line.chars()
        .all(|c| c.is_whitespace() || matches!(c, '-' | '.' | '_') || c.is_ascii_alphanumeric())
        && !line.trim().contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whatever_stands_between_their_words() {
        let found = |text: &'static str| -> Vec<&str> {
            names(text).into_iter().map(|(_, name)| name).collect()
        };
        assert_eq!(
            found("x.S_S-L = author; tls map $protected-mode"),
            ["S_S-L", "author", "$protected-mode"]
        );
        assert_eq!(found("é.verify"), ["verify"]);
        assert!(found("let value = compute(first, second)").is_empty());
    }

    #[test]
    fn no_name_that_says_something_is_left_out() {
        #[rustfmt::skip]
        let names_that_say = [
            "insecureMode", "allowAnonymous", "anonymous_enable", "skip-grant-tables", "PermitEmptyPasswords",
            "disableAuth", "protected-mode", "requirepass", "authorization", "xpack.securityEnabled", "verifyMode",
            "algorithms", "validate_certs", "cert_reqs", "skipVerify", "checkServerIdentity", "rejectUnauthorized",
            "unverified_context", "trustAllPeers", "InsecureIgnoreHostKey", "wantIssuer",
        ];
        for name in names_that_say {
            assert!(!names(name).is_empty(), "{name}");
        }
    }
}
