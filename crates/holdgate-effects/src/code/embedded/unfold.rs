//! Pieces of manifests: patches that name a path and a value, parts of pods without their containers, and
//! folders of this machine that nodes of a cluster see.

use super::Reader;
use super::manifest::{Mount, is_true, items};
use crate::json::Json;
use crate::scene::Fueled;
use crate::tag::Tag;
use std::borrow::Cow;

/// Parts of one path.
const MAX_PARTS: usize = 16;

/// Whether a text may hold patches.
pub(super) fn is_patch(text: &str) -> bool {
    text.contains("path:") && text.contains("op:") && text.contains('\n')
}

/// `{op: add, path: /spec/hostPID, value: true}` as the tree that it makes.
pub(super) fn patch<'t>(item: &Json<'t>) -> Option<Json<'t>> {
    let (path, value) = (item.get("path")?.as_str()?, item.get("value")?);
    let added = matches!(item.get("op")?.as_str()?, "add" | "replace" | "test");
    let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    if !added || parts.len() > MAX_PARTS {
        return None;
    }
    let in_list = |part: &str| part == "-" || part.parse::<u32>().is_ok();
    let wrap = |inner: Json<'t>, part: &&str| {
        if in_list(part) {
            Json::Array(vec![inner])
        } else {
            let key = part.replace("~1", "/").replace("~0", "~");
            Json::Object(vec![(Cow::Owned(key), inner)])
        }
    };
    Some(parts.iter().rev().fold(value.clone(), wrap))
}

impl Reader<'_, '_, '_> {
    /// What a part of a manifest says about the machine, without the containers that get it.
    pub(super) fn pieces_of_pod(&mut self, node: &Json<'_>) -> Fueled {
        let mut tags = Vec::new();
        if is_true(node.get("hostPID")) {
            tags.push(Tag::HostPid);
        }
        if is_true(node.get("hostIPC")) {
            tags.push(Tag::HostNamespace);
        }
        let security = node.get("securityContext");
        if is_true(security.and_then(|s| s.get("privileged"))) {
            tags.push(Tag::Privileged);
        }
        let mut mounts = Vec::new();
        let inside = node.get("containerPath").and_then(Json::as_str);
        if let (Some(Json::String(outside)), Some(inside)) = (node.get("hostPath"), inside) {
            mounts.push(Mount {
                outside: outside.to_string(),
                inside: inside.to_owned(),
                read_only: is_true(node.get("readOnly")),
            });
        }
        // The containers that mount them stand elsewhere.
        for volume in items(node.get("volumes")) {
            let path = volume.get("hostPath").and_then(|h| h.get("path"));
            if let Some(path) = path.and_then(Json::as_str) {
                mounts.push(Mount {
                    outside: path.to_owned(),
                    inside: "/".to_owned(),
                    read_only: false,
                });
            }
        }
        if tags.is_empty() && mounts.is_empty() {
            return Ok(());
        }
        self.container("", &tags, &[], &[], &mounts)
    }
}
