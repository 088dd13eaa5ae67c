use super::*;
use proptest::prelude::*;

fn json() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        Just(r#""""#.to_owned()),
        r#""([a-z \[\]{},:é]|\\"|\\\\|\\n|\\ud800){0,12}""#,
    ];
    let leaf = prop_oneof![
        text.clone(),
        Just("null".to_owned()),
        "-?[1-9][0-9]{0,3}(\\.5)?(e[+-]1)?",
        Just("true".to_owned()),
    ];
    let space = prop_oneof![3 => Just(""), 1 => Just(" "), 1 => Just("\n\t")];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        let list = prop::collection::vec((space.clone(), inner.clone(), space.clone()), 0..5);
        let members = prop::collection::vec(inner, 0..5);
        prop_oneof![
            list.prop_map(|items| {
                let items: Vec<_> = items.iter().map(|(a, v, b)| format!("{a}{v}{b}")).collect();
                format!("[{}]", items.join(","))
            }),
            members.prop_map(|values| {
                let member = |(i, v)| format!(r#" "k\"{i}" : {v}"#);
                let members: Vec<_> = values.iter().enumerate().map(member).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn the_next_special_is_the_first_one(text in "([ -~]|\\\\|\"|\\PC){0,20}", plain in "[a-z\u{a2}\u{dc}]{0,60}") {
        for text in [format!("{plain}{text}"), text] {
            let expected = text.bytes().position(|b| matches!(b, b'"' | b'\\'));
            prop_assert_eq!(special(text.as_bytes()), expected);
        }
    }

    /// On what the strict reader takes, both see the same parts.
    #[test]
    fn finds_the_parts_that_the_reader_reads(
        values in prop::collection::vec(json(), 0..6),
        messages in prop::collection::vec(json(), 0..6),
    ) {
        let mut members: Vec<String> =
            values.iter().enumerate().map(|(i, v)| format!("\"m{i}\" :\n{v}")).collect();
        let at = members.len() / 2;
        members.insert(at, format!(r#""mess\u0061ges":[ {} ]"#, messages.join(" , ")));
        let body = format!(" {{{}}} ", members.join(", "));
        let read = Json::read(body.as_bytes(), 50, LoneSurrogates::Replace).unwrap();
        let outline = outline(body.as_bytes(), "messages", 50).unwrap();
        let part = |place: &Range<usize>| {
            let part = body.as_bytes().get(place.clone()).unwrap();
            Json::read(part, 50, LoneSurrogates::Replace).unwrap().text()
        };
        let found: Vec<_> = outline.messages.iter().map(part).collect();
        let expected = read.get("messages").and_then(Json::as_array).unwrap();
        prop_assert_eq!(found, expected.iter().map(Json::text).collect::<Vec<_>>());
        prop_assert_eq!(outline.members.len(), values.len());
        for (name, place) in &outline.members {
            prop_assert_eq!(part(place), read.get(name).unwrap().text());
        }
    }

    /// Any bytes end in an outline or an error; what the reader takes is never an error.
    #[test]
    fn takes_any_bytes(body in r#"\{("messages"|"a"|:|,|\[|\]|\{|\}|\\|"|1|tru|é| ){0,30}"#) {
        let skimmed = outline(body.as_bytes(), "messages", 50);
        let read = Json::read(body.as_bytes(), 50, LoneSurrogates::Replace);
        prop_assert!(skimmed.is_ok() || read.is_err(), "{body}");
    }
}

#[test]
fn what_readers_would_disagree_about_is_an_error() {
    for body in [
        "",
        "[]",
        "\"text\"",
        "model=claude",
        r#"{"messages":[],"messages":[]}"#,
        r#"{"messages":[],"mess\u0061ges":[]}"#,
        r#"{"__proto__":{"messages":[]}}"#,
        r#"{"a":1} {"b":2}"#,
        r#"{"a":[}]}"#,
        r#"{"a":[1}"#,
        r#"{"a":"x}"#,
        r#"{"a":"x\"#,
        r#"{"messages":[1,]}"#,
        r#"{"messages":[,]}"#,
        r#"{"messages":[1 2]}"#,
        r#"{"a"}"#,
        "\u{feff}{}",
    ] {
        assert!(outline(body.as_bytes(), "messages", 50).is_err(), "{body}");
    }
}

#[test]
fn a_long_text_is_cut_between_characters() {
    let check = |content: &str, most: usize, expected: &str| {
        let message = format!(r#"{{"role":"user","content":{content},"x":[1]}}"#);
        assert_eq!(
            beginning(message.as_bytes(), "content", most),
            expected,
            "{content} {most}"
        );
    };
    check(r#""abc""#, 9, "abc");
    check(r#""abc""#, 2, "ab");
    check(r#""aé€""#, 2, "a");
    check(r#""aé€""#, 5, "aé");
    check(r#""a\n\u00e9b""#, 2, "a");
    check(r#""a\n\u00e9b""#, 8, "a\n");
    check(r#""a\n\u00e9b""#, 9, "a\né");
    check(r#""a\\\\""#, 4, "a\\");
    check(
        r#"[{"type":"text","text":"ab"},{"text":"cd"},{"text":"ef"}]"#,
        3,
        "ab\nc",
    );
    check(
        r#"[{"type":"image"},{"cache_control":{},"text":"b"}]"#,
        9,
        "b",
    );
    check(r#"[7,{"text":7},{"text":"b"}]"#, 9, "b");
    check("7", 9, "");
}

#[test]
fn depth_is_bounded() {
    let nested = |n| format!(r#"{{"a":{}{}}}"#, "[".repeat(n), "]".repeat(n));
    assert!(outline(nested(49).as_bytes(), "messages", 50).is_ok());
    assert!(outline(nested(50).as_bytes(), "messages", 50).is_err());
    let far = "[".repeat(1 << 20);
    assert!(outline(format!(r#"{{"messages":{far}"#).as_bytes(), "messages", 50).is_err());
}
