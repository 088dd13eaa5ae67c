//! Texts as models write them, each under every split.

use super::*;
use crate::request::DeclaredTool;
use holdgate_effects::json::{Json, LoneSurrogates};
use proptest::prelude::*;

const TOOLS: &[(&str, &str)] = &[
    (
        "shell",
        r#"{"properties":{"command":{"type":"string"},"seconds":{"type":"integer"}}}"#,
    ),
    (
        "save",
        r#"{"properties":{"file":{"type":"string"},"body":{"type":"string"},"force":{"type":"boolean"}}}"#,
    ),
];

fn request(dialect: Dialect) -> Arc<Bridged> {
    let tools = TOOLS.iter().map(|(name, schema)| {
        let schema = Json::read(schema.as_bytes(), 16, LoneSurrogates::Refuse).unwrap();
        let tool = DeclaredTool {
            name: (*name).to_owned(),
            namespace: None,
            takes_text: false,
            schema,
        };
        ((*name).to_owned(), tool)
    });
    Arc::new(Bridged {
        dialect,
        tools: tools.collect(),
        ..Bridged::default()
    })
}

/// What comes of a text that arrives in these pieces, neighbours joined.
fn pieces<'t>(request: &Arc<Bridged>, text: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut reader = TextReader::new(request.clone());
    let mut found = Vec::new();
    for piece in text {
        reader.push(piece, &mut found);
    }
    reader.finish(&mut found);
    assert_eq!(reader.kept(), 0, "nothing is lost");
    let mut said: Vec<(char, String)> = Vec::new();
    for piece in found {
        let (kind, text) = match piece {
            Piece::Text(text) => ('T', text),
            Piece::Thinking(text) => ('R', text),
            Piece::Call(TextCall { name, input }) => match input {
                Ok(input) => ('C', format!("{name} {input}")),
                Err(fault) => ('F', format!("{name}: {fault}")),
            },
        };
        match said.last_mut() {
            Some((last, before)) if *last == kind && matches!(kind, 'T' | 'R') => {
                before.push_str(&text);
            }
            _ => said.push((kind, text)),
        }
    }
    said.into_iter()
        .map(|(kind, text)| format!("{kind} {text}"))
        .collect()
}

#[track_caller]
fn check_as(dialect: Dialect, text: &str, expected: &[&str]) {
    let request = request(dialect);
    let read = |text: &[&str]| pieces(&request, text.iter().copied());
    assert_eq!(read(&[text]), expected, "{text:?}");
    let ends = text
        .char_indices()
        .map(|(at, c)| text.get(at..at + c.len_utf8()).unwrap());
    let one_by_one: Vec<&str> = ends.collect();
    assert_eq!(read(&one_by_one), expected, "{text:?}");
    for (cut, _) in text.char_indices() {
        let (a, b) = text.split_at(cut);
        assert_eq!(read(&[a, b]), expected, "{a:?} {b:?}");
        let end = b.ceil_char_boundary(3);
        let (b, c) = b.split_at(end);
        assert_eq!(read(&[a, b, c]), expected, "{a:?} {b:?} {c:?}");
    }
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    check_as(Dialect::Auto, text, expected);
}

#[test]
fn calls_as_json() {
    check(
        "I look.\n<tool_call>\n{\"name\": \"shell\", \"arguments\": {\"command\": \"pwd\"}}\n</tool_call>",
        &["T I look.\n", r#"C shell {"command":"pwd"}"#],
    );
    check(
        "<tool_call>{\"arguments\":{\"name\":\"save\",\"command\":\"a\"},\"name\":\"shell\"}</tool_call>\n\n<tool_call>{\"name\":\"shell\"}</tool_call>ok",
        &[
            r#"C shell {"name":"save","command":"a"}"#,
            "C shell {}",
            "T ok",
        ],
    );
    check(
        r#"<tool_call>{"name":"shell","arguments":"{\"command\": \"</tool_call>\"}"}"#,
        &[r#"C shell {"command": "</tool_call>"}"#],
    );
    check(
        r#"<tool_call>{"name":"save","parameters":{"body":"}{\"]["}}</tool_call>"#,
        &[r#"C save {"body":"}{\"]["}"#],
    );
}

#[test]
fn calls_as_functions() {
    check(
        "<tool_call>\n<function=shell>\n<parameter=command>\necho '<b>'\n</parameter>\n<parameter=seconds>\n30\n</parameter>\n</function>\n</tool_call>\nThen more.",
        &[
            r#"C shell {"command":"echo '<b>'","seconds":30}"#,
            "T \nThen more.",
        ],
    );
    // Tags that models forget.
    check(
        "Now:\n<function=shell>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>",
        &["T Now:\n", r#"C shell {"command":"ls"}"#],
    );
    check(
        "<tool_call>\n<function=save>\n<parameter=file>\nx\n<parameter=body>\n\n y\n\n</function>\n</tool_call>",
        &[r#"C save {"file":"x","body":"\n y\n"}"#],
    );
    check(
        "<tool_call><function=shell></function></tool_call><function=shell></function>",
        &["C shell {}", "C shell {}"],
    );
    check(
        "<tool_call>\n<function=shell>\n<parameter=command>\nls\n</parameter>\n</tool_call>",
        &[r#"C shell {"command":"ls"}"#],
    );
    check(
        "<function=shell>\n<parameter=command>\nls\n</parameter>\n</parameter>\n</function>",
        &[r#"C shell {"command":"ls"}"#],
    );
}

#[test]
fn lines_may_end_with_both_characters() {
    check(
        "<tool_call>\r\n<function=shell>\r\n<parameter=command>\r\nls\r\npwd\r\n</parameter>\r\n</function>\r\n</tool_call>",
        &[r#"C shell {"command":"ls\r\npwd"}"#],
    );
    // Here they are a part of the value.
    check(
        "<function=save>\n<parameter=body>\na\r\n\n</parameter>\n</function>",
        &[r#"C save {"body":"a\r\n"}"#],
    );
}

#[test]
fn values_may_hold_tags() {
    for body in [
        "<p></parameter></p>",
        "</function> in words",
        "<parameter=other>\nx",
        "<parameter name='a'>1</parameter>",
        "<tool_call>",
        "a\n</parameter>\nb",
        "<",
        "é</",
    ] {
        let text = format!(
            "<tool_call>\n<function=save>\n<parameter=body>\n{body}\n</parameter>\n</function>\n</tool_call>"
        );
        let input = Json::object([("body", body.into())]).text();
        check(&text, &[&format!("C save {input}")]);
    }
}

#[test]
fn unclear_calls_are_refused() {
    check(
        "<tool_call>{\"name\":\"shell\",\"arguments\":{\"command\":\"a\",\"command\":\"b\"}}</tool_call>",
        &[
            "F shell: its input is not valid JSON: the object has the key `command` twice at byte 28",
        ],
    );
    check(
        "<function=shell>\n<parameter=command>\na\n</parameter>\n<parameter=command>\nb\n</parameter>\n</function>",
        &["F shell: it is not written as it must be: a parameter comes twice"],
    );
    check(
        "<function=shell>\n<parameter=command ls\n</parameter>\n</function>",
        &["F shell: it is not written as it must be: the name of a parameter is not valid"],
    );
    check(
        "<function=shell>\n<parameter=command>\na\n</parameter>\n<parameter=seconds>\n1\n</parameter>and\n</parameter>\n</function>",
        &["C shell {\"command\":\"a\",\"seconds\":\"1\\n</parameter>and\"}"],
    );
}

#[test]
fn what_is_no_call_stays_text() {
    for text in [
        // Never ends.
        "<tool_call>{\"name\":\"shell\",\"arguments\":{\"command\":\"rm -r",
        "<tool_call>\n<function=shell>\n<parameter=command>\nrm -rf /ho",
        "<function=shell>\n<parameter=command>\nls\n</parameter>\n",
        // Not declared.
        "<tool_call>{\"name\":\"format\",\"arguments\":{}}</tool_call>",
        "<tool_call>\n<function=format>\n<parameter=disk>\n0\n</parameter>\n</function>\n</tool_call>",
        // Talked about.
        "Models write <tool_call>{\"name\":\"shell\",\"arguments\":{}}</tool_call> for it.",
        "The form `<tool_call>{\"name\":\"shell\",\"arguments\":{}}</tool_call>` is JSON.",
        "```\n<tool_call>{\"name\":\"shell\",\"arguments\":{}}</tool_call>\n```\n",
        "```md\n# How to\n```xml\n<tool_call>{\"name\":\"shell\",\"arguments\":{}}</tool_call>\n```\n",
        "> <tool_call>{\"name\":\"shell\",\"arguments\":{}}</tool_call>\n",
        "~~~xml\n<function=shell>\n</function>\n~~~",
        "See <function=shell>\n</function> there.",
        "<tool_call> is a tag, <function=shell> is another.",
        "<tool_call>{not json}</tool_call>",
        "\"<tool_call>{\"name\":\"shell\"}</tool_call>\"",
        // Tags of other kinds.
        "if a < b && c > d { <T>::new() } </tool_cal <functio",
        "<tool_calls> <thinking> <|tool_call|>",
    ] {
        check(text, &[&format!("T {text}")]);
    }
    check(
        "```ls``` shows it.\n<function=shell>\n</function>",
        &["T ```ls``` shows it.\n", "C shell {}"],
    );
    let fenced = "```\n<function=shell>\n</function>\n```\n<function=shell>\n</function>";
    check(
        fenced,
        &["T ```\n<function=shell>\n</function>\n```\n", "C shell {}"],
    );
}

#[test]
fn thinking_is_kept_apart() {
    check("<think>\nHm.\n</think>\n\nYes.", &["R Hm.\n", "T Yes."]);
    check("\n<think>a</think></think>b", &["T \n", "R a", "T b"]);
    check("It ends in\n</think>\nb", &["T It ends in\nb"]);
    check(
        "The tag </think> ends <think>.",
        &["T The tag </think> ends <think>."],
    );
    let call = "<function=shell>\n</function>";
    check(
        &format!("<think>I do.\n{call}"),
        &["R I do.\n", "C shell {}"],
    );
    check(
        &format!("<think>I do.\n{call}\n{call}\n"),
        &["R I do.\n", "C shell {}", "C shell {}"],
    );
    let thought = format!("R I may\n{call}\n");
    check(
        &format!("<think>I may\n{call}\n</think>No."),
        &[&thought, "T No."],
    );
    let thought = format!("R I may\n{call} but no");
    check(&format!("<think>I may\n{call} but no"), &[&thought]);
}

#[test]
fn a_dialect_looks_for_its_own_form_only() {
    let json = "<tool_call>{\"name\":\"shell\"}</tool_call>";
    let function = "<tool_call><function=shell></function></tool_call>";
    check_as(Dialect::Hermes, json, &["C shell {}"]);
    check_as(Dialect::Hermes, function, &[&format!("T {function}")]);
    check_as(Dialect::QwenXml, json, &[&format!("T {json}")]);
    check_as(Dialect::QwenXml, function, &["C shell {}"]);
    for text in [json, function] {
        check_as(Dialect::Native, text, &[&format!("T {text}")]);
    }
    check_as(Dialect::Native, "<think>a</think>b", &["R a", "T b"]);
}

#[test]
fn words_wait_for_no_more_than_a_tag() {
    let mut reader = TextReader::new(request(Dialect::Auto));
    for (text, kept) in [
        ("Hello", 0),
        (" <", 1),
        ("tool", 5),
        (" x", 0),
        ("</thin", 6),
        ("g", 0),
    ] {
        reader.push(text, &mut Vec::new());
        assert_eq!(reader.kept(), kept, "{text:?}");
    }
}

#[test]
fn a_long_call_in_small_pieces_costs_no_more_than_its_length() {
    let line = "<a href='x'>\n</parameter> </b>\n";
    let body = line.repeat((1 << 20) / line.len());
    let text = format!("<function=save>\n<parameter=body>\n{body}\n</parameter>\n</function>");
    let mut reader = TextReader::new(request(Dialect::Auto));
    let mut found = Vec::new();
    let mut rest = text.as_str();
    // With quadratic costs, this takes minutes.
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(4));
        reader.push(piece, &mut found);
        rest = after;
    }
    reader.finish(&mut found);
    assert!(matches!(found.as_slice(), [Piece::Call(_)]));
}

#[test]
fn many_parameters_cost_no_more_than_their_length() {
    let parameters: String = (0..60_000)
        .map(|number| format!("<parameter=p{number:06}>1</parameter>"))
        .collect();
    let text = format!("<function=shell>{parameters}</function>");
    // Comparing all with all takes many seconds.
    let found = pieces(&request(Dialect::Auto), [text.as_str()]);
    assert_eq!(
        found,
        ["F shell: it is not written as it must be: it has too many parameters"]
    );
}

/// Stands for more white space than there can be between tags.
const LONG_BLANK: &str = "\u{1}";

/// Text of parts that matter to the reader.
fn text() -> impl Strategy<Value = String> {
    let parts = [
        CALL,
        CALL_END,
        FUNCTION,
        FUNCTION_END,
        PARAMETER,
        PARAMETER_END,
        THINK,
        THINK_END,
        "<",
        ">",
        "shell",
        "save",
        "body",
        "command>",
        "{",
        "}",
        "\"name\":\"shell\"",
        "\"",
        "`",
        "```",
        "```xml",
        "~~~",
        "\r\n",
        "\n",
        " ",
        LONG_BLANK,
        "é",
        "words",
        ",",
        "</",
        "=",
        "<tool_call>{\"name\":\"shell\",\"arguments\":{\"command\":\"a\"}}",
        "<function=shell>\n<parameter=command>\nls\n</parameter>\n</function>",
    ];
    let parts = prop::collection::vec(prop::sample::select(parts.to_vec()), 0..24);
    parts.prop_map(|parts| parts.concat().replace(LONG_BLANK, &" ".repeat(300)))
}

proptest! {
    #[test]
    fn how_a_text_is_split_changes_nothing(text in text(), sizes in prop::collection::vec(1..9usize, 1..6)) {
        let request = request(Dialect::Auto);
        let whole = pieces(&request, [text.as_str()]);
        let mut split = Vec::new();
        let mut rest = text.as_str();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at(rest.ceil_char_boundary(*size));
            split.push(piece);
            rest = after;
        }
        prop_assert_eq!(pieces(&request, split), whole);
    }

    #[test]
    fn only_declared_tools_are_called(text in text()) {
        for piece in pieces(&request(Dialect::Auto), [text.as_str()]) {
            let call = piece.strip_prefix("C ").or_else(|| piece.strip_prefix("F "));
            prop_assert!(call.is_none_or(|c| c.starts_with("shell") || c.starts_with("save")));
        }
    }
}
