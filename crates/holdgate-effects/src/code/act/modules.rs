//! Modules that are loaded: from an address, from a text, or from a file that this call has written.

use super::Call;
use crate::code::read::Reader;
use crate::code::thing::AbstractValue;
use crate::effect::Actor;
use crate::effect::Kind;
use crate::knowledge::publishers::Registry;
use crate::language::Language;
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::{Origins, Value};

impl Reader<'_, '_, '_> {
    /// The code of somebody's repository: `torch.hub.load('owner/name')`.
    pub(super) fn runs_repository(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let name = self.value(call, 0)?;
        let owner = name.text.split('/').next().unwrap_or("");
        let local = call
            .named("source")
            .is_some_and(|s| s.known() == Some("local"));
        if !local && name.text.contains('/') && !self.scene.know.publishers.is_known_owner(owner) {
            let effect = call.actor.does(Kind::Install).tagged(Tag::FromVcs);
            self.scene
                .emit(effect.tagged(Tag::Script).about(&name.text))?;
        }
        Ok(AbstractValue::Nothing)
    }

    pub(super) fn takes_module(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let name = self.value(call, 0)?;
        if let Some((kind, code)) = name.text.split_once(',')
            && kind.starts_with("data:")
        {
            let code = if kind.ends_with(";base64") {
                Value::unknown(name.origins).marked(Origins::DECODED)
            } else {
                name.map(code)
            };
            self.runs_code(call, &code)?;
            return Ok(AbstractValue::Nothing);
        }
        // Pages load modules from addresses all the time; a program that is run now seldom does.
        let from_address = name.text.starts_with("https://") || name.text.starts_with("http://");
        if from_address && !self.scene.written {
            let code = self.scene.fetch(&call.actor, &name)?;
            self.runs_code(call, &code)?;
            return Ok(AbstractValue::Nothing);
        }
        self.takes_package(&name.text)?;
        if name.text.contains('/') && !self.scene.written {
            self.scene.touches(&call.actor, &name)?;
        }
        if let Some(known) = name.as_known() {
            self.runs_module(known)?;
            if &*call.actor.program == "run_module" {
                self.runs_with_command_line(known)?;
            }
        }
        // `__import__('a.b')` is `a`.
        let name = match name.text.split_once('.') {
            Some((top, _)) if &*call.actor.program == "__import__" => name.map(top),
            _ => name,
        };
        Ok(self.module(&name))
    }

    /// `import 'npm:name'`: the package is installed, and its code runs at once.
    pub(in crate::code) fn takes_package(&mut self, name: &str) -> Fueled {
        if self.scene.written || self.language != Language::JavaScript {
            return Ok(());
        }
        let registries = [("npm:", Registry::Npm), ("jsr:", Registry::Jsr)];
        let package = registries
            .iter()
            .find_map(|(start, registry)| Some((*registry, name.strip_prefix(start)?)));
        let Some((registry, package)) = package else {
            return Ok(());
        };
        let mut actor = Actor::new("import", name);
        actor.tag(
            self.scene
                .publisher(registry, package.trim_start_matches('/')),
        );
        self.scene.emit(actor.does(Kind::Install).about(name))
    }

    /// A module whose file this call has written runs what was written.
    pub(in crate::code) fn runs_module(&mut self, name: &str) -> Fueled {
        if self.scene.written || self.scene.files.is_empty() {
            return Ok(());
        }
        let actor = Actor::new("import", name);
        for path in self
            .scene
            .known_files(|path| is_module(self.language, name, path))
        {
            self.scene.runs_known(&actor, &path)?;
        }
        Ok(())
    }
}

/// Whether the module `name` is in the file at `path`, wherever modules are looked for.
fn is_module(language: Language, name: &str, path: &str) -> bool {
    let name = match language {
        Language::Python => name.trim_start_matches('.').replace('.', "/"),
        Language::JavaScript if name.starts_with(['.', '/']) => name.to_owned(),
        Language::Lua => name.replace('.', "/"),
        _ => return false,
    };
    let mut name = name.as_str();
    while let Some(rest) = ["./", "../", "/"]
        .iter()
        .find_map(|dots| name.strip_prefix(dots))
    {
        name = rest;
    }
    let (stem, extension) = path.rsplit_once('.').unwrap_or((path, ""));
    let (suffixes, inner): (&[&str], _) = match language {
        Language::Python => (&["py"], "/__init__"),
        Language::Lua => (&["lua"], "/init"),
        _ => (&["js", "ts", "mjs", "cjs", "jsx", "tsx"], "/index"),
    };
    let stem = stem.strip_suffix(inner).unwrap_or(stem);
    let name = suffixes
        .iter()
        .find_map(|end| name.strip_suffix(end)?.strip_suffix('.'))
        .unwrap_or(name);
    // `from a.b import c` may take `c` from the file `a/b.py`.
    let above = || {
        name.rsplit_once('/')
            .is_some_and(|(above, _)| language == Language::Python && is_at(stem, above))
    };
    !name.is_empty() && suffixes.contains(&extension) && (is_at(stem, name) || above())
}

fn is_at(stem: &str, name: &str) -> bool {
    stem.strip_suffix(name)
        .is_some_and(|folder| folder.ends_with('/'))
}
