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
    let joined = joined(path, cwd, home);
    if is_windows(&joined) {
        return unix_form(&joined);
    }
    let rooted = joined.starts_with('/');
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
    if is_uri(path) || path.starts_with('/') || path.starts_with(HOLE) || is_windows(path) {
        path.to_owned()
    } else if path == "~" || path.starts_with("~/") {
        // Tools take it as the home folder; a shell has put the home there already.
        format!("{home}{}", path.trim_start_matches('~'))
    } else {
        format!("{}/{path}", cwd.trim_end_matches('/'))
    }
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

fn is_windows(path: &str) -> bool {
    let mut chars = path.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    drive && chars.next() == Some(':') && matches!(chars.next(), Some('\\' | '/'))
}

/// `C:\Users\x\.ssh` as `/Users/x/.ssh`: secrets have the same names there.
fn unix_form(path: &str) -> String {
    let rest = path.split_once(':').map_or(path, |(_, rest)| rest);
    rest.replace('\\', "/")
}

/// Ways through `/proc` and macOS's `/private` lead to the same files.
pub(super) fn without_detours(path: &str) -> String {
    let mut path = path;
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
            Some("") => return "/".to_owned(),
            Some(inner) if inner.starts_with('/') => path = inner,
            _ => break,
        }
    }
    path.to_owned()
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
    match path.strip_prefix("/root") {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}
