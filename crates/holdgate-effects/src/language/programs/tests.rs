use super::*;

#[test]
fn interpreters_are_known_by_any_spelling_of_their_name() {
    for (name, language) in [
        ("sh", Language::Shell),
        ("/bin/bash", Language::Shell),
        ("python3.12", Language::Python),
        ("C:\\tools\\pwsh.exe", Language::PowerShell),
        ("/usr/bin/node", Language::JavaScript),
    ] {
        assert_eq!(interpreter(name), Some(language), "{name}");
    }
    assert_eq!(interpreter("pythonic"), None);
    assert!(is_shell("/bin/zsh") && is_shell("cmd.exe") && !is_shell("python3"));
    assert!(runs_its_arguments("xargs") && runs_its_arguments("perl") && !runs_its_arguments("ls"));
    assert!(is_telling("/bin/rm") && is_telling("bash") && is_telling("env"));
    // Ordinary words, and commands of editors.
    assert!(!is_telling("make") && !is_telling("lua") && !is_telling("time"));
}

#[test]
fn settings_of_git_that_run_are_the_same_in_a_command_and_in_a_file() {
    for key in [
        "core.sshCommand",
        "pager.log",
        "uploadpack.packObjectsHook",
        "diff.external",
        "fsmonitor",
        "sequenceEditor",
        "diff",
    ] {
        assert!(git_setting_runs(key), "{key}");
    }
    for key in ["user.name", "color.diff", "core.autocrlf", "push.default"] {
        assert!(!git_setting_runs(key), "{key}");
    }
}

#[test]
fn a_line_of_a_crontab_has_times_and_a_command() {
    assert_eq!(
        schedule("  */5 * * * *\tid -u"),
        Some(("*/5 * * * *", "id -u"))
    );
    assert_eq!(schedule("@daily id"), Some(("@daily", "id")));
    assert_eq!(schedule("PATH=/bin"), None);
}
