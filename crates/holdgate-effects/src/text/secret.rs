//! Secrets that are known by their form, in the call's own text: tokens by how they begin, private
//! keys by their frame, other keys by the name that stands before them.

use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Tokens that are known by their form. The group is what stays.
pub const TOKENS: &str = r"(?x)
  (gh[pousr]_)[A-Za-z0-9]{30,}
| (github_pat_)[A-Za-z0-9_]{30,}
| (gl(?:pat|dt|rt|cbt|ptt|ft|soat)-)[A-Za-z0-9_.-]{16,}
| (xox[abeoprs]-|xapp-)[A-Za-z0-9-]{10,}
| ([sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}
| (sk-(?:ant|proj|or|svcacct|admin)-)[A-Za-z0-9_-]{16,}
| (?:\b|\\[nrt])(sk-)[A-Za-z0-9]{32,}
| (AIza)[A-Za-z0-9_-]{35}
| (ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}
| (?:\b|\\[nrt])(hf_)[A-Za-z0-9]{30,}
| (?:\b|\\[nrt])(gsk_|r8_|pplx-|xai-|nvapi-)[A-Za-z0-9]{30,}
| (?:\b|\\[nrt])(npm_)[A-Za-z0-9]{36}
| (pypi-AgE)[A-Za-z0-9_-]{30,}
| (rubygems_)[0-9a-f]{32,}
| (dckr_[po]at_)[A-Za-z0-9_-]{20,}
| (?:\b|\\[nrt])(A(?:KI|SI|BI|CC)A)[0-9A-Z]{16}\b
| (do[por]_v1_)[0-9a-f]{40,}
| (shp(?:at|ca|pa|ss)_)[0-9a-fA-F]{32}
| (?:\b|\\[nrt])(SG\.)[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
| (?:\b|\\[nrt])(hv[sbr]\.)[A-Za-z0-9_-]{20,}
| (AGE-SECRET-KEY-1)[0-9A-Z]{20,}
| (?:\b|\\[nrt])(dapi)[0-9a-f]{32}
| (lin_api_|glsa_|PMAK-|sntrys_|sq0csp-|ATATT3|ATCTT3|figd_)[A-Za-z0-9_=-]{20,}
| (?:\b|\\[nrt])(eyJ)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){1,3}
| (hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/)[A-Za-z0-9/_-]{20,}
| (?:\b|\\[nrt])([0-9]{8,10}:AA)[A-Za-z0-9_-]{30,}
| (\$(?:1|5|6|7|y|gy|2[aby]|argon2[a-z]*)\$)[A-Za-z0-9./$=,+-]{20,}
";

/// Lines that may come before a key in its frame.
const KEY_HEADERS: &[&str] = &["Proc-Type:", "Version:", "Comment:", "Charset:"];

/// The bodies of private keys, also with `\n` for line ends.
pub fn private_keys(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    let mut ends = true;
    while let Some(begin) = text.get(from..).and_then(|rest| rest.find("-----BEGIN ")) {
        let header = from + begin + "-----BEGIN ".len();
        from = header;
        let Some(line) = text
            .get(header..)
            .and_then(|rest| rest.find("-----").map(|at| (at, rest)))
        else {
            break;
        };
        let kind = line.1.get(..line.0).unwrap_or_default();
        if line.0 > 64 || !kind.contains("PRIVATE KEY") {
            continue;
        }
        let body = header + line.0 + "-----".len();
        let rest = text.get(body..).unwrap_or_default();
        let key = rest.trim_start_matches(is_filling);
        let run = key
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || b"+/=:-".contains(b));
        let headed = KEY_HEADERS.iter().any(|start| key.starts_with(start));
        if run.take(16).count() < 16 && !headed {
            continue;
        }
        // If this key has no end, later keys do not have one either.
        let end = ends.then(|| rest.find("-----END ")).flatten();
        ends = end.is_some();
        let len = end.unwrap_or_else(|| {
            let is_key =
                |c: char| c.is_ascii_alphanumeric() || "+/=:,-.".contains(c) || is_filling(c);
            rest.find(|c: char| !is_key(c)).unwrap_or(rest.len())
        });
        ranges.push(body..body + len);
        from = body + len;
    }
    ranges
}

/// Characters between the lines of a key: white space, its escapes, quotes, and replacements of
/// line ends.
fn is_filling(c: char) -> bool {
    c.is_whitespace() || "\\\"'nr+\u{fffd}".contains(c)
}

/// Whether a token of a known form is one of documentation.
pub fn is_sample(token: &str) -> bool {
    let lower = token.to_ascii_lowercase();
    let mut kinds: Vec<u8> = lower.bytes().collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.len() <= 3 || is_example(&lower) || lower.contains("xxxxxx")
}

/// Whether a value says that it is an example.
pub fn is_example(lower: &str) -> bool {
    let words = ["example", "placeholder", "redacted", "your_", "your-"];
    words.iter().any(|word| lower.contains(word))
}

/// A key after its name: `AWS_SECRET_ACCESS_KEY=…`, `DB_PASSWORD: "…"`.
const NAMED: &str = r#"(?x) \b ([A-Z][A-Z0-9]{1,30}) _ (?:[A-Z0-9]+_){0,4}
  (?: SECRET | TOKEN | PASSWORD | PASSWD | KEY ) \s* [=:] \s* ["']? ([^\s"'<>$\{\}]{12,200})"#;

struct Forms {
    tokens: Regex,
    named: Regex,
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    Some(Forms {
        tokens: Regex::new(TOKENS).ok()?,
        named: Regex::new(NAMED).ok()?,
    })
});

/// What a secret in a text is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark<'t> {
    /// How a token begins: `ghp_`.
    Start(&'t str),
    /// The first word of its name: `AWS`.
    Name(&'t str),
    /// The frame of a private key.
    Frame,
}

/// What the secrets in a text are known by. Examples of documentation count only in a text that was
/// `encoded`: nobody encodes those.
pub fn marks(text: &str, encoded: bool) -> Vec<Mark<'_>> {
    let mut found = Vec::new();
    if text.contains("-----BEGIN ") && !private_keys(text).is_empty() {
        found.push(Mark::Frame);
    }
    let Some(forms) = &*FORMS else {
        return found;
    };
    for token in forms.tokens.captures_iter(text).take(MAX_MARKS) {
        let Some(whole) = token.get(0) else { continue };
        let start = token.iter().skip(1).flatten().next();
        if let Some(start) = start
            && (encoded || !is_sample(whole.as_str()))
        {
            found.push(Mark::Start(start.as_str()));
        }
    }
    for named in forms.named.captures_iter(text).take(MAX_MARKS) {
        let (Some(name), Some(value)) = (named.get(1), named.get(2)) else {
            continue;
        };
        if is_random(value.as_str()) && (encoded || !is_sample(value.as_str())) {
            found.push(Mark::Name(name.as_str()));
        }
    }
    found
}

/// Secrets of one text that are looked at.
const MAX_MARKS: usize = 16;

/// Whether a value looks drawn by lot: letters and digits mixed, no words of a program.
fn is_random(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    digits >= 1 && letters >= 4 && !value.contains(['(', '[', ';']) && !value.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_forms() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8".repeat(3));
        assert_eq!(marks(&token, false), [Mark::Start("ghp_")]);
        assert_eq!(
            marks("DB_PASSWORD=hunter2hunter2x", false),
            [Mark::Name("DB")]
        );
        for none in [
            "AKIAIOSFODNN7EXAMPLE",
            "API_KEY=<your key here>",
            "API_TOKEN=${TOKEN_FROM_VAULT_1}",
            "the key is kept in the vault",
        ] {
            assert_eq!(marks(none, false), [], "{none}");
        }
        assert_eq!(marks("AKIAIOSFODNN7EXAMPLE", true), [Mark::Start("AKIA")]);
    }
}
