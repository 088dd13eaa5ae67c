//! Images of containers: which registry one comes from that is run, and which program it holds.

use super::args::Parsed;
use crate::effect::{Actor, Kind};
use crate::language::programs;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// An image from a host that nobody vouches for is a package from there.
pub(super) fn runs(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    let Some(image) = parsed.operands.first() else {
        return Ok(());
    };
    runs_its_program(scene, parsed, image)?;
    let Some(host) = scene.strange_registry(&image.text) else {
        return Ok(());
    };
    let effect = actor.does(Kind::Install).with(host).about(&image.text);
    scene.emit(effect.tagged(Tag::FromUrl).tagged(Tag::OtherIndex))
}

/// `cloudflare/cloudflared tunnel …`: an image that is called like a program begins with that program,
/// unless its arguments begin with another.
fn runs_its_program(scene: &mut Scene<'_>, parsed: &Parsed, image: &Value) -> Fueled {
    let name = image.text.rsplit('/').next().unwrap_or("");
    let name = name.split([':', '@']).next().unwrap_or(name);
    let rest = parsed.operands.get(1..).unwrap_or(&[]);
    let Some(first) = rest.first() else {
        return Ok(());
    };
    let known = |program: &str| scene.know.commands.get(program).is_some();
    // Images of interpreters and servers hold many programs.
    let holds_one = image.text.contains('/') && known(name) && !programs::is_shell(name);
    if !holds_one || first.text.starts_with('/') || known(&first.text) && first.text != name {
        return Ok(());
    }
    let program = Value::known(name);
    let words: Vec<Value> = std::iter::once(&program).chain(rest).cloned().collect();
    scene.marks.push(Tag::Container);
    let done = scene.apart(|scene| scene.argv(&words, None));
    scene.marks.pop();
    done.map(drop)
}
