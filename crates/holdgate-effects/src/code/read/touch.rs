//! Literals that reach a call whose use of them nothing settles: they touch what they name.

use super::{Arguments, Reader};
use crate::code::functions::{Act, Which};
use crate::code::thing::AbstractValue;
use crate::effect::{Actor, Kind};
use crate::scene::Fueled;

/// Literals of one call that are looked at.
const MAX_LITERALS: usize = 64;
/// Lists in lists.
const MAX_DEPTH: u32 = 4;

/// What a function does, if its name says so.
#[derive(Clone, Copy)]
enum Verb {
    /// Whole folders, or for good.
    Destroys,
    Deletes,
    Writes,
    Runs,
}

impl Verb {
    /// By the words of a name: `_rmtree`, `removeTree`, `run_command`.
    fn of(name: &str) -> Option<Verb> {
        let plain = name.replace('_', "").to_ascii_lowercase();
        // `remove` and `delete` alone take items out of lists, too.
        let deletes = [
            "rmtree",
            "rmrf",
            "removetree",
            "deletetree",
            "removedir",
            "deletedir",
            "deletefolder",
            "removefolder",
            "deletefile",
            "removefile",
            "rimraf",
            "wipe",
            "shred",
            "purge",
            "unlink",
            "erase",
            "trash",
        ];
        let runs = [
            "run", "exec", "spawn", "system", "shell", "popen", "cmd", "command",
        ];
        let starts = |verbs: &[&str]| verbs.iter().any(|verb| plain.starts_with(verb));
        if deletes.iter().any(|verb| plain.contains(verb)) {
            Some(Verb::Destroys)
        } else if runs.iter().any(|verb| plain.contains(verb)) {
            Some(Verb::Runs)
        } else if starts(&[
            "remove", "delete", "del", "rm", "truncate", "empty", "discard",
        ]) {
            Some(Verb::Deletes)
        } else {
            let writes = starts(&[
                "save",
                "dump",
                "write",
                "overwrite",
                "imwrite",
                "imsave",
                "to",
            ]);
            writes.then_some(Verb::Writes)
        }
    }
}

impl Reader<'_, '_, '_> {
    /// A function that no table knows is called.
    pub(super) fn touched(&mut self, name: &str, arguments: &Arguments, start: usize) -> Fueled {
        if self.only_mentions() {
            return Ok(());
        }
        let mut literals = Vec::new();
        for argument in arguments.all() {
            gather(argument, MAX_DEPTH, &mut literals);
        }
        if literals.is_empty() {
            return Ok(());
        }
        self.done_by_name(name, &literals, start)?;
        self.runs_pages(name, arguments, start)?;
        self.touch_all(name, literals, start)
    }

    /// A method that no table knows is called on a path: `path.remove_p()`.
    pub(super) fn done_to(&mut self, name: &str, receiver: &AbstractValue, start: usize) -> Fueled {
        match receiver {
            AbstractValue::Object(object) if object.kind == "Path" && !self.only_mentions() => {
                self.done_by_name(name, std::slice::from_ref(receiver), start)
            }
            _ => Ok(()),
        }
    }

    /// What a function does by its name with what it is given.
    fn done_by_name(&mut self, name: &str, literals: &[AbstractValue], start: usize) -> Fueled {
        let Some(verb) = Verb::of(name) else {
            return Ok(());
        };
        let actor = Actor::new(name, &self.evidence(start));
        for literal in literals {
            let value = self.value_of(literal)?;
            match verb {
                Verb::Destroys => self.scene.may_delete(&actor, &value)?,
                Verb::Deletes => self.scene.changes_private(&actor, Kind::Delete, &value)?,
                Verb::Writes => self.scene.changes_private(&actor, Kind::Write, &value)?,
                Verb::Runs if self.scene.looks_like_command(&value.text) => {
                    self.scene.tries(&actor, &value)?;
                }
                Verb::Runs => {}
            }
        }
        Ok(())
    }

    /// `JSDOM.fromURL(url, {runScripts: 'dangerously'})`: a page is fetched, and its scripts run.
    fn runs_pages(&mut self, name: &str, arguments: &Arguments, start: usize) -> Fueled {
        let mut options = arguments.all().filter_map(|thing| thing.get("runScripts"));
        if options.any(|option| option.known() == Some("dangerously"))
            && let Some(peer) = super::peer::given(arguments)
        {
            let actor = Actor::new(name, &self.evidence(start));
            let code = self.scene.fetch(&actor, &peer.address)?;
            self.scene.interpret(&actor, self.language, &code)?;
        }
        Ok(())
    }

    /// A function that the table knows is called: what its entry does not speak of is touched.
    pub(super) fn touched_beside(
        &mut self,
        name: &str,
        acts: &[Act],
        arguments: &Arguments,
        start: usize,
    ) -> Fueled {
        if self.only_mentions() || acts.iter().all(|act| act.role.is_pure()) {
            return Ok(());
        }
        let places = || acts.iter().flat_map(|act| act.arguments.iter().flatten());
        let mut literals = Vec::new();
        for (index, argument) in arguments.positional.iter().enumerate() {
            let spoken_of = |which: &Which| match which {
                Which::At(at) => *at == index,
                Which::From(at) => *at <= index,
                Which::Last => index + 1 == arguments.positional.len(),
                Which::Named(_) | Which::Receiver | Which::Text(_) => false,
            };
            match argument {
                AbstractValue::Map(members) => {
                    for (name, thing) in members.iter() {
                        if !places().any(|w| matches!(w, Which::Named(n) if n == name)) {
                            gather(thing, MAX_DEPTH, &mut literals);
                        }
                    }
                }
                other if !places().any(spoken_of) => gather(other, MAX_DEPTH, &mut literals),
                _ => {}
            }
        }
        for (name, thing) in &arguments.named {
            if !places().any(|w| matches!(w, Which::Named(n) if n == name)) {
                gather(thing, MAX_DEPTH, &mut literals);
            }
        }
        self.touch_all(name, literals, start)
    }

    /// Whether literals are taken for mentions. Code that is only written names anything: tests hand
    /// what must be refused to functions of their own.
    fn only_mentions(&self) -> bool {
        self.scene.written
    }

    fn touch_all(&mut self, name: &str, literals: Vec<AbstractValue>, start: usize) -> Fueled {
        if literals.is_empty() {
            return Ok(());
        }
        let last = name.rsplit('.').next().unwrap_or(name);
        let actor = Actor::new(last, &self.evidence(start));
        for literal in literals {
            let value = self.value_of(&literal)?;
            self.scene.touches(&actor, &value)?;
        }
        Ok(())
    }
}

/// The texts in a thing. A list of several words is a command too.
fn gather(thing: &AbstractValue, depth: u32, found: &mut Vec<AbstractValue>) {
    if found.len() >= MAX_LITERALS || depth == 0 {
        return;
    }
    match thing {
        // Most texts name nothing.
        AbstractValue::Text(value)
            if value.text.contains(['/', '.', '~', '_', ' ', '$']) && !value.is_blank() =>
        {
            found.push(thing.clone());
        }
        AbstractValue::Object(object) if object.kind == "Path" => found.push(thing.clone()),
        AbstractValue::List(items) | AbstractValue::Any(items) => {
            for item in items.iter().take(MAX_LITERALS) {
                gather(item, depth - 1, found);
            }
            let words: Option<Vec<&str>> = items.iter().map(AbstractValue::known).collect();
            if let (AbstractValue::List(_), Some(words)) = (thing, words)
                && words.len() > 1
                && words.len() <= MAX_LITERALS
            {
                found.push(AbstractValue::text(words.join(" ")));
            }
        }
        AbstractValue::Map(members) => {
            for (_, item) in members.iter().take(MAX_LITERALS) {
                gather(item, depth - 1, found);
            }
        }
        _ => {}
    }
}
