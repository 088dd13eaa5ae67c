use super::*;

#[track_caller]
fn one(line: &str) -> Case {
    let mut cases = read("x.jsonl", line).unwrap();
    assert_eq!(cases.len(), 1);
    cases.remove(0)
}

#[test]
fn a_bad_line_is_named_with_its_reason() {
    #[track_caller]
    fn check(line: &str, complaint: &str) {
        let text = format!("\n{line}\n");
        let error = read("x.jsonl", &text).unwrap_err();
        assert_eq!(error, format!("x.jsonl:2: {complaint}"), "{line}");
    }
    let subjects =
        "and must have one of call, calls, message, stream, output, tool_result, spillage, bridge";
    check(
        "{",
        "column 1: not a valid case: EOF while parsing an object",
    );
    check(r#"{"expect":"block"}"#, "the case has no `id`");
    check(
        r#"{"id":"a","expect":"deny","call":{"tool":"Bash","input":{}}}"#,
        "case `a`: `expect` is `deny`, write block, allow or flag",
    );
    check(
        r#"{"id":"a","call":{"tool":"Bash","input":{}}}"#,
        "case `a`: no `expect`, write block, allow or flag",
    );
    check(
        r#"{"id":"a","expect":"block"}"#,
        &format!("case `a`: it has no subjects, {subjects}"),
    );
    check(
        r#"{"id":"a","expect":"block","spillage":{"text":""},"call":{"tool":"Bash","input":{}}}"#,
        &format!("case `a`: it has several subjects, {subjects}"),
    );
    check(
        r#"{"id":"a","expect":"block","calls":[]}"#,
        "case `a`: `calls` is empty",
    );
    check(
        r#"{"id":"a","expect":"block","call":{"input":{}}}"#,
        "column 46: not a valid case: missing field `tool`",
    );
    check(
        r#"{"id":"a","expect":"block","calls":[{"tool":"Bash","t":-1}]}"#,
        "case `a`: `t` is -1: cannot convert float seconds to Duration: value is negative",
    );
    check(
        r#"{"id":"a","expect":"block","stream":{"protocol":"anthropic","body_b64":"*"}}"#,
        "case `a`: `body_b64` is not base64",
    );
}

#[test]
fn all_bad_lines_are_named() {
    let error = read("x.jsonl", &"{}\n".repeat(30)).unwrap_err();
    assert_eq!(error.lines().count(), MAX_COMPLAINTS + 1);
    assert!(error.ends_with("x.jsonl: and 10 more"), "{error}");
}

#[test]
fn an_array_is_as_good_as_lines() {
    let good = r#"{"id":"a","expect":"allow","call":{"tool":"Bash","input":{}}}"#;
    let cases = read("x.json", &format!("[\n{good},\n{good}\n]\n")).unwrap();
    assert_eq!(cases.len(), 2);
    let error = read("x.json", &format!("[\n{good},\n\n{{}}]")).unwrap_err();
    assert_eq!(error, "x.json:4: the case has no `id`");
}

#[test]
fn calls_have_a_time_each() {
    let case = one(
        r#"{"id":"a","expect":"allow","calls":[{"tool":"A"},{"tool":"B"},
           {"tool":"C","t":60.5},{"tool":"D"},{"tool":"E","t":1}]}"#
            .replace('\n', "")
            .as_str(),
    );
    let Subject::Calls { calls, .. } = case.subject else {
        panic!("{case:?}");
    };
    let times: Vec<f64> = calls.iter().map(|c| c.at.as_secs_f64()).collect();
    assert_eq!(times, [0.0, 5.0, 60.5, 65.5, 65.5]);
}

/// What a strict reader refuses must reach the judge as it is, for the judge to refuse it.
#[test]
fn an_input_is_kept_as_it_is_written() {
    #[track_caller]
    fn check(input: &str, kept: &str) {
        let case = one(&format!(
            r#"{{"id":"a","expect":"block","call":{{"tool":"Bash","input":{input}}}}}"#
        ));
        let Subject::Call(call) = case.subject else {
            panic!("{case:?}");
        };
        assert_eq!(call.input, kept);
    }
    check(r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#);
    check(r#"{"a":"\ud800"}"#, r#"{"a":"\ud800"}"#);
    check("null", "");
    check("[1]", "[1]");
    check(r#""*** Begin Patch""#, r#"{"input":"*** Begin Patch"}"#);
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    check(&deep, &deep);
}

#[test]
fn what_is_not_judged_yet_is_still_a_case() {
    #[track_caller]
    fn check(subject: &str, name: &str) {
        let case = one(&format!(r#"{{"id":"a","expect":"block",{subject}}}"#));
        assert!(
            matches!(&case.subject, Subject::NotYet(n) if n == name),
            "{case:?}"
        );
    }
    check(
        r#""stream":{"protocol":"bedrock","body_b64":""}"#,
        "stream of bedrock",
    );
    check(
        r#""bridge":{"from":"ollama","to":"chat","chunks":["a"]}"#,
        "bridge from ollama to chat",
    );
}

#[test]
fn output_comes_as_text_or_in_pieces() {
    #[track_caller]
    fn check(output: &str, expected: &[&str]) {
        let case = one(&format!(
            r#"{{"id":"a","expect":"block","output":{output}}}"#
        ));
        let Subject::Output(pieces) = case.subject else {
            panic!("{case:?}");
        };
        let expected: Vec<&[u8]> = expected.iter().map(|piece| piece.as_bytes()).collect();
        assert_eq!(pieces, expected);
    }
    check(r#"{"stream":"stdout","text":"ab"}"#, &["ab"]);
    check(r#"{"chunks":["a","b"]}"#, &["a", "b"]);
    check(r#"{"chunks_b64":["aGVs","bG8="]}"#, &["hel", "lo"]);
    let both = r#"{"id":"a","expect":"block","output":{"text":"a","chunks":["b"]}}"#;
    assert!(
        read("f", both)
            .unwrap_err()
            .contains("one of text, chunks, chunks_b64")
    );
}
