//! Expert mode: both the server and the request must ask for it, or a person in a terminal.

use crate::client::calls;
use crate::setup::{Guarded, REQUEST, RawUpstream, has, lacks, model, send};
use holdgate_effects::json::{Json, LoneSurrogates};
use hyper::Request;
use serde_json::Value;
use std::net::SocketAddr;

/// A rule of the operator's policy that refuses what the scenario `tool` does.
const RULE: &str = "- id: no-marker\n  do: DENY\n  category: own\n  \
    when: { effect: write, path: { glob: '**/marker.txt' } }\n  because: it is ours\n  \
    examples: { deny: [touch marker.txt], allow: [touch other.txt] }\n";

struct Setting {
    guarded: Guarded,
    _rules: tempfile::TempDir,
}

impl Setting {
    fn new(upstream: SocketAddr, on_server: bool) -> Setting {
        Self::with_rules(upstream, on_server, "[]")
    }

    fn with_rules(upstream: SocketAddr, on_server: bool, text: &str) -> Setting {
        let rules = tempfile::tempdir().unwrap();
        std::fs::write(rules.path().join("own.yaml"), text).unwrap();
        let guarded = Guarded::start(upstream, |config| {
            config.rules.dirs = vec![rules.path().to_owned()];
            config.expert_header = on_server;
            config.ledger.input_bytes = 8;
        });
        Setting {
            guarded,
            _rules: rules,
        }
    }

    /// Whether the call passes, and its record.
    async fn call(&self, session: &str, header: Option<&str>) -> (bool, Value) {
        self.play("rm_home", session, header).await
    }

    async fn play(&self, scenario: &str, session: &str, header: Option<&str>) -> (bool, Value) {
        let url = format!("/s/{session}/x/{scenario}@{session}/v1/messages");
        let mut request = Request::post(self.guarded.url(&url));
        if let Some(value) = header {
            request = request.header("X-Expert-Mode", value);
        }
        let answer = send(request, REQUEST).await;
        let ledger = self.guarded.ledger();
        let records = ledger
            .lines()
            .map(|l| serde_json::from_str::<Value>(l).unwrap());
        let record = records
            .into_iter()
            .find(|r| r["session"] == session)
            .unwrap();
        (!calls(&answer.body).is_empty(), record)
    }

    fn tell(&self, message: &str) -> String {
        let message = Json::read(message.as_bytes(), 8, LoneSurrogates::Refuse).unwrap();
        self.guarded.proxy.expert_message(&message).to_string()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_sides_must_ask_for_it() {
    let model = model();
    for (on_server, header, lifted) in [
        (false, None, false),
        (false, Some("true"), false),
        (true, None, false),
        (true, Some("false"), false),
        (true, Some("1"), false),
        (true, Some("true"), true),
    ] {
        let setting = Setting::new(model.address(), on_server);
        let session = format!("{on_server}-{header:?}").replace(['(', ')', '"'], "");
        let (passes, record) = setting.call(&session, header).await;
        assert_eq!(passes, lifted, "server {on_server}, header {header:?}");
        assert_eq!(record["expert"] == true, lifted, "{record}");
        assert_eq!(
            record["findings"][0]["rule"], "recursive-delete-outside-project",
            "the gate still looks"
        );
        assert_eq!(record["verdict"], if lifted { "audit" } else { "block" });
        let whole = record["input"]["command"].is_string();
        assert_eq!(whole, lifted, "the whole payload is kept: {record}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_lifts_the_gate_and_nothing_else() {
    let model = model();
    let setting = Setting::with_rules(model.address(), true, RULE);
    let (passes, record) = setting.play("tool", "policy", Some("true")).await;
    assert!(!passes, "the operator's policy still holds");
    assert_eq!(record["findings"][0]["rule"], "no-marker");
    assert_eq!(record["expert"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_needs_no_header_and_ends() {
    let model = model();
    let setting = Setting::new(model.address(), false);
    assert!(!setting.call("before", None).await.0);
    assert_eq!(setting.tell(r#"{"expert":600}"#), r#"{"expert":600}"#);
    let (passes, record) = setting.call("during", None).await;
    assert!(passes);
    assert_eq!(record["expert"], true);
    assert_eq!(setting.tell(r#"{"expert":0}"#), r#"{"expert":0}"#);
    assert!(!setting.call("after", None).await.0);
    let ledger = setting.guarded.ledger();
    has(&ledger, "the operator has lifted the gate for 600 s");
    assert_eq!(setting.tell(r#"{"expert":1}"#), r#"{"expert":1}"#);
    assert!(setting.call("short", None).await.0);
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    assert!(!setting.call("over", None).await.0, "it ends by itself");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_upstream_never_sees_the_header() {
    let upstream = RawUpstream::with("200 OK\r\ncontent-type: application/json", "{}").await;
    for path in ["/v1/messages", "/v1/models"] {
        let setting = Setting::new(upstream.address, true);
        let request = Request::post(setting.guarded.url(path)).header("X-Expert-Mode", "true");
        send(request.header("x-kept", "yes"), REQUEST).await;
    }
    let requests = upstream.requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        let request = request.to_lowercase();
        has(&request, "x-kept: yes");
        lacks(&request, "x-expert");
    }
}
