//! What known tools do with their arguments.

use super::code::run_code;
use super::fields::{Call, Fields};
use super::name::Name;
use super::{Role, ToolKind, files, message, run, shape, strings, told, typed};
use crate::effect::{Actor, Effect, Kind};
use crate::json::{Json, shorten};
use crate::language::Language;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::text::{self, secret};
use crate::value::{Origins, Value};

/// Calls within calls within calls.
const MAX_NESTING: u32 = 3;
/// Calls within one call.
const MAX_INNER_CALLS: usize = 64;

/// Says in `scene` what a call of the tool `name` does.
pub(crate) fn act(scene: &mut Scene<'_>, name: &str, input: &Json<'_>) -> Fueled {
    nested(scene, name, input, 0)
}

fn nested(scene: &mut Scene<'_>, name: &str, input: &Json<'_>, depth: u32) -> Fueled {
    let start = scene.effects.len();
    nested_by_name(scene, name, input, depth)?;
    let done = scene.effects.get_mut(start..).unwrap_or_default();
    if done.iter().any(|effect| effect.is(Tag::Background)) {
        // The result comes before it has ended.
        for effect in done {
            effect.unconditional = false;
        }
    }
    Ok(())
}

fn nested_by_name(scene: &mut Scene<'_>, name: &str, input: &Json<'_>, depth: u32) -> Fueled {
    // No client has a tool with a longer name.
    let name = text::beginning(name, 256);
    let shown = shorten(name, 80);
    let call = Call {
        name,
        input,
        fields: Fields::of(scene, input)?,
        actor: Actor::new(&shown, &shown),
    };
    if call.fields.is_on(Role::Sandbox) {
        scene.emit(call.actor.does(Kind::Elevate).tagged(Tag::Sandbox))?;
    }
    if call.fields.is_on(Role::Background) {
        let run = call.actor.does(Kind::Run).tagged(Tag::Tool);
        scene.emit(run.tagged(Tag::Background))?;
    }
    if let Some(does) = scene.know.tools.does(name)
        && known(scene, &call, does, depth)?
    {
        // What no role settles may still be touched.
        let settled = matches!(
            does,
            ToolKind::Inert | ToolKind::Calls | ToolKind::Git | ToolKind::WebSearch
        );
        if settled {
            return Ok(());
        }
        let hosted = ["repo", "repository", "project_id"];
        if does == ToolKind::Write && hosted.iter().any(|key| call.input.get(key).is_some()) {
            // A file of a repository on a server, where others read it.
            message::leaves_with_secrets(scene, &call)?;
        }
        let found = strings::unsettled(scene, &call, scene.know.tools.all_roles())?;
        if found.is_empty() {
            return Ok(());
        }
        return strings::rest(scene, &call, &Name::of(&call), &found);
    }
    scene.emit(call.actor.does(Kind::Run).tagged(Tag::Tool))?;
    shape::by_shape(scene, &call)
}

/// Returns whether the tool's arguments were found. If not, the shape tells what there is.
fn known(scene: &mut Scene<'_>, call: &Call<'_>, does: ToolKind, depth: u32) -> Fueled<bool> {
    let run = call.actor.does(Kind::Run).tagged(Tag::Tool);
    match does {
        ToolKind::Shell => run::shell(scene, call),
        ToolKind::Powershell => run::code(scene, call, &[Role::Command, Role::Code]),
        ToolKind::Code => Ok(run::code(scene, call, &[Role::Code])? | run::shell(scene, call)?),
        ToolKind::Typed => typed::typed(scene, call),
        ToolKind::Read => files::read(scene, call),
        ToolKind::List => files::look(scene, call, Tag::List),
        ToolKind::Search => files::look(scene, call, Tag::Search),
        ToolKind::Write => files::write(scene, call),
        ToolKind::Editor => files::editor(scene, call),
        ToolKind::Patch => files::patch(scene, call),
        ToolKind::Notebook => files::notebook(scene, call),
        ToolKind::MakeFolder => files::make_folder(scene, call),
        ToolKind::Delete => files::delete(scene, call),
        ToolKind::Move => files::relocate(scene, call, Kind::Move),
        ToolKind::Copy => files::relocate(scene, call, Kind::Read),
        ToolKind::Fetch => fetch(scene, call),
        ToolKind::WebSearch => {
            let query = call.fields.text(Role::Query).unwrap_or_default();
            done(scene, run.tagged(Tag::WebSearch).about(query))
        }
        ToolKind::Agent => {
            told::orders(scene, call)?;
            let agent = call.actor.does(Kind::Agent).tagged(Tag::Guarded);
            done(scene, agent.about(&prompt(call)))
        }
        ToolKind::Schedule => {
            told::orders(scene, call)?;
            let later = call.actor.does(Kind::Persist).tagged(Tag::Agent);
            done(scene, later.about(&prompt(call)))
        }
        ToolKind::Told => {
            told::orders(scene, call)?;
            done(scene, run.tagged(Tag::Inert))
        }
        ToolKind::Message => message::message(scene, call),
        ToolKind::Calls => inner_calls(scene, call, depth),
        ToolKind::KillShell => done(scene, call.actor.does(Kind::Kill).tagged(Tag::Own)),
        ToolKind::Kill => {
            let pids = call.fields.texts(Role::Process);
            for pid in &pids {
                scene.argv(&[Value::known("kill"), Value::known(*pid)], None)?;
            }
            Ok(!pids.is_empty())
        }
        ToolKind::Git => run::git(scene, call),
        ToolKind::Database => shape::queries(scene, call),
        ToolKind::Computer => {
            let mut typed = call.fields.texts(Role::Typed);
            for item in call.fields.items() {
                typed.extend(Fields::of(scene, item)?.texts(Role::Typed));
            }
            let keys = typed.join("\n");
            // A terminal may have the focus.
            scene.touches(&call.actor, &Value::known(keys.trim()))?;
            done(scene, run.tagged(Tag::Computer).about(&keys))
        }
        ToolKind::Elevate => done(scene, call.actor.does(Kind::Elevate).tagged(Tag::Sandbox)),
        ToolKind::Inert => done(scene, run.tagged(Tag::Inert)),
    }
}

/// One effect is all that the call has.
fn done(scene: &mut Scene<'_>, effect: Effect) -> Fueled<bool> {
    scene.emit(effect).map(|()| true)
}

fn prompt(call: &Call<'_>) -> String {
    shorten(&call.fields.texts(Role::Prompt).join("\n"), 4096)
}

pub(super) fn fetch(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    let mut urls = call.fields.texts(Role::Url);
    if urls.is_empty() {
        let prompts = call.fields.texts(Role::Prompt);
        urls.extend(prompts.into_iter().flat_map(shape::urls_in));
    }
    let mut data = Value::default();
    for (_, value) in call.fields.all(Role::Data) {
        match value {
            Json::Null | Json::Bool(_) => {}
            Json::String(text) | Json::Number(text) => data.push_text(text),
            Json::Array(_) | Json::Object(_) => data.push_text(&value.text()),
        }
    }
    let changes = call
        .fields
        .text(Role::Method)
        .is_some_and(|m| !["get", "head", "options"].contains(&m.to_ascii_lowercase().as_str()));
    let lower = call.name.to_ascii_lowercase();
    let uploads = changes
        || ["upload", "send", "post", "put"]
            .iter()
            .any(|w| lower.contains(w));
    let mut files = call.fields.paths();
    files.extend(call.fields.texts(Role::To).into_iter().map(Value::known));
    if uploads {
        for path in &files {
            data.push(&scene.read(&call.actor, path)?);
        }
    }
    let headers = call.input.get("headers").map(Json::text);
    let headers = headers.filter(|text| !secret::marks(text, false).is_empty());
    data.push_text(&headers.unwrap_or_default());
    for url in &urls {
        // An address that is a script for the page.
        if let Some(script) = url.strip_prefix("javascript:") {
            run_code(scene, &call.actor, Language::JavaScript, script)?;
            continue;
        }
        let url = Value::known(*url);
        if changes || !data.text.is_empty() {
            scene.send(&call.actor, &url, &data)?;
        } else {
            scene.fetch(&call.actor, &url)?;
        }
    }
    if !uploads && !urls.is_empty() {
        let content = Value::unknown(Origins::FETCHED);
        for path in &files {
            scene.write(&call.actor, path, &content, false)?;
        }
    }
    Ok(!urls.is_empty())
}

fn inner_calls(scene: &mut Scene<'_>, call: &Call<'_>, depth: u32) -> Fueled<bool> {
    let inner: Vec<&Json<'_>> = call.fields.items().chain([call.input]).collect();
    if depth >= MAX_NESTING || inner.len() > MAX_INNER_CALLS {
        let effect = call.actor.does(Kind::Unreadable).tagged(Tag::TooDeep);
        scene.emit(effect.about("too many calls inside one call"))?;
        return Ok(true);
    }
    let mut found = false;
    for object in inner {
        let members = object.as_object().unwrap_or_default();
        let name = members
            .iter()
            .find(|(key, _)| scene.know.tools.roles(key).has(Role::Tool))
            .and_then(|(_, value)| value.as_str());
        let Some(name) = name else { continue };
        found = true;
        let arguments = members.iter().find(|(key, value)| {
            scene.know.tools.roles(key).has(Role::Envelope) && value.as_object().is_some()
        });
        let arguments = arguments.map_or(object, |(_, value)| value);
        // A name that is one of these again, with itself as arguments, goes round at most thrice.
        scene.apart(|scene| nested(scene, name, arguments, depth + 1))?;
    }
    Ok(found)
}
