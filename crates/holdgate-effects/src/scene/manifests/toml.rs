//! Manifests in TOML, line by line: sections, keys, and lists that go on over lines.

use super::{Found, Named};
use crate::knowledge::publishers::{Registry, name_of};

/// Keys in sections of dependencies that name no package, and keys of a package's own section.
const OTHER_KEYS: [&str; 12] = [
    "python",
    "version",
    "edition",
    "rust-version",
    "name",
    "resolver",
    "optional",
    "features",
    "default-features",
    "path",
    "description",
    "requires-python",
];

pub(super) fn python(text: &str) -> Found<'_> {
    let local = local_names(text);
    let mut found = Vec::new();
    let mut section = "";
    let mut list = false;
    for line in text.lines() {
        let code = line.trim();
        if code.starts_with('#') {
            continue;
        }
        if !list && let Some(head) = head_of(code) {
            section = head;
            continue;
        }
        let (key, value) = code.split_once('=').unwrap_or(("", code));
        let key = key.trim().trim_matches('"');
        let is_key = !key.is_empty()
            && key
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        if !list && is_key && value.trim_start().starts_with('[') {
            let lists = ["dependencies", "requires", "dev-dependencies"];
            list = lists.contains(&key)
                || section.ends_with("optional-dependencies")
                || section == "dependency-groups";
            if list {
                found.extend(strings(value).map(|name| (name, line)));
            }
            list &= !closes(value);
        } else if list {
            if !code.contains("include-group") {
                found.extend(strings(code).map(|name| (name, line)));
            }
            list = !closes(code);
        } else if is_key && is_section(section) && !OTHER_KEYS.contains(&key) {
            let here = ["path =", "path=", "git =", "url =", "workspace ="];
            if !here.iter().any(|word| value.contains(word)) {
                found.push((key, line));
            }
        } else if section.is_empty() && code.starts_with('"') && code.contains([',', '=', '>']) {
            // A piece of a list.
            let compared = ["==", ">=", "<=", "~=", "<", ">"];
            let names = strings(code).filter(|name| compared.iter().any(|c| name.contains(c)));
            found.extend(names.map(|name| (name, line)));
        }
    }
    found
        .into_iter()
        .filter(|(name, _)| !name.contains("://") && !name.contains('/'))
        .filter(|(name, _)| !name_of(Registry::Pypi, name).is_some_and(|n| local.contains(&n)))
        .map(|(name, line)| (Named::Package(Registry::Pypi, name), line))
        .collect()
}

pub(super) fn cargo(text: &str) -> Found<'_> {
    let mut found = Vec::new();
    let mut section = "";
    let mut inside = false;
    for line in text.lines() {
        let code = line.trim();
        if let Some(head) = head_of(code) {
            section = head;
            // `[dependencies.name]`
            let (above, name) = head.rsplit_once('.').unwrap_or(("", head));
            inside = is_section(above);
            if inside {
                found.push((Named::Package(Registry::Crates, name), line));
            }
            continue;
        }
        let Some((key, value)) = code.split_once('=') else {
            continue;
        };
        let (key, value) = (key.trim().trim_matches('"'), value.trim());
        if inside {
            // The keys of one dependency: it may lie here, or have another name.
            match key {
                "path" | "git" | "workspace" => drop(found.pop()),
                "package" => {
                    found.pop();
                    let name = value.trim_matches('"');
                    found.push((Named::Package(Registry::Crates, name), line));
                }
                _ => continue,
            }
            inside = key == "package";
            section = "package";
            continue;
        }
        let is_key = key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        let version = value.starts_with('"') && value.get(1..).is_some_and(starts_version);
        let piece = section.is_empty() && (version || value.starts_with("{ version"));
        let here = [
            "path =",
            "path=",
            "git =",
            "git=",
            "workspace = true",
            "workspace=true",
        ];
        if !is_key || here.iter().any(|word| value.contains(word)) || OTHER_KEYS.contains(&key) {
            continue;
        }
        if is_section(section) || piece {
            let other = value
                .split_once("package = \"")
                .and_then(|(_, rest)| rest.split('"').next());
            found.push((Named::Package(Registry::Crates, other.unwrap_or(key)), line));
        }
    }
    found
}

fn starts_version(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || "^~=>*".contains(c))
}

fn head_of(code: &str) -> Option<&str> {
    let head = code.strip_prefix('[')?.trim_start_matches('[');
    let head = head.split(']').next()?;
    let plain = !head.is_empty() && !head.contains([',', '"']) || head.starts_with("target.");
    plain.then_some(head)
}

/// Whether keys of this section are names of packages.
fn is_section(section: &str) -> bool {
    let last = section.rsplit('.').next().unwrap_or("");
    last.ends_with("dependencies") && last != "optional-dependencies"
        || matches!(section, "packages" | "dev-packages")
}

/// Whether a list ends on this line: behind its last string.
fn closes(code: &str) -> bool {
    let code = code.split(" #").next().unwrap_or(code).trim_end();
    code.trim_end_matches(',').ends_with(']')
}

fn strings(code: &str) -> impl Iterator<Item = &str> {
    let mark = if code.contains('"') { '"' } else { '\'' };
    let code = if code.trim_start().starts_with('#') {
        ""
    } else {
        code
    };
    code.split(mark)
        .skip(1)
        .step_by(2)
        .filter(|text| !text.is_empty())
}

/// Names that are those of folders of the project.
fn local_names(text: &str) -> Vec<String> {
    let here = |line: &&str| line.contains("workspace = true") || line.contains("path =");
    let lines = text.lines().filter(here);
    let names = lines.filter_map(|line| line.split_once('=').map(|(key, _)| key.trim()));
    names
        .filter_map(|name| name_of(Registry::Pypi, name))
        .collect()
}
