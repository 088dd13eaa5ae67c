//! Folder trees in which a person has approved writing: `/var/www/shop`, `~/.config/hypr`. Somebody who
//! lets an agent edit one file of another work tree need not be asked about each of the others.

use crate::verdict::Finding;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::path::{Place, is_under};

/// The rules that ask because of where something is written, and only because of that.
const RULES: [&str; 2] = ["system-write", "write-outside-project"];

/// The tree that a session's approval of this finding covers.
pub(super) fn approved_with(finding: &Finding) -> Option<String> {
    let effect = finding.effect.as_ref()?;
    if !RULES.contains(&&*finding.rule) || effect.kind != Kind::Write {
        return None;
    }
    root(effect.path.as_ref()?)
}

/// The top of the tree that a file is in: two folders below a home, three below the root.
fn root(place: &Place) -> Option<String> {
    // What is known of a glob or a hole is not where it leads.
    if place
        .text
        .contains(|c: char| !c.is_alphanumeric() && !"/._-+@ ~".contains(c))
    {
        return None;
    }
    let (in_home, depth) = match place.short.strip_prefix("~/") {
        Some(rest) => (rest, if rest.starts_with('.') { 2 } else { 1 }),
        None => (place.text.trim_start_matches('/'), 3),
    };
    let folders = in_home.split('/').count().checked_sub(1)?;
    let below = in_home.len() - in_home.splitn(depth + 1, '/').nth(depth)?.len();
    let kept = place.text.len() - in_home.len() + below;
    let root = place.text.get(..kept)?.trim_end_matches('/');
    (folders >= depth).then(|| root.to_owned())
}

/// Whether everything that the call writes outside of harmless places lies in `folder`.
pub(super) fn covers(folder: &str, finding: &Finding, effects: &[Effect]) -> bool {
    let writes = |effect: &&Effect| matches!(effect.kind, Kind::Write | Kind::Move | Kind::Mode);
    let inside = |place: &Place| place.is_harmless() || is_under(&place.text, folder);
    let asked = finding
        .effect
        .as_ref()
        .is_some_and(|e| e.kind == Kind::Write);
    let mut writes = effects.iter().filter(writes);
    asked && writes.all(|effect| effect.path.as_ref().is_some_and(inside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_effects::Knowledge;
    use holdgate_effects::path::World;
    use holdgate_effects::value::Value;

    #[test]
    fn a_tree_is_neither_a_home_nor_a_system_folder() {
        let know = Knowledge::built_in().unwrap();
        let world = World::default();
        let root = |path: &str| root(&know.paths.place(&Value::known(path), "/", &world));
        assert_eq!(
            root("/var/www/shop/src/a.ts").as_deref(),
            Some("/var/www/shop")
        );
        assert_eq!(
            root("/home/dev/.config/hypr/x.conf").as_deref(),
            Some("/home/dev/.config/hypr")
        );
        assert_eq!(
            root("/home/dev/Notes/a/b.md").as_deref(),
            Some("/home/dev/Notes")
        );
        for alone in [
            "/etc/hosts",
            "/usr/local/x",
            "/home/dev/.bashrc",
            "/home/dev/x.txt",
        ] {
            assert_eq!(root(alone), None, "{alone}");
        }
    }
}
