//! A path as text: seen from a folder, without detours, in its short form.

use crate::value::HOLE;

/// Whether `path` is `folder` or lies in it.
pub fn is_under(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// `path` seen from `cwd`, without `.` and `..`.
pub fn absolute(path: &str, cwd: &str, home: &str) -> String {
    if is_uri(path) {
        return path.to_owned();
    }
    let mut joined = joined(path, cwd, home);
    if is_windows(&joined) {
        joined = unix_form(&joined);
    }
    let rooted = joined.starts_with('/');
    if rooted && !joined.contains("//") && !joined.contains("/.") && !joined.ends_with('/') {
        return joined;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                // What an unknown part hides may be several folders deep: stay at it.
                Some(last) if last.contains(HOLE) => parts.push(".."),
                Some(&"..") => parts.push(".."),
                Some(_) => {
                    parts.pop();
                }
                None => {}
            },
            part => parts.push(part),
        }
    }
    let body = parts.join("/");
    if rooted { format!("/{body}") } else { body }
}

/// `path` as it is seen from `cwd`, nothing taken out.
pub(super) fn joined(path: &str, cwd: &str, home: &str) -> String {
    let path = file_of(path);
    if let Some(rest) = path.strip_prefix("/proc/").and_then(of_own_folder) {
        return format!("{}{rest}", cwd.trim_end_matches('/'));
    }
    if is_uri(path) || path.starts_with('/') || path.starts_with(HOLE) || is_windows(path) {
        path.to_owned()
    } else if path == "~" || path.starts_with("~/") {
        // Tools take it as the home folder; a shell has put the home there already.
        format!("{home}{}", path.trim_start_matches('~'))
    } else {
        let inside = format!("{}/{path}", cwd.trim_end_matches('/'));
        if is_on_drive(cwd) {
            return inside.replace('\\', "/");
        }
        inside
    }
}

/// Whether `path` may lead to another place from another folder. If not, it certainly does not.
pub(crate) fn depends_on_folder(path: &str) -> bool {
    let is_fixed = path.starts_with('/') && !path.starts_with("/proc/")
        || path == "~"
        || path.starts_with("~/")
        || path.starts_with(HOLE)
        || is_windows(path)
        || is_uri(path) && !path.starts_with("file:");
    !is_fixed
}

/// What follows the working folder in `self/cwd/…`, a path below `/proc`.
fn of_own_folder(path: &str) -> Option<&str> {
    let inner = path
        .strip_prefix("self/cwd")
        .or_else(|| path.strip_prefix("thread-self/cwd"))?;
    (inner.is_empty() || inner.starts_with('/')).then_some(inner)
}

/// Whether it is a device that gives as much as anybody reads.
pub(crate) fn is_endless(path: &str) -> bool {
    let device = path.strip_prefix("/dev/");
    device.is_some_and(|device| matches!(device, "zero" | "urandom" | "random" | "full"))
}

/// Whether it is an address and not a path: `https://…`, `s3://…`, `user@host:…`.
pub(crate) fn is_uri(path: &str) -> bool {
    let Some((before, after)) = path.split_once(':') else {
        return false;
    };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let by_scheme = after.starts_with("//") && before.len() > 1 && before.chars().all(is_scheme);
    // As `scp` and git write it.
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let by_user = before.split_once('@').is_some_and(|(user, host)| {
        !user.is_empty()
            && user.chars().all(is_host)
            && !host.is_empty()
            && host.chars().all(is_host)
    });
    by_scheme && before != "file" || by_user
}

/// The path that `file:…` means: without the scheme, this machine's name and what is asked of the file.
fn file_of(path: &str) -> &str {
    let Some(rest) = path.strip_prefix("file:") else {
        return path;
    };
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let rest = rest
        .strip_prefix("localhost")
        .filter(|r| r.starts_with('/'))
        .unwrap_or(rest);
    rest.split('?').next().unwrap_or(rest)
}

pub(super) fn is_windows(path: &str) -> bool {
    let path = path.strip_prefix(r"\\?\").unwrap_or(path);
    let mut chars = path.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    drive && chars.next() == Some(':') && matches!(chars.next(), Some('\\' | '/'))
}

/// `C:\Users\x` as Git's shell on Windows writes it: `/c/Users/x`.
fn unix_form(path: &str) -> String {
    let path = path.strip_prefix(r"\\?\").unwrap_or(path);
    let (drive, rest) = path.split_once(':').unwrap_or(("", path));
    format!("/{}{}", drive.to_ascii_lowercase(), rest.replace('\\', "/"))
}

/// Whether an absolute path lies on a drive of Windows: `/c/Users`.
fn is_on_drive(path: &str) -> bool {
    let mut parts = path.split('/');
    let drive = parts.nth(1).unwrap_or("");
    drive.len() == 1 && drive.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// The home of the user who has this project, by the usual places of homes.
pub(super) fn home_of(project: &str) -> Option<String> {
    let parts: Vec<&str> = project.split('/').skip(1).collect();
    let home = match parts.as_slice() {
        ["root", _, ..] => "/root".to_owned(),
        ["home" | "Users", user, _, ..] => {
            let homes = parts.first()?;
            format!("/{homes}/{user}")
        }
        [drive, "Users", user, _, ..] if drive.len() == 1 => format!("/{drive}/Users/{user}"),
        _ => return None,
    };
    Some(home)
}

/// Ways through `/proc` and macOS's `/private`, and the drives of Windows as WSL and Cygwin mount
/// them, lead to the same files.
pub(super) fn without_detours(path: &str) -> &str {
    let mut path = path;
    for mounts in ["/mnt", "/cygdrive"] {
        if let Some(rest) = path.strip_prefix(mounts).filter(|rest| is_on_drive(rest)) {
            path = rest;
        }
    }
    loop {
        if let Some(rest) = path.strip_prefix("/private/")
            && (rest.starts_with("tmp") || rest.starts_with("var") || rest.starts_with("etc"))
        {
            path = path.get("/private".len()..).unwrap_or(path);
            continue;
        }
        let Some(rest) = path.strip_prefix("/proc/") else {
            break;
        };
        let Some((_, rest)) = rest.split_once('/') else {
            break;
        };
        let rest = match rest.strip_prefix("task/") {
            Some(task) => task.split_once('/').map_or("", |(_, rest)| rest),
            None => rest,
        };
        match rest.strip_prefix("root") {
            Some("") => return "/",
            Some(inner) if inner.starts_with('/') => path = inner,
            _ => break,
        }
    }
    path
}

/// Any user's home as `~`, so that one table serves all.
pub(super) fn short_form(path: &str, home: &str) -> String {
    if home != "/" && is_under(path, home) {
        let rest = path.get(home.trim_end_matches('/').len()..).unwrap_or("");
        return format!("~{rest}");
    }
    for homes in ["/home/", "/Users/"] {
        if let Some(rest) = path.strip_prefix(homes) {
            return match rest.split_once('/') {
                Some((_, rest)) => format!("~/{rest}"),
                None => "~".to_owned(),
            };
        }
    }
    if is_on_drive(path)
        && let Some(rest) = path.get(2..).and_then(|rest| rest.strip_prefix("/Users/"))
    {
        return rest
            .split_once('/')
            .map_or_else(|| "~".to_owned(), |(_, rest)| format!("~/{rest}"));
    }
    match path.strip_prefix("/root") {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_working_folder_is_found_by_way_of_proc() {
        let seen = |path: &str| absolute(path, "/home/dev/app", "/home/dev");
        assert_eq!(seen("/proc/self/cwd/../.bashrc"), "/home/dev/.bashrc");
        assert_eq!(seen("/proc/thread-self/cwd"), "/home/dev/app");
        assert_eq!(seen("/proc/self/cwdx"), "/proc/self/cwdx");
    }

    #[test]
    fn a_path_that_does_not_depend_on_the_folder_is_the_same_from_each() {
        let from = |path: &str, cwd: &str| absolute(path, cwd, "/home/dev");
        let paths = [
            "/a/b",
            "~",
            "~/x",
            "~user/x",
            "a",
            "./a",
            "../a",
            "",
            "/proc/self/cwd/x",
            "/proc/1/fd",
            "https://a.b/c",
            "file:x",
            "file:///x",
            "git@host:x",
            r"C:\a",
            r"\\?\C:\a",
            "a:b",
            "C:a",
            "\u{FFFC}/x",
        ];
        for path in paths {
            let same = from(path, "/home/dev/a") == from(path, "/srv/b");
            assert!(same || depends_on_folder(path), "{path}");
        }
        assert!(depends_on_folder("a/b"));
        assert!(!depends_on_folder("/a/b"));
    }

    #[test]
    fn a_drive_of_windows_has_one_form() {
        let seen =
            |path: &str| without_detours(&absolute(path, "/d/app", "/c/Users/me")).to_owned();
        assert_eq!(seen(r"D:\app\src\main.rs"), "/d/app/src/main.rs");
        assert_eq!(seen(r"\\?\D:\app\x"), "/d/app/x");
        assert_eq!(seen(r"src\..\x"), "/d/app/x");
        assert_eq!(seen("/mnt/d/app/x"), "/d/app/x");
        assert_eq!(seen("/cygdrive/d/app"), "/d/app");
        assert_eq!(seen("/mnt/data/x"), "/mnt/data/x");
        assert_eq!(
            short_form("/c/Users/me/.ssh/id_rsa", "/home/x"),
            "~/.ssh/id_rsa"
        );
    }

    #[test]
    fn a_home_is_where_homes_are() {
        assert_eq!(home_of("/home/me/a/b").as_deref(), Some("/home/me"));
        assert_eq!(home_of("/c/Users/me/app").as_deref(), Some("/c/Users/me"));
        assert_eq!(home_of("/srv/app"), None);
    }
}
