//! Files that programs run or apply: scripts with their arguments, and patches.

use super::units::Run;
use crate::effect::Kind;
use crate::language::Language;
use crate::path::PathClass;
use crate::scene::{ARGUMENTS, Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Words of a script that are kept for it.
const MAX_WORDS: usize = 64;

/// A script by its file. Returns what it prints.
pub(super) fn script(
    scene: &mut Scene<'_>,
    run: Run<'_>,
    language: Language,
    value: &Value,
) -> Fueled<Option<Value>> {
    let Run { call, actor, .. } = run;
    let is_input = matches!(
        value.text.as_str(),
        "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"
    );
    if is_input && (call.stdin.is_some() || value.text == "-") {
        let code = call
            .stdin
            .map(|code| scene.interpret(actor, language, code));
        return code.transpose();
    }
    if let Some(package) = value.text.strip_prefix("npm:") {
        // `deno run npm:name words…`
        let operands = run.parsed.operands.iter();
        let words = operands.skip_while(|word| *word != value).skip(1);
        let name = value.map(package.trim_start_matches('/'));
        let words: Vec<Value> = std::iter::once(name).chain(words.cloned()).collect();
        super::packages::install(scene, run, value)?;
        return super::packages::runs(scene, run, &words);
    }
    // What is no code is shown in errors, or as it is.
    let strange = language != Language::Shell && scene.place(value).is(PathClass::Secret);
    if actor.is(Tag::ShowsSource) || strange {
        scene.read(actor, value)?;
    }
    // The words after the script are its own.
    let operands = run.parsed.operands.iter();
    let words: Vec<Value> = operands
        .skip_while(|word| *word != value)
        .take(MAX_WORDS)
        .cloned()
        .collect();
    let operand_words = words.clone();
    let outer = scene.variables.get(ARGUMENTS).cloned();
    let own = words.get(1..).unwrap_or(&[]).to_vec();
    scene.variables.insert(ARGUMENTS.to_owned(), own);
    if language == Language::Shell {
        scene.positional = words;
    }
    let own_words = (language != Language::Shell).then(|| words_of(scene, &operand_words));
    let output = scene.script(actor, language, value)?;
    if let Some(words) = own_words.flatten() {
        scene.argv(&words, call.stdin)?;
    }
    scene.positional.clear();
    scene.variables.remove(ARGUMENTS);
    if let Some(outer) = outer {
        scene.variables.insert(ARGUMENTS.to_owned(), outer);
    }
    Ok(Some(output))
}

/// `python manage.py …`: a script of the project that the table knows by its name.
fn words_of(scene: &Scene<'_>, words: &[Value]) -> Option<Vec<Value>> {
    let (script, rest) = words.split_first()?;
    let name = script.text.rsplit('/').next()?;
    let known = scene.know.commands.get(name).is_some() && !rest.is_empty();
    let known = known && scene.place(script).is(PathClass::Project);
    known.then(|| {
        std::iter::once(script.map(name))
            .chain(rest.iter().cloned())
            .collect()
    })
}

/// A patch, or the file that holds one.
pub(super) fn patch(scene: &mut Scene<'_>, run: Run<'_>, value: &Value) -> Fueled {
    let actor = run.actor;
    let is_file = !value.text.contains('\n') && !value.text.starts_with("***");
    let content = if is_file && value.is_known() {
        scene.read(actor, value)?
    } else {
        value.clone()
    };
    if content.is_known() && !content.text.trim().is_empty() {
        return crate::patch::apply(scene, actor, &content);
    }
    // `git diff | patch -R`: what is taken back is what is not committed.
    if &*run.actor.program == "patch"
        && run.parsed.given(&["-R", "--reverse"])
        && !actor.is(Tag::DryRun)
        && content.is_blank()
        && content.origins.any(Origins::OUTPUT)
    {
        scene.emit(
            actor
                .does(Kind::Vcs)
                .tagged(Tag::Apply)
                .tagged(Tag::Discards),
        )?;
    }
    let here = Value::known(".");
    if content.text.is_empty() || scene.place(&here).is(PathClass::Project) {
        return Ok(());
    }
    // Whatever it changes, it is not the project's.
    scene.touch(&actor.and(Tag::Edit), Kind::Write, &here)
}
