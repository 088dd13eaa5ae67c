//! `scenarios.json` to turns.

use super::{Block, Call, Cut, EventName, Turn};
use holdgate_effects::json::{Json, LoneSurrogates};
use std::sync::OnceLock;
use std::time::Duration;

const MARK: &str = "echo ran-$RANDOM >> marker.txt; cat marker.txt";
const BLOCKED: &str = "[safety-proxy] The tool call shell was BLOCKED and did NOT run (rule: demo). \
    Do not retry it; continue with a safe alternative or tell the user.";
const BIG_BYTES: usize = 300_000;
const DEEP: usize = 99;

type Scenarios = Vec<(String, Vec<Turn>)>;

/// All scenarios, in the file's order. A test sees to it that the file can be read.
pub(super) fn scenarios() -> &'static [(String, Vec<Turn>)] {
    static SCENARIOS: OnceLock<Scenarios> = OnceLock::new();
    SCENARIOS.get_or_init(|| read().unwrap_or_default())
}

fn read() -> Result<Scenarios, String> {
    let big = format!(": {}", "padding ".repeat(BIG_BYTES / 8));
    let deep = "[".repeat(DEEP) + &"]".repeat(DEEP);
    let text = include_str!("scenarios.json")
        .replace("$MARK", MARK)
        .replace("$BLOCKED", BLOCKED)
        .replace("$BIG", &big)
        .replace("\"$DEEP\"", &deep);
    let json = Json::read(text.as_bytes(), 128, LoneSurrogates::Refuse)
        .map_err(|e| format!("scenarios.json: {e}"))?;
    let scenarios = json.as_object().ok_or("scenarios.json: no object")?;
    scenarios
        .iter()
        .map(|(name, turns)| {
            let turns = read_turns(turns).map_err(|e| format!("scenarios.json: `{name}`: {e}"))?;
            Ok((name.to_string(), turns))
        })
        .collect()
}

fn read_turns(turns: &Json<'_>) -> Result<Vec<Turn>, String> {
    let mut read = Vec::new();
    for turn in items(turns)? {
        if let Some(text) = turn.as_str() {
            read.push(Turn::text(text));
        } else {
            let (turn, times) = read_turn(turn)?;
            read.extend(std::iter::repeat_n(turn, times));
        }
    }
    Ok(read)
}

fn read_turn(json: &Json<'_>) -> Result<(Turn, usize), String> {
    let mut turn = Turn::default();
    let mut times = 1;
    for (key, value) in json.as_object().ok_or("a turn is a string or an object")? {
        match &**key {
            "blocks" => turn.blocks = read_blocks(value)?,
            "after" => turn.after = read_blocks(value)?,
            "start_content" => {
                turn.start_content = items(value)?
                    .iter()
                    .cloned()
                    .map(Json::into_owned)
                    .collect();
            }
            "stop" => turn.stop = Some(string(value)?),
            "cut" => turn.cut = Some(read_cut(&string(value)?)?),
            "hold" => turn.hold = Some(Duration::from_secs(number(value)?)),
            "ping" => turn.no_ping = !boolean(value)?,
            "status" => turn.status = Some(number(value)?),
            "times" => times = number(value)?,
            _ => return Err(format!("a turn has no field `{key}`")),
        }
    }
    Ok((turn, times))
}

fn read_cut(name: &str) -> Result<Cut, String> {
    Ok(match name {
        "start" => Cut::Start,
        "clean_start" => Cut::CleanStart,
        "mid_tool" => Cut::MidTool,
        "clean_mid_tool" => Cut::CleanMidTool,
        "error_event" => Cut::ErrorEvent,
        "before_stop" => Cut::BeforeStop,
        _ => return Err(format!("there is no cut `{name}`")),
    })
}

fn read_blocks(blocks: &Json<'_>) -> Result<Vec<Block>, String> {
    items(blocks)?.iter().map(read_block).collect()
}

fn read_block(json: &Json<'_>) -> Result<Block, String> {
    match json {
        Json::Null => Ok(Block::Gap),
        Json::String(text) => Ok(Block::text(text)),
        Json::Object(_) if json.get("call").is_some() => Ok(Block::Call(read_call(json)?)),
        Json::Object(members) => match members.as_slice() {
            [(key, text)] if key == "thinking" => Ok(Block::Thinking(string(text)?)),
            [(key, block)] if key == "whole" => Ok(Block::Whole(block.clone().into_owned())),
            [(first, text), (second, input)] if first == "text" && second == "late_input" => {
                Ok(Block::Text {
                    text: string(text)?,
                    late_input: Some(string(input)?),
                })
            }
            _ => Err(format!("unknown block {json}")),
        },
        Json::Bool(_) | Json::Number(_) | Json::Array(_) => Err(format!("unknown block {json}")),
    }
}

fn read_call(json: &Json<'_>) -> Result<Call, String> {
    let mut call = Call {
        kind: "tool_use".to_owned(),
        name: "Bash".to_owned(),
        id: None,
        server_name: None,
        input: Json::Null,
        raw: None,
        start_input: None,
        no_deltas: false,
        event: EventName::Proper,
        starts: 1,
        stops: 1,
        fragment: 9,
        slow: false,
    };
    for (key, value) in json.as_object().unwrap_or_default() {
        match &**key {
            "call" => call.input = value.clone().into_owned(),
            "kind" => call.kind = string(value)?,
            "name" => call.name = string(value)?,
            "id" => call.id = Some(string(value)?),
            "server_name" => call.server_name = Some(string(value)?),
            "raw" => call.raw = Some(string(value)?),
            "start_input" => call.start_input = Some(value.clone().into_owned()),
            "deltas" => call.no_deltas = !boolean(value)?,
            "event" if *value == Json::Null => call.event = EventName::Missing,
            "event" => call.event = EventName::Wrong(string(value)?),
            "starts" => call.starts = number(value)?,
            "stops" => call.stops = number(value)?,
            "fragment" => call.fragment = number(value)?,
            "slow" => call.slow = boolean(value)?,
            _ => return Err(format!("a call has no field `{key}`")),
        }
    }
    Ok(call)
}

fn items<'j, 'a>(json: &'j Json<'a>) -> Result<&'j [Json<'a>], String> {
    json.as_array()
        .ok_or_else(|| format!("not an array: {json}"))
}

fn string(json: &Json<'_>) -> Result<String, String> {
    let text = json
        .as_str()
        .ok_or_else(|| format!("not a string: {json}"))?;
    Ok(text.to_owned())
}

fn boolean(json: &Json<'_>) -> Result<bool, String> {
    if let Json::Bool(value) = json {
        Ok(*value)
    } else {
        Err(format!("not true or false: {json}"))
    }
}

fn number<T: TryFrom<u64>>(json: &Json<'_>) -> Result<T, String> {
    let number = json.as_u64().and_then(|n| T::try_from(n).ok());
    number.ok_or_else(|| format!("not a fitting number: {json}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read() {
        let scenarios = read().unwrap();
        for (name, turns) in &scenarios {
            assert!(!turns.is_empty(), "{name}");
        }
    }

    #[test]
    fn errors_are_named() {
        let check = |text: &str, what: &str| {
            let json = Json::read(text.as_bytes(), 128, LoneSurrogates::Refuse).unwrap();
            assert_eq!(read_turns(&json).unwrap_err(), what);
        };
        check(r#"[{"stopp":"x"}]"#, "a turn has no field `stopp`");
        check(r#"[{"cut":"middle"}]"#, "there is no cut `middle`");
        check(
            r#"[{"blocks":[{"call":{},"nam":"x"}]}]"#,
            "a call has no field `nam`",
        );
        check(
            r#"[{"blocks":[{"txt":"x"}]}]"#,
            r#"unknown block {"txt":"x"}"#,
        );
        check(r#"[{"status":70000}]"#, "not a fitting number: 70000");
    }
}
