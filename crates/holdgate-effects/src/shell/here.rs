//! Here-documents: their bodies stand after the line that asks for them.

use super::parse::{Parser, Read};
use super::syntax::{Block, Node, Redirect, Word};
use std::sync::Arc;

/// Reads a body up to the line `end`, or to the end of the text as shells do.
pub(super) fn body(
    parser: &mut Parser<'_>,
    end: &str,
    strip_tabs: bool,
    quoted: bool,
) -> Read<Word> {
    let mut text = String::new();
    loop {
        let rest = parser.rest();
        if rest.is_empty() {
            break;
        }
        let length = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let line = rest.get(..length).unwrap_or("");
        parser.at += (length + 1).min(rest.len());
        let line = if strip_tabs {
            line.trim_start_matches('\t')
        } else {
            line
        };
        if line == end || line.trim_end_matches('\r') == end {
            break;
        }
        // The end of a substitution may follow the end of the body: `EOF)`.
        if let Some(after) = line.strip_prefix(end)
            && parser.depth > 0
            && after.starts_with(')')
        {
            parser.at -= after.len() + usize::from(length < rest.len());
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    if quoted {
        return Ok(Word::quoted(text));
    }
    let mut inner = Parser::new(&text, parser.depth, parser.fuel);
    inner.deeper(Parser::here_text)
}

/// Puts the bodies where they belong.
pub(super) fn fill(block: &mut Block, bodies: &mut [Option<Word>]) {
    for node in block {
        fill_node(node, bodies);
    }
}

fn fill_redirects(redirects: &mut [Redirect], bodies: &mut [Option<Word>]) {
    for redirect in redirects {
        let body = redirect
            .body
            .take()
            .and_then(|number| bodies.get_mut(number));
        if let Some(word) = body.and_then(Option::take) {
            redirect.target = word;
        }
    }
}

fn fill_node(node: &mut Node, bodies: &mut [Option<Word>]) {
    match node {
        Node::Simple(simple) => fill_redirects(&mut simple.redirects, bodies),
        Node::Pipe(nodes) => fill(nodes, bodies),
        Node::Maybe(node) | Node::Loose(node) => fill_node(node, bodies),
        Node::Subshell(block) | Node::Group(block) => fill(block, bodies),
        Node::If(blocks) | Node::Case { arms: blocks, .. } => {
            for block in blocks {
                fill(block, bodies);
            }
        }
        Node::Loop { condition, body } => {
            fill(condition, bodies);
            fill(body, bodies);
        }
        Node::For { body, .. } => fill(body, bodies),
        Node::Function { body, .. } => {
            if let Some(body) = Arc::get_mut(body) {
                fill_node(body, bodies);
            }
        }
        Node::Redirected(node, redirects) => {
            fill_node(node, bodies);
            fill_redirects(redirects, bodies);
        }
        Node::Test(_) | Node::Arithmetic(_) => {}
    }
}
