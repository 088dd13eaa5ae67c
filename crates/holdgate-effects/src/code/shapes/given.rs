//! What people type, or are known by, in an address of somebody else: in a pixel, a beacon, a socket, or handed to
//! a function together with that address.

use super::pieces::{has_parts, is_name, names};
use super::scan::{Text, has_any, quoted};
use crate::effect::{Actor, Effect, Kind};
use crate::language::Language;
use crate::scene::Scene;
use crate::tag::Tag;
use crate::value::Value;

/// Addresses of one file that are looked at.
const MAX_ADDRESSES: usize = 256;
/// Bytes behind an address in which it is filled or something is handed over with it.
const BEHIND: usize = 400;

/// Words of names for what nobody else may know.
#[rustfmt::skip]
const PRIVATE: [&str; 22] = [
    "password", "passwd", "passwort", "pwd", "pw", "passphrase", "passcode", "pin", "cvv", "cvc", "pan", "ssn", "otp", "mnemonic",
    "seedphrase", "privatekey", "creditcard", "cardnumber", "cookie", "iban", "keystroke", "totp",
];
/// Words of which two together tell of a card.
const CARD: [&str; 7] = [
    "card",
    "exp",
    "expiry",
    "holder",
    "cardholder",
    "code",
    "number",
];
/// What people type into, and where it is kept.
const FORMS: [&str; 9] = [
    "document.cookie",
    "localstorage",
    "sessionstorage",
    "formdata",
    ".value",
    "new formdata",
    "clipboard",
    "keydown",
    "event.key",
];
/// Where people log in or pay: that is what they type it for.
#[rustfmt::skip]
const HONEST: [&str; 17] = [
    "login", "signin", "sign-in", "auth", "oauth", "token", "session", "register", "signup", "account", "password",
    "identity", "sso", "stripe", "paypal", "adyen", "braintree",
];

pub(super) fn run(scene: &Scene<'_>, text: &Text<'_>, found: &mut Vec<Effect>) {
    if !text.is_code() && text.language != Language::Markup {
        return;
    }
    if text.is_code() {
        by_name(scene, text, found);
    }
    for (at, _) in text.low.match_indices("://").take(MAX_ADDRESSES) {
        let head = text.low.get(..at).unwrap_or("");
        let Some(scheme) = ["https", "http", "wss", "ws"]
            .iter()
            .find(|s| head.ends_with(**s))
        else {
            continue;
        };
        let start = at - scheme.len();
        let rest = text.clean.get(start..).unwrap_or("");
        let length = rest.find(['"', '\'', '`', ' ', '\n', '<', '>', ')']);
        let url = rest.get(..length.unwrap_or(rest.len())).unwrap_or("");
        let line = text.line(start);
        if !text.is_new(line) {
            continue;
        }
        let host = scene.know.hosts.host(&Value::known(url));
        let named = host.name.contains('.') && !host.name.contains(['$', '{', '%', '#']);
        if !named || !scene.know.hosts.is_unheard_of(&host) {
            continue;
        }
        let given = text.code.get(start..).map_or("", statement);
        let as_written = text.clean.get(start..start + given.len()).unwrap_or(given);
        let before = line_head(&text.code, start);
        if !(takes(before) && is_filled(as_written) && is_private(given)) {
            continue;
        }
        let pixel = is_pixel(before);
        let low = url.to_ascii_lowercase();
        if !pixel && HONEST.iter().any(|word| low.contains(word)) {
            continue;
        }
        let actor = Actor::new("file", &crate::json::shorten(line.trim(), 200));
        found.push(
            actor
                .does(Kind::Send)
                .with(host)
                .about(url)
                .tagged(Tag::Grabs),
        );
        return;
    }
}

/// Something is put before the name of a machine that is then looked up: whoever keeps that name reads it.
fn by_name(scene: &Scene<'_>, text: &Text<'_>, found: &mut Vec<Effect>) {
    const ASKS: [&str; 9] = [
        "resolve",
        "lookup",
        "gethostby",
        "getaddrinfo",
        "nslookup",
        "dig ",
        "dns_get",
        "checkdnsrr",
        "host ",
    ];
    const JOINS: [&str; 6] = ["+", "}", ".concat(", "..", "format", "%"];
    if !has_any(&text.clean, &["'.", "\".", "}."]) {
        return;
    }
    for (line, low) in text.clean.split('\n').zip(text.low.split('\n')) {
        if line.len() > 1200
            || !has_any(low, &ASKS)
            || !line.contains("'.") && !line.contains("\".") && !line.contains("}.")
        {
            continue;
        }
        let zone = quoted(line).into_iter().find_map(|(at, value)| {
            let zone = value
                .rsplit('}')
                .next()
                .unwrap_or(value)
                .strip_prefix('.')?;
            let named = zone.matches('.').count() >= 1
                && zone
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
            let joined = value.contains('}') || has_any(line.get(..at)?, &JOINS);
            (named && joined).then_some(zone)
        });
        let Some(zone) = zone.filter(|_| text.is_new(line)) else {
            continue;
        };
        let host = scene
            .know
            .hosts
            .host(&Value::known(format!("https://{zone}/")));
        if scene.know.hosts.is_unheard_of(&host)
            && !has_any(
                zone,
                &[
                    "in-addr.arpa",
                    "ip6.arpa",
                    "svc.",
                    "cluster.local",
                    ".local",
                ],
            )
        {
            let actor = Actor::new("file", &crate::json::shorten(line.trim(), 200));
            found.push(
                actor
                    .does(Kind::Send)
                    .with(host)
                    .about(zone)
                    .tagged(Tag::Grabs),
            );
            return;
        }
    }
}

/// What stands before a place in its line.
fn line_head(text: &str, at: usize) -> &str {
    let head = text.get(..at).unwrap_or("");
    head.rsplit('\n').next().unwrap_or("")
}

/// The rest of a statement: to the end of its brackets, or of its line.
fn statement(rest: &str) -> &str {
    let mut depth = 0i32;
    let mut end = rest.len().min(BEHIND);
    for (at, byte) in rest.bytes().enumerate().take(BEHIND) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b';' if depth <= 0 => {
                end = at;
                break;
            }
            b'\n' if depth <= 0 => {
                let next = rest.get(at + 1..).unwrap_or("").trim_start();
                if !next.starts_with(['.', ',', '+', '{', ')'])
                    && !rest
                        .get(..at)
                        .unwrap_or("")
                        .trim_end()
                        .ends_with([',', '+'])
                {
                    end = at;
                    break;
                }
            }
            _ => {}
        }
        if depth < -1 {
            end = at;
            break;
        }
    }
    crate::text::beginning(rest, end)
}

/// Whether something takes the address: a call, or a property that loads it.
fn takes(before: &str) -> bool {
    let before = before.trim_end_matches(['"', '\'', '`', 'f', 'r', '$', ' ', '{', '[']);
    is_pixel(before) || before.contains('(') || before.ends_with(['=', ':', ','])
}

/// Whether the address is loaded as a picture, a script, a page.
fn is_pixel(before: &str) -> bool {
    let low = before.to_ascii_lowercase();
    [
        "src",
        "href",
        "location",
        "sendbeacon(",
        "websocket(",
        "eventsource(",
        "image(",
        "action",
        "url(",
        "open(",
    ]
    .iter()
    .any(|word| low.contains(word))
}

/// Whether something is put into the address, or handed over with it.
fn is_filled(given: &str) -> bool {
    let end = given.find(['"', '\'', '`']).unwrap_or(given.len());
    let (inside, behind) = given.split_at_checked(end).unwrap_or((given, ""));
    let behind = behind.trim_start_matches(['"', '\'', '`', ' ']);
    inside.contains("${")
        || inside.contains("#{")
        || inside.contains('{')
        || behind.starts_with(['+', ',', '.', '%'])
}

/// Whether what is handed over names what nobody else may know.
fn is_private(given: &str) -> bool {
    let low = given.to_ascii_lowercase();
    if FORMS.iter().any(|form| low.contains(form)) && !low.contains(".value)") {
        return true;
    }
    let mut card = [false; CARD.len()];
    for name in names(given) {
        let dense: String = name.chars().filter(|c| is_name(*c) && *c != '_').collect();
        if has_parts(name, &PRIVATE) || has_parts(&dense.to_ascii_lowercase(), &PRIVATE) {
            return true;
        }
        for (seen, word) in card.iter_mut().zip(CARD) {
            *seen |= has_parts(name, &[word]);
        }
    }
    card.iter().filter(|seen| **seen).count() >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_over_is_told() {
        assert!(is_private("btoa([form.pan, form.exp, form.code].join())"));
        assert!(is_private("{'u': email, 'k': pw_text}"));
        assert!(is_private("{number, holder, expiry}"));
        assert!(!is_private("{page: location.pathname, company}"));
        assert!(is_filled("https://a.example/p?d=${x}`"));
        assert!(is_filled("https://a.example/p', x"));
        assert!(!is_filled("https://a.example/p')"));
    }
}
