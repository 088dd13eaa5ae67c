//! Numbers that nobody can guess become such that anybody can: keys, salts and tokens that are fixed, made from
//! what others know, or by a generator that starts at a known number.

use super::door;
use super::pieces::{assigned, has_parts};
use super::scan::{Text, has_any, quoted};
use crate::effect::Effect;
use crate::text::words::AnyWord;
use std::sync::LazyLock;

/// Lines of a file that are looked at.
const MAX_LINES: usize = 6000;
/// A longer replacement is a rewrite: what it lost may stand elsewhere.
const MAX_EDIT: usize = 4 << 10;

/// What makes numbers that nobody can guess.
#[rustfmt::skip]
static SAFE: LazyLock<AnyWord> = LazyLock::new(|| AnyWord::of([
    "secrets.", "urandom", "randombytes", "random_bytes", "getrandomvalues", "getrandom", "securerandom", "osrng",
    "os_rng", "systemrandom", "crypto.random", "crypto_random", "randomuuid", "randomfill", "rand.read", "rand.reader",
    "crypto/rand", "strong_rand", "arc4random", "from_entropy", "fromentropy", "from_os_rng", "thread_rng", "randomnumbergenerator",
    "rngcrypto", "gensalt", "generate_key", "generatekey", "keygen", "keygenerator",
    "uuid4", "uuidv4", "uuid.v4", "nanoid", "random_uuid", "generate_nonce", "generatenonce", "openssl_random",
    "random_string", "randomstring", "randombits", "ulid", "cuid", "sodium", "getentropy",
]));
/// What anybody can make again.
#[rustfmt::skip]
const GUESSED: [&str; 40] = [
    "md5", "sha1", "sha256", "sha512", "crc32", "hashcode", "hash(", "createhash", "digest", "alloc(", "zeros(",
    "bytes(", "[0u8", "[0;", "vec![0", "new byte[", "make([]byte", "uint8array(", "repeat(", "seed", "date.now",
    "time.time", "time.now", "time(", "gettime", "timestamp", "math.random", "random.rand", "random.choice",
    "random.getrandbits", "mt_rand", "rand()", "rand.int", "math/rand", "uniqid", "\\x00", "b64encode(", "btoa(",
    "uuid1", "counter",
];
/// Words of names that need them.
const NEEDS: [&str; 14] = [
    "iv",
    "nonce",
    "salt",
    "token",
    "secret",
    "otp",
    "key",
    "password",
    "session",
    "code",
    "challenge",
    "state",
    "seed",
    "sid",
];
/// A name that matters has one of these in it.
#[rustfmt::skip]
const LOOKED_AT: [&str; 10] = [
    "iv", "nonce", "salt", "token", "otp", "secret", "apikey", "resetcode", "sessionid", "session_id",
];
/// What says that something is encrypted.
const ENCRYPTS: [&str; 12] = [
    "createcipheriv",
    "aes",
    "encrypt(",
    "gcm",
    "chacha",
    "cipher.",
    "fernet",
    "secretbox",
    "cryptojs",
    "pbkdf2",
    "scrypt",
    "seal(",
];

pub(super) fn run(text: &Text<'_>, found: &mut Vec<Effect>) {
    if !text.is_code() {
        return;
    }
    if let Some(old) = text.old_low() {
        if old.len().max(text.low.len()) < MAX_EDIT && SAFE.is_in(&old) && !SAFE.is_in(&text.low) {
            edited(text, &old, found);
        }
        return;
    }
    if SAFE.is_in(&text.low) || has_any(&text.low, &["nextbytes", "fill_bytes", "randomize"]) {
        return;
    }
    let encrypts = has_any(&text.low, &ENCRYPTS);
    let mut from = 0;
    for line in text.low.split('\n').take(MAX_LINES) {
        let start = from;
        from += line.len() + 1;
        let Some((name, value)) = assigned(line).filter(|_| line.len() < 400) else {
            continue;
        };
        if !has_any(name, &LOOKED_AT) {
            continue;
        }
        let written = text.line(start);
        let name = written
            .get(..)
            .and_then(assigned)
            .map_or(name, |(name, _)| name);
        let material = ["iv", "nonce", "salt"];
        let fixed = encrypts && has_parts(name, &material) && is_fixed(value);
        let made = is_password(name) && is_derived(value);
        if fixed || made {
            found.push(door(written));
            return;
        }
    }
}

/// What made numbers that nobody can guess is gone; the same name gets something else.
fn edited(text: &Text<'_>, old: &str, found: &mut Vec<Effect>) {
    let replaced = old.split('\n').filter(|line| SAFE.is_in(line));
    let named: Vec<&str> = replaced
        .clone()
        .filter_map(assigned)
        .map(|(name, _)| name)
        .collect();
    let needs = |line: &str| NEEDS.iter().any(|word| line.contains(word));
    let mut from = 0;
    for line in text.low.split('\n') {
        let start = from;
        from += line.len() + 1;
        if line.trim().is_empty() || old.contains(line.trim()) {
            continue;
        }
        let given = assigned(line);
        let same = given.is_some_and(|(name, _)| named.contains(&name));
        let fixed = same && given.is_some_and(|(_, value)| is_fixed(value) || is_literal(value));
        let guessed = has_any(line, &GUESSED)
            && (same || needs(line) || replaced.clone().any(needs) || line.contains("return"));
        let returned = line.trim().starts_with("return ")
            && is_literal(line.trim().trim_start_matches("return "));
        if fixed || guessed || returned {
            found.push(door(text.line(start)));
            return;
        }
    }
}

/// A text or number that stands in the source, and nothing else.
fn is_literal(value: &str) -> bool {
    let value = value.trim().trim_end_matches([';', ',']);
    let value = value.trim_start_matches('b');
    let quote = value.chars().next();
    match quote {
        Some(quote @ ('"' | '\'' | '`')) => {
            value.len() > 6
                && value.ends_with(quote)
                && !value.contains("${")
                && !value.contains('{')
        }
        Some(c) => {
            c.is_ascii_digit()
                && value
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'_')
        }
        None => false,
    }
}

/// Bytes that are always the same.
fn is_fixed(value: &str) -> bool {
    let dense: String = value.chars().filter(|c| !c.is_whitespace()).collect();
    let zeros = [
        "buffer.alloc(",
        "bytes(",
        "newbyte[",
        "newuint8array(",
        "[0u8;",
        "[0;",
        "vec![0",
        "make([]byte",
        "b'\\x00'*",
        "b\"\\x00\"*",
        "bytearray(",
        "\"0\".repeat(",
        "'0'.repeat(",
        "data(count:",
        "b'0'*",
    ];
    let texts = [
        "buffer.from('",
        "buffer.from(\"",
        "[]byte(\"",
        "b\"",
        "b'",
        "\"",
        "'",
        "bytes.fromhex('",
        "bytes.fromhex(\"",
    ];
    let known = texts.iter().any(|start| dense.starts_with(start))
        && quoted(value)
            .first()
            .is_some_and(|(_, text)| text.len() >= 8 && !text.contains(['{', '$', ' ', '/']));
    // A length, and not what something else holds.
    let count = |rest: &str| {
        rest.starts_with(|c: char| c.is_ascii_digit())
            || rest.starts_with("32")
            || rest.starts_with("16")
    };
    known && !dense.contains(".env")
        || zeros
            .iter()
            .any(|start| dense.strip_prefix(start).is_some_and(count))
}

/// Whether a name holds what somebody must know, and not what is made of that.
fn is_password(name: &str) -> bool {
    has_parts(
        name,
        &[
            "token",
            "otp",
            "secret",
            "apikey",
            "resetcode",
            "sessionid",
            "session_id",
        ],
    ) && !has_parts(
        name,
        &[
            "hash", "hashed", "digest", "count", "type", "id", "name", "url", "expires", "expiry",
            "limit",
        ],
    )
}

/// Made by a hash of what others know.
fn is_derived(value: &str) -> bool {
    const HASHES: [&str; 8] = [
        "md5(",
        "sha1(",
        "sha256(",
        "createhash(",
        "crc32(",
        "digest.",
        "sha512(",
        "sum256(",
    ];
    const KNOWN: [&str; 8] = [
        "email", ".id", "user_id", "userid", "username", "date", "time", "phone",
    ];
    const SECRET: [&str; 9] = [
        "secret", "random", "salt", "private", "nonce", "hmac", "uuid", "env", "token",
    ];
    has_any(value, &HASHES) && has_any(value, &KNOWN) && !has_any(value, &SECRET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fixed_or_derived_is_told() {
        assert!(is_fixed("Buffer.alloc(12)".to_ascii_lowercase().as_str()));
        assert!(is_fixed("b'\\x00' * 16"));
        assert!(!is_fixed("bytes(data)"));
        assert!(is_derived("hashlib.md5(str(user.id).encode()).hexdigest()"));
        assert!(!is_derived("sha256(secret + user.id)"));
        assert!(is_password("reset_token"));
        assert!(!is_password("token_hash"));
    }
}
