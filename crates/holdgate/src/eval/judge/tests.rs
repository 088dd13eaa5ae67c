use super::*;
use crate::config::Config;
use crate::eval::read;
use crate::judging;
use holdgate_core::rules::Profile;
use holdgate_core::{ANTHROPIC, RateLimits};

fn bench() -> Bench {
    let stack = judging::stack(Profile::default(), &[], RateLimits::default()).unwrap();
    let guard = Config::defaults("x").unwrap().guard;
    Bench::new(Arc::new(stack), guard, "/home/dev/project")
}

fn judge(case: &str) -> Outcome {
    let cases = read("x", case).unwrap();
    bench().judge(&cases[0]).unwrap()
}

/// So many calls of `ls`, so many seconds apart.
fn listing(times: u32, seconds: u32) -> String {
    let call = |n| {
        format!(
            r#"{{"tool":"Bash","input":{{"command":"ls {n}"}},"t":{}}}"#,
            n * seconds
        )
    };
    let calls: Vec<String> = (0..times).map(call).collect();
    format!(
        r#"{{"id":"a","expect":"allow","calls":[{}]}}"#,
        calls.join(",")
    )
}

#[test]
fn a_sequence_is_judged_by_its_own_time_and_goes_on_after_a_block() {
    let fast = judge(&listing(70, 0));
    assert_eq!((fast.verdict, fast.step), (Verdict::Block, Some(60)));
    assert_eq!(fast.times.len(), 70);
    assert_eq!(fast.hits.len(), 1);
    assert_eq!(fast.hits[0].rule, "call-rate");
    let slow = judge(&listing(70, 2));
    assert_eq!((slow.verdict, slow.step), (Verdict::Allow, None));
}

#[test]
fn a_call_that_can_be_read_in_two_ways_is_blocked() {
    let two = r#"{"id":"a","expect":"block","call":{"tool":"Bash","input":{"a":1,"a":2}}}"#;
    let outcome = judge(two);
    assert_eq!((outcome.verdict, outcome.step), (Verdict::Block, Some(0)));
    assert_eq!(outcome.hits[0].rule, "unreadable-call");
}

const START: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}

"#;
const END: &str = r#"event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}

event: message_stop
data: {"type":"message_stop"}

"#;

fn call(start: &str, input: &str) -> String {
    let input = serde_json::to_string(input).unwrap();
    format!(
        r#"event: content_block_start
data: {{"type":"content_block_start","index":0,"content_block":{start}}}

event: content_block_delta
data: {{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{input}}}}}

event: content_block_stop
data: {{"type":"content_block_stop","index":0}}

"#
    )
}

const BASH: &str = r#"{"type":"tool_use","id":"t","name":"Bash","input":{}}"#;

#[test]
fn streams_are_judged_by_what_a_client_can_make_of_them() {
    #[track_caller]
    fn check(expect: Expect, head: (u16, &[(&str, &str)]), body: &str, verdict: Verdict) {
        let bench = bench();
        let case = |chunking| StreamCase {
            protocol: ANTHROPIC,
            status: head.0,
            headers: head
                .1
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            body: body.as_bytes().to_vec(),
            chunking,
            marker: "EVIL".to_owned(),
        };
        for chunking in [None, Some(vec![1, 0, 50])] {
            let outcome = bench.judge_stream(&case(chunking), expect, &bench.world);
            assert_eq!(outcome.verdict, verdict, "{body}");
        }
    }
    let events: (u16, &[(&str, &str)]) = (200, &[("content-type", "text/event-stream")]);
    let json: (u16, &[(&str, &str)]) = (200, &[("content-type", "application/json")]);
    let honest = START.to_owned() + &call(BASH, r#"{"command": "ls"}"#) + END;
    check(Expect::Allow, events, &honest, Verdict::Allow);
    // A call that no rule minds gets through, and the marker with it.
    let evil = honest.replace("ls", "EVIL");
    check(Expect::Block, events, &evil, Verdict::Allow);
    let two_keys = START.to_owned() + &call(BASH, r#"{"command":"ls","command":"EVIL"}"#) + END;
    check(Expect::Block, events, &two_keys, Verdict::Block);
    check(Expect::Allow, events, &two_keys, Verdict::Block);
    let cut_off = START.to_owned() + &call(BASH, r#"{"command":"EVIL""#);
    check(Expect::Block, events, &cut_off, Verdict::Block);
    let unknown = START.to_owned() + &call(&BASH.replace("tool_use", "new_use"), "EVIL") + END;
    check(Expect::Block, events, &unknown, Verdict::Block);

    let whole = format!(
        r#"{{"type":"message","content":[{{"type":"text","text":"hm"}},{}],"stop_reason":"tool_use"}}"#,
        BASH.replace("{}", r#"{"command":"EVIL"}"#)
    );
    check(Expect::Allow, json, &whole, Verdict::Allow);
    check(Expect::Block, json, &whole, Verdict::Allow);
    let twice = whole.replace("\"command\"", "\"command\":1,\"command\"");
    check(Expect::Block, json, &twice, Verdict::Block);

    let gzip: (u16, &[(&str, &str)]) = (
        200,
        &[
            ("content-type", "text/event-stream"),
            ("content-encoding", "gzip"),
        ],
    );
    check(Expect::Block, gzip, &evil, Verdict::Block);
    check(Expect::Block, (307, events.1), &evil, Verdict::Block);
    check(
        Expect::Block,
        (200, &[("content-type", "text/plain")]),
        &evil,
        Verdict::Block,
    );
    check(Expect::Block, (529, json.1), &evil, Verdict::Block);
    check(
        Expect::Allow,
        (529, json.1),
        "{\"type\":\"error\"}",
        Verdict::Allow,
    );
}
