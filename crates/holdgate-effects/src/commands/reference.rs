//! Code that is named by its address: a program fetches and runs, builds or applies it.

use crate::effect::{Actor, Kind};
use crate::host::HostClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Short forms of forges.
const FORGES: [(&str, &str); 8] = [
    ("gh:", "https://github.com/"),
    ("github:", "https://github.com/"),
    ("gl:", "https://gitlab.com/"),
    ("gitlab:", "https://gitlab.com/"),
    ("bb:", "https://bitbucket.org/"),
    ("bitbucket:", "https://bitbucket.org/"),
    ("sr:", "https://git.sr.ht/"),
    ("git::", ""),
];

/// The address that a reference stands for; `None` for what is here.
pub(super) fn address(reference: &Value) -> Option<Value> {
    let text = reference.text.trim();
    let short = FORGES
        .iter()
        .find_map(|(short, long)| Some((text.strip_prefix(short)?, long)));
    if let Some((rest, long)) = short {
        let full = if rest.contains("://") {
            rest.to_owned()
        } else {
            format!("{long}{rest}")
        };
        return Some(reference.map(full));
    }
    if text.contains("://") {
        return (!text.starts_with("file://")).then(|| reference.clone());
    }
    // `git@host:owner/name`
    if let Some((_, rest)) = text.split_once('@').filter(|(user, _)| !user.contains('/'))
        && let Some((host, path)) = rest.split_once(':')
        && host.contains('.')
    {
        return Some(reference.map(format!("https://{host}/{path}")));
    }
    // `github.com/owner/name`
    let (host, path) = text.split_once('/')?;
    let end = host.rsplit_once('.').map_or("", |(_, end)| end);
    let is_host = end.len() >= 2 && end.chars().all(|c| c.is_ascii_alphabetic());
    let named = is_host && !host.starts_with(['.', '~']) && path.contains('/');
    named.then(|| reference.map(format!("https://{text}")))
}

/// What is at an address runs. Nobody vouches for other hosts; at a forge, its owner is somebody.
pub(super) fn runs(scene: &mut Scene<'_>, actor: &Actor, address: &Value) -> Fueled {
    let host = scene.know.hosts.host(address);
    let code = scene.fetch(actor, address)?;
    if scene.know.hosts.is_unheard_of(&host) {
        return scene.executes(actor, &code);
    }
    if matches!(host.class, HostClass::Loopback | HostClass::Private) {
        return Ok(());
    }
    let mut effect = actor.does(Kind::Install).tagged(Tag::FromVcs);
    let path = address.text.split("://").nth(1).unwrap_or("");
    let owner = path.split('/').nth(1).unwrap_or("");
    if !scene.know.publishers.is_known_owner(owner) {
        effect = effect.tagged(Tag::Script);
    }
    scene.emit(effect.with(host).about(&address.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_told_from_paths() {
        for (reference, expected) in [
            (
                "github.com/evil/x//base?ref=1",
                Some("https://github.com/evil/x//base?ref=1"),
            ),
            ("gh:owner/name", Some("https://github.com/owner/name")),
            ("git@git.example:a/b", Some("https://git.example/a/b")),
            ("https://x.example/a", Some("https://x.example/a")),
            ("git::https://x.example/a", Some("https://x.example/a")),
            ("k8s/overlays/dev", None),
            ("./deploy.d/x/y", None),
            ("../base", None),
            ("app.v2/overlays", None),
            ("file:///srv/x", None),
        ] {
            let found = address(&Value::known(reference));
            assert_eq!(found.map(|v| v.text).as_deref(), expected, "{reference}");
        }
    }
}
