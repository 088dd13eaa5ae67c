//! The text of a parameter as a value of the type that the tool's schema declares.

use holdgate_effects::json::{Json, LoneSurrogates};

/// Depth of a value in a parameter.
const MAX_DEPTH: usize = 64;
/// How deep alternatives and references of a schema are followed.
const MAX_ALTERNATIVES: usize = 8;
/// How many of them are looked at: a schema can name itself in each.
const MAX_LOOKED_AT: usize = 256;

/// The value of the parameter `key` of a tool with this schema. What does not have a declared type
/// stays a text.
pub(super) fn coerced(schema: &Json<'_>, key: &str, text: &str) -> Json<'static> {
    let mut types = Vec::new();
    let property = schema.get("properties").and_then(|all| all.get(key));
    if let Some(property) = property {
        let (depth, mut left) = (MAX_ALTERNATIVES, MAX_LOOKED_AT);
        admit(property, schema, (depth, &mut left), &mut types);
    }
    let is = |word| types.contains(&word);
    let raw = || Json::String(text.to_owned().into());
    let trimmed = text.trim();
    if is("null") && trimmed.eq_ignore_ascii_case("null") {
        return Json::Null;
    }
    if is("boolean") && trimmed.eq_ignore_ascii_case("true") {
        return Json::Bool(true);
    }
    if is("boolean") && trimmed.eq_ignore_ascii_case("false") {
        return Json::Bool(false);
    }
    let Ok(value) = Json::read(trimmed.as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse) else {
        return raw();
    };
    let digits = trimmed.trim_start_matches('-').bytes();
    let is_whole = || digits.clone().all(|b| b.is_ascii_digit());
    let fits = match &value {
        Json::Number(_) => is("number") || is("integer") && is_whole(),
        Json::Object(_) => is("object"),
        Json::Array(_) => is("array"),
        Json::Null | Json::Bool(_) | Json::String(_) => false,
    };
    if fits { value.into_owned() } else { raw() }
}

/// Adds the types that a property admits. Without any, a text stays a text.
fn admit<'s>(
    property: &'s Json<'_>,
    schema: &'s Json<'_>,
    (depth, left): (usize, &mut usize),
    types: &mut Vec<&'s str>,
) {
    let (Some(depth), Some(fewer)) = (depth.checked_sub(1), left.checked_sub(1)) else {
        return;
    };
    *left = fewer;
    let listed = |key| {
        property
            .get(key)
            .and_then(Json::as_array)
            .unwrap_or_default()
    };
    types.extend(property.get_str("type"));
    types.extend(listed("type").iter().filter_map(Json::as_str));
    for value in listed("enum").iter().chain(property.get("const")) {
        match value {
            Json::Null => types.push("null"),
            Json::Bool(_) => types.push("boolean"),
            Json::Number(_) => types.push("number"),
            Json::String(_) | Json::Array(_) | Json::Object(_) => {}
        }
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        for alternative in listed(key) {
            admit(alternative, schema, (depth, &mut *left), types);
        }
    }
    let named = property.get_str("$ref");
    let named = named.and_then(|name| {
        let mut steps = name.strip_prefix("#/")?.split('/');
        steps.try_fold(schema, |at, step| at.get(step))
    });
    if let Some(named) = named {
        admit(named, schema, (depth, left), types);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(property: &str, text: &str, expected: &str) {
        let schema =
            format!(r#"{{"properties":{{"p":{property}}},"$defs":{{"N":{{"type":"integer"}}}}}}"#);
        let schema = Json::read(schema.as_bytes(), 32, LoneSurrogates::Refuse).unwrap();
        assert_eq!(coerced(&schema, "p", text).text(), expected, "{property}");
    }

    #[test]
    fn the_schema_decides_and_what_does_not_fit_stays_a_text() {
        check(r#"{"type":"string"}"#, "1", r#""1""#);
        check(r#"{"type":"string"}"#, "{\"a\": 1}", r#""{\"a\": 1}""#);
        check(r#"{"type":"integer"}"#, " 12 ", "12");
        check(r#"{"type":"integer"}"#, "1.5", r#""1.5""#);
        check(r#"{"type":"integer"}"#, "012", r#""012""#);
        check(r#"{"type":"number"}"#, "-1.5e3", "-1.5e3");
        check(r#"{"type":"number"}"#, "NaN", r#""NaN""#);
        check(r#"{"type":"boolean"}"#, "True", "true");
        check(r#"{"type":"boolean"}"#, "1", r#""1""#);
        check(r#"{"type":["string","null"]}"#, "null", "null");
        check(r#"{"type":["string","null"]}"#, "7", r#""7""#);
        check(
            r#"{"anyOf":[{"type":"array"},{"type":"null"}]}"#,
            "[1, {\"a\": true}]",
            "[1,{\"a\":true}]",
        );
        check(r#"{"type":"array"}"#, "[1, 1", r#""[1, 1""#);
        check(
            r#"{"type":"object"}"#,
            "{\"a\":1,\"a\":2}",
            r#""{\"a\":1,\"a\":2}""#,
        );
        check(r#"{"enum":[1,2]}"#, "2", "2");
        check(r##"{"$ref":"#/$defs/N"}"##, "2", "2");
        check(r##"{"$ref":"#/properties/p"}"##, "2", r#""2""#);
        check("{}", "true", r#""true""#);
    }

    #[test]
    fn a_schema_that_names_itself_many_times_takes_no_longer_than_others() {
        // With a cost for each way through it, this takes years.
        let itself = vec![r##"{"$ref":"#/properties/p"}"##; 100].join(",");
        let property = format!(r#"{{"anyOf":[{{"type":"integer"}},{itself}]}}"#);
        check(&property, "7", "7");
    }
}
