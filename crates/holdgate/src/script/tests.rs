use super::*;
use bytes::Bytes;
use holdgate_core::sse::{Decoder, fields};
use holdgate_effects::json::{Json, LoneSurrogates};
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::time::Duration;

fn first_turn(name: &str) -> &'static Turn {
    scenario(name).unwrap().first().unwrap()
}

fn steps(turn: &Turn) -> Vec<Step> {
    stream(turn, "fake-model", 1, &StreamOptions::default())
}

fn bytes(turn: &Turn) -> String {
    let sent = steps(turn).into_iter().filter_map(|step| match step {
        Step::Send(frame) => Some(String::from_utf8(frame.to_vec()).unwrap()),
        Step::Wait(..) | Step::Cut | Step::End => None,
    });
    sent.collect()
}

/// The events of a stream: their names, and their data.
fn events(stream: &str) -> Vec<(Option<String>, Json<'static>)> {
    let mut decoder = Decoder::new(8 << 20);
    let mut bytes = Bytes::copy_from_slice(stream.as_bytes());
    let mut events = Vec::new();
    while let Some(frame) = decoder.next(&mut bytes).unwrap() {
        let fields = fields(&frame, events.is_empty()).unwrap();
        let data = fields.data.unwrap().into_owned();
        let data = Json::read(&data, 128, LoneSurrogates::Refuse)
            .unwrap()
            .into_owned();
        events.push((fields.event.map(str::to_owned), data));
    }
    events
}

#[test]
fn every_stream_is_made_of_named_events_and_ends_once() {
    for name in names() {
        for turn in scenario(name)
            .unwrap()
            .iter()
            .filter(|t| t.status().is_none())
        {
            let steps = steps(turn);
            let ends = |step: &Step| matches!(step, Step::Cut | Step::End);
            let end = steps.iter().position(ends).unwrap();
            assert_eq!(end + 1, steps.len(), "{name}");
            for (event, data) in events(&bytes(turn)) {
                let kind = data.get("type").unwrap().as_str().unwrap();
                let misnamed = ["evt_mismatch", "no_evname"].contains(&name);
                assert!(misnamed || event.as_deref() == Some(kind), "{name}: {data}");
            }
        }
    }
}

#[test]
fn the_tool_scenario_reads_as_the_api_writes() {
    let expected = r#"
event: message_start
data: {"type":"message_start","message":{"id":"msg_fake0001","type":"message","role":"assistant","model":"fake-model","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I will run a"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" command."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_fake000101","name":"Bash","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"command"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\":\"echo r"}}
"#;
    let stream = bytes(first_turn("tool"));
    assert!(stream.starts_with(expected.trim_start()), "{stream}");
    let end = r#"
event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":42}}

event: message_stop
data: {"type":"message_stop"}

"#;
    assert!(stream.ends_with(end), "{stream}");
}

/// The input that a client puts together from a scenario's deltas.
fn streamed_input(name: &str) -> String {
    let deltas = events(&bytes(first_turn(name)))
        .into_iter()
        .filter_map(|(_, data)| {
            let delta = data.get("delta")?.get("partial_json")?;
            Some(delta.as_str()?.to_owned())
        });
    deltas.collect()
}

#[test]
fn inputs_are_streamed_whole_and_as_odd_as_they_are() {
    let check = |name: &str, expected: &str| assert_eq!(streamed_input(name), expected, "{name}");
    check(
        "tool",
        r#"{"command":"echo ran-$RANDOM >> marker.txt; cat marker.txt"}"#,
    );
    check(
        "lone_surrogate",
        r#"{"command":"echo \ud800 >> marker.txt"}"#,
    );
    check(
        "trailing",
        r#"{"command":"echo x >> marker.txt"} and so on"#,
    );
    check("blk_badinput", "");
    check("start_input_only", "");
    assert!(streamed_input("patch").starts_with(r#""*** Begin Patch\n"#));
    assert!(streamed_input("deep").contains(&"[".repeat(99)));
    assert!(streamed_input("big").len() > 300_000);
}

#[test]
fn starts_and_stops_are_doubled_and_left_out() {
    let check = |name: &str, kind: &str, expected: usize| {
        let events = events(&bytes(first_turn(name)));
        let index = 1;
        let found = events.iter().filter(|(event, data)| {
            event.as_deref() == Some(kind)
                && data.get("index").and_then(Json::as_u64) == Some(index)
        });
        assert_eq!(found.count(), expected, "{name}");
    };
    check("tool", "content_block_start", 1);
    check("dup_start", "content_block_start", 2);
    check("dup_stop", "content_block_stop", 2);
    check("delta_unopened", "content_block_start", 0);
    check("delta_unopened", "content_block_stop", 0);
    check("evt_mismatch", "content_block_start", 0);
}

#[test]
fn cuts_fall_where_they_should() {
    let end = |name: &str| steps(first_turn(name)).pop().unwrap();
    let stops = |name: &str| {
        bytes(first_turn(name))
            .matches("event: content_block_stop")
            .count()
    };
    assert_eq!((end("cut_tool"), stops("cut_tool")), (Step::Cut, 1));
    assert_eq!(
        (end("cut_clean_tool"), stops("cut_clean_tool")),
        (Step::End, 1)
    );
    assert_eq!(
        (end("cut_before_stop"), stops("cut_before_stop")),
        (Step::Cut, 2)
    );
    assert_eq!(steps(first_turn("cut_start")), [Step::Cut]);
    assert_eq!(steps(first_turn("empty_200")), [Step::End]);
    let error = bytes(first_turn("err_mid"));
    assert!(
        error.ends_with("\"message\":\"Overloaded\"}}\n\n"),
        "{error}"
    );
    let after = bytes(first_turn("after_stop"));
    let (_, after) = after.split_once("message_stop\"}\n\n").unwrap();
    assert!(after.contains("tool_use"), "{after}");
}

#[test]
fn a_slow_input_takes_its_time() {
    let options = StreamOptions {
        slow: Duration::from_secs(16),
    };
    let steps = stream(first_turn("slow_input"), "m", 1, &options);
    let waits: Vec<Duration> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Wait(time, ping) => ping.is_none().then_some(*time),
            Step::Send(_) | Step::Cut | Step::End => None,
        })
        .collect();
    assert!(waits.len() > 5);
    let total: Duration = waits.iter().sum();
    assert!(
        total > Duration::from_millis(15_900) && total <= options.slow,
        "{total:?}"
    );
}

async fn ask(model: &ScriptedModel, path: &str, body: &str) -> Response<hyper::body::Incoming> {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let method = if body.is_empty() { "HEAD" } else { "POST" };
    let request = Request::builder()
        .method(method)
        .uri(format!("http://{}{path}", model.address()))
        .header("x-api-key", "secret")
        .body(Full::new(Bytes::copy_from_slice(body.as_bytes())))
        .unwrap();
    client.request(request).await.unwrap()
}

async fn text(answer: Response<hyper::body::Incoming>) -> String {
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

const MAIN: &str = r#"{"model":"m","tools":[{"name":"Bash"}]}"#;
const MAIN_STREAM: &str = r#"{"model":"m","tools":[{"name":"Bash"}],"stream":true}"#;

#[tokio::test]
async fn runs_walk_their_turns_apart() {
    let model = ScriptedModel::start(Options::default()).unwrap();
    let one = "/x/tool@one/v1/messages?beta=true";
    let answer = ask(&model, one, MAIN_STREAM).await;
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    assert_eq!(
        text(answer).await,
        bytes(first_turn("tool")).replace("fake-model", "m")
    );
    let side = text(ask(&model, one, r#"{"tools":[]}"#).await).await;
    assert!(side.contains("Fake side answer."), "{side}");
    let other = text(ask(&model, "/x/tool@two/v1/messages", MAIN).await).await;
    assert_eq!(other, message(first_turn("tool"), "m", 3));
    for _ in 0..2 {
        let last = text(ask(&model, one, MAIN).await).await;
        assert!(last.contains("All done."), "{last}");
    }
    let plain = text(ask(&model, "/v1/messages", MAIN).await).await;
    assert!(plain.contains("Hello from"), "{plain}");
}

#[tokio::test]
async fn a_cut_breaks_the_body_and_an_end_does_not() {
    let model = ScriptedModel::start(Options::default()).unwrap();
    let cut = ask(&model, "/x/cut_tool/v1/messages", MAIN_STREAM).await;
    assert!(cut.into_body().collect().await.is_err());
    let clean = ask(&model, "/x/cut_clean_tool/v1/messages", MAIN_STREAM).await;
    assert!(text(clean).await.contains("tool_use"));
}

#[tokio::test]
async fn errors_preflights_and_lists_are_answered() {
    let model = ScriptedModel::start(Options::default()).unwrap();
    let answer = ask(&model, "/x/http429/v1/messages", MAIN_STREAM).await;
    assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.headers()["retry-after"], "1");
    assert!(text(answer).await.contains("rate_limit_error"));
    assert_eq!(
        ask(&model, "/x/tool", "").await.status(),
        StatusCode::NOT_FOUND
    );
    let missing = ask(&model, "/x/tool/v1/nothing", MAIN).await;
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    let count = ask(&model, "/x/tool/v1/messages/count_tokens", MAIN).await;
    assert_eq!(text(count).await, r#"{"input_tokens":25}"#);
    let models = ask(&model, "/v1/models", MAIN).await;
    assert!(text(models).await.contains("fake-model"));
}

#[tokio::test]
async fn requests_are_recorded_without_keys() {
    let folder = std::env::temp_dir().join(format!("holdgate-script-{}", std::process::id()));
    let model = ScriptedModel::start(Options {
        record: Some(folder.clone()),
        ..Options::default()
    });
    let model = model.unwrap();
    ask(&model, "/x/tool@a/v1/messages", MAIN).await;
    ask(&model, "/x/../v1/messages", MAIN).await;
    model.stop();
    let record = std::fs::read_to_string(folder.join("tool@a/001.request.json")).unwrap();
    let outside = folder.join("text/002.request.json").exists();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(record.contains(r#""x-api-key":"REDACTED""#), "{record}");
    assert!(record.contains(&format!("\"body\":{MAIN}")), "{record}");
    assert!(outside, "a run's name must not lead out of the folder");
}
