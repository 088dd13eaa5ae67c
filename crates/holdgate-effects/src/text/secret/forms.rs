//! The forms of tokens: how they begin, what follows, how they are checked, and whose they are. One
//! table serves masking, the keys in calls, and what must not leave.

mod clouds;
mod code;
mod services;

use crate::text::words::AnyWord;
use regex::Regex;
use std::sync::LazyLock;

/// A token that is known by its form.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// What it is: `github-token`.
    pub name: &'static str,
    /// One of these literal texts is in every such token, and starts it unless there is a lead.
    pub starts: &'static [&'static str],
    /// What comes before the start, as an expression: `[0-9]{8,10}`.
    pub lead: &'static str,
    /// What follows the start, as an expression.
    pub body: &'static str,
    /// The same for masking, where a token that is cut or new in form counts too.
    pub loose: &'static str,
    /// Whether the lead is part of the secret: nothing of the token may be shown.
    pub hides_lead: bool,
    /// Whether such a token stands at the start of a word: its start is also part of other words.
    pub bounded: bool,
    /// Characters besides letters and digits that would continue the token.
    pub goes_on: &'static str,
    /// What else is true of such a token.
    pub check: Check,
    /// Host suffixes where the token belongs; empty if people run the service themselves.
    pub issuers: &'static [&'static str],
}

/// What else is true of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Only the form is known.
    Form,
    /// The last six characters are a CRC-32 of the ones before, in base 62.
    Crc62,
    /// The parts between points are JSON in base64.
    Jwt,
    /// Also the form of keys that browsers get to see: a name must say that it is a secret.
    MayBePublic,
    /// The body is a name and a password in base64.
    Login,
    /// A hash of a secret, which only somebody's own list of passwords makes a secret.
    Hash,
}

impl Form {
    const fn new(name: &'static str, starts: &'static [&'static str], body: &'static str) -> Form {
        Form {
            name,
            starts,
            lead: "",
            body,
            loose: body,
            hides_lead: false,
            bounded: false,
            goes_on: "_",
            check: Check::Form,
            issuers: &[],
        }
    }

    const fn of(self, issuers: &'static [&'static str]) -> Form {
        Form { issuers, ..self }
    }

    const fn loose(self, loose: &'static str) -> Form {
        Form { loose, ..self }
    }

    const fn bounded(self) -> Form {
        Form {
            bounded: true,
            ..self
        }
    }

    const fn after(self, lead: &'static str) -> Form {
        Form { lead, ..self }
    }

    const fn after_secret(self, lead: &'static str) -> Form {
        Form {
            lead,
            hides_lead: true,
            ..self
        }
    }

    const fn goes_on(self, goes_on: &'static str) -> Form {
        Form { goes_on, ..self }
    }

    const fn checked(self, check: Check) -> Form {
        Form { check, ..self }
    }

    /// The whole token as an expression; the group is what may be shown.
    fn expression(&self, body: &str) -> String {
        let starts: Vec<String> = self
            .starts
            .iter()
            .map(|start| regex::escape(start))
            .collect();
        let (lead, starts) = (self.lead, starts.join("|"));
        if self.hides_lead {
            format!("(){lead}(?:{starts}){body}")
        } else {
            format!("({lead}(?:{starts})){body}")
        }
    }

    /// The exact form, from the start of a text.
    pub fn exact(&self) -> Result<Regex, regex::Error> {
        Regex::new(&format!("^{}", self.expression(self.body)))
    }
}

/// A key that has no form of its own, and is known by a name before it: `DATADOG_API_KEY=…`.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// What it is.
    pub name: &'static str,
    /// Words of which one is in the name, in lower case; `_` is any mark between words, or none.
    pub words: &'static [&'static str],
    /// The value, as an expression.
    pub value: &'static str,
    /// Host suffixes where the key belongs.
    pub issuers: &'static [&'static str],
}

/// All forms.
pub fn forms() -> impl Iterator<Item = &'static Form> {
    clouds::FORMS
        .iter()
        .chain(code::FORMS)
        .chain(services::FORMS)
}

/// All keys that are known by name.
pub fn named() -> impl Iterator<Item = &'static Named> {
    services::NAMED.iter()
}

/// The hosts where a token belongs that begins so.
pub(crate) fn issuers(start: &str) -> &'static [&'static str] {
    let form = forms().find(|form| form.starts.contains(&start));
    form.map_or(&[], |form| form.issuers)
}

/// How tokens begin, all of them.
static STARTS: LazyLock<AnyWord> =
    LazyLock::new(|| AnyWord::of(forms().flat_map(|form| form.starts).copied()));

/// Whether a token may stand in `text`: how one begins is in it. Most texts are ruled out by this, far
/// sooner than by [`TOKENS`].
pub fn may_have_token(text: &str) -> bool {
    STARTS.is_in(text)
}

/// All tokens as one expression, as they are masked. The group is what stays.
pub static TOKENS: LazyLock<String> = LazyLock::new(|| {
    let each = forms().map(|form| {
        let bound = if form.bounded {
            r"(?:(?-u:\b)|\\[nrt])"
        } else {
            ""
        };
        format!("{bound}{}", form.expression(form.loose))
    });
    each.collect::<Vec<_>>().join("|")
});

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_form_compiles_and_is_listed_once() {
        let mut names = BTreeSet::new();
        for form in forms() {
            assert!(form.exact().is_ok(), "{}", form.name);
            assert!(names.insert((form.name, form.starts)), "{}", form.name);
            assert!(form.starts.iter().all(|start| start.len() >= 2));
        }
        for named in named() {
            assert!(Regex::new(named.value).is_ok(), "{}", named.name);
            let plain = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            assert!(named.words.iter().all(plain), "{}", named.name);
        }
        assert!(Regex::new(&TOKENS).is_ok());
    }

    /// Two forms with one start would make the issuer depend on the order.
    #[test]
    fn a_start_has_one_issuer() {
        for form in forms() {
            for start in form.starts {
                for other in forms().filter(|other| other.starts.contains(start)) {
                    assert_eq!(other.issuers, form.issuers, "{start}");
                }
            }
        }
    }
}
