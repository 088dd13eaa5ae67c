//! Images of containers: which registry one comes from that is run.

use super::args::Parsed;
use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;

/// An image from a host that nobody vouches for is a package from there.
pub(super) fn runs(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    let Some(image) = parsed.operands.first() else {
        return Ok(());
    };
    let Some(host) = scene.strange_registry(&image.text) else {
        return Ok(());
    };
    let effect = actor.does(Kind::Install).with(host).about(&image.text);
    scene.emit(effect.tagged(Tag::FromUrl).tagged(Tag::OtherIndex))
}
