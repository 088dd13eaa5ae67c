//! Checks that are switched off: a name that speaks of verifying certificates, hosts or signatures with a value
//! that says no, or with a function that agrees to everything.

use super::agrees::agrees;
use super::scan::{Text, has_any};
use crate::effect::{Actor, Effect, Kind};
use crate::tag::Tag;

/// Names of one file that are looked at.
const MAX_NAMES: usize = 2048;
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
    let bytes = text.clean.as_bytes();
    let mut at = 0;
    let mut looked = 0;
    while at < bytes.len() && looked < MAX_NAMES && found.len() < MAX_FOUND {
        let Some(start) = bytes
            .get(at..)
            .and_then(|rest| rest.iter().position(|b| is_part(*b)))
        else {
            break;
        };
        let start = at + start;
        let length = bytes
            .get(start..)
            .map_or(0, |rest| rest.iter().take_while(|b| is_part(**b)).count());
        at = start + length.max(1);
        let name = text.clean.get(start..start + length).unwrap_or("");
        if !(4..=MAX_NAME).contains(&name.len()) {
            continue;
        }
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

/// Certificates that are taken as they come, by what is done with them and not by a name.
fn takes_any(text: &Text<'_>, found: &mut Vec<Effect>) {
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
