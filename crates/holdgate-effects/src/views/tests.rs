use super::*;
use crate::Knowledge;
use proptest::prelude::*;

fn views(name: &str, input: &str) -> Vec<(String, Tag)> {
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
        .map(|view| (view.input.text(), view.tag))
        .collect()
}

fn check(name: &str, input: &str, expected: &[(&str, Tag)]) {
    let found = views(name, input);
    let found: Vec<_> = found
        .iter()
        .map(|(text, tag)| (text.as_str(), *tag))
        .collect();
    assert_eq!(found, expected, "{input}");
}

#[test]
fn ordinary_calls_have_one_reading() {
    check(
        "Bash",
        r#"{"command":"cd src && ls -la; echo \\; 'é'"}"#,
        &[],
    );
    check("Bash", r#"{"command":"cd /tmp/x && rm -rf build"}"#, &[]);
    check(
        "Write",
        r#"{"file_path":"a.md","content":"ｆｕｌｌ \u200b width"}"#,
        &[],
    );
    check("Edit", r#"{"file_path":"日本.txt","new_string":"x"}"#, &[]);
}

#[test]
fn escapes_are_decoded_as_a_client_does() {
    check(
        "Bash",
        r#"{"command":"\\u0072m -rf ~"}"#,
        &[(r#"{"command":"rm -rf ~"}"#, Tag::ClientView)],
    );
    check(
        "Read",
        r#"{"file_path":"/etc/\\u005cu0073hadow"}"#,
        &[
            (r#"{"file_path":"/etc/\\u0073hadow"}"#, Tag::ClientView),
            (r#"{"file_path":"/etc/shadow"}"#, Tag::ClientView),
        ],
    );
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
    check(
        "Bash",
        r##"{"command":"#\\u000a: '\\\\u0027'; rm x #'"}"##,
        &[
            (
                r##"{"command":"#\n: '\\\\u0027'; rm x #'"}"##,
                Tag::ClientView,
            ),
            (r##"{"command":"#\n: '\\''; rm x #'"}"##, Tag::ClientView),
        ],
    );
}

#[test]
fn lines_that_are_written_end_as_a_client_ends_them() {
    check(
        "Write",
        r#"{"file_path":"a.sh","content":"cat <<E\nE \t\r\nrm x\u00a0\nE"}"#,
        &[(
            r#"{"file_path":"a.sh","content":"cat <<E\nE\r\nrm x\nE"}"#,
            Tag::ClientView,
        )],
    );
    check(
        "Edit",
        r#"{"file_path":"a.sh","old_string":"x ","new_string":"r\\ \nm x"}"#,
        &[(
            r#"{"file_path":"a.sh","old_string":"x ","new_string":"r\\\nm x"}"#,
            Tag::ClientView,
        )],
    );
    check("Bash", r#"{"command":"ls ","description":"x "}"#, &[]);
}

#[test]
fn commands_are_tidied_as_a_client_does() {
    check(
        "Bash",
        r#"{"command":"rcd /home/dev/app && m -rf ~"}"#,
        &[(r#"{"command":"rm -rf ~"}"#, Tag::ClientView)],
    );
    check(
        "Bash",
        r#"{"command":"cd / && cd /home/dev/app && rm -rf *"}"#,
        &[(r#"{"command":"cd / && rm -rf *"}"#, Tag::ClientView)],
    );
    check(
        "Bash",
        r#"{"command":"rcd /other && m x"}"#,
        &[(r#"{"command":"rm x"}"#, Tag::ClientView)],
    );
    check(
        "Bash",
        r#"{"command":"find . -exec ls {} \\\\; -delete"}"#,
        &[(
            r#"{"command":"find . -exec ls {} \\; -delete"}"#,
            Tag::ClientView,
        )],
    );
}

#[test]
fn text_is_taken_for_what_a_schema_wants() {
    check(
        "Bash",
        r#"{"command":"ls","dangerouslyDisableSandbox":"true"}"#,
        &[(
            r#"{"command":"ls","dangerouslyDisableSandbox":true}"#,
            Tag::ClientView,
        )],
    );
    check(
        "MultiEdit",
        r#"{"file_path":"a","edits":"[{\"new_string\":\"x\"}]"}"#,
        &[(
            r#"{"file_path":"a","edits":[{"new_string":"x"}]}"#,
            Tag::ClientView,
        )],
    );
    check("Bash", r#"{"command":"[ -f x ] && echo y"}"#, &[]);
}

#[test]
fn look_alikes_are_a_reading() {
    check(
        "Bash",
        r#"{"command":"сат /etc/hosts"}"#,
        &[(r#"{"command":"cat /etc/hosts"}"#, Tag::UnicodeView)],
    );
    check(
        "Bash",
        r#"{"command":"\\u0441at x"}"#,
        &[
            (r#"{"command":"сat x"}"#, Tag::ClientView),
            (r#"{"command":"cat x"}"#, Tag::UnicodeView),
        ],
    );
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
