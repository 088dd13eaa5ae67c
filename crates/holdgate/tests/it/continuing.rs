//! After a refusal the agent's turn goes on, where the client is known to take it so.

use crate::client::{calls, summary};
use crate::setup::{Guarded, REQUEST, send};
use hyper::Request;

async fn played(guarded: &Guarded, client: &str) -> Vec<String> {
    let url = guarded.url("/x/rm_home/v1/messages");
    let request = Request::post(url)
        .header("content-type", "application/json")
        .header("user-agent", client);
    let answer = send(request, REQUEST).await;
    for call in calls(&answer.body) {
        assert!(call.id.starts_with("toolu_holdgate_"), "{call:?}");
        assert_eq!(call.input, Some(serde_json::json!({})), "no arguments");
    }
    summary(&answer.body)
}

#[tokio::test]
async fn a_refusal_does_not_end_the_turn_of_a_client_that_reports_errors() {
    let guarded = Guarded::model(|_| {});
    let claude = "claude-cli/2.1.197 (external, cli)";
    let lines = played(&guarded, claude).await;
    assert_eq!(lines.last().unwrap(), "stop tool_use", "{lines:?}");
    assert!(
        lines.iter().any(|l| l.contains("tool_use Bash: ")),
        "{lines:?}"
    );
    for client in ["Anthropic/Python 2.8.0", "my-claude-cli/1", ""] {
        let lines = played(&guarded, client).await;
        assert_eq!(
            lines.last().unwrap(),
            "stop end_turn",
            "{client}: {lines:?}"
        );
    }
}

#[tokio::test]
async fn the_operator_names_clients_that_go_on() {
    let guarded = Guarded::model(|config| {
        config.continue_clients = vec!["Anthropic/Python".into()];
    });
    let goes_on = async |client| {
        let lines = played(&guarded, client).await;
        lines.last().unwrap() == "stop tool_use"
    };
    assert!(goes_on("Anthropic/Python 2.8.0").await);
    assert!(!goes_on("claude-cli/2").await);
}
