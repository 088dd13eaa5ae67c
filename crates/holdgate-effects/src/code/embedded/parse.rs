//! YAML, TOML and HCL read by their parsers into one form of tree.
//!
//! The parsers bound how deep a text nests (TOML and HCL to about 80 levels, YAML to 255 blocks and
//! 255 brackets), so trees are never deep; YAML's aliases are copied up to [`MAX_COPIED`].

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parsers' events and expressions may grow; no others hold a text"
)]

use crate::json::Json;
use crate::value::HOLE_STR;
use granit_parser::{Event, Parser, options};
use std::borrow::Cow;
use std::collections::HashMap;

/// What aliases may add to a document, in bytes and nodes.
const MAX_COPIED: usize = 1 << 18;
/// A tree with its aliases is never deeper than this.
const MAX_HEIGHT: usize = 512;

/// The documents of a YAML stream.
#[derive(Default)]
pub(super) struct Yaml {
    /// Each that is a mapping or a list; the last one as far as it could be read.
    pub documents: Vec<Json<'static>>,
    /// Whether the whole text is YAML.
    pub whole: bool,
    /// Whether aliases would have made it larger than anybody's file.
    pub bomb: bool,
}

/// Reads YAML. Mappings may have a key twice: readers differ about which one counts, so both do.
pub(super) fn yaml(text: &str) -> Yaml {
    let read = documents(text);
    // `${{ … }}` of pipelines stands in texts.
    let is_template = |(at, _): (usize, &str)| !text.get(..at).unwrap_or("").ends_with('$');
    if read.whole || !text.match_indices("{{").any(is_template) {
        return read;
    }
    // A template of YAML, such as Helm's: what it says whatever is filled in.
    let mut filled = documents(&without_templates(text));
    filled.whole = false;
    if filled.documents.len() >= read.documents.len() {
        filled
    } else {
        read
    }
}

/// The text with holes for its templates, and without lines that are nothing but one.
fn without_templates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with("{{") && bare.ends_with("}}") {
            continue;
        }
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("{{") {
            out.push_str(before);
            if before.ends_with('$') {
                out.push_str("{{");
                rest = after;
                continue;
            }
            out.push_str(HOLE_STR);
            rest = after.split_once("}}").map_or("", |(_, behind)| behind);
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

fn documents(text: &str) -> Yaml {
    let mut builder = Builder::default();
    let options = options! { emit_unresolved_aliases: true };
    for event in Parser::new_from_str_with_options(text, options) {
        let Ok((event, _)) = event else {
            builder.close_all();
            return builder.yaml;
        };
        builder.take(event);
    }
    builder.yaml.whole = true;
    builder.yaml
}

/// A node that is finished, with what it weighs.
#[derive(Clone)]
struct Node {
    tree: Json<'static>,
    size: usize,
    height: usize,
}

impl Node {
    fn leaf(tree: Json<'static>, size: usize) -> Node {
        let height = 1;
        Node { tree, size, height }
    }
}

/// A mapping or a list whose end has not come.
struct Open {
    node: Node,
    key: Option<String>,
    anchor: usize,
    /// `!reference [job, key]` of GitLab names a script that stands elsewhere.
    reference: bool,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    copied: usize,
    yaml: Yaml,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) {
        let start = |tree, anchor, reference| Open {
            node: Node::leaf(tree, 1),
            key: None,
            anchor,
            reference,
        };
        match event {
            Event::Scalar(text, _, anchor, _) => {
                let size = 1 + text.len();
                let text = Json::String(Cow::Owned(text.into_owned()));
                self.finished(Node::leaf(text, size), anchor);
            }
            Event::SequenceStart(_, anchor, tag) => {
                let reference = tag.is_some_and(|tag| tag.suffix() == "reference");
                self.open
                    .push(start(Json::Array(Vec::new()), anchor, reference));
            }
            Event::MappingStart(_, anchor, _) => {
                self.open
                    .push(start(Json::Object(Vec::new()), anchor, false));
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor);
                let (size, height) = node.map_or((0, 0), |node| (node.size, node.height));
                if self.copied + size > MAX_COPIED || self.open.len() + height >= MAX_HEIGHT {
                    self.yaml.bomb = true;
                }
                let node = node.filter(|_| !self.yaml.bomb).cloned();
                self.copied += size;
                self.place(node.unwrap_or(Node::leaf(Json::Null, 1)));
            }
            Event::UnresolvedAlias(_) => self.place(Node::leaf(Json::Null, 1)),
            // What starts and ends, and what a later version may add.
            _ => {}
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.pop() else {
            return;
        };
        if open.reference {
            self.place(Node::leaf(Json::Null, 1));
        } else {
            self.finished(open.node, open.anchor);
        }
    }

    fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.close();
        }
    }

    fn finished(&mut self, node: Node, anchor: usize) {
        if anchor > 0 {
            self.copied += node.size;
            if self.copied > MAX_COPIED {
                self.yaml.bomb = true;
            } else {
                self.anchors.insert(anchor, node.clone());
            }
        }
        self.place(node);
    }

    fn place(&mut self, node: Node) {
        let Some(open) = self.open.last_mut() else {
            if matches!(node.tree, Json::Array(_) | Json::Object(_)) {
                self.yaml.documents.push(node.tree);
            }
            return;
        };
        open.node.size += node.size;
        open.node.height = open.node.height.max(node.height + 1);
        match &mut open.node.tree {
            Json::Array(items) => items.push(node.tree),
            Json::Object(members) => match (open.key.take(), node.tree) {
                (None, Json::String(key)) => open.key = Some(key.into_owned()),
                // A key that is not a text has no name, but what stands in it is looked at.
                (None, tree) => {
                    members.push((Cow::Borrowed(""), tree));
                    open.key = Some(String::new());
                }
                (Some(key), tree) => members.push((Cow::Owned(key), tree)),
            },
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
}

/// Reads TOML that has at least one key.
pub(super) fn toml(text: &str) -> Option<Json<'static>> {
    let table: toml::Table = text.parse().ok()?;
    (!table.is_empty()).then(|| from_toml(toml::Value::Table(table)))
}

fn from_toml(value: toml::Value) -> Json<'static> {
    match value {
        toml::Value::String(text) => Json::String(Cow::Owned(text)),
        toml::Value::Array(items) => Json::Array(items.into_iter().map(from_toml).collect()),
        toml::Value::Table(table) => {
            let members = table.into_iter();
            Json::Object(
                members
                    .map(|(k, v)| (Cow::Owned(k), from_toml(v)))
                    .collect(),
            )
        }
        toml::Value::Integer(_)
        | toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Datetime(_) => Json::Null,
    }
}

/// Under this key stand the labels of a block of HCL: `resource "aws_s3_bucket" "data"`.
pub(super) const LABELS: &str = "hcl label";

/// Reads HCL: attributes as members, blocks as members that are objects.
pub(super) fn hcl(text: &str) -> Option<Json<'static>> {
    let mut body = hcl::parse(text).ok()?;
    let known = named_values(&body);
    if !known.is_empty() {
        put_values(&mut body, &known);
    }
    (!body.0.is_empty()).then(|| from_body(body))
}

/// What `var.NAME` and `local.NAME` stand for in this file, if it is short.
fn named_values(body: &hcl::Body) -> HashMap<String, hcl::Expression> {
    const MAX_ITEMS: usize = 16;
    use hcl::Expression as E;
    let is_short = |value: &E| match value {
        E::String(_) | E::Bool(_) | E::Number(_) => true,
        E::Array(items) => {
            items.len() <= MAX_ITEMS && items.iter().all(|item| matches!(item, E::String(_)))
        }
        _ => false,
    };
    let mut known = HashMap::new();
    for block in body.blocks() {
        for attribute in block.body.attributes().filter(|a| is_short(&a.expr)) {
            let label = block.labels.first().map(hcl::BlockLabel::as_str);
            let name = match (block.identifier.as_str(), label) {
                ("variable", Some(name)) if attribute.key.as_str() == "default" => {
                    format!("var.{name}")
                }
                ("locals", _) => format!("local.{}", attribute.key.as_str()),
                _ => continue,
            };
            known.insert(name, attribute.expr.clone());
        }
    }
    known
}

/// Attributes that are another's value get it.
fn put_values(body: &mut hcl::Body, known: &HashMap<String, hcl::Expression>) {
    for structure in &mut body.0 {
        match structure {
            hcl::Structure::Attribute(attribute) => {
                if let hcl::Expression::Traversal(_) = &attribute.expr
                    && let Some(value) = known.get(&attribute.expr.to_string())
                {
                    attribute.expr = value.clone();
                }
            }
            hcl::Structure::Block(block) => put_values(&mut block.body, known),
        }
    }
}

fn from_body(body: hcl::Body) -> Json<'static> {
    let member = |structure| match structure {
        hcl::Structure::Attribute(attribute) => {
            let name = attribute.key.into_inner();
            (Cow::Owned(name), from_expression(attribute.expr))
        }
        hcl::Structure::Block(block) => {
            let name = block.identifier.into_inner();
            let labels: Vec<String> = block
                .labels
                .into_iter()
                .map(hcl::BlockLabel::into_inner)
                .collect();
            let mut body = from_body(block.body);
            if let (Json::Object(members), false) = (&mut body, labels.is_empty()) {
                let labels = Json::String(Cow::Owned(labels.join(" ")));
                members.insert(0, (Cow::Borrowed(LABELS), labels));
            }
            (Cow::Owned(name), body)
        }
    };
    Json::Object(body.into_iter().map(member).collect())
}

/// What an expression may be: each of its branches, with holes for what is computed.
fn from_expression(expression: hcl::Expression) -> Json<'static> {
    use hcl::Expression as E;
    let all = |items: Vec<E>| Json::Array(items.into_iter().map(from_expression).collect());
    match expression {
        E::String(text) => Json::String(Cow::Owned(text)),
        E::Bool(is) => Json::Bool(is),
        E::Number(number) => Json::Number(Cow::Owned(number.to_string())),
        E::Array(items) => all(items),
        E::Object(members) => {
            let members = members.into_iter().map(|(key, value)| {
                let key = key.to_string().trim_matches('"').to_owned();
                (Cow::Owned(key), from_expression(value))
            });
            Json::Object(members.collect())
        }
        E::TemplateExpr(template) => {
            let mut text = String::new();
            match hcl::Template::from_expr(&template) {
                Ok(template) => literal(&template, &mut text),
                Err(_) => text.push_str(HOLE_STR),
            }
            Json::String(Cow::Owned(text))
        }
        E::Parenthesis(inner) => from_expression(*inner),
        E::Conditional(both) => all(vec![both.true_expr, both.false_expr]),
        E::FuncCall(call) => all(call.args),
        E::ForExpr(each) => all(vec![each.value_expr]),
        // `Expression` may grow.
        _ => Json::Null,
    }
}

/// The text of a template: holes for what is put in, and both branches of a condition.
fn literal(template: &hcl::Template, text: &mut String) {
    use hcl::template::{Directive, Element};
    for element in template.elements() {
        match element {
            Element::Literal(part) => text.push_str(part),
            Element::Interpolation(_) => text.push_str(HOLE_STR),
            Element::Directive(directive) => match &**directive {
                Directive::If(branches) => {
                    literal(&branches.true_template, text);
                    if let Some(other) = &branches.false_template {
                        literal(other, text);
                    }
                }
                Directive::For(each) => literal(&each.template, text),
            },
        }
    }
}
