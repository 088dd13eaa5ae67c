//! What programs do with the values of environment variables, by the variables' names.

use super::Language;

/// What is done with the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It is a command that other programs run.
    Command,
    /// By its name it may be one.
    PerhapsCommand,
    /// A shell expands it, and runs the commands in it, to show a prompt.
    Prompt,
    /// Every program that starts loads these libraries.
    Libraries,
    /// A file that an interpreter runs when it starts.
    Script(Language),
    /// Code that an interpreter runs when it starts.
    Code(Language),
    /// Options of a program, which does with them what it does with its arguments. The text stands
    /// for those: with it, the program does nothing by itself.
    OptionsOf(&'static str, &'static str),
    /// A folder whose programs are run in place of others.
    Programs,
    /// git's settings, each in quotes.
    GitSettings,
    /// The key, or the value, of one of git's settings.
    GitSetting,
}

/// Variables by their whole names. `CC` and its like are names of programs that people choose.
const NAMED: [(&str, Use); 50] = [
    ("EDITOR", Use::Command),
    ("VISUAL", Use::Command),
    ("PAGER", Use::Command),
    ("MANPAGER", Use::Command),
    ("BROWSER", Use::Command),
    ("CC", Use::Command),
    ("CXX", Use::Command),
    ("LD", Use::Command),
    ("AR", Use::Command),
    ("RUSTC", Use::Command),
    ("GIT_SSH", Use::Command),
    ("GIT_SSH_COMMAND", Use::Command),
    ("GIT_EXTERNAL_DIFF", Use::Command),
    ("GIT_EDITOR", Use::Command),
    ("GIT_SEQUENCE_EDITOR", Use::Command),
    ("GIT_PAGER", Use::Command),
    ("GIT_PROXY_COMMAND", Use::Command),
    ("SUDO_EDITOR", Use::Command),
    ("PROMPT_COMMAND", Use::Command),
    ("LESSOPEN", Use::Command),
    ("LESSCLOSE", Use::Command),
    ("FZF_DEFAULT_COMMAND", Use::Command),
    ("RSYNC_RSH", Use::Command),
    ("CVS_RSH", Use::Command),
    ("RUSTC_WRAPPER", Use::Command),
    ("RUSTC_WORKSPACE_WRAPPER", Use::Command),
    ("TAR_OPTIONS", Use::OptionsOf("tar", "--version")),
    ("PS0", Use::Prompt),
    ("PS1", Use::Prompt),
    ("PS4", Use::Prompt),
    ("LD_PRELOAD", Use::Libraries),
    ("LD_AUDIT", Use::Libraries),
    ("DYLD_INSERT_LIBRARIES", Use::Libraries),
    ("DOTNET_STARTUP_HOOKS", Use::Libraries),
    ("CORECLR_PROFILER_PATH", Use::Libraries),
    ("BASH_ENV", Use::Script(Language::Shell)),
    ("ENV", Use::Script(Language::Shell)),
    ("PYTHONSTARTUP", Use::Script(Language::Python)),
    ("PERL5DB", Use::Code(Language::Perl)),
    ("PERL5OPT", Use::OptionsOf("perl", "-e 0")),
    ("RUBYOPT", Use::OptionsOf("ruby", "-e 0")),
    ("NODE_OPTIONS", Use::OptionsOf("node", "-e 0")),
    ("MAKEFLAGS", Use::OptionsOf("make", "--version")),
    ("GNUMAKEFLAGS", Use::OptionsOf("make", "--version")),
    ("MFLAGS", Use::OptionsOf("make", "--version")),
    ("GOFLAGS", Use::OptionsOf("go build", "-n")),
    ("RUSTFLAGS", Use::OptionsOf("rustc", "--version")),
    ("GIT_EXEC_PATH", Use::Programs),
    ("GIT_TEMPLATE_DIR", Use::Programs),
    ("GIT_CONFIG_PARAMETERS", Use::GitSettings),
];

/// Ends of the names of variables that name programs.
const COMMANDS: [&str; 13] = [
    "PAGER",
    "EDITOR",
    "_ASKPASS",
    "_WRAPPER",
    "_COMMAND",
    "_CMD",
    "_RSH",
    "_BROWSER",
    "_RUNNER",
    "_LINKER",
    "_VIEWER",
    "_EXEC",
    "_LAUNCHER",
];

/// Variables with options for Java.
const JAVA: [&str; 7] = [
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "JAVA_OPTS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "SBT_OPTS",
];

/// Settings of npm, as variables, that name programs.
const NPM: [&str; 6] = [
    "script_shell",
    "shell",
    "git",
    "editor",
    "viewer",
    "node_gyp",
];

/// Variables that change what other programs do, also without `export`.
const STEERING: [&str; 19] = [
    "PATH",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "BASH_ENV",
    "ENV",
    "HISTFILE",
    "HISTSIZE",
    "HISTFILESIZE",
    "HISTCONTROL",
    "HISTIGNORE",
    "PYTHONSTARTUP",
    "DYLD_INSERT_LIBRARIES",
    "NODE_OPTIONS",
    "PERL5OPT",
    "RUBYOPT",
    "PROMPT_COMMAND",
    "PS4",
    "GIT_SSH_COMMAND",
];

/// What programs do with the value of the variable, if more than to read it.
pub(crate) fn use_of(name: &str) -> Option<Use> {
    if let Some((_, known)) = NAMED.iter().find(|(known, _)| *known == name) {
        return Some(*known);
    }
    if JAVA.contains(&name) {
        return Some(Use::OptionsOf("java", "-version"));
    }
    if name.starts_with("GIT_CONFIG_KEY_") || name.starts_with("GIT_CONFIG_VALUE_") {
        return Some(Use::GitSetting);
    }
    if let Some(setting) = npm_setting(name) {
        return match setting.as_str() {
            "node_options" => Some(Use::OptionsOf("node", "-e 0")),
            setting => NPM.contains(&setting).then_some(Use::Command),
        };
    }
    let by_end = COMMANDS.iter().any(|end| name.ends_with(end));
    by_end.then_some(Use::PerhapsCommand)
}

/// The setting of npm that a variable stands for. npm takes small and capital letters.
pub(crate) fn npm_setting(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    lower.strip_prefix("npm_config_").map(str::to_owned)
}

/// Whether a variable changes what other programs do, also without `export`.
pub(crate) fn steers(name: &str) -> bool {
    STEERING.contains(&name)
}

/// Whether setting a variable is worth a mention. Names in small letters are a script's own, except
/// for a few that programs look for.
pub(crate) fn is_of_note(name: &str) -> bool {
    let lower = name.chars().any(char::is_lowercase);
    let known = npm_setting(name).is_some() || name.ends_with("_proxy");
    (!lower || known) && name.len() > 2 && name != "IFS"
}

/// Whether a variable loads a file of code that programs would not have.
pub(crate) fn loads(name: &str, value: &str) -> bool {
    let system = ["/usr/lib/", "/lib/", "/opt/homebrew/", "/usr/local/lib/"];
    if value.is_empty() || system.iter().any(|folder| value.starts_with(folder)) {
        return false;
    }
    if name == "PYTHONPATH" && is_source_of_workspace(value) {
        return false;
    }
    let path = value.contains(['/', '\\']);
    match use_of(name) {
        Some(
            Use::Libraries
            | Use::Programs
            | Use::Code(_)
            | Use::GitSettings
            | Use::GitSetting
            | Use::Prompt,
        ) => true,
        Some(Use::Script(_)) => path,
        Some(Use::Command) => path || value.contains(['|', ';', '$']),
        Some(Use::OptionsOf(..)) => {
            let marks = [
                "-r",
                "--require",
                "--import",
                "--loader",
                "agent",
                "-M",
                "-I",
                "--eval",
                "exec",
                "vettool",
                "overlay",
            ];
            path && marks.iter().any(|mark| value.contains(mark))
        }
        Some(Use::PerhapsCommand) | None => name == "PATH" && is_odd(value),
    }
}

/// Whether modules are looked for in folders of source that an editor has open: `${workspaceFolder}/src`.
fn is_source_of_workspace(path: &str) -> bool {
    path.split([':', ';']).all(|folder| {
        let rest = folder.strip_prefix("${workspaceFolder}");
        rest.is_some_and(|rest| !rest.contains("/."))
    })
}

/// Whether programs are looked for in the project before anywhere else.
fn is_odd(path: &str) -> bool {
    let first = path.split([':', ';']).next().unwrap_or("");
    let own = [
        "node_modules/.bin",
        "venv",
        "/bin",
        "target/",
        "scripts",
        "vendor",
    ];
    let here = first.starts_with("${workspaceFolder}")
        || first.starts_with('.')
        || first.starts_with("/tmp");
    here && !own.iter().any(|part| first.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_their_names() {
        assert_eq!(use_of("GH_PAGER"), Some(Use::PerhapsCommand));
        assert_eq!(use_of("npm_config_script_shell"), Some(Use::Command));
        assert_eq!(use_of("NPM_CONFIG_REGISTRY"), None);
        assert_eq!(use_of("GIT_CONFIG_KEY_3"), Some(Use::GitSetting));
        assert_eq!(use_of("RUST_LOG"), None);
        assert!(is_of_note("npm_config_registry") && is_of_note("https_proxy"));
        assert!(!is_of_note("file_name"));
    }
}
