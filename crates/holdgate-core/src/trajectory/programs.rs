//! What is known of programs by their names: which look around, pack, copy and empty.

use super::action::Action;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::tag::Tag;

/// Programs that list what a system is.
const LOOKS_AROUND: &[&str] = &[
    "arp",
    "dmesg",
    "finger",
    "getent",
    "groups",
    "hostname",
    "id",
    "ifconfig",
    "ip",
    "ipconfig",
    "last",
    "lastlog",
    "lscpu",
    "lsof",
    "mount",
    "netstat",
    "nmap",
    "ps",
    "route",
    "ss",
    "systeminfo",
    "tasklist",
    "uname",
    "w",
    "who",
    "whoami",
];
/// Programs that change the form of data, and those that undo it with a flag.
const PACKS: &[&str] = &[
    "7z", "7za", "age", "base32", "base64", "bzip2", "gpg", "gzip", "openssl", "rar", "tar",
    "uuencode", "xxd", "xz", "zip", "zstd",
];

/// What a program that runs does.
pub(super) fn run(effect: &Effect) -> Action {
    let program: &str = &effect.program;
    if effect.path.is_none() {
        if LOOKS_AROUND.contains(&program) {
            return Action::Recon;
        }
        if matches!(program, "env" | "printenv") && effect.text.as_deref().is_none_or(str::is_empty)
        {
            return Action::Recon;
        }
        if PACKS.contains(&program) {
            let text = effect.text.as_deref().unwrap_or_default();
            let mut words = text.split_whitespace();
            let undoes = |word: &str| match word {
                "-d" | "-D" | "--decode" | "--decrypt" => true,
                "-r" => program == "xxd",
                "x" | "e" => matches!(program, "7z" | "7za" | "rar"),
                _ => false,
            };
            let packs = match program {
                "tar" => {
                    text.trim_start_matches('-').starts_with(['c', 'r', 'u'])
                        || words.any(|w| w == "--create")
                }
                // Hashes, keys and certificates are made with it as well.
                "openssl" => text.starts_with("enc") && !words.any(undoes),
                _ => !words.any(undoes),
            };
            let decodes = program != "tar" && (program != "openssl" || text.starts_with("enc"));
            return match (packs, decodes) {
                (true, _) => Action::Pack,
                (false, true) => Action::Unpack,
                (false, false) => Action::Run,
            };
        }
    }
    if effect.is(Tag::AttackTool) || effect.is(Tag::Scan) {
        return Action::Intrude;
    }
    if effect.is(Tag::Bare) && effect.is(Tag::Elevated) && is_shell(program) {
        return Action::Grant;
    }
    if effect.is(Tag::Miner) {
        return Action::Exhaust;
    }
    Action::Run
}

/// Names of programs that watch over a machine.
const GUARDS: &[&str] = &[
    "apparmor",
    "audit",
    "carbonblack",
    "cbagent",
    "clamav",
    "clamd",
    "crowdstrike",
    "defender",
    "fail2ban",
    "falco",
    "firewall",
    "nftables",
    "osquery",
    "ossec",
    "rsyslog",
    "selinux",
    "sentinel",
    "suricata",
    "sysmon",
    "syslog",
    "tripwire",
    "ufw",
    "wazuh",
    "windefend",
];

/// Whether a command names a program that watches over the machine.
pub(super) fn is_guard(command: &str) -> bool {
    const LONGEST: usize = 400;
    let command = command.get(..LONGEST).unwrap_or(command);
    GUARDS.iter().any(|guard| command.contains(guard))
}

fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish")
}

/// Programs that only look at what is written in a project.
const LOOKS: &[&str] = &[
    "[",
    "awk",
    "basename",
    "cat",
    "cd",
    "cmp",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "fd",
    "file",
    "find",
    "git",
    "grep",
    "head",
    "jq",
    "less",
    "ls",
    "md5sum",
    "mkdir",
    "printf",
    "pwd",
    "realpath",
    "rg",
    "sed",
    "sha256sum",
    "shellcheck",
    "sleep",
    "sort",
    "stat",
    "tail",
    "test",
    "touch",
    "tr",
    "tree",
    "true",
    "uniq",
    "wc",
    "which",
    "xargs",
];

/// Whether a program may use what is written in a project: run, build or install it.
pub(super) fn uses(program: &str) -> bool {
    !LOOKS.contains(&program)
}

/// Whether a program changes the form of data.
pub(super) fn packs(program: &str) -> bool {
    PACKS.contains(&program)
}

/// Whether what a program writes is what it reads.
pub(super) fn copies(program: &str) -> bool {
    packs(program)
        || matches!(
            program,
            "cp" | "mv" | "install" | "rsync" | "dd" | "ln" | "tee"
        )
}

/// Whether a program compares a file with its checksum or its signature.
pub(super) fn checks(effect: &Effect) -> bool {
    match effect.program.as_ref() {
        "sha256sum" | "sha512sum" | "sha1sum" | "shasum" | "b2sum" | "cosign" | "minisign" => true,
        "gpg" => effect.evidence.contains("--verify"),
        _ => false,
    }
}

/// Whether a database is the one that the project's own tools are set up for.
pub(super) fn is_framework(program: &str) -> bool {
    const FRAMEWORKS: [&str; 16] = [
        "alembic",
        "artisan",
        "bundle",
        "diesel",
        "django-admin",
        "drizzle-kit",
        "flask",
        "knex",
        "manage.py",
        "mix",
        "prisma",
        "rails",
        "rake",
        "sequelize",
        "sqlx",
        "typeorm",
    ];
    FRAMEWORKS.contains(&program)
}

/// Whether a file loses its content.
pub(super) fn empties(effect: &Effect) -> bool {
    let shreds = effect.kind == Kind::Delete && effect.program.as_ref() == "shred";
    let writes = effect.kind == Kind::Write && !effect.is(Tag::Append);
    let empties = effect.is(Tag::Empties) || effect.program.as_ref() == "truncate";
    (shreds || writes && empties) && !is_usually_empty(effect)
}

/// Whether a file is one that projects have without any content.
fn is_usually_empty(effect: &Effect) -> bool {
    const NAMES: [&str; 8] = [
        "__init__.py",
        "__init__.pyi",
        "py.typed",
        ".gitkeep",
        ".keep",
        ".nojekyll",
        ".gitignore",
        ".npmignore",
    ];
    let name = effect.path.as_ref().and_then(|p| p.text.rsplit('/').next());
    name.is_some_and(|name| NAMES.contains(&name))
}

/// Whether a name is that of source, or a pattern for it.
pub(super) fn is_source(name: &str) -> bool {
    const ENDS: [&str; 50] = [
        "c",
        "cc",
        "cfg",
        "conf",
        "cpp",
        "cs",
        "css",
        "dart",
        "erl",
        "ex",
        "exs",
        "go",
        "gradle",
        "h",
        "hpp",
        "hs",
        "html",
        "ini",
        "java",
        "jl",
        "js",
        "json",
        "jsx",
        "kt",
        "lua",
        "md",
        "mjs",
        "ml",
        "php",
        "pl",
        "pm",
        "properties",
        "proto",
        "py",
        "rb",
        "rs",
        "scala",
        "scss",
        "sh",
        "sql",
        "svelte",
        "swift",
        "tf",
        "toml",
        "ts",
        "tsx",
        "vue",
        "xml",
        "yaml",
        "yml",
    ];
    let end = name.rsplit_once('.').map(|(_, end)| end);
    end.is_some_and(|end| ENDS.contains(&end))
}

/// Whether a program's tunnels are for more than a web page that somebody is to see.
pub(super) fn tunnels_all(program: &str) -> bool {
    const PROGRAMS: [&str; 12] = [
        "chisel", "dnscat", "dnscat2", "frpc", "frps", "gost", "iodine", "ligolo", "ptunnel",
        "rathole", "revsocks", "wstunnel",
    ];
    PROGRAMS.contains(&program)
}
