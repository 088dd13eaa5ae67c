//! Every error in the form of a file, not only the first: a file that its types do not fit is read
//! as a tree, and what is wrong is taken out of it, one part after the other, until the rest fits.

use super::report::{Mark, RuleError, Source};
use holdgate_effects::worded::{nearest, suggestion};
use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Error, Location, Options, Spanned};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Errors that are searched for in one entry, and syntax errors in one file.
const MAX_FAULTS: usize = 50;
/// What the parser calls a value with its position, and the first key of one.
const SPANNED: &str = "__yaml_spanned";
const SPANNED_KEY: &str = "__serde_saphyr_private_spanned";
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

    fn unexpected(&self) -> Unexpected<'_> {
        match &self.value {
            Value::Scalar(Scalar::Null) => Unexpected::Unit,
            Value::Scalar(Scalar::Bool(value)) => Unexpected::Bool(*value),
            Value::Scalar(Scalar::Int(value)) => Unexpected::Signed(*value),
            Value::Scalar(Scalar::Unsigned(value)) => Unexpected::Unsigned(*value),
            Value::Scalar(Scalar::Float(value)) => Unexpected::Float(*value),
            Value::Scalar(Scalar::Text(value)) => Unexpected::Str(value),
            Value::List(_) => Unexpected::Seq,
            Value::Map(_) => Unexpected::Map,
        }
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

/// What is wrong, and which part of the tree is.
#[derive(Debug)]
struct Fault {
    what: Box<str>,
    at: Mark,
    node: Option<usize>,
    /// The map that holds it.
    map: Option<usize>,
    /// The key that a map lacks.
    missing: Option<&'static str>,
    /// The key that an unknown one was probably meant to be.
    meant: Option<Box<str>>,
}

impl Fault {
    /// The same, in this node, unless it is in one below.
    fn within(mut self, node: &Node) -> Fault {
        if self.node.is_none() {
            self.node = Some(node.id);
            let at = match self.missing {
                Some(_) => node.place(),
                None => node.at,
            };
            self.at = at.into();
        }
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Fault {
            what: what.to_string().into(),
            at: Mark::default(),
            node: None,
            map: None,
            missing: None,
            meant: None,
        }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let found = if let Unexpected::Str(text) = found {
            format!("`{}`", text.chars().take(80).collect::<String>())
        } else if found == Unexpected::Seq {
            "a list".to_owned()
        } else if found == Unexpected::Map {
            "a map".to_owned()
        } else if found == Unexpected::Unit {
            "nothing".to_owned()
        } else {
            found.to_string()
        };
        Fault::custom(format!("expected {expected}, not {found}"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Fault {
            meant: nearest(field, expected.iter().copied()).map(Into::into),
            ..Fault::custom(format!(
                "unknown field `{field}`, {}",
                suggestion(field, expected)
            ))
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Fault {
            missing: Some(field),
            ..Fault::custom(format!("the field `{field}` is missing"))
        }
    }
}

/// A node, read as the parser would give it; and the file's text.
#[derive(Clone, Copy)]
struct Lent<'t>(&'t Node, &'t str);

impl<'t> Lent<'t> {
    /// A scalar as it is written, where a text is expected.
    fn as_written(self) -> Option<&'t str> {
        let Value::Scalar(scalar) = &self.0.value else {
            return None;
        };
        match scalar {
            Scalar::Null => None,
            Scalar::Text(text) => Some(text),
            Scalar::Bool(_) | Scalar::Int(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
                let span = self.0.at.span();
                let start = usize::try_from(span.byte_offset()?).ok()?;
                let length = usize::try_from(span.byte_len()?).ok()?;
                self.1.get(start..start.checked_add(length)?)
            }
        }
    }

    fn expected<T>(self, what: &str) -> Result<T, Fault> {
        let fault: Fault = de::Error::invalid_type(self.0.unexpected(), &what);
        Err(fault.within(self.0))
    }
}

impl<'de> Deserializer<'de> for Lent<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let read = match &self.0.value {
            Value::Scalar(Scalar::Null) => visitor.visit_unit(),
            Value::Scalar(Scalar::Bool(value)) => visitor.visit_bool(*value),
            Value::Scalar(Scalar::Int(value)) => visitor.visit_i64(*value),
            Value::Scalar(Scalar::Unsigned(value)) => visitor.visit_u64(*value),
            Value::Scalar(Scalar::Float(value)) => visitor.visit_f64(*value),
            Value::Scalar(Scalar::Text(value)) => visitor.visit_str(value),
            Value::List(list) => visitor.visit_seq(Elements(list.iter(), self.1)),
            Value::Map(members) => visitor.visit_map(Members {
                map: self.0,
                left: members.iter(),
                value: None,
                text: self.1,
            }),
        };
        read.map_err(|fault| fault.within(self.0))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if let Value::Scalar(Scalar::Null) = &self.0.value {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.as_written() {
            Some(text) => visitor
                .visit_str(text)
                .map_err(|fault: Fault| fault.within(self.0)),
            None => self.expected("a text"),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_string(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if let Value::Scalar(Scalar::Bool(value)) = &self.0.value {
            visitor.visit_bool(*value)
        } else {
            self.expected("`true` or `false`")
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let number = if let Value::Scalar(Scalar::Int(value)) = &self.0.value {
            u32::try_from(*value).ok()
        } else if let Value::Scalar(Scalar::Unsigned(value)) = &self.0.value {
            u32::try_from(*value).ok()
        } else {
            None
        };
        match number {
            Some(number) => visitor.visit_u32(number),
            None => self.expected("a number"),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name == SPANNED {
            visitor.visit_newtype_struct(WithPlace(self))
        } else {
            visitor.visit_newtype_struct(self)
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

struct Elements<'t>(std::slice::Iter<'t, Node>, &'t str);

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        let Some(node) = self.0.next() else {
            return Ok(None);
        };
        let read = seed.deserialize(Lent(node, self.1));
        read.map(Some).map_err(|fault| fault.within(node))
    }
}

struct Members<'t> {
    map: &'t Node,
    left: std::slice::Iter<'t, Member>,
    value: Option<&'t Node>,
    text: &'t str,
}

impl<'de> MapAccess<'de> for Members<'_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        let Some(member) = self.left.next() else {
            return Ok(None);
        };
        self.value = Some(&member.value);
        let key: StrDeserializer<'_, Fault> = member.key.as_str().into_deserializer();
        let read = seed.deserialize(key).map_err(|fault| Fault {
            at: member.at.into(),
            node: Some(member.value.id),
            map: Some(self.map.id),
            ..fault
        });
        read.map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let Some(node) = self.value.take() else {
            return Err(de::Error::custom("a key without a value"));
        };
        let read = seed.deserialize(Lent(node, self.text));
        read.map_err(|fault| fault.within(node))
    }
}

/// A node with its place, in the form in which the parser gives both.
struct WithPlace<'t>(Lent<'t>);

impl<'de> Deserializer<'de> for WithPlace<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Lent(node, text) = self.0;
        let (flag, place) = (
            Node::made(Value::Scalar(Scalar::Bool(true))),
            place_of(node.at),
        );
        let parts = [
            (SPANNED_KEY, Lent(&flag, text)),
            ("value", self.0),
            ("referenced", Lent(&place, text)),
            ("defined", Lent(&place, text)),
        ];
        visitor.visit_map(MapDeserializer::new(parts.into_iter()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'t> IntoDeserializer<'_, Fault> for Lent<'t> {
    type Deserializer = Lent<'t>;

    fn into_deserializer(self) -> Lent<'t> {
        self
    }
}

/// A place as a value.
fn place_of(at: Location) -> Node {
    let map = |members: Vec<(&str, Node)>| {
        let member = |(key, value): (&str, Node)| Member {
            key: key.to_owned(),
            at: Location::UNKNOWN,
            value,
        };
        Node::made(Value::Map(members.into_iter().map(member).collect()))
    };
    let number = |number: u64| Node::made(Value::Scalar(Scalar::Unsigned(number)));
    let span = at.span();
    let bytes = [span.byte_offset(), span.byte_len()];
    let bytes = bytes.map(|bytes| number(bytes.unwrap_or(0)));
    let span = map(vec![
        ("offset", number(span.offset())),
        ("len", number(span.len())),
        ("byte_info", Node::made(Value::List(bytes.into()))),
    ]);
    map(vec![
        ("line", number(at.line())),
        ("column", number(at.column())),
        ("span", span),
    ])
}
