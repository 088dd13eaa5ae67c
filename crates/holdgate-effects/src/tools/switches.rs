//! Protections that a call switches off: the name of an argument, of the object around it, or of the setting that it
//! speaks of says what is protected.

use crate::json::Json;
use crate::knowledge::tools::words;

/// Objects in objects that are looked into.
const MAX_DEPTH: u32 = 6;
/// Items of one list that are looked at.
const MAX_ITEMS: usize = 32;

/// Words of switches that protect something while they are on.
#[rustfmt::skip]
const GUARDS: [&str; 31] = [
    "block", "protect", "protected", "protection", "require", "required", "enforce", "restrict", "logging", "mfa",
    "encryption", "encrypted", "verify", "scanning", "audit", "auditing", "waf", "captcha", "scrubber", "scrubbing",
    "factor", "2fa", "requirement", "firewall", "guardrail", "guardrails", "antivirus", "dlp", "security", "approvals",
    "versioning",
];
/// Such words that forms and tables use for their fields, too.
const OF_FIELDS: [&str; 5] = ["require", "required", "requirement", "verify", "block"];
/// Members that say whether the object around them is on.
#[rustfmt::skip]
const STATES: [&str; 9] = [
    "status", "state", "enabled", "enable", "active", "value", "mode", "on", "level",
];
/// Members that name a setting.
const NAMES: [&str; 6] = ["id", "name", "key", "setting", "path", "feature"];

/// Whether a switch that protects something is turned off.
pub(super) fn protects_less(input: &Json<'_>) -> bool {
    switched_off(input, false, false, MAX_DEPTH)
}

/// Whether a switch that lets others past a protection is turned on: `bypass_required_reviews`, secrets for forks.
pub(super) fn lets_past(input: &Json<'_>) -> bool {
    switched_on(input, MAX_DEPTH)
}

fn switched_on(node: &Json<'_>, depth: u32) -> bool {
    if depth == 0 {
        return false;
    }
    match node {
        Json::Object(members) => members.iter().any(|(key, value)| {
            let words = words(key);
            let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
            let past = has(&["bypass", "skip", "ignore"])
                && has(&[
                    "reviews",
                    "review",
                    "protection",
                    "approvals",
                    "approval",
                    "rules",
                ]);
            let forks = has(&["fork", "forks"]) && has(&["secret", "secrets"]);
            *value == Json::Bool(true) && (past || forks) || switched_on(value, depth - 1)
        }),
        Json::Array(items) => items
            .iter()
            .take(MAX_ITEMS)
            .any(|item| switched_on(item, depth - 1)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

fn switched_off(node: &Json<'_>, guarded: bool, listed: bool, depth: u32) -> bool {
    if depth == 0 {
        return false;
    }
    match node {
        Json::Object(members) => {
            let named = members.iter().any(|(key, value)| {
                let text = value.as_str().filter(|text| text.len() < 40);
                NAMES.contains(&&**key) && text.is_some_and(|text| guards(text, true))
            });
            let guarded = guarded || named;
            members.iter().any(|(key, value)| {
                let own = guards(key, listed);
                if is_off(value) {
                    let state = || words(key).iter().any(|w| STATES.contains(&w.as_str()));
                    return own || guarded && state();
                }
                switched_off(value, guarded || own, listed, depth - 1)
            })
        }
        Json::Array(items) => items
            .iter()
            .take(MAX_ITEMS)
            .any(|item| switched_off(item, guarded, true, depth - 1)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

fn is_off(value: &Json<'_>) -> bool {
    match value {
        Json::Bool(on) => !on,
        Json::String(text) => {
            let off = [
                "none",
                "off",
                "disabled",
                "disable",
                "inactive",
                "false",
                "suspended",
            ];
            off.iter().any(|word| text.eq_ignore_ascii_case(word))
        }
        Json::Null | Json::Number(_) | Json::Array(_) | Json::Object(_) => false,
    }
}

fn guards(name: &str, listed: bool) -> bool {
    let said = |word: &String| {
        let word = word.as_str();
        GUARDS.contains(&word) && !(listed && OF_FIELDS.contains(&word))
    };
    words(name).iter().any(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::LoneSurrogates;

    #[test]
    fn protections_go_off_by_the_names_around_them() {
        let less = |text: &str| {
            let input = Json::read(text.as_bytes(), 16, LoneSurrogates::Refuse).unwrap();
            protects_less(&input)
        };
        assert!(less(
            r#"{"a": {"secret_scanning": {"status": "disabled"}}}"#
        ));
        assert!(less(r#"{"two_factor_requirement_enabled": false}"#));
        assert!(less(r#"{"id": "waf", "value": "off"}"#));
        assert!(less(r#"{"audit_logs": {"enabled": false}}"#));
        assert!(!less(
            r#"{"has_wiki": false, "secret_scanning": {"status": "enabled"}}"#
        ));
        assert!(!less(r#"{"fields": [{"name": "age", "required": false}]}"#));
        assert!(!less(r#"{"name": "audit", "draft": false}"#));
    }
}
