//! Files of settings that take effect as soon as they are written.

use super::{Fueled, Scene};
use crate::path::Place;
use crate::value::Value;

/// Lines of a file of settings that are looked at.
const MAX_LINES: usize = 256;

impl Scene<'_> {
    /// What a file is written for takes effect: packages are named, settings are made.
    pub(super) fn takes_effect(&mut self, place: &Place, content: &Value) -> Fueled {
        if place.text.ends_with("/.git/config") || place.text.ends_with("/.git/config.worktree") {
            self.takes_git_settings(content)?;
        }
        self.takes_publishers(place, content)?;
        self.takes_packages(place, content)
    }

    /// The lines of git's settings do what `git config` does.
    fn takes_git_settings(&mut self, content: &Value) -> Fueled {
        self.fuel.spend_on(content.text.len())?;
        let mut section = String::new();
        for line in content.text.lines().map(str::trim).take(MAX_LINES) {
            if let Some(head) = line.strip_prefix('[') {
                section = section_of(head.split(']').next().unwrap_or(head));
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            let (key, value) = (key.trim(), value.trim().trim_matches('"'));
            if key.starts_with(['#', ';']) || value.is_empty() {
                continue;
            }
            // A piece of the file may begin behind the head of its section.
            let section = match section.as_str() {
                "" if matches!(key, "url" | "pushurl") => "remote.origin",
                "" => "core",
                section => section,
            };
            let setting = content.map(format!("{section}.{key}={value}"));
            self.git_setting(&setting)?;
        }
        Ok(())
    }
}

/// `remote "origin"` as it stands before a key: `remote.origin`.
fn section_of(head: &str) -> String {
    match head.split_once([' ', '\t']) {
        Some((name, rest)) => format!("{name}.{}", rest.trim().trim_matches('"')),
        None => head.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::section_of;

    #[test]
    fn sections_are_written_before_their_keys() {
        assert_eq!(section_of("remote \"origin\""), "remote.origin");
        assert_eq!(section_of("core"), "core");
    }
}
