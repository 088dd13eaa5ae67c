//! What containers get from the host, as compose files and Kubernetes manifests say it, and what their
//! commands do there: a path below a mount is a path of the host.

use super::Reader;
use crate::effect::{Actor, Effect, Kind};
use crate::json::Json;
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::{HOLE_STR, Origins, Value};

/// A pod stands no deeper than this in a manifest: in a list, in a schedule, in a template.
const MAX_DEPTH: usize = 12;
/// Mounts of one container.
const MAX_MOUNTS: usize = 32;

/// A folder of the host that a container sees.
pub(super) struct Mount {
    pub(super) outside: String,
    pub(super) inside: String,
    pub(super) read_only: bool,
}

impl Reader<'_, '_, '_> {
    /// The containers of a manifest, if the tree is one.
    pub(super) fn manifest(&mut self, tree: &Json<'_>) -> Fueled {
        if let Some(Json::Object(services)) = tree.get("services") {
            let devices = devices(tree);
            for (name, service) in services {
                self.service(name, service, &devices)?;
            }
            return self.secrets(tree);
        }
        let before = self.scene.effects.len();
        self.pods(tree, 0)?;
        if self.scene.effects.len() > before {
            return Ok(());
        }
        match tree {
            // A part of a manifest: what stands below a service, or items of its volumes.
            Json::Object(_) => self.service("", tree, &[]),
            Json::Array(_) => {
                let is_path = |m: &Mount| m.outside.starts_with('/') && m.inside.starts_with('/');
                let mounts = items(Some(tree)).filter_map(|volume| self.compose_mount(volume));
                let mounts: Vec<Mount> = mounts.filter(is_path).take(MAX_MOUNTS).collect();
                self.container("", &[], &[], &[], &mounts)
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Ok(()),
        }
    }

    /// Files of the machine that containers and builds of a compose file get as secrets.
    fn secrets(&mut self, tree: &Json<'_>) -> Fueled {
        let Some(Json::Object(secrets)) = tree.get("secrets") else {
            return Ok(());
        };
        let file = |secret: &Json<'_>| secret.get("file").and_then(Json::as_str).map(str::to_owned);
        let files = secrets
            .iter()
            .take(MAX_MOUNTS)
            .filter_map(|(_, secret)| file(secret));
        let mounts: Vec<Mount> = files
            .map(|file| Mount {
                outside: self.filled(&file),
                inside: "/run/secrets".to_owned(),
                read_only: true,
            })
            .collect();
        self.container("", &[], &[], &[], &mounts)
    }

    /// One service of a compose file.
    fn service(&mut self, name: &str, service: &Json<'_>, devices: &[(&str, &str)]) -> Fueled {
        let text = |key: &str| service.get(key).and_then(Json::as_str).unwrap_or("");
        let mut tags = Vec::new();
        let security = service.get("securityContext");
        if is_true(service.get("privileged")) || is_true(security.and_then(|s| s.get("privileged")))
        {
            tags.push(Tag::Privileged);
        }
        if text("pid") == "host" || is_true(service.get("hostPID")) {
            tags.push(Tag::HostPid);
        }
        if [
            text("uts"),
            text("cgroup"),
            text("ipc"),
            text("userns_mode"),
        ]
        .contains(&"host")
        {
            tags.push(Tag::HostNamespace);
        }
        let mut mounts = Vec::new();
        for volume in items(service.get("volumes")).chain(items(service.get("devices"))) {
            let mount = self.compose_mount(volume);
            mounts.extend(mount.or_else(|| self.device_mount(volume, devices)));
        }
        let capabilities = texts(service.get("cap_add"));
        let options = texts(service.get("security_opt"));
        self.container(name, &tags, &capabilities, &options, &mounts)?;
        self.commands(service, &["entrypoint", "command"], &mounts)
    }

    /// `mounts` of a container for development.
    pub(super) fn mounts(&mut self, value: &Json<'_>) -> Fueled {
        let one = std::slice::from_ref(value);
        let all = value.as_array().unwrap_or(one).iter();
        let mounts = all.filter_map(|volume| self.compose_mount(volume));
        let mounts: Vec<Mount> = mounts.take(MAX_MOUNTS).collect();
        self.container("", &[], &[], &[], &mounts)
    }

    /// `host:inside:options`, or the long form with `source` and `target`.
    fn compose_mount(&self, volume: &Json<'_>) -> Option<Mount> {
        if let Json::String(text) = volume {
            let text = &self.filled(text);
            return crate::path::container_mount(text).map(|(outside, inside, read_only)| Mount {
                outside: outside.to_owned(),
                inside: inside.to_owned(),
                read_only,
            });
        }
        let text = |key: &str| volume.get(key).and_then(Json::as_str);
        (text("type") == Some("bind")).then_some(())?;
        Some(Mount {
            outside: self.filled(text("source")?),
            inside: text("target")?.to_owned(),
            read_only: is_true(volume.get("read_only")),
        })
    }

    /// Where a named volume that is a folder of the machine is mounted.
    fn device_mount(&self, volume: &Json<'_>, devices: &[(&str, &str)]) -> Option<Mount> {
        let (name, inside, options) = if let Json::String(text) = volume {
            let mut parts = text.split(':');
            (parts.next()?, parts.next()?, parts.next().unwrap_or(""))
        } else {
            let text = |key: &str| volume.get(key).and_then(Json::as_str);
            (text("source")?, text("target")?, "")
        };
        let (_, device) = devices.iter().find(|(known, _)| *known == name)?;
        Some(Mount {
            outside: self.filled(device),
            inside: inside.to_owned(),
            read_only: options.split(',').any(|o| o == "ro") || is_true(volume.get("read_only")),
        })
    }

    /// Looks for pods in a manifest.
    fn pods(&mut self, node: &Json<'_>, depth: usize) -> Fueled {
        self.scene.fuel.spend(1)?;
        if depth > MAX_DEPTH {
            return Ok(());
        }
        match node {
            Json::Object(members) => {
                if let Some(Json::Array(_)) = node.get("containers") {
                    self.pod(node)?;
                } else if depth > 0 {
                    self.pieces_of_pod(node)?;
                }
                members
                    .iter()
                    .try_for_each(|(_, value)| self.pods(value, depth + 1))
            }
            Json::Array(items) => items.iter().try_for_each(|item| {
                if let Some(tree) = super::unfold::patch(item) {
                    self.pods(&tree, depth + 1)?;
                }
                self.pods(item, depth + 1)
            }),
            // A patch within a patch file.
            Json::String(text) if super::unfold::is_patch(text) => {
                let yaml = super::parse::yaml(text);
                let mut documents = yaml.documents.iter();
                documents.try_for_each(|document| self.pods(document, depth + 4))
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Ok(()),
        }
    }

    fn pod(&mut self, pod: &Json<'_>) -> Fueled {
        let mut shared = Vec::new();
        if is_true(pod.get("hostPID")) {
            shared.push(Tag::HostPid);
        }
        if is_true(pod.get("hostIPC")) {
            shared.push(Tag::HostNamespace);
        }
        let lists = ["containers", "initContainers", "ephemeralContainers"];
        for container in lists.iter().flat_map(|list| items(pod.get(list))) {
            let name = container.get("name").and_then(Json::as_str).unwrap_or("");
            let security = container.get("securityContext");
            let mut tags = shared.clone();
            if is_true(security.and_then(|s| s.get("privileged"))) {
                tags.push(Tag::Privileged);
            }
            let added = security.and_then(|s| s.get("capabilities"));
            let capabilities = texts(added.and_then(|c| c.get("add")));
            let mounts = pod_mounts(pod, container);
            self.container(name, &tags, &capabilities, &[], &mounts)?;
            self.commands(container, &["command", "args"], &mounts)?;
        }
        Ok(())
    }

    /// What one container gets.
    pub(super) fn container(
        &mut self,
        name: &str,
        tags: &[Tag],
        capabilities: &[&str],
        options: &[&str],
        mounts: &[Mount],
    ) -> Fueled {
        let actor = Actor::new("manifest", &format!("container {name}"));
        let tagged = |effect: Effect| tags.iter().fold(effect, |e, tag| e.tagged(*tag));
        if !tags.is_empty() {
            self.scene.emit(tagged(actor.does(Kind::Container)))?;
        }
        for (texts, tag) in [(capabilities, Tag::Capability), (options, Tag::SecurityOpt)] {
            for text in texts {
                let effect = actor.does(Kind::Container).tagged(tag);
                self.scene.emit(effect.about(text))?;
            }
        }
        for mount in mounts {
            let written = format!("{}:{}", mount.outside, mount.inside);
            let mut effect = actor.does(Kind::Container).tagged(Tag::Mount);
            if mount.read_only {
                effect = effect.tagged(Tag::ReadOnly);
            }
            if crate::path::is_engine_socket(&mount.outside) {
                effect = effect.tagged(Tag::DockerSocket);
            }
            let place = self.scene.place(&self.code.map(mount.outside.as_str()));
            self.scene.emit(tagged(effect).at(place).about(&written))?;
        }
        Ok(())
    }

    /// The commands of a container, which see the host through its mounts.
    fn commands(&mut self, container: &Json<'_>, keys: &[&str], mounts: &[Mount]) -> Fueled {
        let mut words: Vec<String> = Vec::new();
        for value in keys.iter().filter_map(|key| container.get(key)) {
            match value.as_str() {
                Some(text) if words.is_empty() => {
                    words.extend(["sh", "-c", text].map(str::to_owned));
                }
                Some(text) => words.push(text.to_owned()),
                None => words.extend(texts(Some(value)).into_iter().map(str::to_owned)),
            }
        }
        // Only engines of compose files fill variables in.
        let filled =
            keys.contains(&"entrypoint") && words.iter().any(|w| filled_on_host(w).is_some());
        if mounts.is_empty() && !filled {
            return Ok(());
        }
        let placed = |mount: &Mount| {
            let outside = self.scene.place(&Value::known(mount.outside.clone()));
            (mount.inside.clone(), outside.text)
        };
        let mounts = mounts.iter().map(placed).collect();
        let outer = std::mem::replace(&mut self.scene.mounts, mounts);
        self.scene.marks.push(Tag::Container);
        let marks = self.scene.marks.len();
        let word = |word: String| match filled_on_host(&word).filter(|_| filled) {
            Some(text) => self.code.map(text).marked(Origins::ENVIRONMENT),
            None => self.code.map(word),
        };
        let words: Vec<Value> = words.into_iter().map(word).collect();
        self.scene.marks.extend(filled.then_some(Tag::Filled));
        let done = self.scene.apart(|scene| scene.argv(&words, None).map(drop));
        self.scene.marks.truncate(marks - 1);
        self.scene.mounts = outer;
        done
    }
}

/// A text with a hole for each variable that compose takes from this machine, if it has one: `${KEY}` and
/// `$KEY`, but not `$$KEY`.
fn filled_on_host(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut found = false;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(behind) = after.strip_prefix('$') {
            out.push('$');
            rest = behind;
            continue;
        }
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let braces = after.strip_prefix('{').and_then(|a| a.split_once('}'));
        let (name, behind) = braces.unwrap_or_else(|| {
            let end = after.find(|c: char| !part(c)).unwrap_or(after.len());
            after.split_at(end)
        });
        found |= !name.is_empty();
        out.push_str(if name.is_empty() { "$" } else { HOLE_STR });
        rest = behind;
    }
    out.push_str(rest);
    found.then_some(out)
}

/// Named volumes of a compose file that are folders of the machine, by `driver_opts`.
fn devices<'t>(tree: &'t Json<'_>) -> Vec<(&'t str, &'t str)> {
    let Some(Json::Object(volumes)) = tree.get("volumes") else {
        return Vec::new();
    };
    let device = |volume: &'t Json<'_>| {
        let device = volume.get("driver_opts")?.get("device")?.as_str()?;
        device.starts_with(['/', '.', '~', '$']).then_some(device)
    };
    let all = volumes.iter().take(MAX_MOUNTS);
    all.filter_map(|(name, volume)| Some((name.as_ref(), device(volume)?)))
        .collect()
}

/// The volumes of a pod that are folders of the node, where `container` mounts them.
fn pod_mounts(pod: &Json<'_>, container: &Json<'_>) -> Vec<Mount> {
    let mut found = Vec::new();
    for volume in items(pod.get("volumes")) {
        let path = volume.get("hostPath").and_then(|h| h.get("path"));
        let (Some(path), Some(name)) = (path.and_then(Json::as_str), name_of(volume)) else {
            continue;
        };
        let mounted = items(container.get("volumeMounts")).filter(|m| name_of(m) == Some(name));
        for mount in mounted {
            found.push(Mount {
                outside: path.to_owned(),
                inside: mount
                    .get("mountPath")
                    .and_then(Json::as_str)
                    .unwrap_or("/")
                    .to_owned(),
                read_only: is_true(mount.get("readOnly")),
            });
        }
    }
    found.truncate(MAX_MOUNTS);
    found
}

fn name_of<'j>(node: &'j Json<'_>) -> Option<&'j str> {
    node.get("name").and_then(Json::as_str)
}

pub(super) fn is_true(value: Option<&Json<'_>>) -> bool {
    match value {
        Some(Json::Bool(is)) => *is,
        Some(Json::String(text)) => matches!(&**text, "true" | "yes" | "on" | "True"),
        _ => false,
    }
}

pub(super) fn items<'j, 't>(value: Option<&'j Json<'t>>) -> std::slice::Iter<'j, Json<'t>> {
    let items = value.and_then(Json::as_array).unwrap_or(&[]);
    items.iter()
}

fn texts<'j>(value: Option<&'j Json<'_>>) -> Vec<&'j str> {
    items(value)
        .filter_map(Json::as_str)
        .take(MAX_MOUNTS)
        .collect()
}
