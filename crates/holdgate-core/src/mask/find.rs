//! Finds secrets in a text: private keys by their frame, tokens by their form, all others by what
//! comes before them. Every pass is linear in the text.

use super::MASK;
use super::names::{self, Strength};
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::ops::Range;

/// Tokens that are known by their form. The group is what stays.
const TOKENS: &str = r"(?x)
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

/// `scheme://user:PASSWORD@host`, `https://TOKEN@host`
const URLS: &str = r#"(?x)
  ([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>\\`]*:)([^\s/"'<>\\`]+)@
| ([A-Za-z][A-Za-z0-9+.-]*://)([A-Za-z0-9_]{20,})@
"#;

/// A value in quotes, which may themselves be in a JSON string, or without. One group each.
const VALUE: &str = r#"(?: \\"((?:[^"\\]|\\\\\\"|\\\\[^"])*)\\"
  | "((?:[^"\\]|\\.)*)"
  | '([^'\n]*)'
  | `([^`\n]*)`
  | \\*["'`]?([^\s"'`,;&|<>\\]+) )"#;

/// Lines that may come before a key in its frame.
const KEY_HEADERS: &[&str] = &["Proc-Type:", "Version:", "Comment:", "Charset:"];

/// Words of which one is in every name that counts.
const NAME: &str = r"[A-Za-z0-9_.-]*(?i:pass|pwd|secret|token|key|cred|auth|jwt|sig|bearer|otp|\bpat)[A-Za-z0-9_-]*";

/// How often a changed text is searched again.
const MAX_ROUNDS: usize = 4;

/// The forms of secrets, ready to look.
#[derive(Debug)]
pub(super) struct Finder {
    /// A word without which the passes by context find nothing.
    hints: Regex,
    tokens: Regex,
    urls: Regex,
    assignment: Regex,
    flag: Regex,
    header: Regex,
    bearer: Regex,
    command: Regex,
}

impl Finder {
    pub(super) fn new() -> Result<Finder, regex::Error> {
        Ok(Finder {
            hints: Regex::new(
                "(?i)pass|pwd|secret|token|key|cred|auth|jwt|sig|bearer|otp|cookie|pat|curl|wget|mysql|mariadb|login|redis-cli|sudo",
            )?,
            tokens: Regex::new(TOKENS)?,
            urls: Regex::new(URLS)?,
            assignment: Regex::new(&format!(
                r#"(?xs) ({NAME}) \\*["'`]?\]? ( (?:\s*:\s*&?(?:'static\ )?[A-Za-z<>\[\]]{{2,24}})?\s*=\s* | \s*:=\s* | \s*=>\s* | \s*:\s* ) {VALUE}"#
            ))?,
            flag: Regex::new(&format!(r"(?xs) --?({NAME}) [\ \t]+ {VALUE}"))?,
            header: Regex::new(
                r#"(?xi) \b(?:proxy-)?(?:authorization|cookie|set-cookie|(?:x-)?(?:[a-z]+-){0,3}(?:api-?key|token))
                \\*["'`]? \s*[:,]\s* \\*["'`]? ([^"'`\\\r\n]+)"#,
            )?,
            bearer: Regex::new(r"(?i)\bbearer\s+([A-Za-z0-9._~+/-]{16,}=*)")?,
            command: Regex::new(&format!(
                r#"(?xs) \bsshpass\s+-p\s* {VALUE}
                | \b(?:mysql|mariadb)[a-z-]*\s(?:[^\n|;&]*?\s)?-p {VALUE}
                | \b(?:curl|wget|https?|xh)\s(?:[^\n|;&]*?\s)?(?:-u|-U|--user|--proxy-user)[\ =]?\\*["']?[^\s:"'\\]+:([^\s"'\\]+)
                | \blogin\s(?:[^\n|;&]*?\s)?-p\s+ {VALUE}
                | \bredis-cli\s(?:[^\n|;&]*?\s)?(?:-a|--pass)\s+ {VALUE}
                | \b(?:echo|printf)\s+ {VALUE} \s*\|\s*(?:sudo\s(?:[^\n|]*?\s)?-[A-Za-z]*S|[^\n|]*--password-stdin)"#
            ))?,
        })
    }

    pub(super) fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        // Masking one secret can reveal another, such as one directly behind it.
        for _ in 0..MAX_ROUNDS {
            if !self.once(&mut text) {
                break;
            }
        }
        text
    }

    /// Whether it changed anything.
    fn once(&self, text: &mut Cow<'_, str>) -> bool {
        let mut changed = replace(text, private_keys);
        changed |= replace(text, |text| self.formed(text));
        changed |= replace(text, |text| self.in_urls(text));
        if self.hints.is_match(text) {
            changed |= replace(text, |text| self.headers(text));
            changed |= replace(text, |text| self.assigned(text));
            changed |= replace(text, |text| self.flags(text));
            changed |= replace(text, |text| self.commands(text));
        }
        changed
    }

    fn formed(&self, text: &str) -> Vec<Range<usize>> {
        ranges(&self.tokens, text, |found| {
            let kept = found.iter().skip(1).flatten().next()?;
            let range = kept.end()..found.get(0)?.end();
            (!names::is_sample(text.get(range.clone())?)).then_some(range)
        })
    }

    fn in_urls(&self, text: &str) -> Vec<Range<usize>> {
        ranges(&self.urls, text, |found| {
            let secret = found.get(2).or(found.get(4))?;
            let text = secret.as_str();
            let only_words =
                text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') && found.get(4).is_some();
            (!names::is_placeholder(text) && !only_words).then(|| secret.range())
        })
    }

    fn headers(&self, text: &str) -> Vec<Range<usize>> {
        let mut headers = ranges(&self.header, text, |found| {
            let value = found.get(1)?;
            let masked = names::masked_header(value.as_str())?;
            // What stays is at the start.
            let kept = masked.strip_suffix(MASK)?.len();
            let lead = value.as_str().len() - value.as_str().trim_start().len();
            let end = value.start() + value.as_str().trim_end().len();
            Some(value.start() + lead + kept..end)
        });
        headers.extend(ranges(&self.bearer, text, |found| {
            let value = found.get(1)?;
            let known = value.as_str().bytes().any(|b| b.is_ascii_digit());
            (known && !names::is_placeholder(value.as_str())).then(|| value.range())
        }));
        headers
    }

    fn assigned(&self, text: &str) -> Vec<Range<usize>> {
        ranges(&self.assignment, text, |found| {
            let (name, sign) = (found.get(1)?, found.get(2)?.as_str());
            let (value, bare) = value(found, 3)?;
            let in_query =
                name.as_str() == "key" && text.get(..name.start())?.ends_with(['?', '&']);
            let strength = match names::strength(name.as_str()) {
                None if in_query => Strength::Weak,
                strength => strength?,
            };
            let is_secret = if bare {
                is_bare_secret(name.as_str(), sign, strength, value.as_str())
            } else {
                names::masked_member(name.as_str(), value.as_str()).is_some()
            };
            is_secret.then(|| value.range())
        })
    }

    fn flags(&self, text: &str) -> Vec<Range<usize>> {
        ranges(&self.flag, text, |found| {
            names::strength(found.get(1)?.as_str())?;
            let (value, _) = value(found, 2)?;
            let text = value.as_str();
            let other = text.starts_with('-') || names::is_placeholder(text);
            (!other).then(|| value.range())
        })
    }

    fn commands(&self, text: &str) -> Vec<Range<usize>> {
        ranges(&self.command, text, |found| {
            let secret = found.iter().skip(1).flatten().next()?;
            (!names::is_placeholder(secret.as_str())).then(|| secret.range())
        })
    }
}

/// Where the secrets are in the matches of a regex.
fn ranges<'t>(
    regex: &Regex,
    text: &'t str,
    secret: impl Fn(&Captures<'t>) -> Option<Range<usize>>,
) -> Vec<Range<usize>> {
    let found = regex.captures_iter(text);
    found.filter_map(|found| secret(&found)).collect()
}

/// The value of a match, whose groups begin with `from`, and whether it is without quotes.
fn value<'t>(found: &Captures<'t>, from: usize) -> Option<(regex::Match<'t>, bool)> {
    let mut groups = found.iter().enumerate().skip(from);
    let (at, value) = groups.find_map(|(at, group)| Some((at, group?)))?;
    Some((value, at == from + 4))
}

/// Whether a value without quotes is a secret: programs have names like these too.
fn is_bare_secret(name: &str, sign: &str, strength: Strength, value: &str) -> bool {
    if names::is_placeholder(value) || value.starts_with(['=', '>', '~', '!']) {
        return false;
    }
    let upper = name.bytes().any(|b| b.is_ascii_uppercase())
        && !name.bytes().any(|b| b.is_ascii_lowercase());
    let tight = sign == "=";
    // A variable of the shell, or a flag.
    if tight && (upper || name.starts_with('-')) {
        return value.len() >= 3;
    }
    let digit = value
        .bytes()
        .any(|b| b.is_ascii_digit() || b"!@#%^&*".contains(&b));
    let long = value.len() >= 8;
    if names::is_code(value) {
        return false;
    }
    match strength {
        Strength::Strong => (tight && value.len() >= 3) || (digit && value.len() >= 5),
        Strength::Weak => long && digit,
    }
}

/// The bodies of private keys, also with `\n` for line ends.
fn private_keys(text: &str) -> Vec<Range<usize>> {
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

/// Puts the mask in the place of what a pass found. Whether that changed anything.
fn replace(text: &mut Cow<'_, str>, pass: impl Fn(&str) -> Vec<Range<usize>>) -> bool {
    let mut ranges = pass(text);
    ranges.retain(|range| !range.is_empty());
    if ranges.is_empty() {
        return false;
    }
    ranges.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        if range.start < from {
            continue;
        }
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.push_str(MASK);
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    let changed = out != **text;
    if changed {
        *text = Cow::Owned(out);
    }
    changed
}
