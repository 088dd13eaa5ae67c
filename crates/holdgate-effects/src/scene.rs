//! Where the pieces of a call act: every reader of code (shell, Python, a tool's table entry)
//! says here what is done, and the effects gather.

mod edits;
mod environment;
pub(crate) use environment::is_secret;
mod execution;
mod files;
mod folder;
mod followed;
mod forwards;
mod known;
mod leaks;
mod manifests;
mod mounts;
mod network;
pub(crate) use network::hides_secret;
mod obeyed;
mod packages;
mod patches;
mod publishers;
mod repository;
mod resolved;
mod settings;
mod target;
mod touch;
mod tries;

pub(crate) use packages::is_other_package;
pub(crate) use repository::Repository;
pub(crate) use touch::is_sensitive;

use crate::effect::{Actor, Effect, Kind};
use crate::fuel::{Fuel, OutOfFuel};
use crate::knowledge::Knowledge;
use crate::language::Language;
use crate::path::{PathClass, Place, World};
use crate::syntax::Node;
use crate::tag::Tag;
use crate::traces::{self, Files, Head, Traces, Typed};
use crate::value::{Origins, Value};
use folder::Folder;
use resolved::Resolved;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
pub(crate) use target::TARGET_VARIABLES;

/// Effects of one call. Real scripts have tens.
const MAX_EFFECTS: usize = 4096;

/// All or nothing: a call that cannot be followed to its end is refused.
pub(crate) type Fueled<T = ()> = Result<T, OutOfFuel>;

/// Under this name the variables hold what a program is fed with.
pub(crate) const STANDARD_INPUT: &str = "<stdin>";

/// Under this name they hold the words that the program was started with.
pub(crate) const ARGUMENTS: &str = "<arguments>";

/// What reads and runs code. The scene says what is to be run; the readers stand on top of it.
pub(crate) trait Interpreter: std::fmt::Debug {
    /// A shell runs `code`. Returns what it prints.
    fn shell(&self, scene: &mut Scene<'_>, code: &Value) -> Fueled<Value>;

    /// A program runs with these words, the first being its name.
    fn words(&self, scene: &mut Scene<'_>, words: &[Value], stdin: Option<&Value>)
    -> Fueled<Value>;

    /// Whatever in `code` looks like a command is taken as run.
    fn suspect(&self, scene: &mut Scene<'_>, actor: &Actor, code: &Value) -> Fueled;

    /// Code of any language runs.
    fn code(&self, scene: &mut Scene<'_>, language: Language, code: &Value) -> Fueled<Value>;

    /// A file is written at `path` (with `~` for the home): what its shape says, whatever its language.
    fn shapes(
        &self,
        scene: &mut Scene<'_>,
        path: &str,
        language: Option<Language>,
        content: &Value,
        quotes: bool,
    ) -> Fueled;

    /// The same for code that an interpreter is given, where a last look is taken at the whole of it.
    fn inline(
        &self,
        scene: &mut Scene<'_>,
        actor: &Actor,
        language: Language,
        code: &Value,
    ) -> Fueled<Value>;
}

/// Where nothing is kept: what is written there is thrown away, or shown.
const DISCARDS: [&str; 7] = [
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/fd/1",
    "/dev/fd/2",
    "/proc/self/fd/1",
    "/proc/self/fd/2",
];

/// Whether it only writes to where nothing is kept. What is moved there is lost.
fn is_discarded(effect: &Effect) -> bool {
    let is_discard = |place: &Place| {
        let name = place.in_project().unwrap_or(&place.text);
        DISCARDS.contains(&place.text.as_str()) || name.eq_ignore_ascii_case("NUL")
    };
    effect.kind == Kind::Write
        && &*effect.program != "mv"
        && effect.path.as_ref().is_some_and(is_discard)
}

/// One call under way.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) world: &'a World,
    pub(crate) know: &'a Knowledge,
    pub(crate) fuel: &'a Fuel,
    interpreter: &'a dyn Interpreter,
    pub(crate) effects: Vec<Effect>,
    /// The folder that relative paths start from now.
    pub(crate) cwd: Folder,
    /// Whether something depends on the folder in which the call starts.
    start_matters: Cell<bool>,
    resolved: Resolved,
    /// Variables that the call has set, each with all values that it may have.
    pub(crate) variables: HashMap<String, Vec<Value>>,
    /// What the call itself has written, by absolute path.
    pub(crate) files: Files,
    /// Those of them of which only a piece is known.
    pub(crate) pieces: HashSet<String>,
    /// Files of earlier calls that the call reads.
    pub(crate) seen: HashSet<String>,
    /// Names that lead to another file: symbolic links and copies of programs.
    pub(crate) links: Vec<(String, String)>,
    /// Where work and a person's own folders were moved to, and where they were before.
    pub(crate) moved: Vec<(String, String)>,
    /// There were more of them than are kept.
    pub(crate) lost_links: bool,
    /// Functions that shells have defined; child shells may inherit them.
    pub(crate) functions: HashMap<String, Arc<Node>>,
    /// `$0`, `$1`, … of the shell that starts next.
    pub(crate) positional: Vec<Value>,
    /// Folders whose files git runs as hooks, because the call said so.
    pub(crate) hook_folders: Vec<String>,
    /// Where git's remotes lead that the call has set.
    pub(crate) remotes: HashMap<String, Value>,
    /// Which branches are checked out, where the call has changed that.
    pub(crate) heads: Vec<Head>,
    /// Names of this machine that lead to another one, and where to.
    pub(crate) forwards: Vec<(String, Value)>,
    /// What was typed into terminals before.
    pub(crate) typed: Typed,
    /// Folders whose content came from the network, with the hosts.
    pub(crate) fetched_folders: Vec<(String, Arc<str>)>,
    /// Folders that an archive was unpacked in, with the host that it came from.
    pub(crate) unpacked: Vec<(String, Arc<str>)>,
    /// Files that the call runs, and how each is read.
    scripts: Vec<(String, Language)>,
    /// Files that something runs again and again.
    followed: Vec<(String, Language)>,
    /// Set while code is read that is only written to a file.
    pub(crate) written: bool,
    /// The file whose content is read, if it is written to one.
    pub(crate) script: Option<String>,
    /// Set while code of files is read that this call runs, at least in part.
    pub(crate) due: bool,
    /// Known files that the call has run without naming them.
    run: Vec<String>,
    /// Tags for all effects from here on: what runs in a container, on another machine.
    pub(crate) marks: Vec<Tag>,
    /// What a container sees of this machine: its name for each folder, and the folder.
    pub(crate) mounts: Vec<(String, String)>,
    /// The command that is being read, for what only the whole of it can tell.
    pub(crate) command: Arc<str>,
    /// Images that the call has built, by their names.
    pub(crate) built: Vec<String>,
    /// The text that a tool replaces, while what comes in its place is read.
    pub(crate) replaced: String,
    /// Files of secrets that a shell has loaded: what variables hold may come from there.
    pub(crate) loaded: Vec<String>,
    /// Inside how many substitutions it is: what is printed there is used, not shown.
    pub(crate) captured: u32,
    depth: u32,
    /// Texts that were tried as commands.
    tried: u32,
    /// Fuel that was added for files.
    granted: u64,
    /// Commands in commands, over all shells.
    pub(crate) nesting: u32,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(
        world: &'a World,
        know: &'a Knowledge,
        fuel: &'a Fuel,
        interpreter: &'a dyn Interpreter,
        cwd: &str,
    ) -> Self {
        let Traces {
            links,
            lost_links,
            moved,
            files,
            pieces,
            // The session keeps their order.
            lasting: _,
            hook_folders,
            remotes,
            heads,
            forwards,
            fetched_folders,
            unpacked,
            followed,
            typed,
            // A shell looks for them where its own are not: not every client's shell stays.
            variables: _,
        } = Traces::clone(&world.pending);
        Scene {
            world,
            know,
            fuel,
            interpreter,
            effects: Vec::new(),
            cwd: Folder::start(cwd),
            start_matters: Cell::new(false),
            resolved: Resolved::default(),
            variables: HashMap::new(),
            files,
            pieces,
            seen: HashSet::new(),
            links,
            moved,
            lost_links,
            functions: HashMap::new(),
            positional: Vec::new(),
            hook_folders,
            remotes,
            heads: traces::uncertain(heads),
            forwards,
            fetched_folders,
            unpacked,
            scripts: Vec::new(),
            followed,
            typed,
            written: false,
            script: None,
            due: false,
            run: Vec::new(),
            marks: Vec::new(),
            mounts: Vec::new(),
            command: Arc::default(),
            built: Vec::new(),
            replaced: String::new(),
            loaded: Vec::new(),
            captured: 0,
            depth: 0,
            tried: 0,
            granted: 0,
            nesting: 0,
        }
    }

    /// Whether the call does something else if it starts in another folder.
    pub(crate) fn depends_on_start(&self) -> bool {
        self.start_matters.get()
    }

    /// What was done, and what is left behind for later calls.
    pub(crate) fn end(mut self) -> (Vec<Effect>, Traces) {
        // What was downloaded and then read is no longer what nobody has seen.
        for path in &self.seen {
            let earlier = |content: &Value| content.origins.any(Origins::FILE);
            if self.files.get(path).is_some_and(earlier) {
                self.files.remove(path);
            }
        }
        let mut followed = self.goes_on();
        followed.append(&mut self.followed);
        let traces = Traces {
            followed,
            links: self.links,
            lost_links: self.lost_links,
            files: self.files,
            pieces: self.pieces,
            moved: self.moved,
            hook_folders: self.hook_folders,
            remotes: self.remotes,
            heads: self.heads,
            forwards: self.forwards,
            fetched_folders: self.fetched_folders,
            unpacked: self.unpacked,
            typed: self.typed,
            variables: self.variables,
            ..Traces::default()
        };
        (self.effects, traces)
    }

    /// Notes an effect.
    pub(crate) fn emit(&mut self, effect: Effect) -> Fueled {
        let globs = |place: &Place| place.text.contains(['*', '?', '[']);
        let pointed = effect.path.as_ref().is_some_and(globs);
        self.fuel.spend(if pointed { 300 } else { 40 })?;
        if self.effects.len() >= MAX_EFFECTS {
            return Err(OutOfFuel);
        }
        if is_discarded(&effect) {
            return Ok(());
        }
        let mut effect = effect;
        if self.written {
            effect = effect.tagged(Tag::Written);
        }
        let mounted = |place: &Place| place.is(PathClass::Mounted);
        let here = effect.path.as_ref().is_some_and(mounted);
        for mark in &self.marks {
            if here && *mark == Tag::Container {
                // By way of a mount it happens on this machine.
                continue;
            }
            effect = effect.tagged(*mark);
        }
        effect.unconditional &= !effect.is(Tag::Suspect) && !effect.is(Tag::Ordered);
        self.fuel
            .spend(effect.text.as_ref().map_or(0, |t| t.len() as u64 / 1024))?;
        for tag in self.know.own.tags(&effect) {
            effect = effect.tagged(tag);
        }
        self.effects.push(effect);
        Ok(())
    }

    /// Runs something whose variables, folder and files do not come back, as in a child process.
    pub(crate) fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> Fueled<T>) -> Fueled<T> {
        self.fuel.spend(16 + 4 * self.variables.len() as u64)?;
        let variables = self.variables.clone();
        let cwd = self.cwd.clone();
        let written = self.written;
        let script = self.script.clone();
        let result = run(self)?;
        self.variables = variables;
        self.cwd = cwd;
        self.written = written;
        self.script = script;
        Ok(result)
    }
}
