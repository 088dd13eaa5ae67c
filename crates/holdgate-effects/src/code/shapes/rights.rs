//! Rules of stores that say who may read and write what, and do not ask who that is: Firestore and its kin, policies
//! of rows in a database, rules in schemas of interfaces.

use super::access;
use super::scan::{has_any, has_word};
use crate::effect::Effect;
use crate::tag::Tag;
use crate::text::words::AnyWord;
use std::sync::LazyLock;

/// A longer file of this kind is another one.
const MAX_FILE: usize = 128 << 10;

/// What says who asks, or lets only some data out.
#[rustfmt::skip]
const ASKS: [&str; 29] = [
    "auth", "uid", "user", "owner", "role", "claim", "jwt", "tenant", "current_setting", "session", "identity", "principal",
    "member", "resource.", "token", "account_id", "org", "team", "creator", "author", "public", "published", "visib",
    "status", "root.child", "data.child", "deleted", "is_active", "approved",
];

/// Words of which each statement about rights in a database has one.
static STATEMENTS: LazyLock<AnyWord> = LazyLock::new(|| {
    AnyWord::in_any_case([" policy ", "row level security", "to anon", "to public"])
});

pub(super) fn run(path: &str, content: &str, found: &mut Vec<Effect>) {
    if content.len() > MAX_FILE {
        return;
    }
    let line = by_condition(content)
        .or_else(|| by_json(path, content))
        .or_else(|| by_policy(content))
        .or_else(|| by_schema(path, content));
    if let Some(line) = line {
        found.push(access(Tag::Public, line));
    }
}

/// `allow read, write: if request.time < …;`
fn by_condition(content: &str) -> Option<&str> {
    if !content.contains("allow ")
        || !has_any(
            content,
            &[
                "service cloud.firestore",
                "service firebase.storage",
                "match /",
            ],
        )
    {
        return None;
    }
    content.match_indices("allow ").find_map(|(at, _)| {
        let rest = content.get(at..)?;
        let rule = rest.split(';').next().unwrap_or("");
        let (what, condition) = rule.split_once(": if ")?;
        let changes = has_any(what, &["write", "create", "update", "delete"]);
        let low = condition.to_ascii_lowercase();
        let calls = low.match_indices('(').any(|(at, _)| {
            let name = super::pieces::called(low.get(..at).unwrap_or(""));
            !name.is_empty()
                && !has_any(
                    name,
                    &[
                        "timestamp.",
                        "request.time",
                        "duration",
                        "size",
                        "keys",
                        "hasall",
                        "matches",
                    ],
                )
        });
        let asks = has_any(&low, &ASKS) && low.trim() != "true";
        let open = !asks && !calls && (changes || low.trim() != "true");
        open.then(|| rule.lines().next().unwrap_or(rule))
    })
}

/// `".write": "now > 0"`
fn by_json<'t>(path: &str, content: &'t str) -> Option<&'t str> {
    if !content.contains("\".read\"") && !content.contains("\".write\"")
        || !path.to_ascii_lowercase().contains("rules")
    {
        return None;
    }
    content.lines().find(|line| {
        let Some((key, value)) = line.split_once("\": ").or_else(|| line.split_once("\":")) else {
            return false;
        };
        let value = value
            .trim()
            .trim_end_matches([',', '}', ' '])
            .to_ascii_lowercase();
        let key = key.trim().trim_start_matches(['{', ' ', '"']);
        matches!(key, ".read" | ".write")
            && !matches!(value.as_str(), "false" | "\"false\"" | "")
            && !has_any(&value, &ASKS)
            && (key == ".write" || !matches!(value.as_str(), "true" | "\"true\""))
    })
}

/// `create policy … using (id is not null)`, `grant select on customers to anon`
fn by_policy(content: &str) -> Option<&str> {
    if !STATEMENTS.is_in(content) {
        return None;
    }
    content.split(';').find_map(|statement| {
        let statement = statement.trim();
        let lines = statement
            .lines()
            .filter(|line| !line.trim_start().starts_with("--"));
        let low = lines.collect::<Vec<_>>().join(" ").to_ascii_lowercase();
        let low = low.trim();
        let shown = statement.lines().next().unwrap_or("");
        let policy = (low.starts_with("create policy") || low.starts_with("alter policy"))
            && ["using (", "using(", "with check (", "with check("]
                .iter()
                .any(|start| {
                    let Some((head, condition)) = low.split_once(start) else {
                        return false;
                    };
                    let told = has_any(head, &["to service_role", "to postgres", "to admin"]);
                    let reads = has_any(head, &["for select"])
                        && condition.trim_start().starts_with("true");
                    !told && !reads && !has_any(condition, &ASKS)
                });
        let off = low.starts_with("alter table")
            && (low.contains("disable row level security")
                || low.contains("no force row level security"));
        let gives = low.starts_with("grant ")
            && low.contains(" on ")
            && !has_any(
                low,
                &[" on schema ", " on function ", " on sequence ", "usage "],
            )
            && low
                .rsplit_once(" to ")
                .is_some_and(|(_, whom)| has_word(whom, "anon") || has_word(whom, "public"));
        (policy || off || gives).then_some(shown)
    })
}

/// `@auth(rules: [{ allow: public }])`, `"listRule": ""`
fn by_schema<'t>(path: &str, content: &'t str) -> Option<&'t str> {
    if path
        .rsplit('.')
        .next()
        .is_some_and(|end| matches!(end, "graphql" | "gql"))
    {
        return content.lines().find(|line| {
            line.contains("@auth")
                && line.contains("allow: public")
                && !line.contains("operations: [read]")
        });
    }
    if content.contains("\"listRule\"") {
        let rules = ["listRule", "viewRule", "updateRule", "deleteRule"];
        return content.lines().find(|line| {
            rules.iter().any(|rule| line.contains(rule))
                && line.replace(' ', "").contains("Rule\":\"\"")
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_ask_nobody_are_told() {
        let rules = |condition: &str| {
            format!("match /a/{{id}} {{\n allow read, write: if {condition};\n}}")
        };
        assert!(by_condition(&rules("request.time > timestamp.date(2020, 1, 1)")).is_some());
        assert!(by_condition(&rules("true")).is_some());
        assert!(by_condition(&rules("request.auth != null")).is_none());
        assert!(by_condition(&rules("isSignedIn()")).is_none());
        assert!(by_policy("alter policy p on c using (id is not null);").is_some());
        assert!(by_policy("create policy p on c for select using (auth.uid() = owner);").is_none());
        assert!(by_policy("grant select on customers to anon;").is_some());
        assert!(by_policy("grant select on customers to reporting;").is_none());
        assert!(by_json("database.rules.json", "{\n\".read\": \"now > 0\"\n}").is_some());
        assert!(by_json("database.rules.json", "{\n\".read\": \"auth != null\"\n}").is_none());
    }
}
