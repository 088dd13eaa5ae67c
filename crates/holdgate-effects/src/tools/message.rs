//! Tools that send a text or files to people, or to a service where others read them.

use super::fields::{Call, Leaf, leaves, path_readings};
use super::strings::looks_like_path;
use super::{Role, Roles};
use crate::effect::Kind;
use crate::path::PathClass;
use crate::scene::{Fueled, Scene, hides_secret};
use crate::tag::Tag;
use crate::text::secret::{self, Mark};
use crate::value::{Origins, Value};

/// Receivers of one message that are told apart.
const MAX_RECEIVERS: usize = 16;

/// A message with all that it carries leaves for its receivers.
pub(super) fn message(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    let mut data = Value::default();
    let mut receivers: Vec<Value> = Vec::new();
    let mut personal = false;
    let (mut copied, mut known) = (Vec::new(), Vec::new());
    for leaf in leaves(scene, call.input)? {
        if let Some(receiver) = receiver(&leaf) {
            if leaf.key.eq_ignore_ascii_case("bcc") {
                copied.push(receiver.clone());
            } else if copied.len() + receivers.len() < MAX_RECEIVERS {
                known.push(receiver.clone());
            }
            if receivers.len() < MAX_RECEIVERS && !receivers.contains(&receiver) {
                receivers.push(receiver);
            }
            continue;
        }
        let prose = Roles::of(&[Role::Prose, Role::Content, Role::Prompt, Role::Label]);
        let names_file = leaf.roles.has(Role::Path) && !leaf.roles.any(prose);
        if names_file || looks_like_path(leaf.text) {
            for path in path_readings(leaf.text) {
                data.taint(&scene.read(&call.actor, &path)?);
            }
        }
        if holds_secret(scene, &leaf)? {
            data = data.marked(Origins::SECRET);
        }
        personal |= secret::is_private(leaf.text);
    }
    let mail = call.name.to_ascii_lowercase().contains("mail");
    let mut actor = call.actor.and(Tag::Message);
    if mail {
        actor.tag([Tag::Mail]);
    }
    if personal {
        actor.tag([Tag::Personal]);
    }
    if data.origins.any(Origins::FILE) {
        // With its receiver named, a person is asked about any file; otherwise about others' files.
        actor.tag([Tag::Transfer]);
        if receivers.is_empty() && are_own(scene, &data) {
            data.origins = data.origins.without(Origins::FILE);
            actor.tags.retain(|tag| *tag != Tag::Transfer);
        }
    }
    if receivers.is_empty() {
        receivers.push(Value::default());
    }
    // Nobody else who gets the mail sees who reads it, too.
    if let Some(hidden) = copied.iter().find(|copy| !known.contains(copy))
        && !known.is_empty()
    {
        let effect = call.actor.does(Kind::Remote).tagged(Tag::User);
        scene.emit(effect.about(&hidden.text))?;
    }
    for receiver in &receivers {
        scene.send(&actor, receiver, &data)?;
    }
    Ok(true)
}

/// Whether a call of any tool hands what is private to somebody: an invitation, a task, an event.
pub(super) fn is_for_somebody(scene: &Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    let all = leaves(scene, call.input)?;
    if !all.iter().any(super::gives::is_somebody) {
        return Ok(false);
    }
    for leaf in &all {
        if secret::is_private(leaf.text) || holds_secret(scene, leaf)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Keys in the texts of a call leave for the tool's service.
pub(super) fn leaves_with_secrets(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled {
    for leaf in leaves(scene, call.input)? {
        let texts = Roles::of(&[Role::Prose, Role::Content, Role::Prompt, Role::Data]);
        if leaf.roles.any(texts) && holds_secret(scene, &leaf)? {
            let data = Value::default().marked(Origins::SECRET);
            let actor = call.actor.and(Tag::Message);
            scene.send(&actor, &Value::default(), &data)?;
            return Ok(());
        }
    }
    Ok(())
}

/// The machine that a receiver's mail goes to, or the address itself.
fn receiver(leaf: &Leaf<'_>) -> Option<Value> {
    let text = leaf.text.trim().trim_end_matches('>');
    if text.contains("://") && leaf.roles.has(Role::Url) && !text.starts_with("file:") {
        return Some(Value::known(text));
    }
    let named = leaf.roles.has(Role::Recipient)
        || leaf.roles.has(Role::To)
        || super::gives::is_somebody(leaf);
    let (_, domain) = text.rsplit_once('@').filter(|_| named)?;
    let is_domain = domain.contains('.') && !domain.contains(char::is_whitespace);
    is_domain.then(|| Value::known(domain))
}

fn holds_secret(scene: &Scene<'_>, leaf: &Leaf<'_>) -> Fueled<bool> {
    scene.fuel.spend_on(leaf.text.len())?;
    let marks = secret::marks(leaf.text, false);
    // An address of its own service is where the message goes.
    let plain = marks.iter().any(|mark| match mark {
        Mark::Start(start) => !start.contains('/'),
        Mark::Name(_) | Mark::Frame => true,
    });
    Ok(plain || hides_secret(leaf.text) || scene.leaks(leaf.text, None))
}

/// Whether all the files are the project's.
fn are_own(scene: &Scene<'_>, data: &Value) -> bool {
    let own = [
        PathClass::Project,
        PathClass::Temp,
        PathClass::Cache,
        PathClass::Workspace,
    ];
    data.sources.iter().all(|source| {
        let place = scene.place(&Value::known(source.to_string()));
        own.iter().any(|class| place.is(*class))
    })
}
