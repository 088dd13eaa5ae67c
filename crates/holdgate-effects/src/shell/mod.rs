//! Shell commands: read by `parse.rs`, evaluated by `expand.rs`, carried out in thought by
//! `walk.rs` and `command.rs`.
//!
//! Every branch is taken and every loop is walked, so that what a script could do is what it is
//! judged by. What cannot be known stays a hole.

mod array;
mod brace;
mod builtins;
mod command;
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
mod posix;
mod print;
mod program;
mod redirect;
mod salvage;
mod translate;
mod variables;
mod walk;

use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::syntax;
use crate::tag::Tag;
use crate::value::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Functions that call functions.
const MAX_CALLS: u32 = 16;

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
    /// Functions of a written script that nothing has called so far.
    uncalled: Vec<(String, Arc<syntax::Node>)>,
    /// Above 0 in pieces of what is no valid script.
    salvaging: u32,
    /// An interactive shell was started in the pipeline that runs now.
    bare: bool,
}

/// Runs a script.
pub(crate) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    let mut shell = Shell::new(scene);
    shell.text(code)
}

/// Whether a script has no error, so that a shell would run it.
pub(crate) fn can_read(scene: &Scene<'_>, code: &Value) -> Fueled<bool> {
    let (_, error) = parse::parse(&code.text, scene.fuel)?;
    Ok(error.is_none())
}

/// Runs one command, its words already evaluated.
pub(crate) fn run_words(
    scene: &mut Scene<'_>,
    words: &[Value],
    stdin: Option<&Value>,
) -> Fueled<Value> {
    let mut shell = Shell::new(scene);
    shell.stdin = stdin.cloned();
    shell.words(words, &[])
}

/// Code of a language that has no reader here: whatever in it looks like a command is taken as run.
pub(crate) fn suspect(scene: &mut Scene<'_>, actor: &Actor, code: &Value) -> Fueled {
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
            uncalled: Vec::new(),
            salvaging: 0,
            bare: false,
        }
    }

    /// Reads and runs a text in this very shell.
    fn text(&mut self, code: &Value) -> Fueled<Value> {
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
        if self.calls == 0 {
            self.calls_the_uncalled()?;
        }
        let mut output = output;
        if !code.is_known() {
            output.origins |= code.origins;
        }
        Ok(output)
    }

    /// What a shell would not run may yet run in another: it is read piece by piece, and said.
    fn unreadable(&mut self, text: &str, error: parse::SyntaxError) -> Fueled {
        let from = text
            .get(..error.at)
            .map_or(0, |t| t.rfind('\n').map_or(0, |at| at + 1));
        let rest = text.get(from..).unwrap_or(text);
        let shown = crate::json::shorten(rest, 80);
        let actor = Actor::new("shell", &shown);
        self.scene.emit(
            actor
                .does(Kind::Unreadable)
                .tagged(Tag::Syntax)
                .about(error.what),
        )?;
        // A piece of a script: most of its lines are commands by themselves.
        if self.scene.written {
            for line in salvage::lines(rest) {
                let (block, error) = parse::parse(&line, self.scene.fuel)?;
                if error.is_none() {
                    self.salvages(&block)?;
                }
            }
        }
        for piece in salvage::pieces(rest) {
            let (block, _) = parse::parse(&piece, self.scene.fuel)?;
            self.salvages(&block)?;
        }
        Ok(())
    }

    fn salvages(&mut self, block: &syntax::Block) -> Fueled {
        self.maybe += 1;
        self.salvaging += 1;
        let done = self.block(block);
        self.salvaging -= 1;
        self.maybe -= 1;
        done.map(drop)
    }

    /// Runs something whose variables and folder do not come back.
    fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> Fueled<T>) -> Fueled<T> {
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
}
