//! Where the pieces of a call act: every reader of code (shell, Python, a tool's table entry)
//! says here what is done, and the effects gather.

use crate::action::Knowledge;
use crate::action::code::{self, Language};
use crate::action::effect::{Actor, Effect, Kind, Tag};
use crate::action::path::{self, PathClass, Place, World};
use crate::action::shell;
use crate::action::shell::syntax::Node;
use crate::action::value::{HOLE, HOLE_STR, Origins, Value};
use crate::fuel::{Fuel, OutOfFuel};
use std::collections::HashMap;
use std::sync::Arc;

/// Code in code in code: deeper than this nobody writes by hand.
const MAX_DEPTH: u32 = 12;
/// Effects of one call. Real scripts have tens.
const MAX_EFFECTS: usize = 4096;
/// The longest path that a kernel takes.
const MAX_PATH: usize = 4096;
/// Fuel for all files that one call writes: about 50 ms.
const MAX_GRANT: u64 = 1_000_000;
/// Links that one call makes.
const MAX_LINKS: usize = 32;

/// All or nothing: a call that cannot be followed to its end is refused.
pub(crate) type Done<T = ()> = Result<T, OutOfFuel>;

/// One call under way.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) world: &'a World,
    pub(crate) know: &'a Knowledge,
    pub(crate) fuel: &'a Fuel,
    pub(crate) effects: Vec<Effect>,
    /// The folder that relative paths start from now.
    pub(crate) cwd: String,
    /// Variables that the call has set, each with all values that it may have.
    pub(crate) variables: HashMap<String, Vec<Value>>,
    /// What the call itself has written, by absolute path.
    pub(crate) files: HashMap<String, Value>,
    /// Names that lead to another file: symbolic links and copies of programs.
    pub(crate) links: Vec<(String, String)>,
    /// Functions that shells have defined; child shells may inherit them.
    pub(crate) functions: HashMap<String, Arc<Node>>,
    /// `$0`, `$1`, … of the shell that starts next.
    pub(crate) positional: Vec<Value>,
    /// Where git's remotes lead that the call has set.
    pub(crate) remotes: HashMap<String, Value>,
    /// Folders whose content came from the network, with the hosts.
    pub(crate) fetched_folders: Vec<(String, Arc<str>)>,
    /// Folders that an archive was unpacked in, with the host that it came from.
    pub(crate) unpacked: Vec<(String, Arc<str>)>,
    /// Set while code is read that is only written to a file.
    pub(crate) written: bool,
    /// Tags for all effects from here on: what runs in a container, on another machine.
    pub(crate) marks: Vec<Tag>,
    /// The command that is being read, for what only the whole of it can tell.
    pub(crate) command: Arc<str>,
    depth: u32,
    /// Fuel that was added for files.
    granted: u64,
    /// Commands in commands, over all shells.
    pub(crate) nesting: u32,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(world: &'a World, know: &'a Knowledge, fuel: &'a Fuel) -> Self {
        Scene {
            world,
            know,
            fuel,
            effects: Vec::new(),
            cwd: world.cwd.clone(),
            variables: HashMap::new(),
            files: HashMap::new(),
            links: Vec::new(),
            functions: HashMap::new(),
            positional: Vec::new(),
            remotes: HashMap::new(),
            fetched_folders: Vec::new(),
            unpacked: Vec::new(),
            written: false,
            marks: Vec::new(),
            command: Arc::default(),
            depth: 0,
            granted: 0,
            nesting: 0,
        }
    }

    /// Notes an effect.
    pub(crate) fn emit(&mut self, effect: Effect) -> Done {
        let globs = |place: &Place| place.text.contains(['*', '?', '[']);
        let pointed = effect.path.as_ref().is_some_and(globs);
        self.fuel.spend(if pointed { 300 } else { 40 })?;
        if self.effects.len() >= MAX_EFFECTS {
            return Err(OutOfFuel);
        }
        let mut effect = effect;
        if self.written {
            effect = effect.tagged("written");
        }
        for mark in &self.marks {
            effect = effect.tagged(mark);
        }
        self.effects.push(effect);
        Ok(())
    }

    /// Where a path leads from here.
    pub(crate) fn place(&self, path: &Value) -> Place {
        let place = self.know.paths.place(path, &self.cwd, self.world);
        if self.links.is_empty() {
            return place;
        }
        match self.linked(&place.text) {
            Some(target) => self
                .know
                .paths
                .place(&Value::known(target), &self.cwd, self.world),
            None => place,
        }
    }

    /// Where `path` leads by a link that the call made.
    pub(crate) fn linked(&self, path: &str) -> Option<String> {
        let (link, target) = self
            .links
            .iter()
            .rev()
            .find(|(link, _)| path::is_under(path, link))?;
        let rest = path.get(link.len()..).unwrap_or("");
        Some(format!("{}{rest}", target.trim_end_matches('/')))
    }

    /// `link` is `target` from here on.
    pub(crate) fn link(&mut self, target: &Value, link: &Value) {
        let target = self.place(target).text;
        let mut name = self.place(link).text;
        if self.links.len() >= MAX_LINKS || name == target {
            return;
        }
        if link.text.ends_with('/') || link.text == "." {
            let file = target.rsplit('/').next().unwrap_or("");
            name = format!("{}/{file}", name.trim_end_matches('/'));
        }
        self.links.push((name, target));
    }

    /// A file or folder is read. Returns its content, which is known if the call wrote it.
    pub(crate) fn read(&mut self, actor: &Actor, path: &Value) -> Done<Value> {
        if path.text.is_empty() {
            return Ok(Value::default());
        }
        let place = self.place(path);
        if place.text == "/dev/null" {
            return Ok(Value::default());
        }
        let mut content = match self.files.get(&place.text) {
            Some(content) => content.clone(),
            None => Value::unknown(Origins::FILE),
        };
        if place.is(PathClass::Secret) {
            content.origins |= Origins::SECRET;
        }
        if place.short.ends_with("/environ") {
            content.origins |= Origins::ENVIRONMENT;
        }
        content.add_source(&place.text);
        self.emit(actor.does(Kind::Read).at(place).of(path))?;
        Ok(content)
    }

    /// A file is created or changed.
    pub(crate) fn write(
        &mut self,
        actor: &Actor,
        path: &Value,
        content: &Value,
        append: bool,
    ) -> Done {
        if path.text.is_empty() {
            return Ok(());
        }
        let place = self.place(path);
        let mut effect = actor.does(Kind::Write).at(place.clone()).of(content);
        if append {
            effect = effect.tagged("append");
        } else if self.replaces_file(actor, &place) {
            effect = effect.tagged("overwrite");
        }
        if !content.text.is_empty() {
            effect = effect.about(&content.text);
        }
        self.emit(effect)?;
        if self.depth > 0 && !place.is(PathClass::Stream) {
            let mut whole = match self.files.remove(&place.text) {
                Some(before) if append => before,
                _ => Value::default(),
            };
            whole.push(content);
            self.files.insert(place.text.clone(), whole);
        }
        self.read_written(&place, content)
    }

    /// Whether all that a file held is lost when it is written now. What this call wrote is known.
    fn replaces_file(&self, actor: &Actor, place: &Place) -> bool {
        let facts = self.world.facts.as_ref();
        let new = !self.written && !actor.is("edit") && !self.files.contains_key(&place.text);
        new && !place.text.contains(HOLE) && facts.is_some_and(|f| f.is_file(&place.text))
    }

    /// What is written to a file that will run does its work later: it is judged now.
    fn read_written(&mut self, place: &Place, content: &Value) -> Done {
        if content.text.is_empty() || self.written {
            return Ok(());
        }
        let Some(language) = code::language_of_file(&place.short, &content.text) else {
            return Ok(());
        };
        if self.depth == 0 {
            self.grant(content.text.len());
        }
        let marks = self.marks.len();
        // A container's recipe and a pipeline's steps act elsewhere.
        let name = place.short.rsplit('/').next().unwrap_or("");
        let recipe = name.starts_with("Dockerfile")
            || name.rsplit('.').next() == Some("dockerfile")
            || name == "Containerfile";
        if recipe || place.short.contains("/.github/") || name == ".gitlab-ci.yml" {
            self.marks.push("container".into());
        }
        self.apart(|scene| {
            scene.written = true;
            scene.code(language, content)?;
            Ok(())
        })?;
        self.marks.truncate(marks);
        Ok(())
    }

    /// A file that a tool writes may take longer to read than a command: nobody types it.
    fn grant(&mut self, bytes: usize) {
        let flat = if self.granted == 0 { 200_000 } else { 0 };
        let units = (flat + 8 * bytes as u64).min(MAX_GRANT.saturating_sub(self.granted));
        self.granted += units;
        self.fuel.grant(units);
    }

    /// Runs something whose variables, folder and files do not come back, as in a child process.
    pub(crate) fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        self.fuel.spend(16 + 4 * self.variables.len() as u64)?;
        let variables = self.variables.clone();
        let cwd = self.cwd.clone();
        let written = self.written;
        let result = run(self)?;
        self.variables = variables;
        self.cwd = cwd;
        self.written = written;
        Ok(result)
    }

    /// A file or folder goes away.
    pub(crate) fn delete(&mut self, actor: &Actor, path: &Value) -> Done {
        if path.text.is_empty() {
            return Ok(());
        }
        let place = self.place(path);
        self.emit(actor.does(Kind::Delete).at(place).of(path))
    }

    /// Any other effect on a path.
    pub(crate) fn touch(&mut self, actor: &Actor, kind: Kind, path: &Value) -> Done {
        if path.text.is_empty() {
            return Ok(());
        }
        let place = self.place(path);
        self.emit(actor.does(kind).at(place).of(path))
    }

    /// Something is asked of a host. What the URL itself carries is data that leaves.
    pub(crate) fn fetch(&mut self, actor: &Actor, url: &Value) -> Done<Value> {
        if let Some(command) = url.text.strip_prefix("ext::") {
            // git runs what such an address says.
            return self.shell(actor, &url.map(command.replace("% ", " ")));
        }
        if let Some(path) = url.text.strip_prefix("file://") {
            return self.read(actor, &Value::known(path));
        }
        let host = self.know.hosts.host(url);
        // The whole address: a known installer is a path on a host.
        let source = if url.is_known() {
            url.text.as_str()
        } else {
            &host.name
        };
        let answer = Value::unknown(Origins::FETCHED).with_source(source);
        let mut carried = Origins::SECRET | Origins::FILE | Origins::ENVIRONMENT;
        if matches!(
            &*actor.program,
            "dig" | "nslookup" | "host" | "drill" | "kdig"
        ) {
            // A name is looked up at somebody's server: whatever it holds arrives there.
            carried |= Origins::OUTPUT;
        }
        if url.origins.any(carried) {
            let effect = actor
                .does(Kind::Send)
                .with(host.clone())
                .about(&url.text)
                .of(url);
            let effect = self.tag_by_source(effect, url);
            self.emit(effect)?;
        }
        self.emit(actor.does(Kind::Fetch).with(host).about(&url.text))?;
        Ok(answer)
    }

    /// Data leaves for a host.
    pub(crate) fn send(&mut self, actor: &Actor, url: &Value, data: &Value) -> Done<Value> {
        let host = self.know.hosts.host(url);
        let answer = Value::unknown(Origins::FETCHED).with_source(&host.name);
        let effect = actor.does(Kind::Send).with(host).about(&url.text).of(data);
        let effect = self.tag_by_source(effect, data);
        self.emit(effect)?;
        Ok(answer)
    }

    /// Whose files the data came from.
    fn tag_by_source(&self, mut effect: Effect, data: &Value) -> Effect {
        if data.sources.iter().any(|s| &**s == "environment") {
            effect = effect.tagged("whole-environment");
        }
        for source in data.sources.iter().filter(|s| s.starts_with('/')) {
            let place = self.place(&Value::known(source.to_string()));
            let own = [
                PathClass::Project,
                PathClass::Temp,
                PathClass::Cache,
                PathClass::Workspace,
            ];
            if place.is(PathClass::Generated) {
                effect = effect.tagged("build-output");
            }
            if own.iter().any(|class| place.is(*class)) {
                effect = effect.tagged("project-file");
            } else if place.is(PathClass::System) {
                effect = effect.tagged("system-file");
            } else if place.is(PathClass::Home) {
                effect = effect.tagged("private-file");
            }
        }
        effect
    }

    /// A shell runs `code`. Returns what it prints.
    pub(crate) fn shell(&mut self, actor: &Actor, code: &Value) -> Done<Value> {
        if self.depth == 0 {
            self.command = code.text.as_str().into();
        }
        self.executes(actor, code)?;
        self.deeper(actor, |scene| shell::run(scene, code))
    }

    /// A program runs with these words as its arguments, the first being its name.
    pub(crate) fn argv(&mut self, words: &[Value], stdin: Option<&Value>) -> Done<Value> {
        let name = words.first().map(|w| w.text.clone()).unwrap_or_default();
        let actor = Actor::new(&name, &name);
        self.deeper(&actor, |scene| shell::run_words(scene, words, stdin))
    }

    /// An interpreter runs `code`.
    pub(crate) fn interpret(
        &mut self,
        actor: &Actor,
        language: Language,
        code: &Value,
    ) -> Done<Value> {
        self.executes(actor, code)?;
        if language == Language::Compiled && !self.written {
            shell::suspect(self, actor, code)?;
        }
        let before = self.effects.len();
        let output = self.code(language, code)?;
        let found = self
            .effects
            .iter()
            .skip(before)
            .any(|e| e.kind == Kind::RemoteShell);
        if !found
            && !self.written
            && let Some(host) = code::shell_for(&code.text)
        {
            let host = self.know.hosts.host(&Value::known(host));
            self.emit(actor.does(Kind::RemoteShell).with(host))?;
        }
        Ok(output)
    }

    /// The effects of `code`, whoever runs it.
    pub(crate) fn code(&mut self, language: Language, code: &Value) -> Done<Value> {
        // Whatever the language, each byte is looked at several times.
        self.fuel.spend_on(code.text.len() * 16)?;
        let actor = Actor::new(language.word(), "");
        self.deeper(&actor, |scene| code::run(scene, language, code))
    }

    /// A file runs, by an interpreter or by itself. What the call wrote there is known.
    pub(crate) fn script(
        &mut self,
        actor: &Actor,
        language: Language,
        path: &Value,
    ) -> Done<Value> {
        let place = self.place(path);
        let content = self.files.get(&place.text).cloned();
        let short = place.short.clone();
        let place_text = place.text.clone();
        self.emit(actor.does(Kind::Run).tagged("script").at(place).of(path))?;
        if path.text.contains("://") {
            let code = self.fetch(actor, path)?;
            return self.interpret(actor, language, &code);
        }
        // What a compiler made, or any program, runs like a file that was there before.
        let loose = Origins::FETCHED | Origins::DECODED;
        let content = content.filter(|c| !c.is_blank() || c.origins.any(loose));
        let Some(content) = content else {
            self.runs_fetched(actor, &place_text)?;
            if path.text.starts_with("/dev/fd/")
                || path.origins.any(Origins::FETCHED | Origins::DECODED)
            {
                let code = Value {
                    text: HOLE_STR.to_owned(),
                    ..path.clone()
                };
                self.executes(actor, &code)?;
            }
            return Ok(Value::unknown(Origins::OUTPUT));
        };
        let language = code::language_of_file(&short, &content.text).unwrap_or(language);
        if language == Language::Shell {
            return self.apart(|scene| scene.shell(actor, &content));
        }
        self.interpret(actor, language, &content)
    }

    /// Whether there are folders whose content came from the network.
    pub(crate) fn holds_fetched(&self) -> bool {
        !self.fetched_folders.is_empty() || !self.unpacked.is_empty()
    }

    /// What lies in a folder that came from the network came from there too.
    pub(crate) fn runs_fetched(&mut self, actor: &Actor, path: &str) -> Done {
        let cloned = |(folder, _): &&(String, Arc<str>)| path::is_under(path, folder);
        // An archive brings folders of its own; what lies beside them was there before.
        let unpacked = |(folder, _): &&(String, Arc<str>)| {
            path.strip_prefix(folder.as_str())
                .is_some_and(|rest| rest.trim_start_matches('/').contains('/'))
        };
        let from = self.fetched_folders.iter().find(cloned);
        let from = from.or_else(|| self.unpacked.iter().find(unpacked));
        let Some((_, host)) = from else {
            return Ok(());
        };
        let code = Value::unknown(Origins::FETCHED).with_source(host);
        self.executes(actor, &code)
    }

    /// What is known of a file's content without reading it.
    pub(crate) fn content(&self, path: &Value) -> Value {
        let place = self.place(path);
        if let Some(content) = self.files.get(&place.text) {
            content.clone()
        } else {
            let secret = place.is(PathClass::Secret);
            let origins = if secret {
                Origins::FILE | Origins::SECRET
            } else {
                Origins::FILE
            };
            Value::unknown(origins).with_source(&place.text)
        }
    }

    /// Relative paths start from `folder` now.
    pub(crate) fn enter(&mut self, folder: &Value) {
        let cwd = path::absolute(&folder.text, &self.cwd, &self.world.home);
        // No kernel goes deeper.
        if cwd.len() <= MAX_PATH {
            self.cwd = cwd;
        }
    }

    /// A variable is set for programs that run from here on.
    pub(crate) fn set_environment(&mut self, actor: &Actor, name: &str, value: &Value) -> Done {
        self.variables.insert(name.to_owned(), vec![value.clone()]);
        self.run_by_variable(actor, name, value)?;
        if name.chars().any(char::is_lowercase) || name.len() < 3 || name == "IFS" {
            return Ok(());
        }
        let effect = actor
            .does(Kind::Env)
            .about(&format!("{name}={}", value.text))
            .of(value);
        let effect = if value.text.starts_with('/') {
            effect.at(self.place(value))
        } else {
            effect
        };
        self.emit(effect)
    }

    /// Some variables name programs that others run.
    fn run_by_variable(&mut self, actor: &Actor, name: &str, value: &Value) -> Done {
        if let Some(body) = value
            .text
            .strip_prefix("()")
            .filter(|_| name.starts_with("BASH_FUNC_"))
        {
            let code = value.map(format!("f() {body}; f"));
            self.apart(|scene| scene.shell(actor, &code))?;
            return Ok(());
        }
        let prompt = matches!(name, "PS1" | "PS4" | "PS0");
        let program = matches!(
            name,
            "EDITOR"
                | "VISUAL"
                | "PAGER"
                | "MANPAGER"
                | "GIT_EDITOR"
                | "GIT_PAGER"
                | "GIT_SSH_COMMAND"
                | "GIT_SSH"
                | "GIT_ASKPASS"
                | "SSH_ASKPASS"
                | "SUDO_ASKPASS"
                | "GIT_SEQUENCE_EDITOR"
                | "GIT_EXTERNAL_DIFF"
                | "SUDO_EDITOR"
                | "BROWSER"
                | "CC"
                | "CXX"
                | "LD"
                | "AR"
                | "RUSTC_WRAPPER"
                | "RUSTC"
                | "PROMPT_COMMAND"
                | "LESSOPEN"
                | "FZF_DEFAULT_COMMAND"
        );
        if !value.is_known() || value.text.is_empty() || !(program || prompt) {
            return Ok(());
        }
        let code = if prompt {
            value.map(format!("echo \"{}\"", value.text))
        } else {
            value.clone()
        };
        self.apart(|scene| scene.shell(actor, &code))?;
        Ok(())
    }

    /// Code that came from somewhere else is an effect of its own.
    pub(crate) fn executes(&mut self, actor: &Actor, code: &Value) -> Done {
        let kind = if code.origins.any(Origins::FETCHED) {
            Kind::ExecuteFetched
        } else if code.origins.any(Origins::DECODED) {
            Kind::ExecuteDecoded
        } else if code.is_blank() && !code.text.trim().is_empty() {
            Kind::ExecuteOpaque
        } else {
            return Ok(());
        };
        let mut effect = actor.does(kind).of(code);
        if kind == Kind::ExecuteOpaque && !code.origins.any(Origins::OUTPUT) {
            // A file as it is, through a pipe: a script by another way.
            effect = effect.tagged("script");
        }
        if let Some(source) = code.sources.first() {
            // `sh` alone explains nothing.
            effect.evidence = format!("{} runs what comes from {source}", effect.evidence).into();
            effect = effect.with(self.know.hosts.host(&Value::known(source.to_string())));
        }
        self.emit(effect)
    }

    fn deeper<T: Default>(
        &mut self,
        actor: &Actor,
        run: impl FnOnce(&mut Self) -> Done<T>,
    ) -> Done<T> {
        self.fuel.spend(20)?;
        if self.depth >= MAX_DEPTH {
            self.emit(
                actor
                    .does(Kind::Unreadable)
                    .about("code is nested too deep"),
            )?;
            return Ok(T::default());
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// All values that a variable may have here: what the call set, or what is usual outside.
    pub(crate) fn variable(&self, name: &str) -> Option<&[Value]> {
        self.variables.get(name).map(Vec::as_slice)
    }
}

impl Scene<'_> {
    /// The program that `name` leads to, by a link in this folder.
    pub(crate) fn linked_program(&self, name: &Value) -> Option<String> {
        if self.links.is_empty() || !name.text.contains('/') {
            return None;
        }
        let path = path::absolute(&name.text, &self.cwd, &self.world.home);
        self.linked(&path)
    }

    /// Whether the call itself has written this file.
    pub(crate) fn is_written(&self, path: &Value) -> bool {
        !self.files.is_empty() && self.files.contains_key(&self.place(path).text)
    }
}
