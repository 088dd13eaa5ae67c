//! Finds secrets in a text: private keys by their frame, tokens by their form, all others by what
//! comes before them. Every pass is linear in the text.

use super::MASK;
use super::names::{self, Strength};
use super::signs::{Signs, may_have_command};
use holdgate_effects::text::secret::{TOKENS, is_sample, may_have_token, private_keys};
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

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

/// Words of which one is in every name that counts.
const NAME: &str = r"[A-Za-z0-9_.-]*(?i:pass|pwd|secret|token|key|cred|auth|jwt|sig|bearer|otp|(?-u:\b)pat)[A-Za-z0-9_-]*";

/// How often a changed text is searched again.
const MAX_ROUNDS: usize = 4;

/// How a secret is known that has no form of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// A login in an address.
    Url,
    /// The value of a header.
    Header,
    /// The value of a name.
    Assigned,
    /// The word after a flag.
    Flag,
    /// A word that a program takes for a password.
    Command,
}

/// A secret that is known by what comes before it.
#[derive(Clone, Debug)]
pub(crate) struct Found<'t> {
    pub(crate) how: How,
    /// The name of the value, of the flag or of the header; what comes before the password in a
    /// login; empty for a command.
    pub(crate) name: &'t str,
    pub(crate) range: Range<usize>,
}

/// The forms of secrets, ready to look.
#[derive(Debug)]
pub(super) struct Finder {
    /// A word without which the passes by context find nothing.
    hints: Regex,
    tokens: Regex,
    context: Context,
}

/// What is looked for around secrets without a form of their own. Most texts have no word of them,
/// so the expressions are built when the first one does.
type Context = LazyLock<Result<InContext, regex::Error>>;

#[derive(Debug)]
struct InContext {
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
            tokens: Regex::new(&TOKENS)?,
            context: LazyLock::new(InContext::new),
        })
    }

    /// Builds all expressions now.
    pub(super) fn prepare(&self) {
        LazyLock::force(&self.context);
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
        let has_hint = self.hints.is_match(text);
        if !has_hint && !may_have_login(text) {
            return changed;
        }
        let Ok(context) = &*self.context else {
            // A test builds them all. If one is invalid nevertheless, nothing is shown.
            *text = Cow::Borrowed(MASK);
            return false;
        };
        let only = |found: Vec<Found<'_>>| found.into_iter().map(|found| found.range).collect();
        changed |= replace(text, |text| only(context.in_urls(text)));
        if self.hints.is_match(text) {
            changed |= replace(text, |text| only(context.headers(text)));
            changed |= replace(text, |text| only(context.assigned(text)));
            changed |= replace(text, |text| only(context.flags(text)));
            changed |= replace(text, |text| only(context.commands(text)));
        }
        changed
    }

    /// What is masked because of what comes before it.
    pub(super) fn in_context<'t>(&self, text: &'t str) -> Vec<Found<'t>> {
        let context = self.context.as_ref();
        context.map_or_else(|_| Vec::new(), |context| context.all(text))
    }

    fn formed(&self, text: &str) -> Vec<Range<usize>> {
        if !may_have_token(text) {
            return Vec::new();
        }
        finds(&self.tokens, text, |found| {
            let kept = found.iter().skip(1).flatten().next()?;
            let range = kept.end()..found.get(0)?.end();
            (!is_sample(text.get(range.clone())?)).then_some(range)
        })
    }
}

/// `https://user:password@host`
fn may_have_login(text: &str) -> bool {
    text.contains('@') && text.contains("://")
}

impl InContext {
    fn new() -> Result<InContext, regex::Error> {
        Ok(InContext {
            urls: Regex::new(URLS)?,
            assignment: Regex::new(&format!(
                r#"(?xs) ({NAME}) \\*["'`]?\]? ( (?:\s*:\s*&?(?:'static\ )?[A-Za-z<>\[\]]{{2,24}})?\s*=\s* | \s*:=\s* | \s*=>\s* | \s*:\s* ) {VALUE}"#
            ))?,
            flag: Regex::new(&format!(r"(?xs) --?({NAME}) [\ \t]+ {VALUE}"))?,
            header: Regex::new(
                r#"(?xi) (?-u:\b)((?:proxy-)?(?:authorization|cookie|set-cookie|(?:x-)?(?:[a-z]+-){0,3}(?:api-?key|token)))
                \\*["'`]? \s*[:,]\s* \\*["'`]? ([^"'`\\\r\n]+)"#,
            )?,
            bearer: Regex::new(r"(?i)(?-u:\b)bearer\s+([A-Za-z0-9._~+/-]{16,}=*)")?,
            command: Regex::new(&format!(
                r#"(?xs) (?-u:\b)sshpass\s+-p\s* {VALUE}
                | (?-u:\b)(?:mysql|mariadb)[a-z-]*\s(?:[^\n|;&]*?\s)?-p {VALUE}
                | (?-u:\b)(?:curl|wget|https?|xh)\s(?:(?:[^\n|;&]|\\\n)*?\s)?(?:-u|-U|--user|--proxy-user)[\ =]*\\*["']?[^\s:"'\\]*:\\*["']{{0,2}}([^\s"'\\]+)
                | (?-u:\b)curl\s(?:(?:[^\n|;&]|\\\n)*?\s)?(?:-u|--user)[\ =]*\\*["']?([^\s:"'\\]{{10,}}):\\*["']?(?:\s|$)
                | (?-u:\b)machine\s+\S+\s+login\s+\S+\s+password\s+ {VALUE}
                | (?-u:\b)login\s(?:[^\n|;&]*?\s)?-p\s+ {VALUE}
                | (?-u:\b)redis-cli\s(?:[^\n|;&]*?\s)?(?:-a|--pass)\s+ {VALUE}
                | (?-u:\b)(?:echo|printf)\s+ {VALUE} \s*\|\s*(?:sudo\s(?:[^\n|]*?\s)?-[A-Za-z]*S|[^\n|]*--password-stdin)"#
            ))?,
        })
    }

    fn all<'t>(&self, text: &'t str) -> Vec<Found<'t>> {
        let mut found = self.in_urls(text);
        found.extend(self.headers(text));
        found.extend(self.assigned(text));
        found.extend(self.flags(text));
        found.extend(self.commands(text));
        found
    }

    fn in_urls<'t>(&self, text: &'t str) -> Vec<Found<'t>> {
        if !may_have_login(text) {
            return Vec::new();
        }
        finds(&self.urls, text, |found| {
            let secret = found.get(2).or(found.get(4))?;
            let text = secret.as_str();
            let only_words =
                text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') && found.get(4).is_some();
            let name = found.get(1).map_or("", |before| before.as_str());
            (!names::is_placeholder(text) && !only_words)
                .then(|| Found::new(How::Url, name, secret.range()))
        })
    }

    fn headers<'t>(&self, text: &'t str) -> Vec<Found<'t>> {
        let signs = Signs::in_text(text);
        let header = signs.header.then_some(&self.header);
        let mut headers = finds_if(header, text, |found| {
            let (name, value) = (found.get(1)?.as_str(), found.get(2)?);
            let masked = names::masked_header(value.as_str())?;
            // What stays is at the start.
            let kept = masked.strip_suffix(MASK)?.len();
            let lead = value.as_str().len() - value.as_str().trim_start().len();
            let end = value.start() + value.as_str().trim_end().len();
            Some(Found::new(
                How::Header,
                name,
                value.start() + lead + kept..end,
            ))
        });
        let bearer = signs.bearer.then_some(&self.bearer);
        headers.extend(finds_if(bearer, text, |found| {
            let value = found.get(1)?;
            let known = value.as_str().bytes().any(|b| b.is_ascii_digit());
            (known && !names::is_placeholder(value.as_str()))
                .then(|| Found::new(How::Header, "bearer", value.range()))
        }));
        headers
    }

    fn assigned<'t>(&self, text: &'t str) -> Vec<Found<'t>> {
        let assignment = Signs::in_text(text).assigned.then_some(&self.assignment);
        finds_if(assignment, text, |found| {
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
            is_secret.then(|| Found::new(How::Assigned, name.as_str(), value.range()))
        })
    }

    fn flags<'t>(&self, text: &'t str) -> Vec<Found<'t>> {
        let flag = Signs::in_text(text).flag.then_some(&self.flag);
        finds_if(flag, text, |found| {
            let name = found.get(1)?.as_str();
            names::strength(name)?;
            let (value, _) = value(found, 2)?;
            let text = value.as_str();
            let other = text.starts_with('-') || names::is_placeholder(text);
            (!other).then(|| Found::new(How::Flag, name, value.range()))
        })
    }

    fn commands<'t>(&self, text: &'t str) -> Vec<Found<'t>> {
        let command = may_have_command(text).then_some(&self.command);
        finds_if(command, text, |found| {
            let secret = found.iter().skip(1).flatten().next()?;
            // `-u KEY:`: a key without a password, or a name.
            let is_name = text.get(secret.end()..)?.starts_with(':')
                && !secret.as_str().bytes().any(|b| b.is_ascii_digit());
            (!is_name && !names::is_placeholder(secret.as_str()))
                .then(|| Found::new(How::Command, "", secret.range()))
        })
    }
}

impl<'t> Found<'t> {
    fn new(how: How, name: &'t str, range: Range<usize>) -> Found<'t> {
        Found { how, name, range }
    }
}

/// The secrets in the matches of a regex.
fn finds<'t, S>(
    regex: &Regex,
    text: &'t str,
    secret: impl Fn(&Captures<'t>) -> Option<S>,
) -> Vec<S> {
    let found = regex.captures_iter(text);
    found.filter_map(|found| secret(&found)).collect()
}

/// The same; none without a regex.
fn finds_if<'t, S>(
    regex: Option<&Regex>,
    text: &'t str,
    secret: impl Fn(&Captures<'t>) -> Option<S>,
) -> Vec<S> {
    regex.map_or_else(Vec::new, |regex| finds(regex, text, secret))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// An expression finds nothing in a text that lacks its signs.
        #[test]
        fn nothing_is_found_without_its_signs(text in "(pass|PWD|key|api-key|token|Auth|authorization|Proxy-|cookie|bearer|pat|path|sig|curl|mysql|echo|login|machine|password|redis-cli|sudo -S|--password-stdin|sshpass|ghp_|AKIA|sk-|-u|-p|-a|--user|--|-|=|:=|=>|:|,|\\||\"|'|`|\\\\|\\]| |  |\n|\\.|_|a|x:y|abc123XYZ|9f8e7d6c5b4a39281706aBcDeFgHiJkLmNoP|\u{212a}|\u{17f}){0,14}") {
            static FINDER: LazyLock<Finder> = LazyLock::new(|| Finder::new().unwrap());
            let finder = &*FINDER;
            let context = finder.context.as_ref().unwrap();
            let signs = Signs::in_text(&text);
            let missed = |sign: bool, regex: &Regex| !sign && regex.is_match(&text);
            prop_assert!(!missed(signs.assigned, &context.assignment));
            prop_assert!(!missed(signs.flag, &context.flag));
            prop_assert!(!missed(signs.header, &context.header));
            prop_assert!(!missed(signs.bearer, &context.bearer));
            prop_assert!(!missed(may_have_command(&text), &context.command));
            prop_assert!(!missed(may_have_token(&text), &finder.tokens));
        }
    }
}
