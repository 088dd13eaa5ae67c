//! One command: a function, an alias, a builtin or a program, with what is set for it.

use super::syntax::{Node, Redirect, Simple, Word};
use super::{MAX_CALLS, Shell, builtins, parse};
use crate::effect::Actor;
use crate::scene::Fueled;
use crate::value::Value;
use std::sync::Arc;

impl Shell<'_, '_> {
    /// One program with its arguments; for ambiguous variables, once for each value.
    pub(super) fn simple(&mut self, simple: &Simple) -> Fueled<Value> {
        self.most = 1;
        self.pick = 0;
        let output = self.simple_once(simple)?;
        let most = self.most.min(8);
        for pick in 1..most {
            self.pick = pick;
            self.simple_once(simple)?;
        }
        self.pick = 0;
        self.most = 1;
        Ok(output)
    }

    fn simple_once(&mut self, simple: &Simple) -> Fueled<Value> {
        if simple.words.is_empty() {
            for assignment in &simple.assignments {
                self.assignment(assignment, false)?;
            }
            return self.redirected(&simple.redirects, |shell| {
                // `> file` and `$(< file)`.
                Ok(shell
                    .stdin
                    .clone()
                    .filter(|_| !simple.redirects.is_empty())
                    .unwrap_or_default())
            });
        }
        let pick = self.pick;
        let words = self.expand_all(&simple.words)?;
        self.pick = pick;
        let maps = builtins::declares_maps(&words);
        for assignment in &simple.declared {
            if maps {
                self.set_map(&assignment.name);
            }
            self.assignment(assignment, false)?;
        }
        if simple.assignments.is_empty() {
            return self.words(&words, &simple.redirects);
        }
        // Set for this command only.
        let names: Vec<String> = simple.assignments.iter().map(|a| a.name.clone()).collect();
        let saved: Vec<Option<Vec<Value>>> = names
            .iter()
            .map(|n| self.scene.variables.get(n).cloned())
            .collect();
        for assignment in &simple.assignments {
            self.assignment(assignment, true)?;
        }
        let output = self.words(&words, &simple.redirects)?;
        for (name, value) in names.into_iter().zip(saved) {
            match value {
                Some(value) => self.scene.variables.insert(name, value),
                None => self.scene.variables.remove(&name),
            };
        }
        Ok(output)
    }

    /// Runs a function, a builtin or a program.
    pub(super) fn words(&mut self, words: &[Value], redirects: &[Redirect]) -> Fueled<Value> {
        let Some(name) = words.first() else {
            return self.redirected(redirects, |_| Ok(Value::default()));
        };
        if self.calls < MAX_CALLS && !self.active.contains(&name.text) {
            if let Some(alias) = self.aliases.get(&name.text).cloned() {
                return self.alias(&alias, words, redirects);
            }
            if let Some(body) = self.scene.functions.get(&name.text).cloned() {
                self.uncalled.retain(|(other, _)| *other != name.text);
                return self.redirected(redirects, |shell| shell.call(&body, words));
            }
        }
        if self.calls >= MAX_CALLS {
            self.scene.too_deep(&Actor::new(&name.text, &name.text))?;
        }
        if name.text == "exec" && words.len() == 1 {
            return self.lasting(redirects);
        }
        self.redirected(redirects, |shell| match shell.builtin(words)? {
            Some(output) => Ok(output),
            None => shell.program(words),
        })
    }

    fn call(&mut self, body: &Arc<Node>, words: &[Value]) -> Fueled<Value> {
        let arguments = words.get(1..).unwrap_or(&[]).to_vec();
        let outer = std::mem::replace(&mut self.arguments, arguments);
        self.calls += 1;
        self.active.extend(words.first().map(|w| w.text.clone()));
        let output = self.node(body);
        self.active.pop();
        self.calls -= 1;
        self.arguments = outer;
        output
    }

    fn alias(&mut self, alias: &str, words: &[Value], redirects: &[Redirect]) -> Fueled<Value> {
        let (mut block, _) = parse::parse(alias, self.scene.fuel)?;
        self.calls += 1;
        self.active.extend(words.first().map(|w| w.text.clone()));
        let rest = words.get(1..).unwrap_or(&[]);
        if let Some(Node::Simple(last)) = block.last_mut() {
            let quoted = rest.iter().map(|w| Word::quoted(w.text.clone()));
            last.words.extend(quoted);
        }
        let output = self.redirected(redirects, |shell| shell.block(&block));
        self.active.pop();
        self.calls -= 1;
        output
    }
}

/// A function that starts itself twice over never ends.
pub(super) fn calls_itself_twice(name: &str, body: &Node) -> bool {
    let calls = |node: &Node| matches!(node.tight(), Node::Simple(s) if s.words.first().and_then(Word::as_literal).as_deref() == Some(name));
    let body = if let Node::Redirected(inner, _) = body {
        inner
    } else {
        body
    };
    let block = if let Node::Group(block) | Node::Subshell(block) = body {
        block.as_slice()
    } else {
        std::slice::from_ref(body)
    };
    let nodes = block.iter().flat_map(|node| {
        if let Node::Pipe(nodes) = node.tight() {
            nodes.as_slice()
        } else {
            std::slice::from_ref(node)
        }
    });
    nodes.filter(|node| calls(node)).count() >= 2
}
