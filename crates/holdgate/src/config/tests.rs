mod bridge;

use super::*;
use holdgate_core::OnBlock;

fn load(file: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("holdgate.toml");
    std::fs::write(&path, file).unwrap();
    let flags = Flags {
        config: Some(path),
        state_dir: Some("/state".into()),
        ..Flags::default()
    };
    let environment = environment
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    let shown = format!("{}/", dir.path().display());
    Config::load(&flags, environment).map_err(|e| e.to_string().replace(&shown, ""))
}

#[track_caller]
fn wrong_variable(name: &str, value: &str, message: &str) {
    let error = load("", &[(name, value)]).unwrap_err();
    assert_eq!(error, format!("environment variable {name}: {message}"));
}

/// A file has an error with this message, which points at what stands between `«` and `»`.
#[track_caller]
fn wrong(marked: &str, message: &str) {
    let (before, rest) = marked.split_once('«').unwrap();
    let (inside, after) = rest.split_once('»').unwrap();
    let file = format!("{before}{inside}{after}");
    let number = before.split('\n').count();
    let column = before.rsplit('\n').next().unwrap().len();
    let line = file.lines().nth(number - 1).unwrap();
    let (space, carets) = (" ".repeat(column), "^".repeat(inside.len()));
    let expected = format!(
        "holdgate.toml:{number}:{}: {message}\n  |\n{number} | {line}\n  | {space}{carets}",
        column + 1
    );
    assert_eq!(load(&file, &[]).unwrap_err(), expected);
}

#[test]
fn defaults_need_no_file() {
    let flags = Flags::default();
    let environment = [("HOME".to_owned(), "/nonexistent".to_owned())];
    let config = Config::load(&flags, environment).unwrap();
    assert_eq!(config.proxy.listen.to_string(), "127.0.0.1:8787");
    assert_eq!(config.upstream, "https://api.anthropic.com/");
    assert_eq!(
        config.upstream_of(holdgate_core::RESPONSES.vendor()),
        "https://api.openai.com/"
    );
    assert_eq!(
        config.state_dir,
        Path::new("/nonexistent/.local/state/holdgate")
    );
    assert_eq!(config.guard.keep_alive, Duration::from_secs(10));
    assert_eq!(config.rates.calls_per_minute, 60);
}

#[test]
fn projects_have_labels() {
    let file = "[[spillage.projects]]\npath = \"/home/dev/secret-app\"\nlabel = \"confidential\"\n\n\
                [[spillage.projects]]\npath = \"/home/dev/site\"\nlabel = \"public\"\n";
    let config = load(file, &[]).unwrap();
    let labels = |config: &Config| -> Vec<usize> {
        config.spillage.projects.iter().map(|p| p.label).collect()
    };
    assert_eq!(labels(&config), [2, 0]);
    assert_eq!(
        config.spillage.projects[0].path,
        Path::new("/home/dev/secret-app")
    );
    let order = ("HOLDGATE_SPILLAGE_LABELS", r#"["public", "confidential"]"#);
    assert_eq!(labels(&load(file, &[order]).unwrap()), [1, 0]);
    assert!(load("", &[]).unwrap().spillage.projects.is_empty());

    wrong(
        "[[spillage.projects]]\npath = \"/x\"\nlabel = «\"confidental\"»\n",
        "`confidental` is not a label, write one of `public`, `internal`, `confidential`, `secret` \
         or add it to `spillage.labels`",
    );
    wrong(
        "[[spillage.projects]]\npath = «\"x\"»\nlabel = \"secret\"\n",
        "`x` is not an absolute path, write it as `/home/me/project`",
    );
    wrong(
        "spillage.labels = «[\"a\", \"a\"]»\n",
        "the label `a` is listed twice, write each label once, the lowest first",
    );
    wrong(
        "spillage.labels = «[\"a\"]»\n",
        "write at least two labels, the lowest first, as in `[\"public\", \"secret\"]`",
    );
    wrong(
        "[[spillage.projects]]\npath = \"/x\"\nlabel = \"secret\"\n«labl» = \"secret\"\n",
        "unknown field `labl`, did you mean `label`?",
    );
}

#[test]
fn a_file_that_was_named_does_not_make_its_folder_ours() {
    let place = |flags: &Flags| {
        let environment = [("HOME".to_owned(), "/nonexistent".to_owned())];
        Config::load(flags, environment).unwrap().config_place
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("holdgate.toml");
    std::fs::write(&file, "").unwrap();
    let config = Some(file.clone());
    let named = Flags {
        config,
        ..Flags::default()
    };
    assert_eq!(place(&named), Some(file));
    let usual = PathBuf::from("/nonexistent/.config/holdgate");
    assert_eq!(place(&Flags::default()), Some(usual));
}

#[test]
fn the_environment_goes_over_the_file() {
    let file =
        "[guard]\non_block = \"continue\"\nkeep_alive = \"3s\"\n[gate]\ncalls_per_minute = 7";
    let environment = [
        ("HOLDGATE_GUARD_KEEP_ALIVE", "4s"),
        ("HOLDGATE_GUARD_HOLD_ALL", "true"),
        ("HOLDGATE_PROXY_LISTEN", "127.0.0.1:1"),
    ];
    let config = load(file, &environment).unwrap();
    assert_eq!(config.guard.on_block, OnBlock::Continue);
    assert_eq!(config.guard.keep_alive, Duration::from_secs(4));
    assert!(config.guard.hold_all);
    assert_eq!(config.rates.calls_per_minute, 7);
    assert_eq!(config.proxy.listen.port(), 1);
}

#[test]
fn all_errors_are_shown_at_once() {
    let file = "[guard]\non_blok = \"explain\"\nkeep_alive = \"soon\"\nhold_all = true\n\n\
                [gait]\nprofile = \"strict\"\n\n[gate]\nprofile = \"server\"\n\
                [proxy]\nhosts = [\n  \"a\",\n  1,\n]\nworkers = 0\n";
    let error = load(file, &[("HOLDGATE_GATE_CALLS", "3")]).unwrap_err();
    for expected in [
        ":2:1: unknown field `on_blok`",
        ":3:14: `soon` is not a valid duration",
        ":6:2: unknown field `gait`, did you mean `gate`?",
        ":10:11: `server` is not a valid profile",
        "14:3: invalid type",
        ":16:11: `0` is out of range",
        "environment variable HOLDGATE_GATE_CALLS: unknown field",
    ] {
        assert!(error.contains(expected), "{expected}\n{error}");
    }
    assert_eq!(error.matches("\n\n").count(), 6, "{error}");
    let error = load("[guard]\na = \nb = 1\n= 2\n", &[]).unwrap_err();
    assert_eq!(error.matches("\n\n").count(), 1, "{error}");
}

#[test]
fn errors_show_place_and_fix() {
    wrong(
        "[guard]\n  «on_blok» = \"explain\"\n",
        "unknown field `on_blok`, did you mean `on_block`?",
    );
    wrong(
        "[guard]\non_block = «\"shout\"»",
        "`shout` is not a valid value, write `explain` or `continue`",
    );
    wrong(
        "[upstream]\nanthropic = «\"api.example.com\"»",
        "`api.example.com` is not a valid upstream: it must begin with http:// or https://, as in `https://host[/path]`",
    );
    wrong_variable(
        "HOLDGATE_GUARD_KEEP_ALIVE",
        "soon",
        "`soon` is not a valid duration, write it as `250ms`, `10s` or `5m`",
    );
    wrong_variable(
        "HOLDGATE_GATE_CALLS",
        "3",
        "unknown field `calls`, expected one of `profile`, `calls_per_minute`, `identical_in_a_row`",
    );
    wrong(
        "[gate]\nprofile = «\"server\"»",
        "`server` is not a valid profile, write `workstation`, `container` or `strict`",
    );
    wrong(
        "[ask]\noperator = «\"maybe\"»",
        "`maybe` is not a valid value, write `auto`, `always` or `never`",
    );
    wrong_variable(
        "HOLDGATE_PROJECT_DIR",
        "work",
        "`work` is not an absolute path, write it as `/home/me/project`",
    );
    wrong(
        "guard = «3»",
        "invalid type: integer `3`, expected a section of settings",
    );
    wrong(
        "[guard]\nkeep_alive = «10»",
        "`10` is not a valid duration, write it as `250ms`, `10s` or `5m`",
    );
    wrong(
        "proxy.listen = «\"localhost:1\"»",
        "`localhost:1` is not a valid address, write it as `127.0.0.1:8787`",
    );
}

#[test]
fn who_is_asked_and_for_how_long_is_a_setting() {
    let ask = |file: &str| load(file, &[]).unwrap().guard.ask;
    assert_eq!(ask(""), Some(Duration::from_mins(5)));
    assert_eq!(ask("ask.timeout = \"5s\""), Some(Duration::from_secs(5)));
    assert_eq!(ask("ask.operator = \"never\""), None);
}

#[test]
fn values_out_of_range_are_refused() {
    for line in [
        "proxy.max_connections = 9223372036854775807",
        "proxy.workers = 0",
        "guard.keep_alive = \"18446744073709551615s\"",
        "proxy.idle_timeout = \"0s\"",
        "guard.max_call_depth = 121",
        "gate.calls_per_minute = 4097",
    ] {
        let error = load(line, &[]).unwrap_err();
        assert!(error.contains("out of range"), "{error}");
    }
    let error = load("upstream.anthropic = \"http://me:secret@host\"", &[]).unwrap_err();
    assert!(
        error.contains("must not contain a user or password"),
        "{error}"
    );
}

#[test]
fn variables_of_other_systems_are_passed_over() {
    let environment = [
        ("HOLDGATE_PORT", "tcp://10.0.0.1:80"),
        ("HOLDGATE_SERVICE_HOST", "10.0.0.1"),
    ];
    let config = load("", &environment).unwrap();
    assert_eq!(config.ignored, ["HOLDGATE_PORT", "HOLDGATE_SERVICE_HOST"]);
}

#[test]
fn some_settings_take_effect_at_once_and_the_others_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("holdgate.toml");
    let file = "[proxy]\nlisten = \"127.0.0.1:1\"\nworkers = 2\n[gate]\ncalls_per_minute = 9\n";
    std::fs::write(&path, file).unwrap();
    let flags = Flags {
        config: Some(path.clone()),
        state_dir: Some("/state".into()),
        ..Flags::default()
    };
    let environment = [("HOLDGATE_GUARD_HOLD_ALL".to_owned(), "true".to_owned())];
    let old = Config::load(&flags, environment).unwrap();
    assert!(!old.is_written_otherwise(&old.reload().unwrap()));
    let file = "[proxy]\nlisten = \"127.0.0.1:2\"\n[gate]\ncalls_per_minute = 8\n[ledger]\nsync = true\n\
         [injection]\nmark = false\nunreadable = \"pass\"\n";
    std::fs::write(&path, file).unwrap();
    let new = old.reload().unwrap();
    assert!(old.is_written_otherwise(&new));
    assert!(
        new.guard.hold_all,
        "the environment still goes over the file"
    );
    assert_eq!(
        old.waiting_for_restart(&new),
        ["ledger.sync", "proxy.listen", "proxy.workers"]
    );
    let live = old.with_live(&new);
    assert_eq!(live.rates.calls_per_minute, 8);
    assert!(old.injection.mark && !live.injection.mark);
    let unreadable = (old.injection.unreadable, live.injection.unreadable);
    assert_eq!(unreadable, (Unreadable::Refuse, Unreadable::Pass));
    assert_eq!(live.proxy.listen.port(), 1);
    std::fs::write(&path, "[gate]\ncalls = 8\n").unwrap();
    assert!(old.reload().is_err());
}

#[test]
fn rules_are_in_the_usual_folders_unless_others_are_named() {
    let home = || [("HOME".to_owned(), "/nonexistent".to_owned())];
    let config = Config::load(&Flags::default(), home()).unwrap();
    let usual = ["/etc/holdgate/rules", "/nonexistent/.config/holdgate/rules"];
    assert_eq!(config.rules.dirs, usual.map(PathBuf::from));
    let config = load("[rules]\ndirs = [\"/a\", \"/b\"]\n", &[]).unwrap();
    assert_eq!(config.rules.dirs, ["/a", "/b"].map(PathBuf::from));
    wrong(
        "[rules]\ndirs = «[\"a\"]»\n",
        "`a` is not an absolute path, write it as `/home/me/project`",
    );
}

#[test]
fn expert_mode_is_switched_on_by_one_and_nothing_else() {
    let check = |value: &str, expected: bool| {
        let config = load("", &[("SAFETY_EXPERT_MODE", value)]).unwrap();
        assert_eq!(config.expert_header, expected, "{value}");
    };
    check("1", true);
    check("0", false);
    check("true", false);
    check("", false);
    assert!(!load("", &[]).unwrap().expert_header);
}

#[test]
fn the_judge_is_a_small_model_of_a_provider_unless_another_is_named() {
    let judge = |file: &str| load(file, &[]).unwrap().output_judge;
    let check = |file: &str, provider: Provider, model: &str, key: &str| {
        let judge = judge(file);
        assert_eq!(judge.provider, provider);
        assert_eq!(
            (judge.model.as_str(), judge.api_key_env.as_str()),
            (model, key)
        );
    };
    check(
        "",
        Provider::Gemini,
        "gemini-3.5-flash-lite",
        "GEMINI_API_KEY",
    );
    check(
        "judge.provider = \"anthropic\"",
        Provider::Anthropic,
        "claude-haiku-4-5",
        "ANTHROPIC_API_KEY",
    );
    check(
        "[judge]\nprovider = \"openai\"\nmodel = \"qwen/qwen3:8b\"\napi_key_env = \"MY_KEY\"",
        Provider::OpenAi,
        "qwen/qwen3:8b",
        "MY_KEY",
    );
    let usual = judge("");
    assert!(usual.freeze && usual.base_url.is_none());
    assert_eq!(usual.timeout, Duration::from_secs(5));
    let environment = [
        ("HOLDGATE_JUDGE_TIMEOUT", "2s"),
        ("HOLDGATE_JUDGE_FREEZE", "false"),
        ("HOLDGATE_JUDGE_BASE_URL", "http://127.0.0.1:1/v1"),
    ];
    let judge = load("judge.timeout = \"1s\"", &environment)
        .unwrap()
        .output_judge;
    assert_eq!(judge.timeout, Duration::from_secs(2));
    assert!(!judge.freeze);
    assert_eq!(judge.base_url.unwrap(), "http://127.0.0.1:1/v1");
}

#[test]
fn errors_in_the_judges_settings_are_explained() {
    wrong(
        "[judge]\nprovider = «\"bard\"»",
        "`bard` is not a valid provider, write `gemini`, `anthropic`, `openai` or `none`",
    );
    wrong(
        "[judge]\nmodel = «\"a b\"»",
        "`a b` is not a valid model name, write it as `gemini-3.5-flash-lite`",
    );
    wrong(
        "[judge]\n«freez» = false",
        "unknown field `freez`, did you mean `freeze`?",
    );
    let error = load("judge.provider = \"openai\"", &[]).unwrap_err();
    let expected = "judge.model: an OpenAI-compatible server has no default model, name one";
    assert_eq!(error, expected);
    let error = load("judge.timeout = \"2m\"", &[]).unwrap_err();
    assert!(error.contains("judge.timeout"), "{error}");
}

#[test]
fn a_key_in_the_file_is_refused_and_not_repeated() {
    for file in [
        "judge.api_key_env = \"AIzaSecret-secret\"",
        "judge.api_key = \"AIzaSecret-secret\"",
    ] {
        let error = load(file, &[]).unwrap_err();
        assert!(error.contains("do not put"), "{error}");
        assert!(!error.contains("ecret"), "{error}");
    }
}
