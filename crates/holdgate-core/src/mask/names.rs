//! Decides by names and values: which name is that of a secret, and which value is only a
//! placeholder.

use super::MASK;
use holdgate_effects::text::secret::is_example;

/// How sure a name makes it that its value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// `token`, `signature`: also words of programs.
    Weak,
    /// `password`, `api_key`.
    Strong,
}

/// Words that mean a secret at the end of a name.
#[rustfmt::skip]
const STRONG: &[&str] = &[
    "passcode", "secret", "secrets", "credential", "credentials", "secretkey", "accesskey",
    "privatekey", "authtoken", "accesstoken", "accountkey", "sshpass", "userpass",
];
const WEAK: &[&str] = &["token", "jwt", "pat", "sig", "signature", "bearer", "otp"];
/// What comes before `key` if the key is one.
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "api", "access", "private", "secret", "signing", "signature", "encryption", "master", "account",
    "shared", "service", "admin", "storage", "auth", "hmac", "jwt", "app", "subscription",
    "consumer",
];
/// Words that may follow.
#[rustfmt::skip]
const AFTER: &[&str] = &[
    "base", "value", "val", "plaintext", "raw", "prod", "production", "dev", "staging", "live",
    "old", "new", "default", "current", "base64", "string",
];
/// Headers whose values are secrets.
const HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
];
/// Words before the secret in a header.
#[rustfmt::skip]
const SCHEMES: &[&str] = &[
    "bearer", "basic", "token", "digest", "negotiate", "apikey", "bot", "sharedkey", "key",
];
/// Values that are not secrets.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "none", "null", "nil", "true", "false", "undefined", "string", "str", "text", "bytes", "number",
    "int", "bool", "boolean", "any", "object", "unknown", "optional", "required", "password",
    "passwd", "passphrase", "pass", "secret", "secrets", "token", "tokens", "key", "apikey",
    "api_key", "api-key", "credentials", "change_me", "hidden", "test", "foo", "bar", "env",
    "prompt", "stdin", "hash", "username", "user", "root", "admin", "to", "with", "and", "or",
    "for", "is", "in", "on", "the", "as", "if", "from", "must", "flag", "option", "self", "this",
    "value", "pw",
];

/// Whether what a name names is a secret.
pub(crate) fn strength(name: &str) -> Option<Strength> {
    let words = words(name);
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    while let Some(last) = words.last()
        && words.len() > 1
        && (AFTER.contains(last) || last.bytes().all(|b| b.is_ascii_digit()))
    {
        words.pop();
    }
    let last = *words.last()?;
    let before = words.len().checked_sub(2).and_then(|at| words.get(at));
    let strong = STRONG.contains(&last)
        || ["password", "passwd", "passphrase", "apikey", "pwd"]
            .iter()
            .any(|word| last.ends_with(word))
        || (last == "pass" && before.is_some())
        || (last == "key" && before.is_some_and(|before| KEYS.contains(before)))
        || (last == "token"
            && before.is_some_and(|b| ["auth", "access", "refresh", "bearer"].contains(b)));
    if strong {
        return Some(Strength::Strong);
    }
    (WEAK.contains(&last) || last.ends_with("token")).then_some(Strength::Weak)
}

/// The words of a name, in lower case: `clientSecret`, `X-Api-Key`, `DB_PASSWORD`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(char::is_ascii_lowercase);
        let begins = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || (before.is_ascii_uppercase() && next_is_lower));
        if begins || !c.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a value is only a placeholder for a secret: `$TOKEN`, `<your key>`, `xxxx`.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let first = value.chars().next();
    let Some(first) = first else {
        return true;
    };
    if value.strip_suffix(MASK).is_some_and(is_prefix) {
        return true;
    }
    let refers = matches!(first, '$' | '%' | '<' | '{' | '*' | '…')
        || value.starts_with("...")
        || [
            "process.env",
            "os.environ",
            "env.",
            "vault:",
            "op://",
            "arn:",
            "file:",
            "sops:",
        ]
        .iter()
        .any(|start| value.starts_with(start));
    let lower = value.to_ascii_lowercase();
    refers
        || WORDS.contains(&lower.as_str())
        || is_path(value)
        || is_example(&lower)
        || ["xxxx", "your ", "dummy", "changeme", "change-me"]
            .iter()
            .any(|word| lower.contains(word))
        || lower.starts_with("your")
        || (value.len() > 1 && value.chars().all(|c| c == first))
}

/// `ghp_`, before a mask.
fn is_prefix(text: &str) -> bool {
    text.len() <= 16
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-.$".contains(&b))
}

fn is_path(value: &str) -> bool {
    let starts = ["/", "./", "../", "~/"]
        .iter()
        .any(|s| value.starts_with(s));
    starts
        && !value.contains(['+', '='])
        && value.matches('/').count() > usize::from(value.starts_with('/'))
}

/// What a secret's name leaves to be shown of a value, if it is one: `None` if it is not.
pub(super) fn masked_member(name: &str, value: &str) -> Option<String> {
    if HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
        return masked_header(value);
    }
    let spaced = value.trim().contains(char::is_whitespace);
    let long = value.chars().count() >= 8;
    let digit = value.bytes().any(|b| b.is_ascii_digit());
    let secret = match strength(name)? {
        Strength::Strong => {
            !spaced
                || (digit && !value.contains('\n'))
                || name.to_ascii_lowercase().contains("phrase")
        }
        Strength::Weak => long && !spaced && (digit || value.len() >= 20),
    };
    (secret && !is_placeholder(value)).then(|| MASK.to_owned())
}

/// The value of a header: the scheme stays.
pub(super) fn masked_header(value: &str) -> Option<String> {
    let trimmed = value.trim();
    let (scheme, secret) = match trimmed.split_once(char::is_whitespace) {
        Some((scheme, secret)) if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) => {
            (Some(scheme), secret.trim())
        }
        _ => (None, trimmed),
    };
    let digit = secret.bytes().any(|b| b.is_ascii_digit());
    let spaced = secret.contains(char::is_whitespace);
    let known = match scheme {
        Some(_) => true,
        None => {
            (digit || (secret.len() >= 16 && !spaced) || secret.contains('=')) && !is_code(secret)
        }
    };
    if !known || is_placeholder(secret) {
        return None;
    }
    Some(match scheme {
        Some(scheme) => format!("{scheme} {MASK}"),
        None => MASK.to_owned(),
    })
}

/// Whether a value without quotes is an expression of a program: `config.password`, `read(x)`.
pub(crate) fn is_code(value: &str) -> bool {
    let name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let random = |part: &str| {
        let has = |of: fn(&u8) -> bool| part.bytes().any(|b| of(&b));
        let cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
        part.len() >= 20 && has(u8::is_ascii_digit) && cases && !part.contains('_')
    };
    // `s.ZC9…` is a token of Vault.
    let dotted = value.contains('.') && value.split('.').all(name) && !value.split('.').any(random);
    let secret_word =
        name(value) && strength(value).is_some() && !value.bytes().any(|b| b.is_ascii_digit());
    value.contains(['(', ')', '[', '{'])
        || value.contains("::")
        || value.contains("->")
        || dotted
        || secret_word
}
