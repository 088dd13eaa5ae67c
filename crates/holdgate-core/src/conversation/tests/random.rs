//! Random sessions: following them live gives the same history as reading the last request.

use super::{Seen, absorb, calls, fresh, numbered, results, user};
use crate::conversation::Conversations;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What happens in a session, to one of its conversations.
#[derive(Clone, Debug)]
enum Event {
    /// The calls of one message: how each ends.
    Calls(Vec<Ending>),
    /// Calls with ids that others have had.
    Again(Vec<Ending>, usize),
    Refusal {
        goes_on: bool,
    },
    Say,
    /// The client clears old results.
    Clear,
    Rewind(prop::sample::Index),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    Done,
    Failed,
    Missing,
    Late,
}

fn event() -> impl Strategy<Value = Event> {
    let ending = prop_oneof![
        4 => Just(Ending::Done),
        1 => Just(Ending::Failed),
        1 => Just(Ending::Missing),
        1 => Just(Ending::Late),
    ];
    prop_oneof![
        6 => prop::collection::vec(ending.clone(), 1..4).prop_map(Event::Calls),
        4 => (prop::collection::vec(ending, 1..4), 0usize..3)
            .prop_map(|(endings, command)| Event::Again(endings, command)),
        1 => any::<bool>().prop_map(|goes_on| Event::Refusal { goes_on }),
        1 => Just(Event::Say),
        1 => Just(Event::Clear),
        1 => any::<prop::sample::Index>().prop_map(Event::Rewind),
    ]
}

/// One of a session's conversations, as its client keeps it.
struct Client {
    number: usize,
    messages: Vec<Value>,
    late: Vec<String>,
}

impl Client {
    fn new(number: usize) -> Self {
        Client {
            number,
            messages: vec![user(&format!("task {number}"))],
            late: Vec::new(),
        }
    }

    fn end(&mut self, calls: Value, ids: &[&str], endings: &[Ending]) {
        let mut answer = json!({"role": "user", "content": []});
        let blocks = answer["content"].as_array_mut().unwrap();
        for late in self.late.drain(..) {
            blocks.push(results(&[&late], false)["content"][0].take());
        }
        for (id, ending) in ids.iter().zip(endings) {
            match ending {
                Ending::Done => blocks.push(results(&[id], false)["content"][0].take()),
                Ending::Failed => blocks.push(results(&[id], true)["content"][0].take()),
                Ending::Missing => {}
                Ending::Late => self.late.push((*id).to_owned()),
            }
        }
        blocks.push(json!({"type": "text", "text": "on"}));
        self.messages.extend([calls, answer]);
    }

    fn play(&mut self, event: &Event, turn: usize) {
        match event {
            Event::Calls(endings) => {
                let name = |i: usize| format!("t{turn}-{i}");
                let names: Vec<String> = (0..endings.len()).map(name).collect();
                let all: Vec<&str> = names.iter().map(String::as_str).collect();
                self.end(calls(&all), &all, endings);
            }
            Event::Again(endings, command) => {
                // Conversations share no ids.
                let name = |i: usize| format!("c{}-{i}", self.number);
                let names: Vec<String> = (0..endings.len()).map(name).collect();
                let all: Vec<&str> = names.iter().map(String::as_str).collect();
                self.end(numbered(&all, *command), &all, endings);
            }
            Event::Refusal { goes_on } => {
                let text = format!(
                    "[holdgate] The call to `Bash` was blocked and did not run.\n(incident 0-{turn})"
                );
                let mut said =
                    json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
                let mut next = user("go on");
                if *goes_on {
                    let id = format!("toolu_holdgate_0_{turn}");
                    let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}});
                    said["content"].as_array_mut().unwrap().push(call);
                    next = results(&[&id], true);
                }
                self.messages.extend([said, next]);
            }
            Event::Say => {
                let said = json!({"role": "assistant", "content": format!("said {turn}")});
                self.messages.extend([said, user("and?")]);
            }
            Event::Clear => {
                let half = self.messages.len() / 2;
                for message in self.messages.iter_mut().take(half).skip(1) {
                    for block in message["content"].as_array_mut().into_iter().flatten() {
                        if block["type"] == "tool_result" {
                            block["content"] = "[cleared]".into();
                        }
                    }
                }
            }
            Event::Rewind(to) => {
                // Messages of the user and the model take turns.
                let turns = self.messages.len() / 2;
                self.messages.truncate(1 + 2 * to.index(turns + 1));
                self.late.clear();
            }
        }
    }
}

/// What a store knows, by the rules that it is meant to follow.
#[derive(Default)]
struct Expected {
    /// By use: conversation, what it inherited, what it knows.
    known: Vec<(usize, Seen, Seen)>,
}

impl Expected {
    fn turn(&mut self, number: usize, shown: &Seen) -> Seen {
        let at = self.known.iter().position(|(n, ..)| *n == number);
        let inherited = if let Some(at) = at {
            self.known.remove(at).1
        } else {
            let before = self.known.iter().rev().find(|(.., seen)| !seen.is_empty());
            let before = before.map(|(.., seen)| seen.clone()).unwrap_or_default();
            let known = shown.iter().all(|step| before.contains(step));
            if known { before } else { Seen::new() }
        };
        let all = [&inherited[..], shown].concat();
        self.known.push((number, inherited, all.clone()));
        all
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Having seen every turn tells the same as reading the last request; and so for whoever
    /// joins on the way.
    #[test]
    fn seen_live_or_rebuilt_is_the_same(
        events in prop::collection::vec((0usize..3, event()), 1..16),
        joins in any::<prop::sample::Index>(),
    ) {
        let joins = joins.index(events.len());
        let mut clients: Vec<Client> = (0..3).map(Client::new).collect();
        let (mut live, mut expected) = (Conversations::default(), Expected::default());
        let (mut replica, mut expected_there) = (Conversations::default(), Expected::default());
        for (turn, (number, event)) in events.iter().enumerate() {
            let client = &mut clients[*number];
            client.play(event, turn);
            let rebuilt = fresh(&client.messages);
            let seen = absorb(&mut live, &client.messages);
            prop_assert_eq!(&seen, &expected.turn(*number, &rebuilt));
            if turn >= joins {
                let there = absorb(&mut replica, &client.messages);
                prop_assert_eq!(&there, &expected_there.turn(*number, &rebuilt));
            }
        }
    }

    /// The same with one conversation: nothing is inherited, so all are equal.
    #[test]
    fn one_conversation_is_the_same_everywhere(
        events in prop::collection::vec(event(), 1..16),
        joins in any::<prop::sample::Index>(),
    ) {
        let joins = joins.index(events.len());
        let mut client = Client::new(0);
        let (mut live, mut replica) = (Conversations::default(), Conversations::default());
        for (turn, event) in events.iter().enumerate() {
            client.play(event, turn);
            let rebuilt = fresh(&client.messages);
            prop_assert_eq!(&absorb(&mut live, &client.messages), &rebuilt);
            if turn >= joins {
                prop_assert_eq!(&absorb(&mut replica, &client.messages), &rebuilt);
            }
        }
    }
}
