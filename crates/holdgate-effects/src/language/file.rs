//! Which files hold code that will run, and in which language.

use super::Language;

/// The language of a file by its path (with `~` for the home) and the start of its content.
pub(super) fn language(path: &str, content: &str) -> Option<Language> {
    let path = path.replace('\\', "/");
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let lower = name.to_ascii_lowercase();
    by_place(folder, &lower, content)
        .or_else(|| by_name(&lower))
        .or_else(|| by_extension(&lower))
        .or_else(|| by_manifest(&lower, content))
        .or_else(|| {
            // A first line that names an interpreter makes a script of anything but a text.
            let text = [".md", ".txt", ".rst", ".adoc", ".html", ".org", ".tex"];
            if text.iter().any(|end| lower.ends_with(end)) {
                None
            } else {
                by_first_line(content)
            }
        })
}

fn by_place(folder: &str, name: &str, content: &str) -> Option<Language> {
    let within = |part: &str| {
        let folder = format!("{folder}/");
        folder.contains(part)
    };
    let extension = name.rsplit_once('.').map_or("", |(_, end)| end);
    let yaml = matches!(extension, "yml" | "yaml");
    let json = matches!(extension, "json" | "jsonc");
    if within(".git/hooks/") || within(".githooks/") || within(".husky/") {
        // Samples do not run.
        if name.ends_with(".sample") || name == ".gitignore" {
            return None;
        }
        return by_first_line(content).or(Some(Language::Shell));
    }
    if yaml
        && (within(".github/workflows/")
            || within(".github/actions/")
            || within(".circleci/")
            || within(".forgejo/workflows/")
            || within(".gitea/workflows/"))
    {
        return Some(Language::Embedded);
    }
    if json
        && (within(".vscode/")
            || within(".claude/")
            || within(".devcontainer/")
            || within(".cursor/")
            || within(".gemini/"))
    {
        return Some(Language::Embedded);
    }
    if folder.starts_with("/etc/cron.") && folder != "/etc/cron.d" && !name.contains('.') {
        return by_first_line(content).or(Some(Language::Shell));
    }
    if folder == "/etc/cron.d" || within("/cron/crontabs/") || within("/spool/cron/") {
        return Some(Language::Embedded);
    }
    if within("LaunchAgents/") || within("LaunchDaemons/") {
        return Some(Language::Embedded);
    }
    if folder.starts_with("/etc/profile.d")
        || folder.starts_with("/etc/init.d")
        || folder.starts_with("/etc/rc")
    {
        return by_first_line(content).or(Some(Language::Shell));
    }
    if within(".cargo/") && matches!(name, "config.toml" | "config") {
        return Some(Language::Embedded);
    }
    if within(".git/") && name == "config" {
        return Some(Language::Embedded);
    }
    None
}

fn by_name(name: &str) -> Option<Language> {
    let language = match name {
        ".bashrc" | ".bash_profile" | ".bash_login" | ".bash_logout" | ".profile" | ".zshrc"
        | ".zprofile" | ".zshenv" | ".zlogin" | ".kshrc" | ".xprofile" | ".xinitrc"
        | ".xsession" | ".bash_aliases" | ".envrc" | "bash.bashrc" | "zshrc" | "rc.local"
        | "pkgbuild" | ".xsessionrc" | ".cshrc" | ".tcshrc" => Language::Shell,
        "makefile" | "gnumakefile" | "bsdmakefile" | "justfile" | ".justfile" => Language::Make,
        "dockerfile"
        | "containerfile"
        | ".gitlab-ci.yml"
        | ".gitlab-ci.yaml"
        | ".travis.yml"
        | "azure-pipelines.yml"
        | "bitbucket-pipelines.yml"
        | "appveyor.yml"
        | "action.yml"
        | "action.yaml"
        | "docker-compose.yml"
        | "docker-compose.yaml"
        | "compose.yml"
        | "compose.yaml"
        | ".pre-commit-config.yaml"
        | "taskfile.yml"
        | "package.json"
        | "pyproject.toml"
        | "cargo.toml"
        | "pixi.toml"
        | "mise.toml"
        | ".mise.toml"
        | "netlify.toml"
        | "wrangler.toml"
        | "composer.json"
        | "deno.json"
        | "devcontainer.json"
        | "tasks.json"
        | ".mcp.json"
        | "crontab"
        | ".gitconfig"
        | "lefthook.yml"
        | "cloud-init.yml"
        | "user-data" => Language::Embedded,
        "rakefile" | "gemfile" | "vagrantfile" | "podfile" | "fastfile" | "guardfile"
        | "capfile" | "brewfile" => Language::Ruby,
        "sconstruct" | "sconscript" | "wscript" => Language::Python,
        "jenkinsfile" => Language::Compiled,
        _ if name.starts_with("docker-compose") || name.starts_with("compose.") => {
            Language::Embedded
        }
        _ if name.starts_with("dockerfile.") || name.ends_with(".dockerfile") => Language::Embedded,
        _ => return None,
    };
    Some(language)
}

fn by_extension(name: &str) -> Option<Language> {
    let (_, extension) = name.rsplit_once('.')?;
    let language = match extension {
        "sh" | "bash" | "zsh" | "ksh" | "dash" | "command" | "bats" | "ebuild" => Language::Shell,
        "py" | "pyw" | "pyi" | "pth" => Language::Python,
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => Language::JavaScript,
        "rb" | "rake" | "gemspec" => Language::Ruby,
        "pl" | "pm" | "t" => Language::Perl,
        "php" | "phtml" | "php5" | "phar" => Language::Php,
        "lua" => Language::Lua,
        "awk" => Language::Awk,
        "sed" => Language::Sed,
        "ps1" | "psm1" | "psd1" | "bat" | "cmd" => Language::PowerShell,
        "mk" | "mak" => Language::Make,
        "tf" | "hcl" | "nomad" | "service" | "timer" | "desktop" | "ipynb" | "cron" | "plist" => {
            Language::Embedded
        }
        "go" | "java" | "kt" | "kts" | "scala" | "groovy" | "gradle" | "c" | "cc" | "cpp"
        | "cxx" | "h" | "hpp" | "rs" | "cr" | "cs" | "swift" | "nim" | "zig" | "exp" | "expect"
        | "tcl" => Language::Compiled,
        _ => return None,
    };
    Some(language)
}

/// A manifest of containers, under any name: what it holds shows it, also in a part of one.
fn by_manifest(name: &str, content: &str) -> Option<Language> {
    const KEYS: [&str; 7] = [
        "services",
        "containers",
        "privileged",
        "hostPID",
        "hostPath",
        "pid",
        "volumes",
    ];
    let (_, extension) = name.rsplit_once('.')?;
    let is_manifest = matches!(extension, "yml" | "yaml" | "json" | "override")
        && KEYS.iter().any(|key| content.contains(key));
    is_manifest.then_some(Language::Embedded)
}

/// The interpreter that a first line names.
fn by_first_line(content: &str) -> Option<Language> {
    let line = content.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace();
    let mut program = words.next()?;
    if program.ends_with("/env") {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    crate::language::programs::interpreter(program)
}
