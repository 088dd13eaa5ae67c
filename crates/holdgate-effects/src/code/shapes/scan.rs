//! A file in the forms that the readers of shapes look at, and which of them have something to look for.

use super::find::first;
use crate::code::doors::mask::{Masked, masked};
use crate::language::Language;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::LazyLock;

pub(super) use super::find::has_any;

/// What a file must speak of before a reader looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Checks of certificates, signatures and users.
    Trust,
    /// Every address.
    Everybody,
    /// Those who may do more than others.
    Raised,
    /// What somebody must know to be let in.
    Credential,
    /// Functions that let somebody in.
    Checks,
    Destroys,
    Clock,
    /// The name of a machine or of its user.
    Machine,
    /// Places of secrets.
    Secret,
    Environment,
    Socket,
    Process,
    Home,
    /// Numbers that nobody can guess, and what needs them.
    Chance,
    /// Who gets money.
    Payee,
    /// What people type or are known by.
    Personal,
    /// Many rows become empty.
    Empties,
    /// Somebody's days of work, as a condition.
    Person,
    /// Settings that lead requests somewhere.
    Leads,
}

#[rustfmt::skip]
const WORDS: [(Group, &[&str]); 19] = [
    (Group::Trust, &[
        "verif", "validat", "insecure", "ssl", "tls", "trust", "cert", "hostkey", "hostname", "identity", "signature", "signed", "algorithm",
        "unauthorized", "anonymous", "auth", "protected-mode", "skip-grant", "permitempty", "requirepass",
    ]),
    (Group::Everybody, &[
        "0.0.0/", "::/", "repo:", "arn:aws:", "project_path:", "serviceaccount:", "anyipv4", "any_ipv4", "anyipv6", "any_ipv6", "255.255.255.255", "hostssl ",
        "hostnossl ", "host ", "host\t",
    ]),
    (Group::Raised, &[
        "admin", "superuser", "is_staff", "isstaff", "owner", "root",
    ]),
    (Group::Credential, &[
        "passw", "passphrase", "passcode", "$2a$", "$2b$", "$2y$", "$argon2", "pwd", "pw", "otp", "pin", "token",
        "secret", "apikey", "api_key", "identified by",
    ]),
    (Group::Checks, &[
        "auth", "login", "bcrypt", "is_admin", "isadmin", "header", "email", "timingsafe", "hmac", "hash_equals",
        "securecompare", "secure_compare", "constanttime", "hasrole", "has_role",
    ]),
    (Group::Destroys, &[
        "deletemany", "delete_many", "delete_all", "deleteall", "destroy_all", "destroyall", "drop table",
        "drop database", "drop schema", "drop collection", "truncate", "delete from", "rmtree", "rmsync", "rm_rf",
        "rm_r", "rmdir", "unlink", "removeall", "remove_dir_all", "dropdatabase", "drop_database", "drop_all",
        "dropall", "drop()", ".drop(", "flushall", "flushdb", "deleterecursively", "rm -r", "fs.rm", "removedir",
        "deletedir", "deletedirectory", "removedirectory", "remove-item", "shred", "mkfs", "wipe", "destroy(",
        ".delete(", "os.remove", "file.delete", "files.delete", "remove_tree", "removetree", "recurs", "delete-",
        "delete_tree", "deletetree", "remove_recursive", "removerecursive", "drop_table", "droptable", "erase",
        "delete_objects", "deletebucket", "delete_bucket", "deleteobjects",
    ]),
    (Group::Clock, &[
        "date.now", "new date", "datetime", "time.now", "time()", "time(", "now()", "getfullyear", "localdate",
        "instant", "strftime", "date(", "sysdate", "current_date", "current_timestamp", "utcnow", "systemtime",
        "getdate", "chrono", "date +", "get-date", "date.today", "calendar", "temporal.", "clock", "today", "moment(",
        "dayjs(", "utc_now", "date()",
    ]),
    (Group::Machine, &[
        "hostname", "getuser", "username", "user_name", "userinfo", "whoami", "computername", "machinename",
        "getlogin", "nodename", "uname", "logname",
    ]),
    (Group::Secret, &[
        ".ssh", ".aws", ".gnupg", ".kube", ".netrc", ".npmrc", ".pypirc", ".docker", "gcloud", ".git-credentials",
        "login data", "cookies", "logins.json", "key4.db", "keychain", ".azure", ".config/gh", ".pgpass", "shadow",
        "_history", ".password-store", "keyrings", ".mozilla", ".electrum", "wallet", "vault-token", ".env", "id_rsa",
        "id_ed25519", "credentials", "keystore", "solana",
    ]),
    (Group::Environment, &[
        "environ", "${", "process.env", "getenv", "get_env", "env::vars", "$_env", "env.to", "dict(env", "deno.env",
        "bun.env", "import.meta.env", "env::all", "environment", "getenvironment",
    ]),
    (Group::Socket, &[
        "socket", "tcp", "connect", "inet", "listen", "dial", "net.", "udp",
    ]),
    (Group::Process, &[
        "/bin/sh", "/bin/bash", "\"sh\"", "'sh'", "\"bash\"", "'bash'", "sh -c", "cmd.exe", "process", "shell",
        "system", "popen", "exec", "spawn", "jobstart", "termopen", "fork", "dofile", "os:cmd", "os.cmd", "command",
    ]),
    (Group::Home, &[
        "home", "userprofile", "\"~\"", "'~'",
    ]),
    (Group::Chance, &[
        "iv", "nonce", "salt", "token", "secret", "otp", "rng", "random", "rand.", "session_id", "sessionid", "key",
    ]),
    (Group::Payee, &[
        "acct_", "iban", "0x", "bc1", "payout", "payee", "recipient", "beneficiary", "destination", "wallet", "account",
        "treasury", "deposit", "address",
    ]),
    (Group::Personal, &[
        "://", "resolve", "lookup", "gethostby", "getaddrinfo", "dns",
    ]),
    (Group::Empties, &[
        "updatemany", "update_many", "update_all", "updateall", ".update(", "update ", "$unset", "bulkwrite",
        "bulk_update", "bulkupdate", "executeupdate", "update_columns",
    ]),
    (Group::Person, &[
        "@",
    ]),
    (Group::Leads, &[
        "proxy", "base", "api", "endpoint", "host", "server_url", "remote_", "remotecache", "autoconfig", "pac_url", "bes_backend",
    ]),
];

/// Finds all words in one pass.
struct Search {
    words: Option<AhoCorasick>,
    groups: Vec<Group>,
}

static SEARCH: LazyLock<Search> = LazyLock::new(|| {
    let all = WORDS
        .iter()
        .flat_map(|(group, words)| words.iter().map(|word| (*group, *word)));
    let (groups, words): (Vec<Group>, Vec<&str>) = all.unzip();
    let words = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .ascii_case_insensitive(true)
        .build(words);
    Search {
        words: words.ok(),
        groups,
    }
});

/// The groups of which a file has a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Groups(u32);

impl Groups {
    pub(super) fn of(text: &str) -> Groups {
        let search = &*SEARCH;
        let Some(words) = &search.words else {
            return Groups(u32::MAX);
        };
        let mut groups = Groups::default();
        for found in words.find_overlapping_iter(text) {
            if let Some(group) = search.groups.get(found.pattern().as_usize()) {
                groups.0 |= 1 << *group as u32;
            }
        }
        groups
    }

    pub(super) fn has(self, group: Group) -> bool {
        self.0 & (1 << group as u32) != 0
    }

    pub(super) fn any(self) -> bool {
        self.0 != 0
    }
}

/// A file, its parts at the same places in each form.
pub(super) struct Text<'t> {
    pub(super) path: String,
    pub(super) language: Language,
    /// Without comments.
    pub(super) clean: String,
    /// Without comments and texts.
    pub(super) code: String,
    /// Without comments, in lower case.
    pub(super) low: String,
    /// What stood there before.
    replaced: &'t str,
}

impl<'t> Text<'t> {
    pub(super) fn of(path: &str, language: Language, masked: Masked, replaced: &'t str) -> Self {
        Text {
            path: path.to_ascii_lowercase(),
            language,
            low: masked.clean.to_ascii_lowercase(),
            clean: masked.clean,
            code: masked.code,
            replaced,
        }
    }

    /// Whether it is source that people write, and no settings.
    pub(super) fn is_code(&self) -> bool {
        !matches!(
            self.language,
            Language::Data
                | Language::Embedded
                | Language::Lines
                | Language::Markup
                | Language::Prose
                | Language::Document
        )
    }

    /// Whether programs read it for their settings.
    pub(super) fn is_settings(&self) -> bool {
        let plain = [Language::Data, Language::Embedded, Language::Lines].contains(&self.language);
        plain || self.language == Language::Markup && self.path.ends_with("config")
    }

    /// Whether a piece did not stand there before.
    pub(super) fn is_new(&self, piece: &str) -> bool {
        self.replaced.is_empty() || first(self.replaced, piece.trim()).is_none()
    }

    /// Whether a part of a file changes, and what stood there is known.
    pub(super) fn is_edit(&self) -> bool {
        !self.replaced.trim().is_empty()
    }

    /// What stood there before, without comments and in lower case.
    pub(super) fn old_low(&self) -> Option<String> {
        self.is_edit()
            .then(|| masked(self.replaced).clean.to_ascii_lowercase())
    }

    /// What stood there before.
    pub(super) fn old(&self) -> &str {
        self.replaced
    }

    /// The line at a place, as written.
    pub(super) fn line(&self, at: usize) -> &str {
        let from = self
            .clean
            .get(..at)
            .and_then(|t| t.rfind('\n'))
            .map_or(0, |at| at + 1);
        let rest = self.clean.get(from..).unwrap_or("");
        rest.split('\n').next().unwrap_or("")
    }
}

/// A piece of a text from so many lines before a place to so many after it, and not more than so many bytes
/// away.
pub(super) fn around(text: &str, at: usize, before: usize, after: usize, bytes: usize) -> &str {
    let head = text.get(..at).unwrap_or("");
    let from = head
        .rmatch_indices('\n')
        .nth(before)
        .map_or(0, |(at, _)| at + 1);
    let rest = text.get(at..).unwrap_or("");
    let to = rest
        .match_indices('\n')
        .nth(after)
        .map_or(text.len(), |(end, _)| at + end);
    let from = from.max(at.saturating_sub(bytes));
    let to = to.min(at + bytes);
    let from = (from..=at)
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(at);
    let to = (to..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len());
    text.get(from..to).unwrap_or("")
}

/// The texts between quotes.
pub(super) fn quoted(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|b| matches!(b, b'"' | b'\'' | b'`')))
    {
        let open = at + start;
        let quote = bytes.get(open).copied().unwrap_or_default();
        let inner = bytes.get(open + 1..).unwrap_or(&[]);
        let end = inner.iter().position(|b| *b == quote || *b == b'\n');
        match end {
            Some(end) if inner.get(end) == Some(&quote) => {
                if let Some(content) = text.get(open + 1..open + 1 + end) {
                    found.push((open + 1, content));
                }
                at = open + end + 2;
            }
            _ => at = open + 1,
        }
    }
    found
}

/// Whether a word stands by itself in a text.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}
