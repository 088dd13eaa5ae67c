//! Folders of this machine that a container sees under other names.

use crate::value::HOLE;

/// The sockets over which container engines take orders.
const SOCKETS: [&str; 4] = [
    "/docker.sock",
    "/podman.sock",
    "/containerd.sock",
    "/crio.sock",
];

/// Whether a container engine takes orders at `path`. Some keep it in a folder of their own.
pub(crate) fn is_engine_socket(path: &str) -> bool {
    SOCKETS.iter().any(|name| path.ends_with(name))
}

/// `host:inside[:options]`, `type=bind,source=host,target=inside[,readonly]`: what the container sees,
/// where, and whether it can only read it. A plain name is a volume of the engine's own.
pub(crate) fn container_mount(text: &str) -> Option<(&str, &str, bool)> {
    let keyed = |names: &[&str]| {
        text.split(',')
            .find_map(|part| names.iter().find_map(|name| part.strip_prefix(name)))
    };
    let is_path = |path: &str| path.starts_with(['/', '.', '~', '$']) || path.starts_with(HOLE);
    let (outside, inside, options) = if let Some(outside) = keyed_source(text, is_path) {
        let inside = keyed(&["target=", "dst=", "destination="]);
        (outside, inside.unwrap_or(""), text)
    } else {
        let mut parts = text.split(':');
        let outside = parts.next().unwrap_or("");
        let inside = parts.next().unwrap_or(outside);
        (outside, inside, parts.next().unwrap_or(""))
    };
    let read_only = options
        .split([',', ':'])
        .any(|o| matches!(o, "ro" | "readonly" | "readonly=true" | "ro=true" | "r"));
    is_path(outside).then_some((outside, inside, read_only))
}

/// The path of this machine among `key=value`s, whichever key holds it: a driver of volumes has keys of
/// its own, as in `volume-opt=device=/`.
fn keyed_source(text: &str, is_path: impl Fn(&str) -> bool) -> Option<&str> {
    const INSIDE: [&str; 6] = [
        "target",
        "dst",
        "destination",
        "volume-subpath",
        "image-subpath",
        "subpath",
    ];
    if !text.contains('=') || is_path(text) {
        return None;
    }
    text.split(',').find_map(|part| {
        let (keys, value) = part.rsplit_once('=')?;
        let key = keys.rsplit('=').next().unwrap_or(keys).trim_matches('"');
        (is_path(value) && !INSIDE.contains(&key)).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_in_both_forms() {
        assert_eq!(container_mount("/a:/b:ro"), Some(("/a", "/b", true)));
        assert_eq!(container_mount("/a"), Some(("/a", "/a", false)));
        assert_eq!(container_mount("data:/b"), None);
        let long = "type=bind,source=/a,target=/b,readonly";
        assert_eq!(container_mount(long), Some(("/a", "/b", true)));
        let driver = "type=volume,src=h,dst=/h,volume-opt=o=bind,volume-opt=device=/";
        assert_eq!(container_mount(driver), Some(("/", "/h", false)));
        assert_eq!(container_mount("type=volume,src=data,dst=/b"), None);
        assert_eq!(container_mount("/a=b:/c"), Some(("/a=b", "/c", false)));
    }
}
