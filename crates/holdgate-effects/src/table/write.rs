//! YAML to the form in which tables are part of the program: see `table.rs`. Build scripts use this
//! file too, so it uses nothing of the crate.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser's events may grow; a table has no others"
)]

use granit_parser::{Event, Parser, ScalarStyle, Span};
use std::collections::{HashMap, HashSet};

/// What a node is: its first byte.
pub(super) const PLAIN: u8 = 0;
/// A scalar in quotes, or a block of text: never a number, `true` or `null`.
pub(super) const QUOTED: u8 = 1;
/// A list: its nodes, one after the other.
pub(super) const LIST: u8 = 2;
/// A map: its keys and values by turns.
pub(super) const MAP: u8 = 3;

/// The compiled form of a YAML document, or what is wrong with it and where.
pub(super) fn compile(yaml: &str) -> Result<Vec<u8>, String> {
    let mut writer = Writer {
        events: Parser::new_from_str(yaml),
        anchors: HashMap::new(),
    };
    let mut out = None;
    while let Some((event, span)) = writer.next()? {
        match event {
            Event::StreamStart
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::StreamEnd => {}
            event if out.is_none() => out = Some(writer.node(event, &span)?.written()),
            _ => return Err(at(&span, "a table is one document")),
        }
    }
    out.ok_or_else(|| "the table is empty".to_owned())
}

struct Writer<'a> {
    events: Parser<'a, granit_parser::StrInput<'a>>,
    /// Nodes that others repeat.
    anchors: HashMap<usize, Node>,
}

#[derive(Clone)]
struct Node {
    kind: u8,
    line: usize,
    column: usize,
    content: Vec<u8>,
}

impl Node {
    fn written(&self) -> Vec<u8> {
        let mut out = vec![self.kind];
        for mut number in [self.line, self.column, self.content.len()] {
            // Seven bits a byte, the lowest first; the highest bit says that more follow.
            while number >= 0x80 {
                out.push(number.to_le_bytes()[0] | 0x80);
                number >>= 7;
            }
            out.push(number.to_le_bytes()[0]);
        }
        out.extend(&self.content);
        out
    }
}

impl<'a> Writer<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, String> {
        self.events.next().transpose().map_err(|e| e.to_string())
    }

    fn node(&mut self, event: Event<'a>, span: &Span) -> Result<Node, String> {
        let (line, column) = (span.start.line(), span.start.col() + 1);
        let (kind, content, anchor, tag) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let kind = if plain { PLAIN } else { QUOTED };
                (kind, text.as_bytes().to_vec(), anchor, tag)
            }
            Event::SequenceStart(_, anchor, tag) => (LIST, self.content(LIST)?, anchor, tag),
            Event::MappingStart(_, anchor, tag) => (MAP, self.content(MAP)?, anchor, tag),
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let node = node.ok_or_else(|| at(span, "a node that repeats itself"))?;
                return Ok(Node {
                    line,
                    column,
                    ..node
                });
            }
            _ => return Err(at(span, "a node that tables do not have")),
        };
        if tag.is_some() {
            return Err(at(span, "tables have no tags"));
        }
        let node = Node {
            kind,
            line,
            column,
            content,
        };
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    /// What a list or a map has in it.
    fn content(&mut self, kind: u8) -> Result<Vec<u8>, String> {
        let (mut content, mut keys, mut is_key) = (Vec::new(), HashSet::new(), kind == MAP);
        while let Some((event, span)) = self.next()? {
            if matches!(event, Event::SequenceEnd | Event::MappingEnd) {
                break;
            }
            let node = self.node(event, &span)?;
            content.extend(node.written());
            if is_key && !keys.insert(node.content) {
                return Err(at(&span, "this key is there twice"));
            }
            is_key = kind == MAP && !is_key;
        }
        Ok(content)
    }
}

fn at(span: &Span, what: &str) -> String {
    format!(
        "line {}, column {}: {what}",
        span.start.line(),
        span.start.col() + 1
    )
}
