//! What the names of programs and settings say, wherever they stand: in a command, in
//! code, in the first line of a script or in a file of settings.

use super::Language;

/// Programs that run what stands in their arguments, and words of the shell that do.
const RUNNERS: [&str; 6] = ["env", "sudo", "xargs", "nohup", "su", "timeout"];
const RUNNING_WORDS: [&str; 5] = ["eval", "source", ".", "exec", "time"];

/// Programs that do harm or open doors; where one of them is named, it is meant to run.
const HARMFUL: [&str; 21] = [
    "rm", "curl", "wget", "nc", "ncat", "netcat", "dd", "mkfs", "chmod", "chown", "shred", "ssh",
    "scp", "cat", "cp", "mv", "tar", "base64", "socat", "find", "kill",
];

/// Settings of git whose value is a program that git runs, by their last part.
#[rustfmt::skip]
const GIT_PROGRAMS: [&str; 31] = [
    "sshcommand", "pager", "editor", "sequenceeditor", "fsmonitor", "askpass", "helper",
    "credentialhelper", "external", "textconv", "command", "program", "smudge", "clean", "process",
    "hookspath", "packobjectshook", "gitproxy", "sshvariant", "cmd", "driver", "proxycommand",
    "localcommand", "knownhostscommand", "uploadpack", "receivepack", "difffilter", "sendmailcmd",
    "tocmd", "cccmd", "headercmd",
];

/// Settings of other programs whose value is a program that they run, by the end of their names.
#[rustfmt::skip]
const RUN_SETTINGS: [&str; 14] = [
    "wrapper", "runner", "linker", "shell", "pager", "editor", "browser", "askpass", "command", "hook",
    "rsh", "prepend_file", "append_file", "sendmail_path",
];

/// The name of a program without its folder and `.exe`.
pub(crate) fn base_name(program: &str) -> &str {
    let base = program.rsplit(['/', '\\']).next().unwrap_or(program);
    base.strip_suffix(".exe").unwrap_or(base)
}

/// The language that an interpreter reads: `python3.12`, `/bin/sh`, `pwsh.exe`.
pub(crate) fn interpreter(program: &str) -> Option<Language> {
    let name = base_name(program).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let language = match name {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish" | "busybox" => Language::Shell,
        "cmd" | "powershell" | "pwsh" => Language::PowerShell,
        "python" | "pypy" | "ipython" => Language::Python,
        "node" | "nodejs" | "deno" | "bun" | "ts-node" | "tsx" => Language::JavaScript,
        "perl" => Language::Perl,
        "ruby" => Language::Ruby,
        "php" => Language::Php,
        "lua" | "luajit" => Language::Lua,
        "awk" | "gawk" | "mawk" => Language::Awk,
        "sed" | "gsed" => Language::Sed,
        "make" | "gmake" | "bmake" => Language::Make,
        "tclsh" | "wish" | "Rscript" | "julia" | "elixir" | "escript" | "osascript" => {
            Language::Other
        }
        _ => return None,
    };
    Some(language)
}

/// Whether a program takes commands as people type them.
pub(crate) fn is_shell(program: &str) -> bool {
    matches!(
        interpreter(program),
        Some(Language::Shell | Language::PowerShell)
    )
}

/// Whether a program takes code or commands as its arguments.
pub(crate) fn runs_its_arguments(program: &str) -> bool {
    let name = base_name(program);
    is_general(program) || RUNNERS.contains(&name) || RUNNING_WORDS.contains(&name)
}

/// Whether a program, where it is named, is meant to run and worth a look.
pub(crate) fn is_telling(program: &str) -> bool {
    let name = base_name(program);
    // `lua` is a command of editors too.
    is_general(program) && name != "lua" || HARMFUL.contains(&name) || RUNNERS.contains(&name)
}

/// Interpreters of languages for programs. `make` and `sed` are ordinary words and ordinary filters.
fn is_general(program: &str) -> bool {
    let small = [Language::Awk, Language::Sed, Language::Make];
    interpreter(program).is_some_and(|language| !small.contains(&language))
}

/// Whether git runs the value of a setting: `core.sshCommand`, `pager.diff`, or the last part alone.
pub(crate) fn git_setting_runs(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let (section, last) = key.rsplit_once('.').unwrap_or(("", &key));
    // What ends so is run, whatever git calls it next.
    let ends = ["hook", "cmd", "command", "program"];
    GIT_PROGRAMS.contains(&last)
        || last.len() > 4 && ends.iter().any(|end| last.ends_with(end))
        || section == "pager"
        || section.is_empty() && last == "diff"
}

/// Whether a program runs the value of one of its settings: `build.rustc-wrapper`, `auto_prepend_file`.
pub(crate) fn setting_runs(key: &str) -> bool {
    let key = key.trim().to_ascii_lowercase();
    RUN_SETTINGS.iter().any(|end| key.ends_with(end))
}

/// A line of a crontab: its times (five fields, or `@daily`) and its command.
pub(crate) fn schedule(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let mut rest = line;
    for _ in 0..if line.starts_with('@') { 1 } else { 5 } {
        let (_, after) = rest.split_once(char::is_whitespace)?;
        rest = after.trim_start();
    }
    let times = line.get(..line.len() - rest.len())?;
    Some((times.trim_end(), rest))
}

#[cfg(test)]
mod tests;
