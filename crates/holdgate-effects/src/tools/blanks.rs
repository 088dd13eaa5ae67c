//! Updates that leave nothing behind: all fields of a record, a whole sheet or a whole note become empty.

use super::name::Name;
use crate::json::Json;

/// Objects in objects that are looked into, and items of a list.
const MAX_DEPTH: u32 = 6;
const MAX_ITEMS: usize = 64;
/// So many empty fields, and no others, are all there are.
const ALL: usize = 3;

/// Words that put something in the place of what was there.
#[rustfmt::skip]
const REPLACES: [&str; 11] = [
    "update", "patch", "put", "set", "batch", "overwrite", "write", "replace", "edit", "bulk", "save",
];
/// Objects that hold the fields of a record.
const RECORDS: [&str; 8] = [
    "fields",
    "properties",
    "values",
    "data",
    "record",
    "attributes",
    "set",
    "changes",
];
/// Arguments that hold a whole text.
const WHOLE: [&str; 6] = ["content", "contents", "body", "markdown", "html", "text"];

/// Whether a call takes the content out of what it changes.
pub(super) fn blanks(name: &Name, input: &Json<'_>) -> bool {
    let own = |words: &[&str]| name.own.iter().any(|word| words.contains(&word.as_str()));
    if name.server.is_empty() || !own(&REPLACES) || own(&["create", "append", "add", "insert"]) {
        return false;
    }
    let members = input.as_object().unwrap_or_default();
    let whole = members.iter().any(|(key, value)| {
        let blank = value.as_str().is_some_and(|text| text.trim().is_empty());
        blank && WHOLE.contains(&&**key)
    });
    whole && !own(&["batch", "bulk", "set"]) || empties(input, "", MAX_DEPTH)
}

fn empties(node: &Json<'_>, key: &str, depth: u32) -> bool {
    if depth == 0 {
        return false;
    }
    match node {
        Json::Object(members) => {
            let is_empty = |value: &Json<'_>| match value {
                Json::Null => true,
                Json::String(text) => text.trim().is_empty(),
                Json::Array(items) => items.is_empty(),
                Json::Bool(_) | Json::Number(_) | Json::Object(_) => false,
            };
            let record = RECORDS.contains(&key) && members.len() >= ALL;
            // `{range: {sheetId: 0}, fields: "*"}` without rows: every field of every cell.
            let get = |name: &str| members.iter().find(|(key, _)| key == name);
            let every = get("fields").is_some_and(|(_, value)| value.as_str() == Some("*"))
                && get("range").is_some()
                && !["rows", "cell", "values", "rule"]
                    .iter()
                    .any(|name| get(name).is_some());
            record && members.iter().all(|(_, value)| is_empty(value))
                || every
                || members
                    .iter()
                    .any(|(key, value)| empties(value, key, depth - 1))
        }
        Json::Array(items) => items
            .iter()
            .take(MAX_ITEMS)
            .any(|item| empties(item, key, depth - 1)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::LoneSurrogates;

    #[test]
    fn what_leaves_nothing_is_told() {
        let blanks = |own: &str, text: &str| {
            let name = Name {
                own: own.split('_').map(str::to_owned).collect(),
                server: vec!["notes".to_owned()],
            };
            let input = Json::read(text.as_bytes(), 16, LoneSurrogates::Refuse).unwrap();
            blanks(&name, &input)
        };
        let empty = r#"{"records": [{"id": "r", "fields": {"a": "", "b": null, "c": []}}]}"#;
        assert!(blanks("update_records", empty));
        assert!(!blanks("create_records", empty));
        assert!(blanks("put_note", r#"{"path": "a.md", "content": " "}"#));
        assert!(!blanks("put_note", r#"{"path": "a.md", "content": "x"}"#));
        let one = r#"{"records": [{"id": "r", "fields": {"a": "", "b": "x"}}]}"#;
        assert!(!blanks("update_records", one));
        let sheet = r#"{"requests": [{"updateCells": {"range": {"sheetId": 0}, "fields": "*"}}]}"#;
        assert!(blanks("batch_update", sheet));
        let rows = r#"{"requests": [{"updateCells": {"range": {"sheetId": 0}, "fields": "*", "rows": []}}]}"#;
        assert!(!blanks("batch_update", rows));
    }
}
