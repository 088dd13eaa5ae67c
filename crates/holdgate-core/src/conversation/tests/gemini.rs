//! Calls of Gemini's protocol, most of which have no ids.

use super::*;
use crate::protocol::gemini::GEMINI;

/// The commands that ended, in order, and how.
fn ended(contents: &Value) -> Vec<(String, Outcome)> {
    let body = json!({ "contents": contents }).to_string();
    let history = history_in(GEMINI, &mut Conversations::default(), &body).unwrap();
    let path = |step: &Step| {
        let paths = step.effects.iter().filter_map(|e| e.path.as_ref());
        let name = paths.map(|place| format!("{place:?}")).find_map(|text| {
            let names = ["one.txt", "two.txt"];
            names.into_iter().find(|name| text.contains(name))
        });
        (name.unwrap_or("nothing").to_owned(), step.outcome)
    };
    history.steps().map(path).collect()
}

fn call(id: Option<&str>, name: &str) -> Value {
    let mut call = json!({"name": "run_shell_command", "args": {"command": format!("cat {name}")}});
    if let Some(id) = id {
        call["id"] = id.into();
    }
    json!({ "functionCall": call })
}

fn result(id: Option<&str>, member: &str) -> Value {
    let mut result = json!({"name": "run_shell_command", "response": {member: "x"}});
    if let Some(id) = id {
        result["id"] = id.into();
    }
    json!({ "functionResponse": result })
}

#[test]
fn results_without_ids_come_in_the_order_of_their_calls() {
    let user = |parts: Value| json!({"role": "user", "parts": parts});
    let model = |parts: Value| json!({"role": "model", "parts": parts});
    let root = user(json!([{"text": "go"}]));
    let (one, two) = (
        ("one.txt".to_owned(), Outcome::Done),
        ("two.txt".to_owned(), Outcome::Failed),
    );
    let expected = [one.clone(), two];
    let both = |a, b| model(json!([call(a, "one.txt"), call(b, "two.txt")]));
    // In one message, and in several.
    let (first, second) = (result(None, "output"), result(None, "error"));
    assert_eq!(
        ended(&json!([
            root,
            both(None, None),
            user(json!([first, second]))
        ])),
        expected
    );
    let apart = json!([
        root,
        both(None, None),
        user(json!([first])),
        user(json!([second]))
    ]);
    assert_eq!(ended(&apart), expected);
    // Clients leave ids out that the model has given.
    let given = both(Some("a"), Some("b"));
    assert_eq!(
        ended(&json!([root, given, user(json!([first, second]))])),
        expected
    );
    // With ids, the order says nothing.
    let swapped = user(json!([
        result(Some("b"), "error"),
        result(Some("a"), "output")
    ]));
    let mut by_id = ended(&json!([root, given, swapped]));
    by_id.reverse();
    assert_eq!(by_id, expected);
    // A call that has no result yet has not ended.
    assert_eq!(
        ended(&json!([root, both(None, None), user(json!([first]))])),
        [one]
    );
}
