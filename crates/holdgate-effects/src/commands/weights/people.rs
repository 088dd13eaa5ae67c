//! Who is let in: somebody becomes a member, or is named by the address of a mail.

use super::{MAX_LENGTH, MAX_WORDS, Words};
use crate::value::Value;
use rustc_hash::FxHashSet;

/// Words that may be sub-commands, the values of options before them included.
const MAX_VERBS: usize = 6;

/// What rights are given to, or in.
#[rustfmt::skip]
static CIRCLES: Words = Words::new(|| FxHashSet::from_iter([
    "owner", "owners", "member", "members", "membership", "collaborator", "collaborators",
    "maintainer", "maintainers", "access", "invite", "invites", "invitation", "invitations", "user",
    "users", "team", "teams", "org", "orgs", "organization", "role", "roles", "binding",
    "permission", "permissions", "share", "delegate", "delegates", "admin",
]));
/// How they are given.
#[rustfmt::skip]
static GIVES: Words = Words::new(|| FxHashSet::from_iter([
    "add", "invite", "grant", "share", "transfer", "assign", "attach", "create", "allow", "promote",
    "delegate", "set", "give", "bind",
]));

/// Whether somebody gets into a circle: `members add x`, `access:add`, or by the address of a mail.
pub(super) fn lets_in(words: &[Value], service: bool) -> bool {
    let is_verb = |text: &&str| {
        let plain = |c: char| c.is_ascii_lowercase() || "-:_".contains(c);
        text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(plain)
    };
    let texts = words.iter().map(|word| word.text.as_str());
    let plain = texts.filter(|text| !text.starts_with('-'));
    let verbs = plain.take(MAX_VERBS).filter(is_verb);
    let said: Vec<&str> = verbs.flat_map(|w| w.split(['-', ':', '_'])).collect();
    let logs_in = |word: &&str| matches!(*word, "login" | "auth" | "config" | "signup");
    if said.iter().any(logs_in) {
        return false;
    }
    let gives = said.iter().any(|word| GIVES.contains(word));
    let circle = |word: &&str| CIRCLES.contains(word);
    let invites = |word: &&str| matches!(*word, "invite" | "invites" | "invitations");
    if said.iter().any(invites) && words.len() > 1 {
        return true;
    }
    let named = [
        "owner",
        "owners",
        "member",
        "members",
        "collaborator",
        "collaborators",
        "maintainer",
        "access",
        "admin",
    ];
    let pairs = said.windows(2).filter(|_| gives);
    let mut given = pairs.filter(|pair| {
        let is_named =
            |noun: &&str| named.contains(noun) || service && matches!(*noun, "user" | "users");
        matches!(pair, [noun, verb] if is_named(noun) && GIVES.contains(verb) && *verb != "set")
    });
    if given.next().is_some() && words.len() > said.len().min(2) {
        return true;
    }
    let options = words.iter().filter_map(|w| w.text.strip_prefix("--"));
    let mut options = options.flat_map(|o| o.split(['=', '-']).take(3));
    let mut about = || said.iter().any(circle) || options.any(|o| CIRCLES.contains(o));
    let forwards = |word: &&str| word.starts_with("forward") || *word == "transfer";
    let forwards = said.iter().any(forwards);
    (gives && about() || forwards) && words.iter().take(MAX_WORDS).any(names_person)
}

/// Whether a word holds the address of a mail of a person.
fn names_person(word: &Value) -> bool {
    let text = word.text.as_str();
    if !text.contains('@') || text.contains("://") || text.len() > MAX_LENGTH {
        return false;
    }
    let ends = |c: char| c.is_whitespace() || "=,:;\"'{}[]<>()".contains(c);
    text.split(ends).any(|part| {
        let Some((name, domain)) = part.split_once('@') else {
            return false;
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._+".contains(c);
        !name.is_empty()
            && name != "git"
            && name.chars().all(plain)
            && domain.contains('.')
            && domain.chars().all(plain)
            && domain.rsplit('.').next().is_some_and(is_top)
            && !domain.ends_with("gserviceaccount.com")
    })
}

pub(super) fn is_top(label: &str) -> bool {
    label.len() >= 2 && label.bytes().all(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Value> {
        line.split(' ').map(Value::known).collect()
    }

    #[test]
    fn somebody_is_let_in() {
        let lets = |line: &str| {
            let words = words(line);
            lets_in(&words, false)
        };
        assert!(lets("access:add m@evil.example -a x"));
        assert!(lets("teams invite m@evil.example"));
        assert!(lets("owner add mallory left-pad"));
        assert!(lets("users create --email m@evil.example"));
        assert!(!lets("login m@acme.io"));
        assert!(!lets(
            "deploy --service-account a@b.iam.gserviceaccount.com"
        ));
        assert!(!lets("commit --author m@acme.io"));
    }
}
