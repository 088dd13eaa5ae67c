use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Result<Json<'_>, JsonError> {
    Json::read(text.as_bytes(), 64, LoneSurrogates::Refuse)
}

fn check_refused(text: &str, what: &str) {
    let error = read(text).unwrap_err().to_string();
    assert!(error.contains(what), "{text}: {error}");
}

#[test]
fn keeps_order_and_number_text() {
    let text =
        r#"{"b":1.0,"a":[1e5,12345678901234567890123,-0,true,null],"":"\u00e9\ud83d\ude00\n"}"#;
    assert_eq!(
        read(text).unwrap().to_string(),
        "{\"b\":1.0,\"a\":[1e5,12345678901234567890123,-0,true,null],\"\":\"é😀\\n\"}"
    );
}

#[test]
fn refuses_what_readers_disagree_about() {
    check_refused(
        r#"{"command":"ls","command":"rm"}"#,
        "the key `command` twice",
    );
    check_refused(r#"{"command":"ls","comm\u0061nd":"rm"}"#, "twice");
    check_refused(r#"[{"x":{"a":1,"b":2,"a":3}}]"#, "twice");
    check_refused(r#""\ud800""#, "an unpaired surrogate");
    check_refused(r#""\ud800\u0041""#, "an unpaired surrogate");
    check_refused(r#""\udc00""#, "an unpaired surrogate");
    check_refused("{} {}", "text after the end");
    check_refused("{\"a\":1,}", "expected a key");
    check_refused("\"a\nb\"", "control character");
    check_refused("NaN", "not a JSON value");
    check_refused("01", "text after the end");
    check_refused("{'a':1}", "expected a key");
    check_refused("", "ends unexpectedly");
    check_refused(
        r#"{"a":{"__proto__":{"command":"x"}}}"#,
        "the key `__proto__`",
    );
    check_refused(r#"{"__pr\u006fto__":{}}"#, "the key `__proto__`");
    check_refused(&format!("[{}0]", "0,".repeat(1 << 18)), "too many values");
    check_refused("{\"a\":\"", "not closed");
    let many: String = (0..50).map(|i| format!("\"k{i}\":0,")).collect();
    check_refused(&format!("{{{many}\"k7\":1}}"), "`k7` twice");
}

#[test]
fn depth_is_bounded() {
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert!(read(&nested(64)).is_ok());
    check_refused(&nested(65), "nested too deeply");
    check_refused(&"[".repeat(1_000_000), "nested too deeply");
}

#[test]
fn invalid_utf8_is_refused() {
    assert!(Json::read(b"\"\xff\"", 4, LoneSurrogates::Replace).is_err());
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..12)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_first_escape_is_the_first_byte_that_needs_one(text in "([ -~]|[\0-\x1f]|\\PC){0,60}") {
        let expected = text.bytes().position(must_escape);
        prop_assert_eq!(first_escaped(text.as_bytes()), expected);
        let plain = format!("{}{text}", "é~ ".repeat(9));
        prop_assert_eq!(first_escaped(plain.as_bytes()), expected.map(|at| at + 36));
    }
}

proptest! {
    #[test]
    fn agrees_with_serde_json(value in any_json()) {
        let text = value.to_string();
        let ours = read(&text).unwrap();
        let back: serde_json::Value = serde_json::from_str(&ours.to_string()).unwrap();
        prop_assert_eq!(&back, &value);
        let written = ours.to_string();
        prop_assert_eq!(read(&written).unwrap(), ours);
    }

    #[test]
    fn accepts_nothing_that_serde_json_refuses(bytes in prop::collection::vec(
        prop_oneof![prop::sample::select(b"{}[]\",:\\u0d89abtrfalsn 1.eE+-\n".to_vec()), any::<u8>()], 0..60)
    ) {
        if let Ok(value) = Json::read(&bytes, 64, LoneSurrogates::Refuse) {
            let theirs = serde_json::from_slice::<serde_json::Value>(&bytes);
            // Numbers too large for a double are the one thing we keep and serde_json does not.
            let out_of_range = theirs.as_ref().is_err_and(|e| e.to_string().contains("out of range"));
            prop_assert!(theirs.is_ok() || out_of_range, "{}", value);
        }
    }
}
