//! The readers behind the scene: who reads which language.

use crate::effect::{Actor, Kind};
use crate::language::Language;
use crate::scene::{Fueled, Interpreter, Scene};
use crate::value::Value;
use crate::{code, shell};

/// All readers.
#[derive(Debug)]
pub(crate) struct Readers;

impl Interpreter for Readers {
    fn shell(&self, scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
        if !code::powershell::is_meant(&code.text) {
            return shell::run(scene, code);
        }
        // The client's shell is not known: it may be either. Where this one would stop at an error, its
        // pieces are still read, and only the error itself says nothing.
        code::run(scene, Language::PowerShell, code)?;
        let is_script = shell::can_read(scene, code)?;
        let before = scene.effects.len();
        let output = shell::run(scene, code)?;
        if !is_script {
            code::forget(scene, before, &[Kind::Unreadable]);
        }
        Ok(output)
    }

    fn words(
        &self,
        scene: &mut Scene<'_>,
        words: &[Value],
        stdin: Option<&Value>,
    ) -> Fueled<Value> {
        shell::run_words(scene, words, stdin)
    }

    fn suspect(&self, scene: &mut Scene<'_>, actor: &Actor, code: &Value) -> Fueled {
        shell::suspect(scene, actor, code)
    }

    fn code(&self, scene: &mut Scene<'_>, language: Language, code: &Value) -> Fueled<Value> {
        code::run(scene, language, code)
    }

    fn shapes(
        &self,
        scene: &mut Scene<'_>,
        path: &str,
        language: Option<Language>,
        content: &Value,
        quotes: bool,
    ) -> Fueled {
        code::shapes(scene, path, language, content, quotes)
    }

    fn inline(
        &self,
        scene: &mut Scene<'_>,
        actor: &Actor,
        language: Language,
        code: &Value,
    ) -> Fueled<Value> {
        if matches!(language, Language::Compiled | Language::Other) && !scene.written {
            shell::suspect(scene, actor, code)?;
        }
        if !scene.written {
            code::shapes_inline(scene, code)?;
        }
        let before = scene.effects.len();
        let output = scene.code(language, code)?;
        let mut found = scene.effects.iter().skip(before);
        if scene.written || found.any(|effect| effect.kind == Kind::RemoteShell) {
            return Ok(output);
        }
        if let Some(host) = code::shell_for(&code.text) {
            let host = scene.know.hosts.host(&Value::known(host));
            scene.emit(actor.does(Kind::RemoteShell).with(host))?;
        } else if code::serves_shell(&code.text) {
            scene.emit(actor.does(Kind::RemoteShell))?;
        }
        Ok(output)
    }
}
