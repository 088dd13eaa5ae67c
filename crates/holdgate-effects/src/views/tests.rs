use super::*;
use crate::Knowledge;
use proptest::prelude::*;

/// Each reading with its tag.
fn views(name: &str, input: &str) -> Vec<String> {
    let input = Json::read(input.as_bytes(), 64, LoneSurrogates::Refuse).unwrap();
    let input = input.into_owned();
    let text = input.text();
    let call = Invocation {
        tool: name,
        input: &input,
        text: &text,
    };
    let know = Knowledge::built_in().unwrap();
    others(call, &World::lexical("/home/dev/app"), &know.tools)
        .into_iter()
        .map(|view| format!("{} {}", view.tag, view.input.text()))
        .collect()
}

#[test]
fn cases() {
    crate::case_tests::check(include_str!("tests/views.txt"), views);
}

#[test]
fn escapes_are_decoded_as_a_client_does() {
    assert_eq!(unescaped("\\ud83d\\ude00!").as_deref(), Some("😀!"));
    assert_eq!(unescaped("\\ud83dx \\u0041").as_deref(), Some("\\ud83dx A"));
    assert_eq!(unescaped("\\ud83d"), None);
    assert_eq!(unescaped("\\u00"), None);
    assert_eq!(unescaped("\\uzzzz"), None);
}

#[test]
fn an_escaped_escape_stays_as_a_client_leaves_it() {
    let by_client = |text: &str| unescaped_by_client(text);
    assert_eq!(by_client(r"\u0041\\u0042").as_deref(), Some(r"A\\u0042"));
    assert_eq!(by_client(r"\\\u0041").as_deref(), Some(r"\\A"));
    assert_eq!(by_client(r"\\u0041"), None);
}

proptest! {
    #[test]
    fn there_are_few_readings(text in "(\\\\\\\\u0041|\\\\\\\\u005cu0041|cd /home/dev/app && |сат|\\\\\\\\;|\\[1\\]|true| |ｒ){0,12}") {
        let input = format!("{{\"command\":\"{text}\",\"path\":\"{text}\"}}");
        prop_assert!(views("Bash", &input).len() <= 7);
        prop_assert!(views("unknown", &input).len() <= 7);
    }

    #[test]
    fn decoding_takes_anything(text in "(\\\\u|d83d|de00|00|é|\\\\|41){0,20}") {
        let _ = unescaped(&text);
    }
}
