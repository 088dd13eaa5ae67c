//! Tables that are part of the program. They are written in YAML, and the build script turns them
//! into a form that is read many times faster: to read YAML was most of what a command did when it
//! started. A node is its kind, line, column and length, then its content: see `table/write.rs`.

#[cfg(test)]
pub(crate) mod write;

use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use std::fmt;

/// The name by which `serde_saphyr::Spanned` asks for a value with its position.
const SPANNED: &str = "__yaml_spanned";
/// The key by which it knows that it gets one.
const MARKER: &str = "__serde_saphyr_private_spanned";

/// A compiled table: the bytes that the build script has written.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a>(pub &'a [u8]);

impl<'a> Table<'a> {
    /// The content of the table.
    pub fn read<T: Deserialize<'a>>(self) -> Result<T, TableError> {
        T::deserialize(self.node()?)
    }

    /// The entries of a table that is a map, to be read one by one.
    pub(crate) fn entries(self) -> Result<Vec<(Node<'a>, Node<'a>)>, TableError> {
        let mut rest = self.node()?.content;
        let mut entries = Vec::new();
        while let Some(key) = Node::next(&mut rest)? {
            let value = Node::next(&mut rest)?.ok_or_else(TableError::cut)?;
            entries.push((key, value));
        }
        Ok(entries)
    }

    fn node(mut self) -> Result<Node<'a>, TableError> {
        Node::next(&mut self.0)?.ok_or_else(TableError::cut)
    }
}

/// What is wrong with a table, and where.
#[derive(Debug)]
pub struct TableError {
    line: u32,
    column: u32,
    what: String,
}

impl TableError {
    fn cut() -> Self {
        de::Error::custom("the table is cut off")
    }

    /// The same, at this node if it is nowhere yet.
    fn at(self, node: &Node<'_>) -> Self {
        match self.line {
            0 => TableError {
                line: node.line,
                column: node.column,
                ..self
            },
            _ => self,
        }
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TableError { line, column, what } = self;
        write!(f, "line {line}, column {column}: {what}")
    }
}

impl std::error::Error for TableError {}

impl de::Error for TableError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        TableError {
            line: 0,
            column: 0,
            what: what.to_string(),
        }
    }
}

/// One value of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    kind: Kind,
    pub(crate) line: u32,
    column: u32,
    content: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A scalar without quotes.
    Plain,
    Quoted,
    List,
    Map,
}

impl<'a> Node<'a> {
    /// The node at the start of `rest`, which goes on behind it; `None` at the end.
    fn next(rest: &mut &'a [u8]) -> Result<Option<Node<'a>>, TableError> {
        let Some((kind, after)) = rest.split_first() else {
            return Ok(None);
        };
        *rest = after;
        let kind = match kind {
            0 => Kind::Plain,
            1 => Kind::Quoted,
            2 => Kind::List,
            3 => Kind::Map,
            _ => return Err(TableError::cut()),
        };
        let (line, column) = (number(rest)?, number(rest)?);
        let length = usize::try_from(number(rest)?).map_err(|_| TableError::cut())?;
        let (content, after) = rest.split_at_checked(length).ok_or_else(TableError::cut)?;
        *rest = after;
        Ok(Some(Node {
            kind,
            line,
            column,
            content,
        }))
    }

    /// The value in it.
    pub(crate) fn read<T: Deserialize<'a>>(self) -> Result<T, TableError> {
        T::deserialize(self)
    }

    /// A scalar as written, without its quotes.
    pub(crate) fn text(&self) -> Result<&'a str, TableError> {
        match self.kind {
            Kind::Plain | Kind::Quoted => {
                let text = std::str::from_utf8(self.content);
                text.map_err(|e| <TableError as de::Error>::custom(e).at(self))
            }
            Kind::List | Kind::Map => Err(self.error("expected a word")),
        }
    }

    fn is_null(&self) -> bool {
        let words: [&[u8]; 5] = [b"", b"~", b"null", b"Null", b"NULL"];
        self.kind == Kind::Plain && words.contains(&self.content)
    }

    fn parse<T: std::str::FromStr>(&self, what: &str) -> Result<T, TableError> {
        let parsed = self.text()?.parse();
        parsed.map_err(|_| self.error(&format!("expected {what}")))
    }

    fn error(&self, what: &str) -> TableError {
        <TableError as de::Error>::custom(what).at(self)
    }
}

fn number(rest: &mut &[u8]) -> Result<u32, TableError> {
    let mut number = 0;
    for shift in (0..32).step_by(7) {
        let (byte, after) = rest.split_first().ok_or_else(TableError::cut)?;
        *rest = after;
        number |= u32::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Ok(number);
        }
    }
    Err(TableError::cut())
}

macro_rules! parsed {
    ($($method:ident $visit:ident $what:literal)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TableError> {
            visitor.$visit(self.parse($what)?).map_err(|e: TableError| e.at(&self))
        })*
    };
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = TableError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TableError> {
        match self.kind {
            Kind::List => return self.deserialize_seq(visitor),
            Kind::Map => return self.deserialize_map(visitor),
            Kind::Quoted => return self.deserialize_str(visitor),
            Kind::Plain => {}
        }
        let text = self.text()?;
        let looks_like_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        let visited = if self.is_null() {
            visitor.visit_unit()
        } else if let Ok(truth) = text.parse::<bool>() {
            visitor.visit_bool(truth)
        } else if let Ok(number) = text.parse::<u64>() {
            visitor.visit_u64(number)
        } else if let Ok(number) = text.parse::<i64>() {
            visitor.visit_i64(number)
        } else if let (true, Ok(number)) = (looks_like_number, text.parse::<f64>()) {
            visitor.visit_f64(number)
        } else {
            visitor.visit_borrowed_str(text)
        };
        visited.map_err(|e: TableError| e.at(&self))
    }

    parsed! {
        deserialize_bool visit_bool "true or false"
        deserialize_u8 visit_u8 "a number"
        deserialize_u16 visit_u16 "a number"
        deserialize_u32 visit_u32 "a number"
        deserialize_u64 visit_u64 "a number"
        deserialize_i8 visit_i8 "a number"
        deserialize_i16 visit_i16 "a number"
        deserialize_i32 visit_i32 "a number"
        deserialize_i64 visit_i64 "a number"
        deserialize_f32 visit_f32 "a number"
        deserialize_f64 visit_f64 "a number"
        deserialize_char visit_char "a character"
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TableError> {
        let visited = visitor.visit_borrowed_str(self.text()?);
        visited.map_err(|e: TableError| e.at(&self))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TableError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TableError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TableError> {
        if self.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TableError> {
        if name == SPANNED {
            visitor.visit_newtype_struct(Positioned(self))
        } else {
            visitor.visit_newtype_struct(self)
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TableError> {
        if self.kind != Kind::List {
            let what = self.text().map_or(Unexpected::Map, Unexpected::Str);
            return Err(<TableError as de::Error>::invalid_type(what, &visitor).at(&self));
        }
        let visited = visitor.visit_seq(Nodes::of(self));
        visited.map_err(|e: TableError| e.at(&self))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, TableError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TableError> {
        if self.kind != Kind::Map {
            let what = self.text().map_or(Unexpected::Seq, Unexpected::Str);
            return Err(<TableError as de::Error>::invalid_type(what, &visitor).at(&self));
        }
        let visited = visitor.visit_map(Nodes::of(self));
        visited.map_err(|e: TableError| e.at(&self))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TableError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TableError> {
        let visited = match self.kind {
            Kind::Map => visitor.visit_enum(Nodes::of(self)),
            Kind::Plain | Kind::Quoted | Kind::List => {
                visitor.visit_enum(self.text()?.into_deserializer())
            }
        };
        visited.map_err(|e: TableError| e.at(&self))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TableError> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! { bytes byte_buf unit unit_struct tuple_struct }
}

/// The nodes of a list or a map.
struct Nodes<'de> {
    rest: &'de [u8],
}

impl<'de> Nodes<'de> {
    fn of(node: Node<'de>) -> Self {
        let rest = node.content;
        Nodes { rest }
    }

    fn value(&mut self) -> Result<Node<'de>, TableError> {
        Node::next(&mut self.rest)?.ok_or_else(TableError::cut)
    }
}

impl<'de> SeqAccess<'de> for Nodes<'de> {
    type Error = TableError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, TableError> {
        let node = Node::next(&mut self.rest)?;
        let read = |node: Node<'de>| seed.deserialize(node).map_err(|e| e.at(&node));
        node.map(read).transpose()
    }
}

impl<'de> MapAccess<'de> for Nodes<'de> {
    type Error = TableError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, TableError> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, TableError> {
        let node = self.value()?;
        seed.deserialize(node).map_err(|e| e.at(&node))
    }
}

/// A map of one entry: a variant with its content.
impl<'de> EnumAccess<'de> for Nodes<'de> {
    type Error = TableError;
    type Variant = Node<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        mut self,
        seed: V,
    ) -> Result<(V::Value, Node<'de>), TableError> {
        let variant = seed.deserialize(self.value()?)?;
        let content = self.value()?;
        if self.rest.is_empty() {
            Ok((variant, content))
        } else {
            Err(content.error("expected one entry"))
        }
    }
}

impl<'de> VariantAccess<'de> for Node<'de> {
    type Error = TableError;

    fn unit_variant(self) -> Result<(), TableError> {
        Err(self.error("expected no content"))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, TableError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, TableError> {
        self.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TableError> {
        self.deserialize_map(visitor)
    }
}

/// A value with its position, as `serde_saphyr::Spanned` reads it.
struct Positioned<'de>(Node<'de>);

impl<'de> Deserializer<'de> for Positioned<'de> {
    type Error = TableError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TableError> {
        let names = [MARKER, "value", "referenced", "defined"].iter();
        let node = self.0;
        let visited = visitor.visit_map(Members { node, names });
        visited.map_err(|e: TableError| e.at(&node))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Members<'de> {
    node: Node<'de>,
    names: std::slice::Iter<'static, &'static str>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = TableError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, TableError> {
        let name = self.names.as_slice().first();
        let name = name.map(|name| StrDeserializer::<TableError>::new(name));
        name.map(|name| seed.deserialize(name)).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, TableError> {
        if matches!(self.names.next(), Some(&(MARKER | "value"))) {
            return seed.deserialize(self.node);
        }
        let position = [("line", self.node.line), ("column", self.node.column)];
        seed.deserialize(MapDeserializer::new(position.into_iter()))
    }
}

/// What tests write in place, compiled as the build script does.
#[cfg(test)]
pub(crate) fn compiled(yaml: &str) -> Table<'static> {
    Table(write::compile(yaml).unwrap().leak())
}

#[cfg(test)]
mod tests;
