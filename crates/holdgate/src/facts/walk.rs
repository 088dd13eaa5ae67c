//! Where a path really leads, found out in a bounded number of steps.

use super::lookups::Look;
use holdgate_effects::path::{Real, is_under};
use std::io::{ErrorKind, Read as _};

/// Links that are followed in one path, as in Linux.
const MAX_LINKS: usize = 40;
/// Parts of a path that are looked at, those of links included.
const MAX_PARTS: usize = 512;

/// This machine's disk.
#[derive(Debug)]
pub(super) struct Disk;

impl Look for Disk {
    /// Walks `path` part by part. Parts that do not exist are taken as they are written.
    fn real(&self, path: &str, enter: &mut dyn FnMut(&str) -> bool) -> Real {
        // Links there lead to what this process has open, not to what the agent has.
        if is_under(path, "/proc") || is_under(path, "/dev") {
            return Real::AsWritten;
        }
        let mut real = String::new();
        let mut rest: Vec<String> = path.rsplit('/').map(str::to_owned).collect();
        let (mut links, mut parts) = (0, 0);
        // How long `real` was where the disk has no more to say.
        let mut missing: Option<usize> = None;
        while let Some(part) = rest.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    real.truncate(real.rfind('/').unwrap_or(0));
                    missing = missing.filter(|from| real.len() > *from);
                    continue;
                }
                _ => parts += 1,
            }
            if parts > MAX_PARTS {
                return Real::Unknown;
            }
            let parent = real.len();
            real.push('/');
            real.push_str(&part);
            if missing.is_some() {
                continue;
            }
            if !enter(&real) {
                return Real::Unknown;
            }
            match std::fs::read_link(&real) {
                Ok(target) => {
                    links += 1;
                    let Some(target) = target.to_str().filter(|_| links <= MAX_LINKS) else {
                        return Real::Unknown;
                    };
                    real.truncate(if target.starts_with('/') { 0 } else { parent });
                    rest.extend(target.rsplit('/').map(str::to_owned));
                }
                // It is there, and not a link.
                Err(error) if error.kind() == ErrorKind::InvalidInput => {}
                Err(error) if is_missing(error.kind()) => missing = Some(parent),
                Err(_) => return Real::Unknown,
            }
        }
        if real.is_empty() {
            real.push('/');
        }
        Real::At(real)
    }

    fn is_file(&self, path: &str) -> bool {
        std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() > 0)
    }

    fn content(&self, path: &str, most: usize) -> Option<String> {
        // The path was resolved before: what is a link now was none then.
        let about = std::fs::symlink_metadata(path).ok()?;
        let fits = |bytes: u64| usize::try_from(bytes).is_ok_and(|bytes| bytes <= most);
        if !about.is_file() || !fits(about.len()) {
            return None;
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).ok()?;
        // It may grow meanwhile.
        file.take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
        fits(bytes.len() as u64).then(|| String::from_utf8(bytes).ok())?
    }

    fn is_folder(&self, path: &str) -> bool {
        std::fs::metadata(path).is_ok_and(|about| about.is_dir())
    }

    /// The kernel tells without asking the file system, which may be the one that hangs.
    fn mount_of(&self, path: &str) -> Option<String> {
        let table = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
        let points = table.lines().filter_map(|line| line.split(' ').nth(4));
        let points = points.map(|point| point.replace("\\040", " "));
        let above = points.filter(|point| point != "/" && is_under(path, point));
        above.max_by_key(String::len)
    }
}

fn is_missing(kind: ErrorKind) -> bool {
    kind == ErrorKind::NotFound || kind == ErrorKind::NotADirectory
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn paths_are_followed_as_the_kernel_does() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), "x").unwrap();
        symlink(".", root.join("l")).unwrap();
        symlink("round", root.join("round")).unwrap();
        symlink("a/b", root.join("in")).unwrap();
        symlink("/", root.join("out")).unwrap();
        symlink("not/there", root.join("dangling")).unwrap();
        let root = root.to_str().unwrap();
        let real = |path: &str| Disk.real(&format!("{root}/{path}"), &mut |_| true);
        let check = |path: &str, expected: &str| {
            assert_eq!(real(path), Real::At(format!("{root}{expected}")), "{path}");
        };
        check("a/./b//", "/a/b");
        check("in/../file", "/a/file");
        check("in/new/file", "/a/b/new/file");
        check("new/../in/x", "/a/b/x");
        let above = root.rsplit_once('/').unwrap().0;
        assert_eq!(real("new/../../x"), Real::At(format!("{above}/x")));
        check("a/file/x/../../in", "/a/in");
        check("dangling/x", "/not/there/x");
        check(&format!("{}a", "l/".repeat(40)), "/a");
        assert_eq!(real("out/etc"), Real::At("/etc".to_owned()));
        assert_eq!(real("out"), Real::At("/".to_owned()));
        assert_eq!(real(&format!("{}a", "l/".repeat(41))), Real::Unknown);
        assert_eq!(real("round"), Real::Unknown);
        assert_eq!(real(&"x/".repeat(600)), Real::Unknown);
        assert_eq!(Disk.real("/dev/fd/3", &mut |_| true), Real::AsWritten);
    }

    #[test]
    fn a_place_that_must_not_be_entered_is_unknown() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("hung")).unwrap();
        symlink("hung", root.join("link")).unwrap();
        let hung = root.join("hung").to_str().unwrap().to_owned();
        let path = root.join("link/x").to_str().unwrap().to_owned();
        let real = Disk.real(&path, &mut |at| !is_under(at, &hung));
        assert_eq!(real, Real::Unknown);
    }
}
