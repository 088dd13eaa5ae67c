//! Many streams at once, with clients that hang up and upstreams that break.

use crate::client::{Assembled, calls};
use crate::setup::{Guarded, REQUEST, eventually};
use holdgate::ledger::verify;
use holdgate_effects::json::{Json, LoneSurrogates};
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::collections::HashSet;

const STREAMS: u64 = 200;
const SCENARIOS: &[&str] = &[
    "tool",
    "parallel",
    "ten_calls",
    "think_tool",
    "srv_tool",
    "mixed_order",
    "text",
    "cut_tool",
    "cut_clean_tool",
    "cut_before_stop",
    "cut_start",
    "empty_200",
    "err_mid",
    "dupkeys",
    "badjson",
    "dup_stop",
    "evt_mismatch",
    "unknown_block",
    "after_stop",
    "slow_input",
];

/// The calls that one client could assemble before it hung up.
async fn stream(url: String, hang_up_after: Option<usize>) -> Vec<Assembled> {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let request = Request::post(url)
        .body(Full::new(bytes::Bytes::from(REQUEST)))
        .unwrap();
    let Ok(response) = client.request(request).await else {
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
    // A small generator with a fixed seed: a failure can be repeated.
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let clients: Vec<_> = (0..STREAMS)
        .map(|n| {
            let scenario = SCENARIOS[usize::try_from(random(SCENARIOS.len() as u64)).unwrap()];
            let hang_up = (random(3) == 0).then(|| usize::try_from(random(3000)).unwrap());
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
