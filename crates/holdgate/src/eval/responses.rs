//! The same as [`client`](super::client) for `OpenAI` Responses. A call stands in several places, and
//! each of them is read by itself: some client runs what it finds there and nowhere else.
//!
//! It reads the wire format by itself on purpose, not through `holdgate_core::protocol`.

#![allow(
    clippy::indexing_slicing,
    reason = "a member that a JSON value does not have reads as null"
)]

use super::client::{Assembled, mentions};
use super::readers::{Reading, events, read, readings};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Items that no client acts on.
const INERT: &[&str] = &["message", "reasoning", "compaction"];

/// Parts of the types of calls, wherever they are found.
const CALLS: &[&str] = &["_call", "approval_request"];

/// A place where calls stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// `output_item.added`
    Added,
    /// Deltas, by the index of their item.
    DeltasByIndex,
    /// Deltas, by the id of their item.
    DeltasById,
    /// The event after the deltas.
    DeltasDone,
    /// `output_item.done`
    Done,
    /// The output of a response.
    Output,
    /// Anywhere else.
    Elsewhere,
}

/// A call as one place has it.
struct Found {
    place: Place,
    /// The item, as far as this place has it.
    item: Value,
    /// Its input as text, if that is what the place has.
    text: Option<String>,
}

/// The calls of every place, for every way of reading.
pub fn all_calls(response: &[u8]) -> Vec<(Reading, Vec<Assembled>)> {
    let mut all = Vec::new();
    for reading in readings(response) {
        let mut places: BTreeMap<Place, Vec<Assembled>> = BTreeMap::new();
        for found in found(&reading.events) {
            if let Some(call) = found.assemble() {
                places.entry(found.place).or_default().push(call);
            }
        }
        for (place, calls) in places {
            let how = format!("{} {place:?}", reading.how);
            all.push((
                Reading {
                    how,
                    ..reading.clone()
                },
                calls,
            ));
        }
    }
    all
}

/// Whether a call that can be read out of `response` holds `marker`.
pub fn holds(response: &[u8], marker: &str) -> bool {
    let held = |found: &Found| {
        let text = found.text.as_deref().unwrap_or_default();
        let texts = [found.item["arguments"].as_str(), Some(text)];
        let read = texts.iter().flatten().filter_map(|text| read(text));
        text.contains(marker)
            || mentions(&found.item, marker)
            || read.into_iter().any(|input| mentions(&input, marker))
    };
    let mut readings = readings(response).into_iter();
    readings.any(|reading| found(&reading.events).iter().any(held))
}

/// What a response says to a client that reads it as it is meant: its texts, its items, and the
/// response that it ends with. Numbers of events and items say nothing.
pub fn meaning(response: &[u8]) -> Vec<Value> {
    let mut said: Vec<Value> = Vec::new();
    let mut texts: BTreeMap<u64, usize> = BTreeMap::new();
    for event in events(response) {
        let index = event["output_index"].as_u64().unwrap_or(u64::MAX);
        let kind = event["type"].as_str().unwrap_or_default();
        match kind {
            "" if event["output"].is_array() => said.push(plain_response(&event)),
            "" => said.push(event["error"].clone()),
            "response.output_text.delta" | "response.reasoning_summary_text.delta" => {
                let at = *texts.entry(index).or_insert(said.len());
                if at == said.len() {
                    said.push(json!(""));
                }
                if let (Some(Value::String(text)), Some(more)) =
                    (said.get_mut(at), event["delta"].as_str())
                {
                    text.push_str(more);
                }
            }
            "response.output_item.done" => said.push(plain_item(&event["item"])),
            "response.completed" | "response.incomplete" | "response.failed" => {
                said.push(plain_response(&event["response"]));
            }
            "error" => said.push(event["message"].clone()),
            _ => {}
        }
    }
    said
}

fn plain_response(response: &Value) -> Value {
    let mut response = response.clone();
    if let Some(items) = response["output"].as_array() {
        response["output"] = items.iter().map(plain_item).collect();
    }
    response
}

/// The item with its arguments as a value: they mean the same in any spelling.
fn plain_item(item: &Value) -> Value {
    let mut item = item.clone();
    if let Some(arguments) = item["arguments"].as_str() {
        let value = if arguments.is_empty() {
            "{}"
        } else {
            arguments
        };
        item["arguments"] = read(value).unwrap_or_else(|| json!(arguments));
    }
    item
}

/// All calls, in all places.
fn found(events: &[Value]) -> Vec<Found> {
    let mut all = Vec::new();
    let mut items: BTreeMap<(Place, String), Value> = BTreeMap::new();
    let mut deltas: BTreeMap<(Place, String), String> = BTreeMap::new();
    for event in events {
        let kind = event["type"].as_str().unwrap_or_default();
        let keys = [
            (Place::DeltasByIndex, event["output_index"].to_string()),
            (Place::DeltasById, event["item_id"].to_string()),
        ];
        let place = if kind.ends_with("added") {
            Place::Added
        } else {
            Place::Done
        };
        let item = &event["item"];
        if item.is_object() {
            let by_id = (Place::DeltasById, item["id"].to_string());
            for key in [&keys[0], &by_id] {
                items.insert(key.clone(), item.clone());
            }
            all.extend(whole(place, item));
        }
        let outputs = [&event["response"]["output"], &event["output"]];
        let outputs: Vec<&Value> = outputs
            .iter()
            .filter_map(|o| o.as_array())
            .flatten()
            .collect();
        all.extend(outputs.iter().filter_map(|item| whole(Place::Output, item)));
        let mut known = outputs;
        known.push(item);
        elsewhere(event, &known, &mut all);
        let about_call = kind.contains("_call");
        if about_call && let Some(delta) = event["delta"].as_str() {
            for key in &keys {
                deltas.entry(key.clone()).or_default().push_str(delta);
            }
        }
        for key in ["arguments", "input", "command", "diff"] {
            if about_call && let Some(text) = event[key].as_str() {
                let item = items.get(&keys[0]).cloned().unwrap_or_default();
                all.push(Found {
                    place: Place::DeltasDone,
                    item,
                    text: Some(text.to_owned()),
                });
            }
        }
    }
    for (key, text) in deltas {
        let item = items.get(&key).cloned().unwrap_or_default();
        all.push(Found {
            place: key.0,
            item,
            text: Some(text),
        });
    }
    all
}

/// An item that some client would act on.
fn whole(place: Place, item: &Value) -> Option<Found> {
    let kind = item["type"].as_str().unwrap_or_default();
    (!INERT.contains(&kind)).then(|| Found {
        place,
        item: item.clone(),
        text: None,
    })
}

/// Calls that stand where no item should. A call's own members are data.
fn elsewhere(value: &Value, known: &[&Value], all: &mut Vec<Found>) {
    if known.iter().any(|item| std::ptr::eq(*item, value)) {
        return;
    }
    let kind = value["type"].as_str().unwrap_or_default();
    let is_event = kind.starts_with("response.");
    if !is_event && CALLS.iter().any(|call| kind.ends_with(call)) {
        all.extend(whole(Place::Elsewhere, value));
    }
    match value {
        Value::Object(members) => members.values().for_each(|v| elsewhere(v, known, all)),
        Value::Array(items) => items.iter().for_each(|v| elsewhere(v, known, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl Found {
    /// `None` if it has no input yet.
    fn assemble(&self) -> Option<Assembled> {
        let item = &self.item;
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        let kind = text("type");
        let named = match text("namespace").as_str() {
            "" => text("name"),
            space => format!("mcp__{space}__{}", text("name")),
        };
        let members = |keys: &[&str]| {
            let found = keys.iter().filter(|key| !item[**key].is_null());
            let found = found.map(|key| ((*key).to_owned(), item[*key].clone()));
            Value::Object(found.collect::<Map<_, _>>())
        };
        let (tool, input) = match kind.as_str() {
            "function_call" | "mcp_approval_request" => {
                let written = self.text.clone().unwrap_or_else(|| text("arguments"));
                if written.is_empty() && self.place == Place::Added {
                    return None;
                }
                (named, read(&written))
            }
            "custom_tool_call" => {
                let written = self.text.clone().unwrap_or_else(|| text("input"));
                if written.is_empty() && self.place == Place::Added {
                    return None;
                }
                (named, Some(json!({"input": written})))
            }
            "apply_patch_call" => (kind, Some(members(&["operation"]))),
            "computer_call" => (kind, Some(members(&["action", "actions"]))),
            "tool_search_call" => (kind, Some(members(&["arguments"]))),
            _ => (kind, Some(members(&["action"]))),
        };
        let id = match text("call_id") {
            id if id.is_empty() => text("id"),
            id => id,
        };
        Some(Assembled { tool, id, input })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(value: &Value) -> String {
        format!(
            "event: {}\ndata: {value}\n\n",
            value["type"].as_str().unwrap()
        )
    }

    #[test]
    fn a_marker_is_found_in_every_place() {
        #[track_caller]
        fn check(event_of: &Value, held: bool) {
            assert_eq!(
                holds(event(event_of).as_bytes(), "EVIL"),
                held,
                "{event_of}"
            );
        }
        let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"a\":\"\\u0045VIL\"}"});
        let message =
            json!({"type": "message", "content": [{"type": "output_text", "text": "EVIL"}]});
        for kind in ["added", "done"] {
            let kind = format!("response.output_item.{kind}");
            check(
                &json!({"type": kind, "output_index": 0, "item": call}),
                true,
            );
            check(
                &json!({"type": kind, "output_index": 0, "item": message}),
                false,
            );
            let odd = json!({"type": "odd", "x": "EVIL"});
            check(&json!({"type": kind, "output_index": 0, "item": odd}), true);
        }
        for output in [&call, &message] {
            let response = json!({"output": [output]});
            let held = output == &call;
            check(
                &json!({"type": "response.completed", "response": response}),
                held,
            );
        }
        check(&json!({"type": "x", "deep": [{"call": call}]}), true);
        check(
            &json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "EVIL"}),
            true,
        );
        check(
            &json!({"type": "response.output_text.delta", "output_index": 0, "delta": "EVIL"}),
            false,
        );
    }

    #[test]
    fn the_same_meaning_in_other_pieces() {
        let stream = |cut: usize, number: u64| {
            let (a, b) = "hello".split_at(cut);
            let delta = |text| {
                event(
                    &json!({"type": "response.output_text.delta", "output_index": number, "delta": text}),
                )
            };
            delta(a) + &delta(b)
        };
        assert_eq!(
            meaning(stream(1, 0).as_bytes()),
            meaning(stream(3, 4).as_bytes())
        );
    }
}
