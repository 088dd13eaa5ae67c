//! Edits that keep a check and let more through it: a comparison that became a guess, a condition that refuses
//! fewer, a limit that nobody reaches, a secret with a value for those who set none, rows without their owner.

mod listed;

#[cfg(test)]
mod tests;

use listed::{admits, copies, shows, unhides};

/// Lines of one edit that are compared: more of them are a rewrite.
const MAX_LINES: usize = 12;
/// So many times higher, a limit is none.
const MUCH: u64 = 50;

/// Calls that compare what must not be guessed.
#[rustfmt::skip]
const SAFE: [&str; 12] = [
    "compare_digest(", "timingsafeequal(", "hmac.equal(", "hash_equals(", "secure_compare(", "securecompare(",
    "constanttimecompare(", "constant_time_eq(", "fixedtimeequals(", "ct_eq(", "safe_str_cmp(", "isequal(",
];
/// Calls that are content with a part.
#[rustfmt::skip]
const PARTS: [&str; 14] = [
    ".startswith(", ".starts_with(", ".starts_with?(", ".start_with?(", "hasprefix(", "str_starts_with(", ".endswith(",
    ".ends_with(", "hassuffix(", ".includes(", ".contains(", ".include?(", ".indexof(", "strpos(",
];
/// What must not be guessed, and where somebody says they come from.
#[rustfmt::skip]
const GUARDED: [&str; 14] = [
    "signature", "hmac", "digest", "password", "secret", "api_key", "apikey", "csrf", "otp", "origin", "hostname",
    "referer", "audience", "issuer",
];
/// Words in calls and names that decide about somebody.
#[rustfmt::skip]
const DECIDES: [&str; 22] = [
    "verify", "verified", "compare_digest", "check_password", "checkpassword", "authenticat", "authoriz", "permission",
    "isadmin", "is_admin", "is_owner", "isowner", "hasrole", "has_role", "can_access", "canaccess", "is_allowed",
    "isallowed", "signature", "has_perm", "csrf", "timingsafeequal",
];
/// Who or what somebody is.
const WHO: [&str; 7] = [
    "user",
    "session",
    "token",
    "account",
    "login",
    "claims",
    "principal",
];
/// What refuses somebody.
#[rustfmt::skip]
const REFUSES: [&str; 18] = [
    "throw", "raise", "return false", "return null", "return none", "return nil", "invalid", "reject", "deny", "denied",
    "401", "403", "forbid", "abort", "unauthor", "return err", "redirect", "bail!",
];
/// Parts of a condition that let nobody through who was not let through before.
#[rustfmt::skip]
const HARMLESS: [&str; 15] = [
    "err != nil", "!= nil", "is not none", "!== null", "!= null", "!== undefined", "options", "is_some()", "len(",
    "loading", "pending", "ready", "initiali", "mounted", "fetching",
];
/// Names of what rows belong to.
#[rustfmt::skip]
const OWNERS: [&str; 20] = [
    "owner", "ownerid", "owner_id", "userid", "user_id", "user", "tenantid", "tenant_id", "tenant", "accountid",
    "account_id", "orgid", "org_id", "organizationid", "organization_id", "workspaceid", "workspace_id", "authorid",
    "author_id", "created_by",
];
/// Who asks.
#[rustfmt::skip]
const ASKER: [&str; 18] = [
    "req.user", "request.user", "current_user", "currentuser", "session.user", "ctx.user", "ctx.session",
    "context.user", "auth.uid()", "auth().userid", "g.user", "viewer", "principal", "req.auth", "request.auth",
    "session.get", "req.session", "locals.user",
];
/// Words of what chooses rows.
const CHOOSES: [&str; 8] = [
    "where", "find", "filter", "scope", "select", "get(", "query", "eq(",
];
/// Words of what is not there, as a condition that all rows meet.
#[rustfmt::skip]
const ANY: [&str; 9] = [
    "is not null", "not: null", "$ne: null", "!= null", "!= nil", "isnull=false", "1=1", "1 = 1", "or true",
];

/// Whether an edit makes a check let more through. Both texts are in lower case; `named` says that the file is one
/// for who is let in.
pub(super) fn loosens(path: &str, old: &str, new: &str, named: bool) -> bool {
    let gone = changed(old, new);
    let come = changed(new, old);
    if gone.len().max(come.len()) > MAX_LINES {
        return false;
    }
    if copies(old, &come)
        || shows(&come)
        || unhides(path, &gone, new)
        || admits(path, old, &gone, &come)
    {
        return true;
    }
    if gone.is_empty() || come.is_empty() {
        return false;
    }
    guesses(&gone, &come)
        || exempts(old, &gone, &come, named)
        || unlimited(&gone, &come, named)
        || default_secret(&gone, &come)
        || everybodys_rows(&gone, &come)
        || reflects(&gone, &come)
}

/// The lines of code in `text` that `other` lacks.
fn changed<'t>(text: &'t str, other: &str) -> Vec<&'t str> {
    let lines = super::unchecked::live(text);
    let kept: std::collections::HashSet<&str> = other.lines().map(str::trim).collect();
    let lines = lines.filter(|line| !kept.contains(line) && line.len() < 600);
    lines.take(MAX_LINES + 1).collect()
}

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

fn compares(line: &str) -> bool {
    has(line, &["==", "!=", ".equals(", " eq ", " ne "]) || has(line, &SAFE)
}

/// The code of a line, without its texts.
fn outside_quotes(line: &str) -> String {
    line.split(['"', '\'', '`']).step_by(2).collect()
}

/// What was compared as a whole is compared by a part.
fn guesses(gone: &[&str], come: &[&str]) -> bool {
    let safe = gone.iter().any(|line| has(line, &SAFE));
    // A word in a text is only compared with.
    let guarded = |line: &str| has(&outside_quotes(line), &GUARDED);
    let whole = |line: &&&str| compares(line) && guarded(line);
    if !safe && !gone.iter().any(|line| whole(&line)) || come.iter().any(|line| compares(line)) {
        return false;
    }
    let list = |head: &str| head.ends_with([']', ')']) || head.ends_with('s');
    let part = |line: &str| {
        let by_call = PARTS.iter().any(|call| {
            line.match_indices(call).any(|(at, _)| {
                // `allowed_origins.includes(origin)` asks for one of a list.
                let head = line.get(..at).unwrap_or("");
                safe || !list(head)
            })
        });
        let within = line.split_once(" in ").is_some_and(|(_, behind)| {
            let name = behind.trim_end_matches([':', ')', '{', ' ']);
            let plain = name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b));
            plain && (safe || !name.ends_with('s'))
        });
        by_call || within && line.contains("if ")
    };
    come.iter().any(|line| {
        part(line) && (safe || guarded(line) && !has(line, &["with('.", "with(\".", "with(`."]))
    })
}

/// The condition of a line: between `if` and what follows it.
fn condition(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(['}', ' ']);
    let line = line.strip_prefix("else ").unwrap_or(line);
    let rest = ["if ", "if(", "elif ", "elsif "]
        .iter()
        .find_map(|start| line.strip_prefix(start))?;
    let ends = [" {", ") return", ") throw", " then"];
    let end = ends.iter().filter_map(|end| rest.find(end)).min();
    let condition = rest.get(..end.unwrap_or(rest.len()))?;
    Some(condition.trim_matches(['(', ')', ' ', '{', ':']))
}

/// What refused somebody refuses them only if something else holds too.
fn exempts(old: &str, gone: &[&str], come: &[&str], named: bool) -> bool {
    gone.iter().any(|line| {
        let Some(before) = condition(line).filter(|before| before.len() > 3) else {
            return false;
        };
        let decides = has(before, &DECIDES) || named && has(before, &WHO);
        let denies = [
            "!", "not ", "is none", "== null", "== nil", "is_err", "is_none", "nil?", ">=",
        ];
        if !decides || !has(before, &denies) {
            return false;
        }
        // What is done then stands behind it, if the edit shows so much.
        let behind = old.split_once(*line).map_or("", |(_, behind)| behind);
        let done = behind
            .lines()
            .map(str::trim)
            .find(|line| !matches!(*line, "" | "{"));
        if !has(line, &REFUSES) && done.is_some_and(|done| !has(done, &REFUSES)) {
            return false;
        }
        come.iter().filter_map(|line| condition(line)).any(|now| {
            let Some((head, tail)) = now.split_once(before) else {
                return false;
            };
            let joins = [" and ", "&&"];
            let more = has(head, &joins) || has(tail, &joins);
            let others = || head.split("&&").chain(tail.split("&&"));
            let empty = |part: &str| part.chars().all(|c| !c.is_alphanumeric());
            more && others().any(|part| !empty(part) && !has(part, &HARMLESS))
        })
    })
}

/// A number of tries goes up so far that nobody is stopped.
fn unlimited(gone: &[&str], come: &[&str], named: bool) -> bool {
    let counts = ["fail", "attempt", "tries", "max_", "limit", "lockout"];
    let about = ["login", "password", "auth", "otp", "signin", "pin"];
    gone.iter().any(|line| {
        if !has(line, &counts) || !named && !has(line, &about) {
            return false;
        }
        let (shape, before) = number(line);
        before > 0
            && come.iter().any(|now| {
                let (new_shape, now) = number(now);
                new_shape == shape && now / before >= MUCH
            })
    })
}

/// A line without its numbers, and the largest of them.
fn number(line: &str) -> (String, u64) {
    let mut shape = String::new();
    let mut largest = 0;
    let mut digits = String::new();
    for char in line.chars().chain(['\n']) {
        if char.is_ascii_digit() || char == '_' && !digits.is_empty() {
            if char != '_' {
                digits.push(char);
            }
            continue;
        }
        if !digits.is_empty() {
            largest = largest.max(digits.parse().unwrap_or(u64::MAX));
            digits.clear();
            shape.push('0');
        }
        shape.push(char);
    }
    (shape, largest)
}

/// A secret that had to be set gets a value that stands in the source.
fn default_secret(gone: &[&str], come: &[&str]) -> bool {
    let reads = [
        "process.env",
        "import.meta.env",
        "environ",
        "getenv",
        "env.fetch",
        "env[",
    ];
    let keys = [
        "secret",
        "signing",
        "jwt",
        "private_key",
        "encryption_key",
        "session_key",
    ];
    let read = |line: &&&str| has(line, &reads) && has(line, &keys);
    let fallback = |line: &str| {
        let either = ["?? ", "|| ", " or ", ", "].iter().any(|sign| {
            line.split_once(sign).is_some_and(|(head, rest)| {
                let rest = rest.trim_start();
                has(head, &reads) && rest.starts_with(['\'', '"', '`'])
            })
        });
        // A list of names is no value, and what is made for tests says so.
        let own = [
            "test",
            "dev",
            "local",
            "throw",
            "undefined",
            "example",
            "change",
        ];
        either && !has(line, &own)
    };
    gone.iter().any(|line| read(&line) && !fallback(line))
        && come.iter().any(|line| read(&line) && fallback(line))
}

/// Whether a line asks for the rows of whoever asks.
fn of_asker(line: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    OWNERS.iter().any(|owner| {
        line.match_indices(owner).any(|(at, _)| {
            let head = line.get(..at).unwrap_or("");
            let rest = line.get(at + owner.len()..).unwrap_or("");
            let whole = !head.ends_with(|c| name(c) || c == '.') && !rest.starts_with(name);
            let rest = rest.trim_start_matches(['"', '\'', '`', ' ']);
            let set = rest.starts_with([':', '=', ',']);
            // `scope.where(owner: user)`
            whole
                && set
                && (has(rest, &ASKER)
                    || rest.trim_start_matches([':', '=', ' ']).starts_with("user"))
        })
    })
}

/// Rows were those of whoever asks, and are everybody's.
fn everybodys_rows(gone: &[&str], come: &[&str]) -> bool {
    let chosen = |line: &&str| has(line, &CHOOSES);
    let own: Vec<&&str> = gone
        .iter()
        .filter(|line| chosen(line) && of_asker(line))
        .collect();
    if own.is_empty() {
        return false;
    }
    let asks = |line: &&str| of_asker(line) || has(line, &ASKER);
    let start = |line: &str| line.split(['{', '(']).next().map(str::to_owned);
    let shorter = |line: &str, own: &str| start(own) == start(line) && line.len() < own.len();
    let dropped = come
        .iter()
        .any(|line| chosen(line) && own.iter().any(|own| shorter(line, own)));
    let widened = come.iter().any(|line| {
        let either = has(line, &[".or(", " or ", "||"]);
        either
            && (has(line, &ANY)
                || has(line, &[".not(", "isnull"]) && has(line, &["nil", "null", "none"]))
    });
    dropped && !come.iter().any(asks) || widened
}

/// A list of origins becomes whichever one asks.
fn reflects(gone: &[&str], come: &[&str]) -> bool {
    let listed = |line: &&str| line.contains("origin") && has(line, &["http", "allow", "["]);
    if !gone.iter().any(listed) {
        return false;
    }
    come.iter().any(|line| {
        let dense: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        let Some((head, body)) = dense.split_once("=>") else {
            return false;
        };
        let Some(given) = head
            .rsplit(['(', ':'])
            .next()
            .and_then(|given| given.split([',', ')']).next())
        else {
            return false;
        };
        let body = body.trim_start_matches('{').trim_start_matches("return");
        let name = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let (by, answer) = body.split_once("(null,").unwrap_or(("", body));
        let answer = answer.split([')', ',', '}', ';']).next().unwrap_or("");
        head.contains("origin")
            && !given.is_empty()
            && name(by)
            && (answer == given || answer == "true")
    })
}
