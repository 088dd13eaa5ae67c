//! About how many tokens a request has, for clients whose upstream does not count them.

use holdgate_effects::json::{Json, JsonError, LoneSurrogates};

/// Bytes of text or code that make a token, about.
const BYTES: usize = 4;
/// Tokens of an image, whatever its size is.
const IMAGE: usize = 1500;
/// Tokens of what stands around each value.
const AROUND: usize = 1;

/// About how many tokens the request in `body` has.
pub fn estimated_tokens(body: &[u8]) -> Result<u64, JsonError> {
    let json = Json::read(body, crate::request::MAX_DEPTH, LoneSurrogates::Replace)?;
    let members = json.as_object().unwrap_or_default().iter();
    let counted = members.filter(|(key, _)| matches!(&**key, "messages" | "system" | "tools"));
    Ok(counted.map(|(_, value)| tokens(value) as u64).sum())
}

fn tokens(json: &Json<'_>) -> usize {
    let of = |text: &str| text.len().div_ceil(BYTES);
    match json {
        Json::Null | Json::Bool(_) | Json::Number(_) => AROUND,
        Json::String(text) => AROUND + of(text),
        Json::Array(items) => items.iter().map(tokens).sum(),
        // An image, or a document.
        Json::Object(_) if json.get_str("type") == Some("base64") => IMAGE,
        Json::Object(_) if json.get_str("type") == Some("image") => IMAGE,
        Json::Object(members) => {
            let sizes = members.iter().map(|(key, value)| of(key) + tokens(value));
            sizes.sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_and_images_count_the_same_whatever_their_size() {
        let count = |body: &str| estimated_tokens(body.as_bytes()).unwrap();
        let say = |text: &str| format!(r#"{{"model":"m","messages":[{{"content":"{text}"}}]}}"#);
        assert!(count(&say(&"word ".repeat(1000))) > 1000);
        assert!(count(&say("hi")) < 10);
        let image = |data: &str| {
            format!(
                r#"{{"messages":[{{"content":[{{"type":"image","source":{{"data":"{data}"}}}}]}}]}}"#
            )
        };
        assert_eq!(count(&image("")), count(&image(&"A".repeat(100_000))));
        let document = |data: &str| {
            image(data)
                .replace(r#""image","#, r#""document","#)
                .replace(r#"{"data""#, r#"{"type":"base64","data""#)
        };
        assert!(count(&document(&"A".repeat(100_000))) < 3000);
        assert!(estimated_tokens(b"{").is_err());
    }
}
