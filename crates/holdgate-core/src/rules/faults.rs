//! Every error in the form of a file, not only the first: a file that its types do not fit is read
//! as a tree, and what is wrong is taken out of it, one part after the other, until the rest fits.

mod lent;

use super::report::{Mark, RuleError, Source};
use lent::Lent;
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Error, Location, Options, Spanned};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Errors that are searched for in one entry, and syntax errors in one file.
const MAX_FAULTS: usize = 50;
/// The id of what stands in for a missing text.
const STAND_IN: usize = usize::MAX;

/// A value of a file.
#[derive(Debug)]
pub(super) struct Node {
    id: usize,
    at: Location,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Member>),
}

#[derive(Debug)]
enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Text(String),
}

#[derive(Debug)]
struct Member {
    key: String,
    at: Location,
    value: Node,
}

/// What a file lists, as far as it can be read.
pub(super) enum Top {
    List(Vec<Node>),
    /// Keys, with their values.
    Map(Vec<(String, Location, Node)>),
    Other,
}

/// The file as a tree, without the entries that are not YAML. The errors are added to `errors`.
pub(super) fn tree(source: &Arc<Source>, options: &Options, errors: &mut Vec<RuleError>) -> Top {
    let mut text = source.text.clone();
    let mut options = options.clone();
    for _ in 0..MAX_FAULTS {
        let error = match serde_saphyr::from_str_with_options::<Node>(&text, options.clone()) {
            Ok(node) => return node.top(),
            Err(error) => error,
        };
        let error = error.without_snippet();
        errors.push(RuleError::of_yaml(source, error));
        if matches!(error, Error::DuplicateMappingKey { .. }) {
            options.duplicate_keys = DuplicateKeyPolicy::FirstWins;
            continue;
        }
        let at = error.location().map(Mark::from).unwrap_or_default();
        // At the start of an entry, the one before it has not ended.
        let line = at.line.saturating_sub(usize::from(at.column == 1));
        match without_entry(&text, line) {
            Some(rest) => text = rest,
            None => break,
        }
    }
    Top::List(Vec::new())
}

/// The text without the entry of its list that this line belongs to; other lines stay where they are.
fn without_entry(text: &str, line: usize) -> Option<String> {
    let starts: Vec<usize> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("- "))
        .map(|(number, _)| number)
        .collect();
    let at = line.checked_sub(1)?;
    let start = *starts.iter().rev().find(|start| **start <= at)?;
    let end = starts.iter().find(|next| **next > start);
    let end = end.copied().unwrap_or(usize::MAX);
    let kept = text.lines().enumerate().map(|(number, line)| {
        let is_left_out = (start..end).contains(&number);
        if is_left_out { "" } else { line }
    });
    let kept: Vec<&str> = kept.collect();
    // A list of which nothing is left has no more errors.
    kept.iter()
        .any(|line| line.starts_with("- "))
        .then(|| kept.join("\n"))
}

impl Node {
    fn made(value: Value) -> Node {
        Node {
            id: 0,
            at: Location::UNKNOWN,
            value,
        }
    }

    fn top(self) -> Top {
        match self.value {
            Value::List(list) => Top::List(list),
            Value::Map(members) => Top::Map(
                members
                    .into_iter()
                    .map(|member| (member.key, member.at, member.value))
                    .collect(),
            ),
            Value::Scalar(_) => Top::Other,
        }
    }

    /// The elements of a list.
    pub(super) fn list(self) -> Result<Vec<Node>, Location> {
        match self.value {
            Value::List(list) => Ok(list),
            Value::Scalar(_) | Value::Map(_) => Err(self.at),
        }
    }

    /// The entry that this stands for, and whether all of it could be read; the errors are added to
    /// `errors`.
    pub(super) fn read<T: DeserializeOwned>(
        mut self,
        source: &Arc<Source>,
        errors: &mut Vec<RuleError>,
    ) -> Option<(T, bool)> {
        let mut next = 0;
        self.number(&mut next);
        let mut is_whole = true;
        // Keys that are missing because of an error that was reported.
        let mut gone: HashSet<(usize, Box<str>)> = HashSet::new();
        for _ in 0..MAX_FAULTS {
            let fault = match T::deserialize(Lent(&self, &source.text)) {
                Ok(read) => return Some((read, is_whole)),
                Err(fault) => fault,
            };
            is_whole = false;
            let id = fault.node.unwrap_or(0);
            if let Some(meant) = fault.meant {
                gone.insert((fault.map.unwrap_or(0), meant));
            }
            let is_known = fault
                .missing
                .is_some_and(|key| gone.contains(&(id, key.into())));
            if id != STAND_IN && !is_known {
                errors.push(RuleError::new(source, fault.at, fault.what));
            }
            match fault.missing {
                Some(key) if id != STAND_IN => self.stand_in(id, key),
                _ => {
                    let (map, key) = self.remove(id)?;
                    gone.insert((map, key.into()));
                }
            }
        }
        None
    }

    fn number(&mut self, next: &mut usize) {
        self.id = *next;
        *next += 1;
        self.children().for_each(|child| child.number(next));
    }

    fn children(&mut self) -> Box<dyn Iterator<Item = &mut Node> + '_> {
        match &mut self.value {
            Value::List(list) => Box::new(list.iter_mut()),
            Value::Map(members) => Box::new(members.iter_mut().map(|member| &mut member.value)),
            Value::Scalar(_) => Box::new(std::iter::empty()),
        }
    }

    /// Adds a text without a place for a key that is missing in the map `id`.
    fn stand_in(&mut self, id: usize, key: &str) {
        if self.id == id
            && let Value::Map(members) = &mut self.value
        {
            members.push(Member {
                key: key.to_owned(),
                at: Location::UNKNOWN,
                value: Node {
                    id: STAND_IN,
                    at: Location::UNKNOWN,
                    value: Value::Scalar(Scalar::Text(String::new())),
                },
            });
            return;
        }
        self.children().for_each(|child| child.stand_in(id, key));
    }

    /// Removes the node `id` from what holds it. Where a text stands in for something else, goes what
    /// needs it. Returns the map and the key that it had.
    fn remove(&mut self, id: usize) -> Option<(usize, String)> {
        let own = self.id;
        let holds = |node: &Node| {
            node.id == id
                || id == STAND_IN
                    && matches!(&node.value, Value::Map(members)
                        if members.iter().any(|member| member.value.id == STAND_IN))
        };
        match &mut self.value {
            Value::List(list) => {
                if let Some(at) = list.iter().position(holds) {
                    list.remove(at);
                    return Some((own, String::new()));
                }
            }
            Value::Map(members) => {
                if let Some(at) = members.iter().position(|member| {
                    holds(&member.value) && (id != STAND_IN || member.value.id != STAND_IN)
                }) {
                    return Some((own, members.remove(at).key));
                }
            }
            Value::Scalar(_) => {}
        }
        self.children().find_map(|child| child.remove(id))
    }

    /// Where an error about the whole of it is: a map's first key is easier to find than its start.
    fn place(&self) -> Location {
        match &self.value {
            Value::Map(members) => members.first().map_or(self.at, |member| member.at),
            Value::Scalar(_) | Value::List(_) => self.at,
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Node {
            id: 0,
            at: read.referenced,
            value: read.value,
        })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
                Ok(Value::Scalar(Scalar::Null))
            }

            fn visit_none<E: de::Error>(self) -> Result<Value, E> {
                Ok(Value::Scalar(Scalar::Null))
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Scalar(Scalar::Bool(value)))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Scalar(Scalar::Int(value)))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
                Ok(Value::Scalar(Scalar::Unsigned(value)))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Scalar(Scalar::Float(value)))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
                Ok(Value::Scalar(Scalar::Text(value.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
                let mut nodes = Vec::new();
                while let Some(node) = list.next_element()? {
                    nodes.push(node);
                }
                Ok(Value::List(nodes))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut members = Vec::new();
                while let Some(key) = map.next_key::<Spanned<String>>()? {
                    members.push(Member {
                        key: key.value,
                        at: key.referenced,
                        value: map.next_value()?,
                    });
                }
                Ok(Value::Map(members))
            }
        }
        deserializer.deserialize_any(Read)
    }
}
