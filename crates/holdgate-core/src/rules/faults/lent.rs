//! A tree of values, read as the parser would give it, with what is wrong and where.

use super::{Mark, Member, Node, Scalar, Value};
use holdgate_effects::worded::{nearest, suggestion};
use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::forward_to_deserialize_any;
use serde_saphyr::Location;
use std::fmt;

/// What the parser calls a value with its position, and the first key of one.
const SPANNED: &str = "__yaml_spanned";
const SPANNED_KEY: &str = "__serde_saphyr_private_spanned";
/// What is wrong, and which part of the tree is.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) what: Box<str>,
    pub(super) at: Mark,
    pub(super) node: Option<usize>,
    /// The map that holds it.
    pub(super) map: Option<usize>,
    /// The key that a map lacks.
    pub(super) missing: Option<&'static str>,
    /// The key that an unknown one was probably meant to be.
    pub(super) meant: Option<Box<str>>,
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

impl Node {
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
}

/// A node, read as the parser would give it; and the file's text.
#[derive(Clone, Copy)]
pub(super) struct Lent<'t>(pub(super) &'t Node, pub(super) &'t str);

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
