//! The packages, images and actions that a manifest names. Pieces of a file are read too: an edit may show
//! a few lines of it.

mod json;
mod toml;

use crate::knowledge::publishers::Registry;

/// Something that a manifest takes from somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named<'t> {
    /// A package, or an owner, of a registry.
    Package(Registry, &'t str),
    /// Whatever lies at an address.
    Address(&'t str),
    /// The charts at an address.
    Charts(&'t str),
    /// An image of a container, or what is kept among images.
    Image(&'t str),
}

/// What is named, each with the line or the words that say so.
pub(super) type Found<'t> = Vec<(Named<'t>, &'t str)>;

/// How a manifest of this name is read.
pub(super) fn reader(folder: &str, name: &str) -> Option<fn(&str) -> Found<'_>> {
    let lower = name.to_ascii_lowercase();
    let extension = lower.rsplit('.').next().unwrap_or("");
    let yaml = matches!(extension, "yml" | "yaml");
    let is_recipe = lower.starts_with("dockerfile") || lower.starts_with("containerfile");
    let reader: fn(&str) -> Found<'_> = match lower.as_str() {
        "package.json" => json::npm,
        "composer.json" => json::packagist,
        "devcontainer.json" | ".devcontainer.json" => json::container,
        "pyproject.toml" | "pipfile" => toml::python,
        "cargo.toml" => toml::cargo,
        "go.mod" => go,
        "gemfile" => gems,
        ".pre-commit-config.yaml" => hooks,
        "pnpm-workspace.yaml" | "platformio.ini" => overrides,
        ".pnpmfile.cjs" | ".pnpmfile.mjs" | "pnpmfile.js" => references,
        "chart.yaml" | "requirements.yaml" => charts,
        ".gitlab-ci.yml" => pipeline,
        ".gitmodules" => submodules,
        "config.yml" | "config.yaml" if folder == ".circleci" => orbs,
        "action.yml" | "action.yaml" => actions,
        _ if is_recipe || extension == "dockerfile" => recipe,
        _ if yaml && (lower.contains("compose")) => images,
        _ if yaml && folder == "workflows" => actions,
        _ if matches!(
            extension,
            "html"
                | "htm"
                | "vue"
                | "svelte"
                | "astro"
                | "ejs"
                | "erb"
                | "php"
                | "js"
                | "mjs"
                | "ts"
                | "tsx"
                | "jsx"
        ) =>
        {
            scripts
        }
        _ if extension == "py" => script_header,
        _ if matches!(extension, "tf" | "tofu") || lower == "terragrunt.hcl" => terraform,
        _ if matches!(extension, "txt" | "in")
            && (lower.starts_with("requirements") || folder == "requirements") =>
        {
            requirements
        }
        _ => return None,
    };
    Some(reader)
}

/// Code that puts packages in the place of others: each text that names a repository.
fn references(text: &str) -> Found<'_> {
    let quoted = text.split(['"', '\'', '`']).skip(1).step_by(2);
    let named = quoted.filter_map(|part| {
        let owner = part.strip_prefix("github:");
        let owner = owner.and_then(|path| path.split('/').next());
        let at = || part.contains("://").then_some(Named::Address(part));
        let named = owner.map(|owner| Named::Package(Registry::Forge, owner));
        Some((named.or_else(at)?, part))
    });
    named.collect()
}

/// Whether a manifest names a package or an owner, by itself.
pub(super) fn mentions(registry: Registry, text: &str, name: &str) -> bool {
    if text.is_empty() || name.is_empty() {
        return false;
    }
    let mut text = text.to_ascii_lowercase();
    if registry == Registry::Pypi {
        text = text.replace(['_', '.'], "-");
    } else if registry == Registry::Crates {
        text = text.replace('_', "-");
    }
    let parts = match registry {
        Registry::Npm if name.starts_with('@') => 1,
        Registry::Go => 2,
        Registry::Npm
        | Registry::Pypi
        | Registry::Gem
        | Registry::Crates
        | Registry::Packagist
        | Registry::Jsr
        | Registry::Extension
        | Registry::Tap
        | Registry::Forge
        | Registry::Image
        | Registry::Chart
        | Registry::Terraform
        | Registry::Galaxy => 0,
    };
    let slash = name.match_indices('/').nth(usize::max(parts, 1) - 1);
    let owner = slash
        .filter(|_| parts > 0)
        .and_then(|(at, _)| name.get(..at));
    let ends = |rest: &str, whole: bool| {
        let next = rest.chars().next();
        let part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if whole {
            !next.is_some_and(part)
        } else {
            next == Some('/')
        }
    };
    let starts = |before: &str| {
        let last = before.chars().next_back();
        !last.is_some_and(|c| c.is_ascii_alphanumeric() || "-_@".contains(c))
    };
    let stands = |wanted: &str, whole: bool| {
        text.match_indices(wanted).any(|(at, _)| {
            let rest = text.get(at + wanted.len()..).unwrap_or("");
            starts(text.get(..at).unwrap_or("")) && ends(rest, whole)
        })
    };
    // An owner stands before what is its own.
    let whole = !matches!(
        registry,
        Registry::Forge | Registry::Image | Registry::Packagist
    );
    stands(name, whole) || owner.is_some_and(|owner| stands(owner, false))
}

/// Scripts that a page loads from hosts where everybody has a folder: `cdn.jsdelivr.net/gh/owner/…`.
fn scripts(text: &str) -> Found<'_> {
    const SHARED: [&str; 5] = [
        "cdn.jsdelivr.net/gh/",
        "raw.githubusercontent.com/",
        "esm.sh/gh/",
        "cdn.statically.io/gh/",
        "githack.com/",
    ];
    let mut found = Vec::new();
    if !text.contains("/gh/") && !text.contains("git") {
        return found;
    }
    for line in text.lines() {
        let rest = SHARED.iter().find_map(|host| line.split_once(host));
        let Some((before, path)) = rest else {
            continue;
        };
        let end = path.find(|c: char| c.is_whitespace() || "\"'`<>)?".contains(c));
        let path = path.get(..end.unwrap_or(path.len())).unwrap_or("");
        let loads = ["script", "import", "src=", "require"];
        let loads = loads.iter().any(|word| before.contains(word));
        let code = [".js", ".mjs", ".cjs", ".wasm", ".ts"];
        if loads && (code.iter().any(|end| path.ends_with(end)) || before.contains("esm.sh")) {
            let owner = path.split('/').next().unwrap_or("");
            found.push((Named::Package(Registry::Forge, owner), line));
        }
    }
    found
}

/// Packages that a workspace puts in the place of others: `name: github:owner/name`.
fn overrides(text: &str) -> Found<'_> {
    let named = text.lines().filter_map(|line| {
        let (_, value) = line.split_once([':', '='])?;
        let value = value.trim().trim_matches(['"', '\'']);
        let short = value.strip_prefix("github:");
        let owner = short.and_then(|path| path.split('/').next());
        let at = || value.contains("://").then_some(Named::Address(value));
        let named = owner.map(|owner| Named::Package(Registry::Forge, owner));
        Some((named.or_else(at)?, line))
    });
    named.collect()
}

/// What stands behind `key:` on a line of YAML.
fn value_of<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let rest = line.trim().trim_start_matches("- ").trim_start();
    let value = rest.strip_prefix(key)?.trim_start().strip_prefix(':')?;
    let value = value.split(" #").next().unwrap_or(value).trim();
    let value = value.trim_matches(['"', '\'']);
    (!value.is_empty()).then_some(value)
}

fn actions(text: &str) -> Found<'_> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(uses) = value_of(line, "uses") else {
            continue;
        };
        let owner = uses.split('/').next().unwrap_or("");
        if uses.starts_with("docker://") {
            found.push((Named::Image(uses), line));
        } else if uses.contains('/') && !owner.starts_with('.') {
            found.push((Named::Package(Registry::Forge, owner), line));
        }
    }
    found
}

/// The images of a pipeline of GitLab, and the components that it takes from owners at a known server.
fn pipeline(text: &str) -> Found<'_> {
    let mut found = images(text);
    let components = text.lines().filter_map(|line| {
        let value = value_of(line, "component")?;
        let owner = value.strip_prefix("gitlab.com/")?.split('/').next()?;
        Some((Named::Package(Registry::Forge, owner), line))
    });
    found.extend(components);
    found
}

/// `node: circleci/node@5.1`: packages of steps, below `orbs`.
fn orbs(text: &str) -> Found<'_> {
    let mut found = images(text);
    let orbs = text.lines().filter_map(|line| {
        let (_, value) = line.split_once(": ")?;
        let value = value.trim().trim_matches(['"', '\'']);
        let (name, version) = value.split_once('@')?;
        let (owner, name) = name.split_once('/')?;
        let part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_one = [owner, name, version]
            .iter()
            .all(|text| !text.is_empty() && text.chars().all(part));
        is_one.then_some((Named::Package(Registry::Forge, owner), line))
    });
    found.extend(orbs);
    found
}

fn submodules(text: &str) -> Found<'_> {
    let urls = text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let address = value.contains("://") || value.contains('@');
        (key.trim() == "url" && address).then_some((Named::Address(value.trim()), line))
    });
    urls.collect()
}

/// The packages in the header of a script that its runner installs before it starts.
fn script_header(text: &str) -> Found<'_> {
    let Some((_, rest)) = text.split_once("# /// script") else {
        return Vec::new();
    };
    let header = rest.split_once("# ///").map_or("", |(header, _)| header);
    let Some((_, listed)) = header.split_once("dependencies") else {
        return Vec::new();
    };
    let listed = listed
        .split_once("\n# ]")
        .map_or(listed, |(listed, _)| listed);
    let mut found = Vec::new();
    for line in listed.lines() {
        for name in line.split(['"', '\'']).skip(1).step_by(2) {
            let url = name.rsplit_once(" @ ").map(|(_, url)| url);
            let named = url.map_or(Named::Package(Registry::Pypi, name), Named::Address);
            found.push((named, line));
        }
        if line.trim_end().ends_with(']') {
            break;
        }
    }
    found
}

fn hooks(text: &str) -> Found<'_> {
    let repos = text
        .lines()
        .filter_map(|line| Some((value_of(line, "repo")?, line)));
    repos
        .map(|(repo, line)| (Named::Address(repo), line))
        .collect()
}

fn charts(text: &str) -> Found<'_> {
    let repos = text
        .lines()
        .filter_map(|line| Some((value_of(line, "repository")?, line)));
    repos
        .map(|(repo, line)| {
            let named = if repo.starts_with("oci://") {
                Named::Image(repo)
            } else {
                Named::Charts(repo)
            };
            (named, line)
        })
        .collect()
}

fn recipe(text: &str) -> Found<'_> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or("").to_ascii_uppercase();
        let image = match first.as_str() {
            "FROM" => words.find(|word| !word.starts_with("--")),
            "COPY" | "RUN" => words.find_map(|word| {
                let mount = word.split(',').find_map(|part| part.strip_prefix("from="));
                word.strip_prefix("--from=").or(mount)
            }),
            // `# syntax=owner/frontend`: the image that reads this file.
            "#" => words.next().and_then(|word| word.strip_prefix("syntax=")),
            _ => None,
        };
        found.extend(image.map(|image| (Named::Image(image), line)));
    }
    found
}

/// `image:` of services. One that is built here has its name from here.
fn images(text: &str) -> Found<'_> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(image) = value_of(line, "image") else {
            continue;
        };
        let depth = indent(line);
        let beside = |line: &&&str| line.trim().is_empty() || indent(line) >= depth;
        let before = lines
            .get(..at)
            .unwrap_or(&[])
            .iter()
            .rev()
            .take_while(beside);
        let after = lines.get(at + 1..).unwrap_or(&[]).iter().take_while(beside);
        let builds = |line: &&str| indent(line) == depth && line.trim().starts_with("build:");
        if !before.chain(after).any(builds) {
            found.push((Named::Image(image), *line));
        }
    }
    found
}

fn go(text: &str) -> Found<'_> {
    let mut found = Vec::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or("").trim();
        let code = code.split_once("=>").map_or(code, |(_, other)| other);
        let mut words = code
            .split_whitespace()
            .skip_while(|word| matches!(*word, "require" | "tool" | "("));
        let (Some(module), version) = (words.next(), words.next()) else {
            continue;
        };
        let is_module =
            module.contains('/') && module.split('/').next().is_some_and(|h| h.contains('.'));
        if is_module && !module.starts_with('.') && version.is_some_and(|v| v.starts_with('v')) {
            found.push((Named::Package(Registry::Go, module), line));
        }
    }
    found
}

fn gems(text: &str) -> Found<'_> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.trim().strip_prefix("gem ") else {
            continue;
        };
        let mut quoted = rest.split(['"', '\'']).skip(1).step_by(2);
        let Some(name) = quoted.next() else {
            continue;
        };
        let key =
            |key: &str| rest.contains(&format!("{key}:")) || rest.contains(&format!(":{key} =>"));
        if let Some((_, after)) = rest.split_once("github:") {
            let owner = after.trim().trim_matches(['"', '\'']).split('/').next();
            found.extend(owner.map(|owner| (Named::Package(Registry::Forge, owner), line)));
        } else if !key("path") && !key("git") {
            found.push((Named::Package(Registry::Gem, name), line));
        }
    }
    found
}

fn requirements(text: &str) -> Found<'_> {
    let mut found = Vec::new();
    for line in text.lines() {
        let code = line.split(" #").next().unwrap_or("").trim();
        let code = code
            .trim_start_matches("-e ")
            .trim_start_matches("--editable ");
        if code.starts_with(['#', '-', '.', '/']) || code.is_empty() {
            continue;
        }
        if code.contains("://") {
            let url = code.rsplit_once(" @ ").map_or(code, |(_, url)| url);
            found.push((Named::Address(url), line));
        } else if !code.contains('/') {
            found.push((Named::Package(Registry::Pypi, code), line));
        }
    }
    found
}

/// `source = "…"` of a module or a provider.
fn terraform(text: &str) -> Found<'_> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.trim().strip_prefix("source") else {
            continue;
        };
        let Some(source) = rest.trim_start().strip_prefix('=') else {
            continue;
        };
        let source = source.trim().trim_matches('"');
        let source = source
            .strip_prefix("registry.terraform.io/")
            .unwrap_or(source);
        // `git::https://…`, `s3::https://…`
        let source = source.split_once("::").map_or(source, |(_, rest)| rest);
        let mut parts = source.split('/');
        let first = parts.next().unwrap_or("");
        let count = parts.count();
        if source.contains("://")
            || first.contains('.') && !first.starts_with('.')
            || first.contains('@')
        {
            found.push((Named::Address(source), line));
        } else if (1..=4).contains(&count) && !first.starts_with('.') && !source.contains('$') {
            found.push((Named::Package(Registry::Terraform, first), line));
        }
    }
    found
}

#[cfg(test)]
mod tests;
