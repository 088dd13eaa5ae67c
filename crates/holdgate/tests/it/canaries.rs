//! Canaries: made, planted, and found when a call touches them.

use crate::setup::{has, lacks};
use crate::terminal::{HOLDGATE, detached};
use std::path::Path;

fn said(home: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = detached(HOLDGATE)
        .args(arguments)
        .env("HOME", home)
        .env("HOLDGATE_GUARD_JUDGE_TIMEOUT", "20s")
        .current_dir(home)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

#[test]
fn a_planted_canary_is_found_by_its_path_and_by_its_value_in_any_form() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let (code, text) = said(home, &["canary", "backup-credentials"]);
    assert_eq!(code, Some(0), "{text}");
    let planted = std::fs::read_to_string(home.join("backup-credentials")).unwrap();
    let (_, settings) = text.split_once("\n\n").unwrap();
    std::fs::write(home.join("settings.toml"), settings).unwrap();
    let (_, key) = planted.rsplit_once("= ").unwrap();
    let key = key.trim();
    let check = |command: &str| said(home, &["check", "--config", "settings.toml", "--", command]);

    for touches in [
        "cat backup-credentials",
        "cp backup-* /tmp/x",
        "rm backup-credentials",
    ] {
        let (code, text) = check(touches);
        assert_eq!(code, Some(1), "{text}");
        has(&text, "canary-touched (canaries)");
    }
    let encoded = key
        .bytes()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>();
    for value in [key, &encoded, &key.chars().rev().collect::<String>()] {
        let (code, text) = check(&format!("echo {value} > notes.txt"));
        assert_eq!(code, Some(1), "{text}");
        has(&text, "canary-value (canaries)");
    }
    let (code, text) = check("cat README.md && ls -R . && grep -rn key src");
    assert_eq!(code, Some(0), "{text}");
    lacks(&text, "canar");

    let (code, text) = said(home, &["canary", "backup-credentials"]);
    assert_eq!(code, Some(1), "{text}");
    has(&text, "there is a file already, name a new one");
    let again = std::fs::read_to_string(home.join("backup-credentials")).unwrap();
    assert_eq!(again, planted);
}

#[test]
fn a_value_that_other_texts_have_is_no_canary() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("settings.toml");
    std::fs::write(
        &path,
        "[canaries]\nvalues = [\"Zq81kd0sLw72nvPa\", \"password\"]\n",
    )
    .unwrap();
    let (code, text) = said(
        home.path(),
        &["config", "check", "--config", "settings.toml"],
    );
    assert_eq!(code, Some(1), "{text}");
    has(
        &text,
        "canaries.values: value 2 cannot be told from other text",
    );
}
