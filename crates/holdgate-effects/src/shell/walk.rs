//! Commands in order: every branch is taken, and every loop is walked.

use super::syntax::{Block, Node, Word};
use super::{Shell, command};
use crate::effect::{Actor, Kind};
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Commands in commands, also through functions and child shells: it bounds the stack.
const MAX_NESTING: u32 = 100;
/// Rounds over plain words that act: the next ones do the same.
const MAX_ALIKE: usize = 8;
/// Rounds of a loop that are walked one by one.
const MAX_ROUNDS: usize = 64;

impl Shell<'_, '_> {
    /// Runs commands in order. Returns all that they print.
    pub(super) fn block(&mut self, block: &Block) -> Fueled<Value> {
        let mut output = Value::default();
        let mut heads = self.scene.heads.clone();
        for node in block {
            if !matches!(node.tight(), Node::Maybe(_)) {
                // What came before it may have failed, so the branch may be as it was.
                self.scene.may_be_as(&heads);
                heads.clone_from(&self.scene.heads);
            }
            let printed = self.node(node)?;
            if printed.text.is_empty() {
                output.taint(&printed);
                continue;
            }
            output.push(&printed);
            if !printed.is_known() {
                output.push_text("\n");
            }
        }
        Ok(output)
    }

    pub(super) fn node(&mut self, node: &Node) -> Fueled<Value> {
        self.scene.fuel.spend(8)?;
        if self.scene.nesting >= MAX_NESTING {
            self.scene.too_deep(&Actor::new("shell", ""))?;
            return Ok(Value::default());
        }
        self.scene.nesting += 1;
        let output = self.act(node);
        self.scene.nesting -= 1;
        output
    }

    fn act(&mut self, node: &Node) -> Fueled<Value> {
        match node {
            Node::Simple(simple) => self.simple(simple),
            Node::Pipe(nodes) => self.pipe(nodes),
            Node::Maybe(node) => self.uncertain(|shell| shell.node(node)),
            Node::Loose(node) => self.mark_conditional(|shell| shell.act(node)),
            Node::Subshell(block) => self.apart(|shell| shell.block(block)),
            Node::Group(block) => self.block(block),
            Node::If(blocks) => {
                let mut output = Value::default();
                for (at, block) in blocks.iter().enumerate() {
                    output.push(&if at == 0 {
                        self.block(block)?
                    } else {
                        self.branch(block)?
                    });
                }
                Ok(output)
            }
            Node::Loop { condition, body } => {
                self.block(condition)?;
                self.branch(body)
            }
            Node::For { name, items, body } => self.for_loop(name, items.as_deref(), body),
            Node::Case {
                word,
                patterns,
                arms,
            } => {
                self.expand_one(word)?;
                for pattern in patterns {
                    self.expand_one(pattern)?;
                }
                let mut output = Value::default();
                for arm in arms {
                    output.push(&self.branch(arm)?);
                }
                Ok(output)
            }
            Node::Function { name, body } => self.define(name, body),
            Node::Test(words) => {
                for word in words {
                    let value = self.expand_one(word)?;
                    self.hidden_in_name(&value.text)?;
                }
                Ok(Value::default())
            }
            Node::Redirected(node, redirects) => {
                self.redirected(redirects, |shell| shell.act(node))
            }
            Node::Arithmetic(word) => {
                self.arithmetic(word)?;
                Ok(Value::default())
            }
        }
    }

    fn define(&mut self, name: &str, body: &std::sync::Arc<Node>) -> Fueled<Value> {
        if command::calls_itself_twice(name, body) {
            let actor = Actor::new(name, &format!("{name}() {{ {name} | {name} & }}"));
            self.scene
                .emit(actor.does(Kind::Exhaust).tagged(Tag::ForkBomb))?;
        }
        self.scene.functions.insert(name.to_owned(), body.clone());
        if name.starts_with("command_not_found_handle") {
            // The next slip of the pen runs it.
            self.uncertain(|shell| shell.node(body))?;
        } else if self.scene.written && self.calls == 0 {
            self.uncalled.push((name.to_owned(), body.clone()));
        }
        Ok(Value::default())
    }

    /// Functions of a written script that it never calls: whoever reads the file may call them, as a
    /// build, a shell or another script does.
    pub(super) fn calls_the_uncalled(&mut self) -> Fueled {
        while let Some((name, body)) = self.uncalled.pop() {
            let unknown = vec![Value::unknown(Origins::UNKNOWN)];
            let arguments = std::mem::replace(&mut self.arguments, unknown);
            self.active.push(name);
            self.calls += 1;
            let done = self.mark_conditional(|shell| {
                shell.apart(|shell| shell.uncertain(|shell| shell.node(&body)))
            });
            self.calls -= 1;
            self.active.pop();
            self.arguments = arguments;
            done?;
        }
        Ok(())
    }

    fn pipe(&mut self, nodes: &[Node]) -> Fueled<Value> {
        let before = self.scene.effects.len();
        let outer = (self.stdin.clone(), std::mem::take(&mut self.bare));
        let mut printed = Value::default();
        for (at, node) in nodes.iter().enumerate() {
            if at > 0 {
                self.stdin = Some(std::mem::take(&mut printed));
            }
            // Each runs in a process of its own; the last may not, and `read` in it then lasts.
            printed = if at + 1 == nodes.len() {
                self.node(node)?
            } else {
                self.apart(|shell| shell.node(node))?
            };
        }
        if self.bare {
            self.joined_to_network(before)?;
        }
        (self.stdin, self.bare) = outer;
        Ok(printed)
    }

    /// A shell and a raw connection in one pipeline are a remote shell.
    fn joined_to_network(&mut self, since: usize) -> Fueled {
        let recent = self.scene.effects.get(since..).unwrap_or(&[]);
        let connection = recent
            .iter()
            .find(|e| matches!(e.kind, Kind::Connect | Kind::Listen))
            .cloned();
        if let Some(mut effect) = connection {
            effect.kind = Kind::RemoteShell;
            self.scene.emit(effect)?;
        }
        Ok(())
    }

    fn for_loop(&mut self, name: &str, items: Option<&[Word]>, body: &Block) -> Fueled<Value> {
        let mut values = match items {
            Some(words) => self.expand_all(words)?,
            None => self.arguments.clone(),
        };
        if values.len() > MAX_ROUNDS {
            // Those that lead elsewhere first: the rest is more of the same.
            values.sort_by_key(|v| !v.text.starts_with(['/', '~', '.', '-']));
            values.truncate(MAX_ROUNDS);
        }
        if values.is_empty() {
            values.push(Value::unknown(Origins::UNKNOWN));
        }
        let mut output = Value::default();
        let mut alike = 0;
        for value in values {
            let plain = value.text.bytes().all(|b| b.is_ascii_alphanumeric());
            if plain && alike >= MAX_ALIKE {
                continue;
            }
            let before = self.scene.effects.len();
            self.assign(name, vec![value]);
            let printed = self.block(body)?;
            output.push(&printed);
            // Rounds that only print may spell something out; those that act do the same again.
            if plain && self.scene.effects.len() > before {
                alike += 1;
            }
        }
        Ok(output)
    }

    /// What may or may not run: its variables may or may not be set after it.
    pub(super) fn uncertain<T>(&mut self, run: impl FnOnce(&mut Self) -> Fueled<T>) -> Fueled<T> {
        let start = self.before.len();
        self.maybe += 1;
        let result = run(self);
        self.maybe -= 1;
        for (name, old) in self.before.split_off(start) {
            self.merge(name, old);
        }
        result
    }

    /// A branch that may or may not be taken.
    fn branch(&mut self, block: &Block) -> Fueled<Value> {
        self.mark_conditional(|shell| shell.uncertain(|shell| shell.block(block)))
    }

    /// What need not have been done for the script to succeed.
    fn mark_conditional<T>(&mut self, run: impl FnOnce(&mut Self) -> Fueled<T>) -> Fueled<T> {
        let start = self.scene.effects.len();
        let heads = self.scene.heads.clone();
        let result = run(self);
        self.scene.may_be_as(&heads);
        for effect in self.scene.effects.iter_mut().skip(start) {
            effect.unconditional = false;
        }
        result
    }
}
