//! The text of a parameter as a value of the type that the tool's schema declares.

use holdgate_effects::json::{Json, LoneSurrogates};

/// Depth of a value in a parameter.
const MAX_DEPTH: usize = 64;
/// How deep alternatives and references of a schema are followed.
const MAX_ALTERNATIVES: usize = 8;

/// The types that a schema admits. Without any, a text stays a text.
#[derive(Debug, Default)]
struct Types {
    null: bool,
    integer: bool,
    number: bool,
    boolean: bool,
    object: bool,
    array: bool,
}

/// The value of the parameter `key` of a tool with this schema. What does not have a declared type
/// stays a text.
pub(super) fn coerced(schema: &Json<'_>, key: &str, text: &str) -> Json<'static> {
    let mut types = Types::default();
    let property = schema.get("properties").and_then(|all| all.get(key));
    if let Some(property) = property {
        types.admit(property, schema, MAX_ALTERNATIVES);
    }
    let raw = || Json::String(text.to_owned().into());
    let trimmed = text.trim();
    if types.null && trimmed.eq_ignore_ascii_case("null") {
        return Json::Null;
    }
    if types.boolean && trimmed.eq_ignore_ascii_case("true") {
        return Json::Bool(true);
    }
    if types.boolean && trimmed.eq_ignore_ascii_case("false") {
        return Json::Bool(false);
    }
    let Ok(value) = Json::read(trimmed.as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse) else {
        return raw();
    };
    let is_whole = || {
        trimmed
            .trim_start_matches('-')
            .bytes()
            .all(|b| b.is_ascii_digit())
    };
    let fits = match &value {
        Json::Number(_) => types.number || types.integer && is_whole(),
        Json::Object(_) => types.object,
        Json::Array(_) => types.array,
        Json::Null | Json::Bool(_) | Json::String(_) => false,
    };
    if fits { value.into_owned() } else { raw() }
}

impl Types {
    fn admit(&mut self, property: &Json<'_>, schema: &Json<'_>, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        match property.get("type") {
            Some(Json::Array(types)) => {
                for word in types.iter().filter_map(Json::as_str) {
                    self.word(word);
                }
            }
            Some(Json::String(word)) => self.word(word),
            _ => {}
        }
        let listed = property.get("enum").and_then(Json::as_array);
        for value in listed
            .unwrap_or_default()
            .iter()
            .chain(property.get("const"))
        {
            match value {
                Json::Null => self.null = true,
                Json::Bool(_) => self.boolean = true,
                Json::Number(_) => self.number = true,
                Json::String(_) | Json::Array(_) | Json::Object(_) => {}
            }
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let alternatives = property.get(key).and_then(Json::as_array);
            for alternative in alternatives.unwrap_or_default() {
                self.admit(alternative, schema, depth);
            }
        }
        let named = property
            .get_str("$ref")
            .and_then(|name| name.strip_prefix("#/"));
        let named = named.and_then(|path| {
            let mut steps = path.split('/');
            steps.try_fold(schema, |at, step| at.get(step))
        });
        if let Some(named) = named {
            self.admit(named, schema, depth);
        }
    }

    fn word(&mut self, word: &str) {
        match word {
            "null" => self.null = true,
            "integer" => self.integer = true,
            "number" => self.number = true,
            "boolean" => self.boolean = true,
            "object" => self.object = true,
            "array" => self.array = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(property: &str, text: &str, expected: &str) {
        let schema = format!(
            r##"{{"properties":{{"p":{property}}},"$defs":{{"N":{{"type":"integer"}}}}}}"##
        );
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
}
