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

/// Whether a sub-command of a service says that somebody becomes part of a circle: `create-group-membership`,
/// `add-roles`, `memberships add`.
pub(super) fn joins_circle(words: &[Value]) -> bool {
    const ADDS: [&str; 6] = ["add", "assign", "grant", "promote", "invite", "bind"];
    #[rustfmt::skip]
    const CIRCLE: [&str; 22] = [
        "member", "members", "membership", "memberships", "principal", "principals", "role", "roles", "admin",
        "admins", "administrator", "owner", "owners", "assignment", "assignments", "permission", "permissions",
        "access", "grant", "grants", "collaborator", "collaborators",
    ];
    // What is made for itself is nobody's yet.
    #[rustfmt::skip]
    const MADE: [&str; 5] = ["membership", "memberships", "assignment", "assignments", "invitation"];
    let short = |w: &&str| w.len() <= 64 && !w.starts_with('-') && !w.contains(['/', '.', '=']);
    let texts = words.iter().map(|word| word.text.as_str());
    let said: Vec<&str> = texts
        .filter(short)
        .take(MAX_VERBS)
        .flat_map(|w| w.split(['-', ':', '_']))
        .collect();
    let has = |list: &[&str]| said.iter().any(|word| list.contains(word));
    has(&ADDS) && has(&CIRCLE) || has(&["create", "put"]) && has(&MADE)
}

/// Whether a key opens something from now on: it stands there itself, or a sub-command says that one is added.
pub(super) fn adds_key(words: &[Value]) -> bool {
    const FORMS: [&str; 5] = [
        "ssh-ed25519 AAAA",
        "ssh-rsa AAAA",
        "ecdsa-sha2-nistp",
        "sk-ssh-ed25519@",
        "sk-ecdsa-sha2-",
    ];
    let texts = || words.iter().take(MAX_WORDS).map(|word| word.text.as_str());
    let stands = |text: &str| text.len() <= MAX_LENGTH && FORMS.iter().any(|f| text.contains(f));
    if texts().any(stands) {
        return true;
    }
    let plain = texts().filter(|text| !text.starts_with('-') && text.len() <= 40);
    let said: Vec<&str> = plain.take(MAX_VERBS).collect();
    let named = |word: &&&str| {
        let word = word.replace(['_', ':'], "-");
        [
            "ssh-key",
            "ssh-keys",
            "sshkey",
            "sshkeys",
            "ssh-public-key",
            "deploy-key",
            "deploy-keys",
        ]
        .iter()
        .any(|name| word == *name || word.ends_with(name) || word.starts_with("ssh-key"))
    };
    let adds = |word: &&&str| {
        let last = word.rsplit(['-', ':']).next().unwrap_or("");
        let verbs = ["add", "create", "import", "upload", "register", "put"];
        verbs.contains(&last) || verbs.iter().any(|verb| word.starts_with(verb))
    };
    said.iter().find(named).is_some() && said.iter().find(adds).is_some()
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
    fn circles_and_keys_are_told_by_words() {
        let joins = |line: &str| joins_circle(&words(line));
        assert!(joins("identitystore create-group-membership --group-id g"));
        assert!(joins("identity groups memberships add"));
        assert!(joins("add-roles --rolename admin"));
        assert!(!joins("iam create-role --role-name app"));
        assert!(!joins("members list"));
        let adds = |line: &str| adds_key(&words(line));
        assert!(adds("compute os-login ssh-keys add --key-file=k.pub"));
        assert!(adds("compute ssh-key import k"));
        assert!(adds_key(&[Value::known("ssh-ed25519 AAAAC3Nza x@y")]));
        assert!(!adds("ssh-key list") && !adds("compute ssh web"));
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
