//! Settings files before and after.

use super::json::{self, Entry};
use super::plan::{Content, Here};
use super::*;
use crate::config::Flags;

struct Home {
    dir: tempfile::TempDir,
    config: Config,
}

impl Home {
    fn new() -> Home {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_str().unwrap().to_owned();
        let config = Config::load(&Flags::default(), [("HOME".to_owned(), home)]).unwrap();
        Home { dir, config }
    }

    fn plan(&self, agent: HookAgent, proxy: bool) -> Plan {
        let home = self.config.home.clone().unwrap();
        let variables = vec![("HOME".to_owned(), home)];
        let here = Here::new(&self.config, variables, "/opt/it's/holdgate".into()).unwrap();
        here.plan(agent, proxy)
    }

    /// Sets up by a plan, and returns how many files have changed.
    fn set_up(&self, plan: &Plan) -> usize {
        let mut receipt = Receipt::load(&self.config.state_dir, plan.agent).unwrap();
        let changes = wanted(plan, &receipt).unwrap();
        keep(&mut receipt, &changes);
        receipt.save().unwrap();
        apply(&changes).unwrap();
        changes.len()
    }

    fn take_out(&self, plan: &Plan) {
        let receipt = Receipt::load(&self.config.state_dir, plan.agent).unwrap();
        apply(&unwanted(plan, &receipt).unwrap()).unwrap();
        receipt.remove().unwrap();
    }

    /// All files but ours, with their texts.
    fn files(&self) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        let mut open = vec![self.dir.path().to_owned()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if !path.is_dir() {
                    found.push((path.clone(), std::fs::read_to_string(path).unwrap()));
                } else if !path.ends_with(".local") {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

const SETTINGS: [&str; 6] = [
    "{}",
    "",
    "{\"a\":1}",
    "{\n\t// mine\n\t\"hooks\": {\"Stop\": []}, /* and */\n\t\"env\": {},\n}\n",
    "{\r\n  \"hooks\": {\r\n    \"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]\r\n  }\r\n}",
    "{\"hooks\": {\"PreToolUse\": [], \"BeforeTool\": [{\"matcher\": \"x\", \"hooks\": []}]}}",
];

#[test]
fn files_are_byte_for_byte_as_before() {
    for agent in HookAgent::ALL {
        for before in SETTINGS.map(Some).into_iter().chain([None]) {
            let home = Home::new();
            let plan = home.plan(agent, true);
            if let (Some(text), Content::Entries(_)) = (before, &plan.files[0].content) {
                disk::write(&plan.files[0].path, text).unwrap();
            }
            let first = home.files();
            assert_eq!(home.set_up(&plan), plan.files.len(), "{agent:?} {before:?}");
            assert!(is_set_up(&plan).unwrap(), "{agent:?} {before:?}");
            assert_eq!(home.set_up(&plan), 0, "{agent:?} {before:?}");
            home.take_out(&plan);
            assert_eq!(home.files(), first, "{agent:?} {before:?}");
        }
    }
}

#[test]
fn what_the_user_has_changed_since_stays() {
    let home = Home::new();
    let plan = home.plan(HookAgent::ClaudeCode, true);
    let path = &plan.files[0].path;
    disk::write(path, SETTINGS[3]).unwrap();
    home.set_up(&plan);
    let text = disk::read(path).unwrap().unwrap();
    let changed = text.replace("\"Stop\": []", "\"Stop\": [1] // more");
    assert_ne!(changed, text);
    disk::write(path, &changed).unwrap();
    assert_eq!(home.set_up(&plan), 0, "it is still there");
    home.take_out(&plan);
    let left = disk::read(path).unwrap().unwrap();
    assert!(
        left.contains("// mine") && left.contains("\"Stop\": [1] // more"),
        "{left}"
    );
    assert!(
        !left.contains("holdgate") && !left.contains("PreToolUse"),
        "{left}"
    );
    assert!(
        !left.contains("ANTHROPIC_BASE_URL") && left.contains("\"env\""),
        "{left}"
    );
}

#[test]
fn an_older_hook_is_replaced() {
    let home = Home::new();
    let plan = home.plan(HookAgent::ClaudeCode, false);
    let older = plan.command.replace("/opt/it", "/usr/it");
    let settings = SETTINGS[4].replace("\"mine\"", &serde_json::Value::from(older).to_string());
    disk::write(&plan.files[0].path, &settings).unwrap();
    home.set_up(&plan);
    let text = disk::read(&plan.files[0].path).unwrap().unwrap();
    assert!(
        !text.contains("/usr/it") && text.contains("/opt/it"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    let home = Home::new();
    let plan = home.plan(HookAgent::ClaudeCode, true);
    let path = &plan.files[0].path;
    let address = "{\"env\": {\"ANTHROPIC_BASE_URL\": \"http://gateway\"}}";
    for text in [
        "{",
        "[]",
        "{\"hooks\": 1}",
        "{\"hooks\": {\"PreToolUse\": {}}}",
        address,
    ] {
        disk::write(path, text).unwrap();
        assert!(wanted(&plan, &Receipt::default()).is_err(), "{text}");
    }
    let codex = home.plan(HookAgent::Codex, true);
    disk::write(&codex.files[1].path, "model_provider = \"x\"\n").unwrap();
    assert!(wanted(&codex, &Receipt::default()).is_err());
}

#[test]
fn a_hook_is_given_the_variables_that_count() {
    let home = Home::new();
    let own = home.config.home.clone().unwrap();
    let variables = [
        ("HOME", own.as_str()),
        ("HOLDGATE_GUARD_ON_BLOCK", "explain"),
        ("HOLDGATE_JUDGE_API_KEY", "secret"),
        ("SAFETY_EXPERT_MODE", "1"),
        ("LANG", "C"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let here = Here::new(&home.config, variables.into(), "/bin/holdgate".into()).unwrap();
    let command = here.plan(HookAgent::Codex, false).command;
    let expected = format!(
        "/bin/holdgate hook codex --set HOME={own} --set HOLDGATE_GUARD_ON_BLOCK=explain || exit 2"
    );
    assert_eq!(command, expected);
    assert!(plan::is_ours(HookAgent::Codex, &command));
    assert!(!plan::is_ours(HookAgent::Gemini, &command));
}

#[test]
fn lines_that_differ_are_shown() {
    assert_eq!(differing("a\nb\nc", "a\nx\ny\nc"), ["- b", "+ x", "+ y"]);
    assert_eq!(differing("", "a"), ["+ a"]);
    assert_eq!(differing("a\na", "a"), ["- a"]);
}

#[test]
fn an_entry_is_found_where_it_stands() {
    let entries: Vec<Entry> = match Home::new()
        .plan(HookAgent::Codex, false)
        .files
        .remove(0)
        .content
    {
        Content::Entries(entries) => entries,
        Content::CodexTrust { .. } | Content::Whole(_) => panic!("the hooks come first"),
    };
    let text = json::add(SETTINGS[4], &entries).unwrap();
    assert!(json::has_all(&text, &entries));
    assert!(!json::has_all(SETTINGS[4], &entries));
    assert_eq!(
        json::position(&text, &["hooks", "PreToolUse"], "mine"),
        Some((0, 0))
    );
}

#[test]
fn what_another_program_writes_meanwhile_stays() {
    let home = Home::new();
    let plan = home.plan(HookAgent::ClaudeCode, false);
    let path = home.dir.path().join(".claude/settings.json");
    disk::write(&path, "{}").unwrap();
    let receipt = Receipt::load(&home.config.state_dir, plan.agent).unwrap();
    let changes = wanted(&plan, &receipt).unwrap();
    disk::write(&path, r#"{"model":"x"}"#).unwrap();
    assert!(apply(&changes).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), r#"{"model":"x"}"#);
    assert_eq!(home.set_up(&plan), 1);
    home.take_out(&plan);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), r#"{"model":"x"}"#);
}

#[test]
fn a_hook_is_known_again_whatever_the_home_is_called() {
    let home = Home::new();
    for name in ["/home/dev", "/home/my name", "/home/o'neil"] {
        let variables = vec![("HOME".to_owned(), name.to_owned())];
        let here = Here::new(&home.config, variables, "/bin/holdgate".into()).unwrap();
        let command = here.plan(HookAgent::Codex, false).command;
        assert!(plan::is_ours(HookAgent::Codex, &command), "{command}");
        assert!(!plan::is_ours(HookAgent::Gemini, &command), "{command}");
    }
}
