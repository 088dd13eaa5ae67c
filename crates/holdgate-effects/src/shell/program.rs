//! Programs: from words to what the tables know about them.

use super::Shell;
use crate::commands::{self, Call, evidence};
use crate::effect::{Actor, Kind};
use crate::language::Language;
use crate::path;
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};

impl Shell<'_, '_> {
    /// Runs a program. Returns what it prints.
    pub(super) fn program(&mut self, words: &[Value]) -> Fueled<Value> {
        let Some(name) = words.first() else {
            return Ok(Value::default());
        };
        let input = self.stdin.as_ref().map_or(0, |s| s.text.len());
        self.scene.fuel.spend_on(1024 + input)?;
        let stdin = self.stdin.clone();
        let linked = self.linked(name);
        let full = linked.as_deref().unwrap_or(&name.text);
        let base = full.rsplit(['/', '\\']).next().unwrap_or("");
        let evidence = evidence(words);
        let mut actor = Actor::new(base, &evidence);
        if name.origins.any(Origins::FETCHED | Origins::DECODED) || name.text.contains(HOLE) {
            self.opaque(name, words, &actor)?;
        }
        if is_glob(&name.text) && self.salvaging == 0 {
            let effect = actor
                .does(Kind::ExecuteOpaque)
                .tagged(Tag::Glob)
                .about(&name.text);
            self.scene.emit(effect)?;
        }
        let arguments = joined(words.get(1..).unwrap_or(&[]));
        self.scene.fuel.spend_on(arguments.len())?;
        let mut run = actor.does(Kind::Run).about(&arguments);
        let interpreter = self
            .scene
            .know
            .commands
            .get(base)
            .is_some_and(|spec| spec.is_ok_and(|spec| spec.tags.contains(&Tag::Interpreter)));
        if interpreter && is_bare(words) {
            run = run.tagged(Tag::Bare);
        }
        let by_path = name.text.contains('/');
        if by_path {
            run = run.at(self.scene.place(name));
        }
        self.scene.emit(run)?;
        let supposed = self.scene.marks.contains(&Tag::Suspect) || self.salvaging > 0;
        if !supposed && name.text.starts_with("http") && path::is_address(&name.text) {
            // `uv run https://…`: what runs programs fetches them too.
            return self.scene.script(&actor, Language::Shell, name);
        }
        let fetched = by_path && self.scene.holds_fetched();
        if fetched {
            self.scene.script(&actor, Language::Shell, name)?;
        }
        if by_path && self.scene.is_written(name) {
            if linked.is_none() {
                self.scene.positional = words.to_vec();
                let output = self.scene.script(&actor, Language::Shell, name);
                self.scene.positional.clear();
                return output;
            }
            // The link may have failed, because of what was there already.
            let content = self.scene.content(name);
            if content.origins.any(Origins::FETCHED | Origins::DECODED) {
                self.scene.executes(&actor, &content)?;
            }
        }
        if let Some(output) = super::fold::fold(base, words, stdin.as_ref(), self.scene.fuel)? {
            return Ok(output);
        }
        let know = self.scene.know;
        if let Some(Ok(spec)) = know.commands.get(base) {
            actor.tags.clone_from(&spec.tags);
            if actor.is(Tag::Interpreter) && is_bare(words) {
                self.bare = true;
            }
        }
        let call = Call {
            program: base,
            words,
            stdin: stdin.as_ref(),
        };
        commands::run(self.scene, &call, &actor)
    }

    /// The program that a name leads to by a link.
    fn linked(&self, name: &Value) -> Option<String> {
        let scene = &self.scene;
        let linked = (!scene.links.is_empty()).then(|| scene.linked(&scene.place(name).text));
        linked.flatten().or_else(|| scene.linked_program(name))
    }

    /// A program whose name is not known until it runs.
    fn opaque(&mut self, name: &Value, words: &[Value], actor: &Actor) -> Fueled {
        let kind = if name.origins.any(Origins::FETCHED) {
            Kind::ExecuteFetched
        } else if name.origins.any(Origins::DECODED) {
            Kind::ExecuteDecoded
        } else {
            Kind::ExecuteOpaque
        };
        let mut effect = actor
            .does(kind)
            .tagged(Tag::Program)
            .of(name)
            .about(&evidence(words));
        if let Some(source) = name.sources.first() {
            effect = effect.with(
                self.scene
                    .know
                    .hosts
                    .host(&Value::known(source.to_string())),
            );
        }
        // The place that it is let loose on tells how bad it can get.
        let target = words
            .iter()
            .skip(1)
            .rev()
            .find(|w| !w.text.starts_with('-') && w.text.contains('/'));
        if let Some(target) = target {
            effect = effect.at(self.scene.place(target));
        }
        let recursive = words.iter().any(|w| {
            w.text.starts_with('-')
                && !w.text.starts_with("--")
                && w.text.contains(['r', 'R'])
                && w.text.contains('f')
        });
        if recursive {
            effect = effect.tagged(Tag::Recursive);
        }
        self.scene.emit(effect)
    }
}

/// A name with wildcards: which program that is depends on the disk.
fn is_glob(name: &str) -> bool {
    name.starts_with('/') && name.contains(['?', '*', '['])
        || name.contains('?') && !name.contains("://")
}

/// An interpreter without a script: it runs what it is given.
fn is_bare(words: &[Value]) -> bool {
    words.iter().skip(1).all(|w| {
        w.text.starts_with('-') && !w.text.starts_with("--version") && !w.text.contains('c')
    })
}

fn joined(words: &[Value]) -> String {
    let words: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
    words.join(" ")
}
