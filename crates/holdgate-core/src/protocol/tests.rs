//! The guard needs nothing of a protocol but the trait: a second one goes through all that it does.

mod tiny;

use super::*;
use crate::answer::Answer;
use crate::call::CallLimits;
use crate::conversation::{CallReader, Conversations, Unbounded};
use crate::guard::{GuardSettings, OnBlock, Output, ResponseContext, StreamGuard, guard_message};
use crate::history::Outcome;
use crate::layers::{RateLimits, layers};
use crate::notice::Tell;
use crate::rules::{Profile, RuleSet};
use crate::stack::{JudgeLimits, Stack};
use crate::text_actions::TextActions;
use holdgate_effects::Knowledge;
use holdgate_effects::path::World;
use std::time::Duration;
use tiny::TINY;

const NOW: Duration = Duration::ZERO;
const LIMITS: CallLimits = CallLimits {
    max_bytes: 1000,
    max_depth: 16,
};

fn judge(change: impl FnOnce(&mut GuardSettings)) -> ResponseContext {
    let rules = RuleSet::built_in(Profile::default()).unwrap();
    let limits = JudgeLimits {
        call: LIMITS,
        fuel: 100_000,
        deadline: Duration::from_secs(1),
    };
    let stack = Stack::new(
        layers(rules, RateLimits::NONE),
        Knowledge::built_in().unwrap(),
        Arc::new(NOW),
        limits,
    );
    let mut settings = GuardSettings {
        on_block: OnBlock::Explain,
        hold_all: false,
        keep_alive: Duration::from_secs(10),
        ask: Some(Duration::from_mins(1)),
        inert_blocks: Arc::default(),
        tell: Tell::All,
        text_actions: TextActions::Off,
        max_event_bytes: 1000,
        max_held_bytes: 10_000,
        max_calls: 10,
    };
    change(&mut settings);
    ResponseContext {
        request: Arc::new(RequestFacts {
            tools_with_required: ["Bash".to_owned()].into(),
            ..RequestFacts::default()
        }),
        ..ResponseContext::new(TINY, Arc::new(stack), Arc::new(settings))
    }
}

/// What is sent, and what else is done, in order.
fn sent(outputs: &mut Vec<Output>) -> String {
    let text = |output| match output {
        Output::Send(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        Output::Ask(question) => format!("<ask {}>\n", question.record.id),
        Output::Abort => "<abort>\n".to_owned(),
        Output::Record(_) | Output::Judge(_) => String::new(),
    };
    outputs.drain(..).map(text).collect()
}

/// Frames with these data.
fn stream(data: &[&str]) -> String {
    data.iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect()
}

/// The frame of a whole call.
fn call(at: usize, id: &str, command: &str) -> String {
    let args = format!(r#"{{\"command\":\"{command}\"}}"#);
    format!(
        r#"{{"call":{{"at":{at},"id":"{id}","tool":"Bash"}},"args":{{"at":{at},"text":"{args}"}}}}"#
    )
}

/// The calls of two commands, the first of which is harmless, and how they come: in pieces, at the
/// same time, and together with a text.
fn two_calls(second: &str) -> String {
    let second = format!(r#"{{"args":{{"at":7,"text":"mand\":\"{second}\"}}"}}}}"#);
    stream(&[
        r#"{"say":"Hello"}"#,
        r#"{"say":"!","call":{"at":3,"id":"a","tool":"Bash"}}"#,
        r#"{"args":{"at":3,"text":"{\"command\":"}}"#,
        r#"{"call":{"at":7,"id":"b","tool":"Bash"},"args":{"at":7,"text":"{\"com"}}"#,
        r#"{"args":{"at":3,"text":"\"ls\"}"}}"#,
        &second,
        r#"{"stop":"calls"}"#,
        "[DONE]",
    ])
}

#[test]
fn text_leaves_at_once_and_calls_when_they_are_judged_however_they_are_cut() {
    let body = two_calls("pwd");
    let expected = stream(&[
        r#"{"say":"Hello"}"#,
        r#"{"say":"!"}"#,
        &call(0, "a", "ls"),
        &call(1, "b", "pwd"),
        r#"{"stop":"calls"}"#,
        "[DONE]",
    ]);
    for (size, hold_all) in [(1, false), (7, true), (body.len(), false)] {
        let mut guard = StreamGuard::new(judge(|s| s.hold_all = hold_all), NOW);
        let mut outputs = Vec::new();
        for chunk in body.as_bytes().chunks(size) {
            guard.feed(Bytes::copy_from_slice(chunk), NOW, &mut outputs);
        }
        guard.finish(Duration::ZERO, &mut outputs);
        assert_eq!(sent(&mut outputs), expected);
        assert!(guard.is_over() && !guard.has_failed());
    }
    let text = Bytes::from(stream(&[r#"{"say":"Hello"}"#]));
    let mut outputs = Vec::new();
    StreamGuard::new(judge(|_| {}), NOW).feed(text.clone(), NOW, &mut outputs);
    let [Output::Send(left)] = &outputs[..] else {
        panic!("{outputs:?}");
    };
    assert_eq!(left.as_ptr(), text.as_ptr(), "it is not copied");
}

#[test]
fn a_refused_call_is_replaced_and_the_reason_for_the_end_is_true() {
    let harmful = stream(&[&call(0, "a", "rm -rf ~"), r#"{"stop":"calls"}"#, "[DONE]"]);
    let run = |on_block| {
        let mut outputs = Vec::new();
        let mut guard = StreamGuard::new(judge(|s| s.on_block = on_block), NOW);
        guard.feed(harmful.clone().into(), NOW, &mut outputs);
        sent(&mut outputs)
    };
    let explained = run(OnBlock::Explain);
    let [notice, end, done] = explained.split_terminator("\n\n").collect::<Vec<_>>()[..] else {
        panic!("{explained}");
    };
    assert!(notice.starts_with(r#"data: {"say":"[holdgate] The call to `Bash` was blocked"#));
    assert_eq!([end, done], [r#"data: {"stop":"end"}"#, "data: [DONE]"]);
    let continued = run(OnBlock::Continue);
    let inert =
        r#"{"call":{"at":0,"id":"toolu_holdgate_r_1","tool":"Bash"},"args":{"at":0,"text":"{}"}}"#;
    let end = stream(&[inert, r#"{"stop":"calls"}"#, "[DONE]"]);
    assert!(continued.ends_with(&end), "{continued}");
}

#[test]
fn a_person_decides_and_meanwhile_the_client_is_kept_waiting() {
    let command = "git push -f origin feature";
    let body = stream(&[&call(0, "a", command), r#"{"stop":"calls"}"#]);
    let later = Duration::from_secs(11);
    for (answer, passes) in [
        (Answer::Once, true),
        (Answer::Deny, false),
        (Answer::Timeout, false),
    ] {
        let mut outputs = Vec::new();
        let mut guard = StreamGuard::new(judge(|_| {}), NOW);
        guard.feed(body.clone().into(), NOW, &mut outputs);
        assert_eq!(sent(&mut outputs), "<ask r-1>\n");
        guard.tick(later, &mut outputs);
        assert_eq!(sent(&mut outputs), stream(&[r#"{"alive":true}"#]));
        guard.finish(Duration::ZERO, &mut outputs);
        guard.answer("r-1", answer, later, &mut outputs);
        let sent = sent(&mut outputs);
        assert_eq!(sent.contains(r#"{"call":"#), passes, "{sent}");
        assert!(sent.ends_with(&stream(&["[DONE]"])), "{sent}");
    }
}

#[test]
fn a_stream_that_breaks_off_or_cannot_be_read_ends_with_an_error() {
    let begun = stream(&[r#"{"say":"Hello"}"#, &call(0, "a", "ls")]);
    let check = |more: &[&str], expected: &str| {
        let mut outputs = Vec::new();
        let mut guard = StreamGuard::new(judge(|_| {}), NOW);
        guard.feed((begun.clone() + &stream(more)).into(), NOW, &mut outputs);
        guard.finish(Duration::ZERO, &mut outputs);
        let sent = sent(&mut outputs);
        let last = format!("data: {{\"error\":\"{expected}");
        assert!(sent.contains(&last) && !sent.contains("ls"), "{sent}");
        assert!(guard.has_failed());
    };
    check(&[], "[holdgate] the upstream ended the response");
    check(&[r#"{"error":"overloaded"}"#], "overloaded");
    check(&[r#"{"act":1}"#], "[holdgate] The response was stopped");
    check(&["{"], "[holdgate] The response was stopped");
}

#[test]
fn a_whole_message_is_guarded_too() {
    let item = |id: &str, command: &str| {
        format!(r#"{{"id":"{id}","tool":"Bash","args":"{{\"command\":\"{command}\"}}"}}"#)
    };
    let (good, bad) = (item("a", "ls"), item("b", "rm -rf ~"));
    let body = format!(r#"{{"say":"Hello","calls":[{bad},{good}]}}"#);
    let left = guard_message(judge(|_| {}), body.as_bytes(), NOW, &mut Vec::new()).unwrap();
    let left = String::from_utf8(left.to_vec()).unwrap();
    assert!(left.starts_with(r#"{"say":"Hello[holdgate] The call to `Bash`"#));
    assert!(left.ends_with(&format!(r#","calls":[{good}]}}"#)), "{left}");
}

#[test]
fn its_requests_tell_what_has_been_done() {
    let body = r#"{"session":"s-1","turns":[{"say":"go"},
        {"call":{"id":"a","tool":"Bash","args":"{\"command\":\"touch x\"}"}},{"result":"a"},
        {"call":{"id":"b","tool":"Bash","args":"{\"command\":\"touch y\"}"}},
        {"result":"b","failed":true},
        {"say":"[holdgate] The call to `Bash` was blocked and did not run. (incident r-1)"}]}"#;
    let request = TINY.read_request(body.into()).unwrap();
    assert_eq!(request.facts.session.as_deref(), Some("s-1"));
    assert_eq!(request.facts.root, "go");
    let reader = CallReader {
        know: &Knowledge::built_in().unwrap(),
        world: &World::default(),
        limits: LIMITS,
        fuel: 100_000,
        room: &Unbounded,
    };
    let history = Conversations::default().history(&request, &reader).unwrap();
    let steps: Vec<_> = history
        .steps()
        .map(|step| (step.call.as_str(), step.outcome, step.effects.is_empty()))
        .collect();
    assert_eq!(
        steps,
        [
            ("a", Outcome::Done, false),
            ("b", Outcome::Failed, false),
            ("toolu_holdgate_r_1", Outcome::Refused, true),
        ]
    );
}
