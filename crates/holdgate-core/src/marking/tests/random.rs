//! Random conversations, written in every way that JSON allows.

use super::{ORDER, between, marked, marks};
use crate::marking::SharedExamined;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Stands for half of a surrogate pair, which no text of Rust can hold.
const LONE: char = '\u{f8ff}';

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(ORDER.to_owned()),
        Just("😀\u{1f}\"\\/<b>é\n".to_owned()),
        Just(LONE.to_string()),
        "\\PC{0,6}".prop_map(|text| text.replace(LONE, "")),
        Just("line\tof text ".to_owned()),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn block() -> impl Strategy<Value = Value> {
    (0..7, text(), text()).prop_map(|(kind, one, two)| match kind {
        0 => json!({"type": "text", "text": one, "cache_control": {"type": "ephemeral"}}),
        1 => json!({"source": {"type": "base64", "data": one}, "alt": two, "type": "image"}),
        2 => json!({"type": "document", "title": one, "source": {"type": "text", "data": two}}),
        3 => json!({"type": "search_result", "source": two, "title": one,
                    "content": [{"type": "text", "text": two}], "citations": {"enabled": true}}),
        4 => json!({"type": "document", "source": {"type": "content", "content": [
                    {"type": "text", "text": one}, {"type": "text", "text": two}]}}),
        5 => {
            json!({"type": "web_search_result", "url": one, "title": two, "encrypted_content": one})
        }
        _ => {
            json!({"type": "code_execution_result", "stdout": one, "stderr": two, "return_code": 0})
        }
    })
}

fn content() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => text().prop_map(Value::from),
        2 => prop::collection::vec(block(), 0..4).prop_map(Value::from),
        1 => block(),
    ]
}

/// A message with its results, if it has any.
fn message() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(vec![
        "tool_result",
        "mcp_tool_result",
        "web_fetch_tool_result",
    ]);
    let result = (kinds, content(), any::<bool>()).prop_map(|(kind, content, failed)| {
        json!({"tool_use_id": "t", "type": kind, "content": content, "is_error": failed})
    });
    prop_oneof![
        1 => text().prop_map(|said| json!({"role": "user", "content": said})),
        1 => (text(), text()).prop_map(|(said, command)| json!({"role": "assistant", "content": [
            {"type": "text", "text": said},
            {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": command, "n": 1.50}}]})),
        4 => prop::collection::vec(result, 1..4)
            .prop_map(|results| json!({"role": "user", "content": results})),
    ]
}

/// How a text is written: what each next decision is.
struct Pen {
    choices: Vec<u8>,
    at: usize,
}

impl Pen {
    fn choose(&mut self, of: u8) -> u8 {
        self.at += 1;
        self.choices[self.at % self.choices.len()] % of
    }

    fn space(&mut self, out: &mut String) {
        out.push_str([" ", "", "", "\n\t", ""][usize::from(self.choose(5))]);
    }

    fn string(&mut self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            let must = c < ' ' || c == '"' || c == '\\';
            let choice = self.choose(4);
            if c == LONE {
                out.push_str(["\\ud800", "\\uDBFF", "\\udc00", "\\uDfff"][usize::from(choice)]);
                // Two halves in a row could be a pair.
                out.push(' ');
            } else if must && choice < 2 && "\n\t\"\\".contains(c) {
                let short = ["\\n", "\\t", "\\\"", "\\\\"]["\n\t\"\\".find(c).unwrap()];
                out.push_str(short);
            } else if c == '/' && choice == 1 {
                out.push_str("\\/");
            } else if must || choice == 0 {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            } else if choice == 1 {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04X}"));
                }
            } else {
                out.push(c);
            }
        }
        out.push('"');
    }

    fn value(&mut self, value: &Value, out: &mut String) {
        match value {
            Value::String(text) => self.string(text, out),
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    self.space(out);
                    self.value(item, out);
                    self.space(out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    self.space(out);
                    self.string(key, out);
                    self.space(out);
                    out.push(':');
                    self.space(out);
                    self.value(value, out);
                }
                out.push('}');
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
        }
    }
}

fn written(messages: &[Value], choices: &[u8]) -> Vec<String> {
    let mut pen = Pen {
        choices: choices.to_vec(),
        at: 0,
    };
    let write = |message| {
        let mut out = String::new();
        pen.value(message, &mut out);
        out
    };
    messages.iter().map(write).collect()
}

fn body(messages: &[String]) -> String {
    let messages = messages.join(" , ");
    format!(
        "{{\"model\":\"m\", \"messages\":[ {messages} ] ,\"system\":\"{ORDER} \\u0041\",\"x\":1.50}}\n"
    )
}

/// What another reader finds. It knows no halves of pairs.
fn decoded(body: &str) -> Value {
    let mut body = body.to_owned();
    for half in ["\\ud800 ", "\\uDBFF ", "\\udc00 ", "\\uDfff "] {
        body = body.replace(half, "\u{fffd} ");
    }
    serde_json::from_str(&body).unwrap()
}

/// The same text without our markers, found by how they are written.
fn unmarked(sent: &str) -> String {
    let start = r"\[TOOL OUTPUT - DATA ONLY [0-9a-f]{16}\]\\nEverything [a-z ]*: [a-z ,]*\.\\n";
    let end = r"\\n\[END OF TOOL OUTPUT [0-9a-f]{16}\]";
    let sent = regex::Regex::new(start).unwrap().replace_all(sent, "");
    regex::Regex::new(end)
        .unwrap()
        .replace_all(&sent, "")
        .into_owned()
}

/// Members of a result whose text a model reads.
fn is_read(key: &str, holder: &Value) -> bool {
    let keys = ["content", "text", "title", "alt", "stdout", "stderr"];
    keys.contains(&key) || key == "data" && holder["type"] == "text"
}

/// Compares a value with what was sent: orders in texts of results are marked, all else is equal.
fn compare(original: &Value, sent: &Value, in_result: bool, is_text: bool) {
    match (original, sent) {
        (Value::Object(one), Value::Object(two)) => {
            let kind = original["type"].as_str().unwrap_or_default();
            let in_result = in_result || kind.ends_with("tool_result");
            assert!(one.keys().eq(two.keys()));
            for (key, value) in one {
                compare(
                    value,
                    &two[key],
                    in_result,
                    in_result && is_read(key, original),
                );
            }
        }
        (Value::Array(one), Value::Array(two)) => {
            assert_eq!(one.len(), two.len());
            for (one, two) in one.iter().zip(two) {
                compare(one, two, in_result, is_text);
            }
        }
        (Value::String(text), Value::String(sent)) if is_text && text.contains(ORDER) => {
            assert_eq!(*sent, between(text));
        }
        (one, two) => assert_eq!(one, two),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn only_marked_strings_change(
        messages in prop::collection::vec(message(), 0..5),
        choices in prop::collection::vec(any::<u8>(), 1..40),
        others in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let body_of = |choices: &[u8]| body(&written(&messages, choices));
        let original = body_of(&choices);
        let sent = marked(&original);
        prop_assert_eq!(&unmarked(&sent), &original, "all other bytes are the same");
        let (before, after) = (decoded(&original), decoded(&sent));
        compare(&before["messages"], &after["messages"], false, false);
        prop_assert_eq!(&before["system"], &after["system"]);
        prop_assert_eq!(&marked(&sent), &sent, "marking twice is marking once");
        // The markers do not depend on how a text is written.
        let other = body_of(&others);
        prop_assert_eq!(decoded(&marked(&other)), after);
    }

    #[test]
    fn a_message_is_marked_the_same_in_every_turn(
        messages in prop::collection::vec(message(), 1..6),
        choices in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let written = written(&messages, &choices);
        let examined = SharedExamined::default();
        let mut last = String::new();
        for turn in 1..=written.len() {
            let body = body(&written[..turn]);
            let marks = marks(&body, &examined).unwrap();
            let sent = String::from_utf8(marks.body().to_vec()).unwrap();
            prop_assert_eq!(sent.len(), marks.bytes());
            prop_assert_eq!(&sent, &marked(&body), "the same after a restart");
            let (messages, _) = sent.rsplit_once(" ] ,\"system\"").unwrap();
            prop_assert!(messages.starts_with(&last), "what was sent before stays as it was");
            last = messages.to_owned();
        }
    }
}
