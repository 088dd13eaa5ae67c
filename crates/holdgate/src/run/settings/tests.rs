use super::*;
use std::ffi::OsString;

fn check(command: &str, files: &[(&str, &str)], expected: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here {
        root: dir.path().join("root"),
        home: Some(dir.path().join("home")),
        folder: Some(dir.path().join("work")),
    };
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
    let started = Started::of(&words).unwrap();
    let found = look(&started, &here, &|_| None);
    let told = found.iter().map(|found| {
        let how = match &found.leads {
            Leads::Past(to) => format!("past: {to}"),
            Leads::Elsewhere => found.value.clone(),
        };
        format!("{:?} {} {how}", found.whose, found.name)
    });
    assert_eq!(told.collect::<Vec<_>>(), expected, "{command} {files:?}");
}

#[test]
fn what_leads_past_the_proxy_is_found_in_every_file() {
    let address = r#"{"env":{"ANTHROPIC_BASE_URL":"http://x"}}"#;
    let bedrock = r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}"#;
    for path in [
        "work/.claude/settings.json",
        "work/.claude/settings.local.json",
    ] {
        check(
            "claude",
            &[(path, address)],
            &["Project env.ANTHROPIC_BASE_URL http://x"],
        );
        check(
            "claude",
            &[(path, bedrock)],
            &["Project env.CLAUDE_CODE_USE_BEDROCK past: Amazon Bedrock"],
        );
    }
    check(
        "claude",
        &[("home/.claude/settings.json", address)],
        &["User env.ANTHROPIC_BASE_URL http://x"],
    );
    let managed = "root/etc/claude-code/managed-settings.d/10-x.json";
    check(
        "claude",
        &[(managed, address)],
        &["Managed env.ANTHROPIC_BASE_URL http://x"],
    );
    check(
        "claude",
        &[(managed, "{")],
        &["Managed (unreadable) past: an unknown address: it is not valid JSON"],
    );
    check(
        "env CLAUDE_CODE_USE_VERTEX=1 claude",
        &[],
        &["User CLAUDE_CODE_USE_VERTEX past: Google Vertex AI"],
    );
}

#[test]
fn what_leads_nowhere_else_is_not_found() {
    let off = r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"0","ANTHROPIC_BASE_URL":""},"model":"opus"}"#;
    check("claude", &[("work/.claude/settings.json", off)], &[]);
    check("claude", &[("work/.claude/settings.json", "{")], &[]);
    check("claude", &[], &[]);
    check(
        "codex exec",
        &[(
            "work/.claude/settings.json",
            r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}"#,
        )],
        &[],
    );
    let key = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#;
    check("gemini", &[("home/.gemini/settings.json", key)], &[]);
    check(
        "aider",
        &[("work/.aider.conf.yml", "model: anthropic/claude-opus\n")],
        &[],
    );
}

#[test]
fn the_other_agents() {
    let login = "{ // comment\n\"security\": {\"auth\": {\"selectedType\": \"oauth-personal\",},}}";
    let google = "past: Google's login or Vertex AI";
    check(
        "gemini",
        &[("home/.gemini/settings.json", login)],
        &[&format!("User security.auth.selectedType {google}")],
    );
    check(
        "codex --oss",
        &[],
        &["User --oss past: a model on this machine"],
    );
    let managed = "root/etc/codex/managed_config.toml";
    check(
        "codex",
        &[(managed, "model_provider = \"x\"")],
        &["Managed model_provider x"],
    );
    let conf = "model: bedrock/claude\nopenai-api-base: http://x\n";
    check(
        "aider",
        &[("work/.aider.conf.yml", conf)],
        &[
            "Project model past: another provider",
            "Project openai-api-base http://x",
        ],
    );
    let provider = r#"{"provider":{"anthropic":{"options":{"baseURL":"http://x"}}}}"#;
    check(
        "opencode",
        &[("work/opencode.json", provider)],
        &["Project provider.anthropic.options.baseURL http://x"],
    );
}

#[test]
fn a_change_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    let here = Here {
        root: dir.path().to_owned(),
        home: None,
        folder: Some(dir.path().to_owned()),
    };
    let words = [OsString::from("claude")];
    let agent = Started::of(&words).unwrap().agent;
    let mut watch = Watch::new(agent, here, Vec::new());
    assert!(watch.look().is_empty());
    std::fs::create_dir(dir.path().join(".claude")).unwrap();
    let file = dir.path().join(".claude/settings.json");
    std::fs::write(&file, r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}"#).unwrap();
    assert_eq!(watch.look().len(), 1);
    assert!(watch.look().is_empty());
    std::fs::write(&file, r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"},"x":1}"#).unwrap();
    assert!(watch.look().is_empty());
    let managed = dir.path().join("etc/claude-code/managed-settings.json");
    std::fs::create_dir_all(managed.parent().unwrap()).unwrap();
    std::fs::write(&managed, r#"{"env":{"ANTHROPIC_BASE_URL":"http://x"}}"#).unwrap();
    let news = watch.look();
    assert!(news.len() == 1 && news[0].goes_over_us(), "{news:?}");
}

#[test]
fn a_pipe_or_a_huge_file_keeps_nobody_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    assert_eq!(read(&pipe), Ok(None));
    let huge = dir.path().join("huge");
    std::fs::write(&huge, vec![b' '; 2 << 20]).unwrap();
    assert!(read(&huge).is_err());
    assert_eq!(read(&dir.path().join("none")), Ok(None));
}
