//! Text that acts in a response that is not streamed.

use super::aider::{Aider, Part};
use super::calls::Calls;
use super::{ENDS, MARKS, MAX_DEPTH, ONLY_THOUGHT, THOUGHT, UNREAD, plain};
use crate::canonical::Canonical;
use crate::event::{Part as Place, Violation};
use crate::protocol::spoken::{Spoken, Words};
use crate::protocol::{GuardedMessage, Protocol, ReadMessage};
use crate::stack::{Cleared, Refusal};
use holdgate_effects::json::{Json, LoneSurrogates};

/// A body whose text is taken apart.
#[derive(Debug)]
struct SpokenMessage {
    json: Json<'static>,
    spoken: &'static dyn Spoken,
    /// By text, its parts; `None` in place of what is not decided yet.
    texts: Vec<Vec<Option<String>>>,
}

/// Reads a body all of whose calls are decided: whether its text acts, and the calls that do the same.
/// `id` is of the response.
pub(crate) fn message(
    protocol: &'static dyn Protocol,
    body: Canonical,
    id: &str,
) -> Result<ReadMessage<'static>, Violation> {
    let Some(spoken) = protocol.spoken() else {
        return Err(UNREAD);
    };
    let json = Json::read(&body, MAX_DEPTH, LoneSurrogates::Replace);
    let mut json = json
        .map_err(|error| Violation::Json {
            what: "the response",
            error,
        })?
        .into_owned();
    let mut text = Aider::default();
    let (mut calls, mut held) = (Calls::new(id), Vec::new());
    let mut texts: Vec<Vec<Option<String>>> = Vec::new();
    let mut read = Ok(());
    let mut sort = |said: Vec<Part>, parts: &mut Vec<Option<String>>| {
        for part in said {
            parts.push(match calls.of(part, &Json::Null, Place::Other) {
                Ok(prose) => Some(prose),
                Err(call) => {
                    held.push(*call);
                    None
                }
            });
        }
    };
    let (mut spoke, mut thought_acts) = (false, false);
    spoken.each(&mut json, &mut |kind, choice, words| {
        if kind == Words::Text {
            spoke |= !words.is_empty();
            let mut said = Vec::new();
            if choice > 0 && !words.is_empty() || text.push(words, &mut said).is_err() {
                read = Err(Violation::OutOfOrder(
                    "several answers at once cannot be read for actions in their text",
                ));
            }
            let mut parts = Vec::new();
            sort(said, &mut parts);
            texts.push(parts);
        } else {
            // As in a stream: a client may take it for text.
            let has = |marks: &[&str]| marks.iter().any(|mark| words.contains(mark));
            thought_acts |= has(MARKS);
            if has(ENDS) || spoke && has(MARKS) {
                read = Err(THOUGHT);
            }
        }
    });
    read?;
    if thought_acts && !spoke {
        return Err(ONLY_THOUGHT);
    }
    let mut said = Vec::new();
    text.finish(&mut said);
    if let Some(last) = texts.last_mut() {
        sort(said, last);
    }
    if held.is_empty() {
        return Ok(ReadMessage::Inert(body));
    }
    let message = SpokenMessage {
        json,
        spoken,
        texts,
    };
    Ok(ReadMessage::Calls(Box::new(message), held))
}

impl SpokenMessage {
    fn put(&mut self, text: String) {
        let gap = self.texts.iter_mut().flatten().find(|part| part.is_none());
        if let Some(gap) = gap {
            *gap = Some(text);
        }
    }
}

impl GuardedMessage for SpokenMessage {
    fn call(&mut self, cleared: &Cleared) {
        let words = cleared.call().words.as_deref().unwrap_or_default();
        self.put(words.to_owned());
    }

    fn refusal(&mut self, _: &Refusal, notice: String, _: Option<String>) {
        self.put(plain(&notice));
    }

    fn finish(mut self: Box<Self>) -> Canonical {
        let mut texts = std::mem::take(&mut self.texts).into_iter();
        self.spoken.each(&mut self.json, &mut |kind, _, text| {
            if kind == Words::Text {
                let parts = texts.next().unwrap_or_default();
                *text = parts.into_iter().flatten().collect::<String>().into();
            }
        });
        Canonical::of_value(&self.json.text())
    }
}
