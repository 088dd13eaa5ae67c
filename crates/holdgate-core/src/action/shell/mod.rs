//! Shell commands: read by `parse.rs`, evaluated by `expand.rs`, carried out here in thought.
//!
//! Every branch is taken and every loop is walked, so that what a script could do is what it is
//! judged by. What cannot be known stays a hole.

mod array;
mod brace;
mod builtins;
mod edit;
pub(crate) mod escape;
mod expand;
mod filter;
mod fold;
mod here;
mod input;
mod lex;
mod number;
pub(crate) mod parse;
pub(crate) mod pattern;
mod posix;
mod print;
mod program;
mod redirect;
mod salvage;
pub(crate) mod syntax;
mod translate;
mod variables;

use crate::action::effect::{Actor, Kind};
use crate::action::scene::{Done, Scene};
use crate::action::value::{Origins, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use syntax::{Block, Node, Redirect, Simple, Word};

/// Functions that call functions.
const MAX_CALLS: u32 = 16;
/// Rounds over plain words that act: the next ones do the same.
const MAX_ALIKE: usize = 8;
/// Commands in commands, also through functions and child shells: it bounds the stack.
const MAX_NESTING: u32 = 100;
/// Rounds of a loop that are walked one by one.
const MAX_ROUNDS: usize = 64;

/// A shell at work.
pub(super) struct Shell<'s, 'a> {
    scene: &'s mut Scene<'a>,
    aliases: HashMap<String, String>,
    /// `$1`, `$2`, …
    arguments: Vec<Value>,
    /// `$0`, if the shell was given one.
    zeroth: Option<Value>,
    /// Descriptors that are connections, by number, with their hosts.
    connections: HashMap<u32, Value>,
    /// Names that stand for other names: `declare -n`.
    references: HashMap<String, String>,
    /// What the next command reads, unless it says otherwise.
    stdin: Option<Value>,
    /// Which of a variable's possible values counts now.
    pick: usize,
    /// How many values the most ambiguous variable had since this was last set to 1.
    most: usize,
    /// Above 0 in what may or may not run.
    maybe: u32,
    /// What variables held before something uncertain changed them.
    before: Vec<(String, Vec<Value>)>,
    calls: u32,
    /// Functions that run now: one that calls itself does the same again.
    active: Vec<String>,
    /// Above 0 in pieces of what is no valid script.
    salvaging: u32,
    /// An interactive shell was started in the pipeline that runs now.
    bare: bool,
}

/// Runs a script.
pub(crate) fn run(scene: &mut Scene<'_>, code: &Value) -> Done<Value> {
    let mut shell = Shell::new(scene);
    shell.text(code)
}

/// Runs one command, its words already evaluated.
pub(crate) fn run_words(
    scene: &mut Scene<'_>,
    words: &[Value],
    stdin: Option<&Value>,
) -> Done<Value> {
    let mut shell = Shell::new(scene);
    shell.stdin = stdin.cloned();
    shell.words(words, &[])
}

/// Code of a language that has no reader here: whatever in it looks like a command is taken as run.
pub(crate) fn suspect(scene: &mut Scene<'_>, actor: &Actor, code: &Value) -> Done {
    for piece in salvage::commands(&code.text) {
        let piece = code.map(piece);
        scene.apart(|scene| scene.shell(actor, &piece))?;
    }
    Ok(())
}

impl<'s, 'a> Shell<'s, 'a> {
    fn new(scene: &'s mut Scene<'a>) -> Self {
        let mut positional = std::mem::take(&mut scene.positional);
        let zeroth = (!positional.is_empty()).then(|| positional.remove(0));
        Shell {
            scene,
            aliases: HashMap::new(),
            arguments: positional,
            zeroth,
            connections: HashMap::new(),
            references: HashMap::new(),
            stdin: None,
            pick: 0,
            most: 1,
            maybe: 0,
            before: Vec::new(),
            calls: 0,
            active: Vec::new(),
            salvaging: 0,
            bare: false,
        }
    }

    /// Reads and runs a text in this very shell.
    fn text(&mut self, code: &Value) -> Done<Value> {
        // No shell sees a NUL.
        let text = if code.text.contains('\0') {
            Cow::Owned(code.text.replace('\0', ""))
        } else {
            Cow::Borrowed(&*code.text)
        };
        let (block, error) = parse::parse(&text, self.scene.fuel)?;
        let output = self.block(&block)?;
        if let Some(error) = error {
            self.unreadable(&text, error)?;
        }
        let mut output = output;
        if !code.is_known() {
            output.origins |= code.origins;
        }
        Ok(output)
    }

    /// What a shell would not run may yet run in another: it is read piece by piece, and said.
    fn unreadable(&mut self, text: &str, error: parse::SyntaxError) -> Done {
        let from = text
            .get(..error.at)
            .map_or(0, |t| t.rfind('\n').map_or(0, |at| at + 1));
        let rest = text.get(from..).unwrap_or(text);
        let shown = crate::json::shorten(rest, 80);
        let actor = Actor::new("shell", &shown);
        self.scene.emit(
            actor
                .does(Kind::Unreadable)
                .tagged("syntax")
                .about(error.what),
        )?;
        for piece in salvage::pieces(rest) {
            let (block, _) = parse::parse(&piece, self.scene.fuel)?;
            self.maybe += 1;
            self.salvaging += 1;
            let done = self.block(&block);
            self.salvaging -= 1;
            self.maybe -= 1;
            done?;
        }
        Ok(())
    }

    /// Runs something whose variables and folder do not come back.
    fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        self.scene
            .fuel
            .spend(8 + 4 * self.scene.variables.len() as u64)?;
        let variables = self.scene.variables.clone();
        let cwd = self.scene.cwd.clone();
        let stdin = self.stdin.clone();
        let result = run(self)?;
        self.scene.variables = variables;
        self.scene.cwd = cwd;
        self.stdin = stdin;
        Ok(result)
    }

    /// Runs commands in order. Returns all that they print.
    fn block(&mut self, block: &Block) -> Done<Value> {
        let mut output = Value::default();
        for node in block {
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

    fn node(&mut self, node: &Node) -> Done<Value> {
        self.scene.fuel.spend(8)?;
        if self.scene.nesting >= MAX_NESTING {
            let actor = Actor::new("shell", "");
            let effect = actor
                .does(Kind::Unreadable)
                .about("code is nested too deep");
            self.scene.emit(effect)?;
            return Ok(Value::default());
        }
        self.scene.nesting += 1;
        let output = self.act(node);
        self.scene.nesting -= 1;
        output
    }

    fn act(&mut self, node: &Node) -> Done<Value> {
        match node {
            Node::Simple(simple) => self.simple(simple),
            Node::Pipe(nodes) => self.pipe(nodes),
            Node::Maybe(node) => self.uncertain(|shell| shell.node(node)),
            Node::Loose(node) => self.loosely(|shell| shell.act(node)),
            Node::Subshell(block, redirects) => {
                self.redirected(redirects, |shell| shell.apart(|shell| shell.block(block)))
            }
            Node::Group(block, redirects) => self.redirected(redirects, |shell| shell.block(block)),
            Node::If(blocks, redirects) => self.redirected(redirects, |shell| {
                let mut output = Value::default();
                for (at, block) in blocks.iter().enumerate() {
                    let printed = if at == 0 {
                        shell.block(block)?
                    } else {
                        shell.branch(block)?
                    };
                    output.push(&printed);
                }
                Ok(output)
            }),
            Node::Loop {
                condition,
                body,
                redirects,
            } => self.redirected(redirects, |shell| {
                shell.block(condition)?;
                shell.branch(body)
            }),
            Node::For {
                name,
                items,
                body,
                redirects,
            } => self.redirected(redirects, |shell| {
                shell.for_loop(name, items.as_deref(), body)
            }),
            Node::Case {
                word,
                patterns,
                arms,
                redirects,
            } => self.redirected(redirects, |shell| {
                shell.expand_one(word)?;
                for pattern in patterns {
                    shell.expand_one(pattern)?;
                }
                let mut output = Value::default();
                for arm in arms {
                    let printed = shell.branch(arm)?;
                    output.push(&printed);
                }
                Ok(output)
            }),
            Node::Function { name, body } => {
                if calls_itself_twice(name, body) {
                    let actor = Actor::new(name, &format!("{name}() {{ {name} | {name} & }}"));
                    self.scene
                        .emit(actor.does(Kind::Exhaust).tagged("fork-bomb"))?;
                }
                self.scene.functions.insert(name.clone(), body.clone());
                if name.starts_with("command_not_found_handle") {
                    // The next slip of the pen runs it.
                    self.uncertain(|shell| shell.node(body))?;
                }
                Ok(Value::default())
            }
            Node::Test(words, redirects) => self.redirected(redirects, |shell| {
                for word in words {
                    let value = shell.expand_one(word)?;
                    shell.hidden_in_name(&value.text)?;
                }
                Ok(Value::default())
            }),
            Node::Arithmetic(word) => {
                self.arithmetic(word)?;
                Ok(Value::default())
            }
        }
    }

    fn pipe(&mut self, nodes: &[Node]) -> Done<Value> {
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
    fn joined_to_network(&mut self, since: usize) -> Done {
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

    fn for_loop(&mut self, name: &str, items: Option<&[Word]>, body: &Block) -> Done<Value> {
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
    fn uncertain<T>(&mut self, run: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
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
    fn branch(&mut self, block: &Block) -> Done<Value> {
        self.loosely(|shell| shell.uncertain(|shell| shell.block(block)))
    }

    /// What need not have been done for the script to succeed.
    fn loosely<T>(&mut self, run: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        let start = self.scene.effects.len();
        let result = run(self);
        for effect in self.scene.effects.iter_mut().skip(start) {
            effect.sure = false;
        }
        result
    }

    /// One program with its arguments; for ambiguous variables, once for each value.
    fn simple(&mut self, simple: &Simple) -> Done<Value> {
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

    fn simple_once(&mut self, simple: &Simple) -> Done<Value> {
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
    fn words(&mut self, words: &[Value], redirects: &[Redirect]) -> Done<Value> {
        let Some(name) = words.first() else {
            return self.redirected(redirects, |_| Ok(Value::default()));
        };
        if let Some(alias) = self
            .aliases
            .get(&name.text)
            .filter(|_| self.calls < MAX_CALLS && !self.active.contains(&name.text))
            .cloned()
        {
            return self.alias(&alias, words, redirects);
        }
        if let Some(body) = self
            .scene
            .functions
            .get(&name.text)
            .filter(|_| self.calls < MAX_CALLS && !self.active.contains(&name.text))
            .cloned()
        {
            return self.redirected(redirects, |shell| shell.call(&body, words));
        }
        if self.calls >= MAX_CALLS {
            let actor = Actor::new(&name.text, &name.text);
            let effect = actor
                .does(Kind::Unreadable)
                .about("code is nested too deep");
            self.scene.emit(effect)?;
        }
        if name.text == "exec" && words.len() == 1 {
            return self.lasting(redirects);
        }
        self.redirected(redirects, |shell| match shell.builtin(words)? {
            Some(output) => Ok(output),
            None => shell.program(words),
        })
    }

    fn call(&mut self, body: &Arc<Node>, words: &[Value]) -> Done<Value> {
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

    fn alias(&mut self, alias: &str, words: &[Value], redirects: &[Redirect]) -> Done<Value> {
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
fn calls_itself_twice(name: &str, body: &Node) -> bool {
    let calls = |node: &Node| matches!(node.tight(), Node::Simple(s) if s.words.first().and_then(Word::as_literal).as_deref() == Some(name));
    let block = match body {
        Node::Group(block, _) | Node::Subshell(block, _) => block.as_slice(),
        Node::Pipe(_) | Node::Simple(_) => std::slice::from_ref(body),
        Node::Maybe(_)
        | Node::Loose(_)
        | Node::If(..)
        | Node::Loop { .. }
        | Node::For { .. }
        | Node::Case { .. }
        | Node::Function { .. }
        | Node::Test(..)
        | Node::Arithmetic(_) => &[],
    };
    let count: usize = block
        .iter()
        .map(|node| match node.tight() {
            Node::Pipe(nodes) => nodes.iter().filter(|n| calls(n)).count(),
            Node::Simple(_)
            | Node::Maybe(_)
            | Node::Loose(_)
            | Node::Subshell(..)
            | Node::Group(..)
            | Node::If(..)
            | Node::Loop { .. }
            | Node::For { .. }
            | Node::Case { .. }
            | Node::Function { .. }
            | Node::Test(..)
            | Node::Arithmetic(_) => usize::from(calls(node)),
        })
        .sum();
    count >= 2
}

#[cfg(test)]
mod tests;
