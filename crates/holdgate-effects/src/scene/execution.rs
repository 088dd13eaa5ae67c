//! What runs: shells, programs, code of any language, and scripts.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::language::Language;
use crate::path::{self, PathClass};
use crate::tag::Tag;
use crate::value::{HOLE_STR, Origins, Value};
use std::sync::Arc;

/// Code in code in code: deeper than this nobody writes by hand.
const MAX_DEPTH: u32 = 12;

impl Scene<'_> {
    /// A shell runs `code`. Returns what it prints.
    pub(crate) fn shell(&mut self, actor: &Actor, code: &Value) -> Fueled<Value> {
        if self.depth == 0 {
            self.command = code.text.as_str().into();
        }
        self.executes(actor, code)?;
        let printed = self.deeper(actor, |scene| scene.shell_text(code))?;
        if self.depth == 0 && !self.written {
            self.shows(actor, &printed)?;
        }
        Ok(printed)
    }

    /// The shell's part of it, for whoever has said that it runs.
    pub(crate) fn shell_text(&mut self, code: &Value) -> Fueled<Value> {
        self.interpreter.shell(self, code)
    }

    /// Whatever in `code` looks like a command is taken as run.
    pub(crate) fn suspect(&mut self, actor: &Actor, code: &Value) -> Fueled {
        self.interpreter.suspect(self, actor, code)
    }

    /// A program runs with these words as its arguments, the first being its name.
    pub(crate) fn argv(&mut self, words: &[Value], stdin: Option<&Value>) -> Fueled<Value> {
        let name = words.first().map(|w| w.text.clone()).unwrap_or_default();
        let actor = Actor::new(&name, &name);
        self.deeper(&actor, |scene| scene.interpreter.words(scene, words, stdin))
    }

    /// An interpreter runs `code`.
    pub(crate) fn interpret(
        &mut self,
        actor: &Actor,
        language: Language,
        code: &Value,
    ) -> Fueled<Value> {
        self.note_sources(code, language);
        // `sed "$(grep -n x FILE),+5p"`: a line number out of a file is no code.
        if language != Language::Sed || code.is_blank() {
            self.executes(actor, code)?;
        }
        self.interpreter.inline(self, actor, language, code)
    }

    /// The effects of `code`, whoever runs it.
    pub(crate) fn code(&mut self, language: Language, code: &Value) -> Fueled<Value> {
        // Whatever the language, each byte is looked at several times.
        self.fuel.spend_on(code.text.len() * 16)?;
        let actor = Actor::new(language.word(), "");
        self.deeper(&actor, |scene| {
            scene.interpreter.code(scene, language, code)
        })
    }

    /// A file runs, by an interpreter or by itself. What the call wrote there is known.
    pub(crate) fn script(
        &mut self,
        actor: &Actor,
        language: Language,
        path: &Value,
    ) -> Fueled<Value> {
        let place = self.place(path);
        let content = self.known(&place.text).cloned();
        self.grant_known(path);
        let short = place.short.clone();
        let place_text = place.text.clone();
        self.note_script(&place_text, language);
        self.emit(actor.does(Kind::Run).tagged(Tag::Script).at(place).of(path))?;
        if path.text.contains("://") {
            let code = self.fetch(actor, path)?;
            return self.interpret(actor, language, &code);
        }
        // What a compiler made, or any program, runs like a file that was there before.
        let loose = Origins::FETCHED | Origins::DECODED;
        let content = content.filter(|c| !c.is_blank() || c.origins.any(loose));
        let Some(content) = content else {
            if is_no_code(&place_text, language) && !self.written {
                let effect = actor.does(Kind::ExecuteOpaque).tagged(Tag::Script);
                self.emit(effect.tagged(Tag::Disguised).about(&place_text))?;
            }
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
        // A guess does not change what the interpreter is.
        let told = self.language_of(&short, &content.text);
        let language = told.filter(|l| !l.is_guess()).unwrap_or(language);
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
    pub(crate) fn runs_fetched(&mut self, actor: &Actor, path: &str) -> Fueled {
        let cloned = |(folder, _): &&(String, Arc<str>)| path::is_under(path, folder);
        // An archive brings folders of its own; what lies beside them was there before.
        let unpacked = |(folder, _): &&(String, Arc<str>)| {
            path.strip_prefix(folder.as_str())
                .is_some_and(|rest| rest.trim_start_matches('/').contains('/'))
        };
        let from = self.fetched_folders.iter().find(cloned);
        let from = from.or_else(|| self.unpacked.iter().find(unpacked));
        let Some(from @ (folder, host)) = from else {
            return Ok(());
        };
        let tags = self.publisher_at(host);
        if !tags.is_empty() {
            // Repositories are cloned beside the project and tried all day; what is cloned into it stays.
            let earlier = self.world.pending.fetched_folders.contains(from);
            if earlier
                && !self
                    .place(&Value::known(folder.as_str()))
                    .is(PathClass::Project)
            {
                return Ok(());
            }
            let mut actor = actor.clone();
            actor.tag(tags);
            let effect = actor.does(Kind::Install).tagged(Tag::FromVcs);
            return self.emit(effect.about(host));
        }
        let code = Value::unknown(Origins::FETCHED).with_source(host);
        self.executes(actor, &code)
    }

    /// Code that came from somewhere else is an effect of its own.
    pub(crate) fn executes(&mut self, actor: &Actor, code: &Value) -> Fueled {
        self.note_sources(code, Language::Shell);
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
            effect = effect.tagged(Tag::Script);
        }
        if let Some(source) = code.sources.first() {
            // `sh` alone explains nothing.
            effect.evidence = format!("{} runs what comes from {source}", effect.evidence).into();
            effect = effect.with(self.know.hosts.host(&Value::known(source.to_string())));
            if code.sources.len() == 1 && self.is_known_release(source) {
                effect = effect.tagged(Tag::Release);
            }
        }
        self.emit(effect)
    }

    /// Says that what `actor` runs is not followed further.
    pub(crate) fn too_deep(&mut self, actor: &Actor) -> Fueled {
        let effect = actor.does(Kind::Unreadable);
        self.emit(effect.about("code is nested too deeply"))
    }

    pub(crate) fn deeper<T: Default>(
        &mut self,
        actor: &Actor,
        run: impl FnOnce(&mut Self) -> Fueled<T>,
    ) -> Fueled<T> {
        self.fuel.spend(20)?;
        if self.depth >= MAX_DEPTH {
            self.too_deep(actor)?;
            return Ok(T::default());
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }
}

/// Whether the name of a file says that it holds something else than code.
fn is_no_code(path: &str, language: Language) -> bool {
    let name = path.rsplit('/').next().unwrap_or("");
    let Some((stem, end)) = name.rsplit_once('.') else {
        return false;
    };
    let end = end.to_ascii_lowercase();
    let data = [
        "png", "jpg", "jpeg", "gif", "webp", "bmp", "ico", "tiff", "svg", "pdf", "mp3", "mp4",
        "wav", "ogg", "webm", "mov", "flac", "woff", "woff2", "ttf", "otf", "eot", "dat", "bin",
        "db", "sqlite", "docx", "xlsx", "pptx", "odt", "csv", "tsv", "gz", "bz2", "xz", "parquet",
        "npy", "pem", "crt", "css", "map", "log", "lock", "bak", "tmp", "eml", "rtf", "psd",
    ];
    // Settings are no documents: programs that are taken for interpreters read them.
    let text = ["txt", "md", "rst", "html", "adoc", "tex"];
    let own = language == Language::JavaScript && end == "html"
        || language == Language::Php
        || matches!(
            language,
            Language::Other
                | Language::Make
                | Language::Awk
                | Language::Sed
                | Language::Embedded
                | Language::Data
        );
    !stem.is_empty() && !own && (data.contains(&end.as_str()) || text.contains(&end.as_str()))
}
