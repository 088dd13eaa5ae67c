//! Folders of this machine that are given to containers.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::path;
use crate::tag::Tag;
use crate::value::Value;

impl Scene<'_> {
    /// A container gets a folder: `host:container[:options]`, `type=bind,source=…`.
    pub(crate) fn mounts_folder(&mut self, actor: &Actor, value: &Value) -> Fueled {
        let text = value.text.as_str();
        let Some((source, _, read_only)) = path::container_mount(text) else {
            return Ok(());
        };
        // Where it comes from is a path of this machine.
        let mounts = std::mem::take(&mut self.mounts);
        let place = self.place(&value.map(source));
        self.mounts = mounts;
        let mut effect = actor.does(Kind::Container).tagged(Tag::Mount);
        if read_only {
            effect = effect.tagged(Tag::ReadOnly);
        }
        if text.split([':', ',', '=']).any(path::is_engine_socket) {
            effect = effect.tagged(Tag::DockerSocket);
        }
        self.emit(effect.at(place).about(text))
    }

    /// The path of this machine that a container's path leads to.
    pub(super) fn outside(&self, path: &Value) -> Option<Value> {
        if self.mounts.is_empty() {
            return None;
        }
        let inner = path::absolute(&path.text, self.folder_for(&path.text), "/root");
        let below = self
            .mounts
            .iter()
            .filter(|(name, _)| path::is_under(&inner, name));
        let (name, folder) = below.max_by_key(|(name, _)| name.len())?;
        let rest = inner.get(name.len()..).unwrap_or("");
        Some(path.map(format!("{}{rest}", folder.trim_end_matches('/'))))
    }
}
