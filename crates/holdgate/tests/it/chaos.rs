//! Many streams at once, with clients that hang up and upstreams that break.

use crate::client::{Assembled, calls};
use crate::random::Random;
use crate::setup::{Guarded, REQUEST, eventually, try_begin};
use holdgate::ledger::verify;
use holdgate_effects::json::{Json, LoneSurrogates};
use http_body_util::BodyExt as _;
use hyper::Request;
use std::collections::HashSet;

const STREAMS: u64 = 200;
#[rustfmt::skip]
const SCENARIOS: &[&str] = &[
    "tool", "parallel", "ten_calls", "think_tool", "srv_tool", "mixed_order", "text", "cut_tool",
    "cut_clean_tool", "cut_before_stop", "cut_start", "empty_200", "err_mid", "dupkeys", "badjson",
    "dup_stop", "evt_mismatch", "unknown_block", "after_stop", "slow_input",
];

/// The calls that one client could assemble before it hung up.
async fn stream(url: String, hang_up_after: Option<usize>) -> Vec<Assembled> {
    let Ok(response) = try_begin(Request::post(url), REQUEST).await else {
        return Vec::new();
    };
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        bytes.extend(frame.into_data().unwrap_or_default());
        if hang_up_after.is_some_and(|limit| bytes.len() > limit) {
            break;
        }
    }
    // What a hang-up cut is no event for any client.
    let whole = bytes
        .windows(2)
        .rposition(|w| w == b"\n\n")
        .map_or(0, |at| at + 2);
    calls(&bytes[..whole])
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_streams_leave_nothing_behind() {
    let guarded = Guarded::model(|_| {});
    let mut random = Random::new(1);
    let clients: Vec<_> = (0..STREAMS)
        .map(|n| {
            let scenario = random.pick(SCENARIOS);
            let hang_up = (random.below(3) == 0).then(|| random.below(3000));
            tokio::spawn(stream(
                guarded.url(&format!("/s/s{n}/x/{scenario}@{n}/v1/messages")),
                hang_up,
            ))
        })
        .collect();
    let mut assembled = Vec::new();
    for client in clients {
        assembled.extend(client.await.unwrap());
    }
    eventually("all connections are closed", || {
        guarded.proxy.open_connections() == 0
    })
    .await;

    let mut sent = HashSet::new();
    for line in guarded.ledger().lines() {
        let record = Json::read(line.as_bytes(), 128, LoneSurrogates::Refuse).unwrap();
        let text = |key: &str| {
            record
                .get(key)
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        if text("action") == "sent" {
            let input: serde_json::Value =
                serde_json::from_str(&record.get("input").unwrap().text()).unwrap();
            sent.insert((text("tool"), text("call"), input.to_string()));
        }
    }
    assert!(
        assembled.len() > 50,
        "too few calls to mean anything: {}",
        assembled.len()
    );
    for call in assembled {
        let input = call.input.expect("no partial call").to_string();
        assert!(
            sent.contains(&(call.tool, call.id, input)),
            "a call that was not cleared"
        );
    }
    let verified = verify(guarded.dir.path()).unwrap();
    assert!(verified.records >= sent.len() as u64);
}
