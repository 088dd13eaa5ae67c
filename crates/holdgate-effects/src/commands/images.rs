//! Images of containers: which registry one comes from that is run, and which program it holds.

use super::args::Parsed;
use crate::effect::{Actor, Kind};
use crate::knowledge::publishers::image_owner;
use crate::language::programs;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Images of one call whose names are kept.
const MAX_BUILT: usize = 32;

/// Images without an owner that others are built on.
const OFFICIAL: [&str; 28] = [
    "alpine",
    "amazonlinux",
    "busybox",
    "caddy",
    "debian",
    "docker",
    "eclipse-temurin",
    "fedora",
    "golang",
    "gradle",
    "httpd",
    "mariadb",
    "maven",
    "memcached",
    "mongo",
    "mysql",
    "nginx",
    "node",
    "openjdk",
    "php",
    "postgres",
    "python",
    "rabbitmq",
    "redis",
    "ruby",
    "rust",
    "traefik",
    "ubuntu",
];

/// An image from a host that nobody vouches for is a package from there.
pub(super) fn runs(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    if parsed.is_sub(&["build", "b", "bud"]) {
        let tags = parsed.options_named(&["-t", "--tag"]);
        let tags = tags.filter_map(|option| option.value.as_ref());
        let room = MAX_BUILT.saturating_sub(scene.built.len());
        let tags = tags.map(|(_, tag)| tag.text.clone()).take(room);
        scene.built.extend(tags);
        return Ok(());
    }
    if parsed.is_sub(&["tag", "imagetools"]) {
        return renames(scene, parsed, actor);
    }
    let Some(image) = parsed.operands.first() else {
        return Ok(());
    };
    runs_its_program(scene, parsed, image)?;
    publishes(scene, actor, image)?;
    let Some(host) = scene.strange_registry(&image.text) else {
        return Ok(());
    };
    let effect = actor.does(Kind::Install).with(host).about(&image.text);
    scene.emit(effect.tagged(Tag::FromUrl).tagged(Tag::OtherIndex))
}

/// Somebody's image gets a name under which others look for one that they trust: no owner, or another.
fn renames(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    let named = parsed.options_named(&["-t", "--tag"]);
    let named = named.filter_map(|option| option.value.as_ref());
    let named: Vec<&Value> = named.map(|(_, name)| name).collect();
    let owner = |image: &Value| image_owner(&image.text).map(|(_, owner)| owner);
    match parsed.operands.as_slice() {
        [image, name] if named.is_empty() => {
            let name = name.text.split([':', '@']).next().unwrap_or("");
            if OFFICIAL.contains(&name) {
                publishes(scene, actor, image)?;
            }
        }
        // `imagetools create -t NAME IMAGE…`
        [_, images @ ..] => {
            for image in images.iter().take(MAX_BUILT) {
                if named.iter().any(|name| owner(name) != owner(image)) {
                    publishes(scene, actor, image)?;
                }
            }
        }
        [] => {}
    }
    Ok(())
}

/// An image, or what is kept among images, of a publisher that few people know.
fn publishes(scene: &mut Scene<'_>, actor: &Actor, image: &Value) -> Fueled {
    let tags = scene.publisher_of_image(&image.text);
    if tags.is_empty() {
        return Ok(());
    }
    let mut actor = actor.clone();
    actor.tag(tags);
    scene.emit(actor.does(Kind::Install).about(&image.text))
}

/// `helm repo add name URL`, `helm install name oci://…`, `helm install name chart --repo URL`.
pub(super) fn chart(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    let named = parsed.options_named(&["--repo"]);
    let named = named.filter_map(|option| option.value.as_ref());
    let charts = named.map(|(_, value)| value).chain(&parsed.operands);
    for chart in charts.filter(|chart| chart.text.contains("://")) {
        if chart.text.starts_with("oci://") {
            publishes(scene, actor, chart)?;
            continue;
        }
        let tags = scene.publisher_of_charts(&chart.text);
        let host = scene.know.hosts.host(chart);
        let pages = host.name.ends_with(".github.io") || host.name.ends_with(".gitlab.io");
        let strange = !pages && scene.know.hosts.is_unheard_of(&host);
        if tags.is_empty() && !strange {
            continue;
        }
        let mut actor = actor.clone();
        actor.tag(tags);
        if strange {
            actor.tag([Tag::OtherIndex]);
        }
        let effect = actor.does(Kind::Install).about(&chart.text);
        scene.emit(effect.tagged(Tag::FromUrl).with(host))?;
    }
    Ok(())
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
