//! A response of the upstream's that is not streamed.

use super::super::chat::{Fragment, is_set, no_lone_surrogates, read_json, texts};
use super::super::said::Said;
use super::super::{Declared, ReadMessage};
use super::chat::{held, text_input};
use super::dialect::{Piece, TextReader};
use super::told::{head, reason, thinking, usage_of};
use super::{End, Part, Side, Words};
use crate::call::Fault;
use crate::event::{Block, Violation};
use holdgate_effects::json::Json;

/// Reads a response body.
pub(super) fn read(
    side: &dyn Side,
    body: &[u8],
    declared: &Declared,
) -> Result<ReadMessage<'static>, Violation> {
    let json = read_json(body, "the response")?;
    let request = &declared.request.bridged;
    let choices = json.get("choices").and_then(Json::as_array);
    let choice = choices.and_then(<[_]>::first);
    let choice = choice.ok_or(Violation::NotAMessage("has no choices"))?;
    let message = choice.get("message").unwrap_or(&Json::Null);
    let head = head(&json, request);
    let mut pieces: Vec<Piece> = thinking(message)
        .map(|text| Piece::Thinking(text.to_owned()))
        .collect();
    let mut text = TextReader::new(request.clone());
    let refusal = message.get("refusal").and_then(Json::as_str);
    for content in texts(message.get("content")).chain(refusal) {
        text.push(content, &mut pieces);
    }
    text.finish(&mut pieces);

    let mut said = Said::default();
    let mut parts = Vec::new();
    let mut number: Block = 0;
    let mut call = |name: Option<&str>,
                    id: Option<&str>,
                    input: Result<String, Fault>,
                    fault: Option<Fault>,
                    said: &mut Said| {
        let (mut call, tool) = held(side, request, &head, (name, id, number));
        number += 1;
        let input = match tool {
            Some(tool) if tool.takes_text => input.and_then(|input| text_input(&input)),
            Some(_) | None => input,
        };
        call.said = said.end();
        match (fault, input) {
            (Some(fault), _) | (None, Err(fault)) => call.fail(fault),
            // What it fails for is found when it is read.
            (None, Ok(input)) if call.fault.is_none() => call.input = input,
            (None, Ok(_)) => {}
        }
        Part::Call(Box::new(call))
    };
    for piece in pieces {
        parts.push(match piece {
            Piece::Text(text) => {
                said.push(&text);
                Part::Words(Words::Text, text)
            }
            Piece::Thinking(text) => Part::Words(Words::Thinking, text),
            Piece::Call(made) => call(Some(&made.name), None, made.input, None, &mut said),
        });
    }
    let surrogates = no_lone_surrogates(body).err();
    let calls = match message
        .get("tool_calls")
        .filter(|calls| is_set(Some(calls)))
    {
        None => &[],
        Some(Json::Array(calls)) => calls.as_slice(),
        Some(_) => return Err(Violation::Incomplete("the tool calls are not a list")),
    };
    // Beside the other form, it is the same call once more.
    let legacy = message.get("function_call").filter(|_| calls.is_empty());
    let legacy = legacy.filter(|call| is_set(Some(call)));
    let fragments = calls.iter().map(Fragment::read);
    for fragment in fragments.chain(legacy.map(Fragment::legacy)) {
        let fragment = fragment?;
        let fault = fragment.unknown_kind().or_else(|| fragment.fault());
        let fault = fault.or_else(|| surrogates.clone());
        let input = fragment.input.clone().map(std::borrow::Cow::into_owned);
        parts.push(call(fragment.name, fragment.id, input, fault, &mut said));
    }
    // White space between parts says nothing.
    parts.retain(|part| match part {
        Part::Words(_, text) => !text.trim().is_empty(),
        Part::Call(_) => true,
    });
    let (reason, stop) = reason(choice, request);
    let end = End {
        reason,
        stop,
        usage: json.get("usage").map(usage_of).unwrap_or_default(),
        has_calls: parts.iter().any(|part| matches!(part, Part::Call(_))),
    };
    Ok(side.message(&head, parts, &end))
}
