use super::*;
use crate::effect::Actor;

fn names() -> OwnNames {
    let option = |name: &str, value| (name.to_owned(), value);
    let command = |name: &str, does, options, operands, with: &[&str]| OwnCommand {
        name: name.to_owned(),
        does,
        options,
        operands,
        acts_with: with.iter().map(|name| (*name).to_owned()).collect(),
        common: false,
    };
    let session = vec![option("--session", false), option("--config", true)];
    OwnNames {
        program: "guard".into(),
        commands: vec![
            command("approve", OwnRole::Operator, session, 1, &[""]),
            command("run", OwnRole::Runs, vec![option("--goal", true)], 1, &[]),
            command("ledger seal", OwnRole::Operator, Vec::new(), 0, &[]),
            command("ledger verify", OwnRole::Shows, Vec::new(), 0, &[]),
        ],
        sockets: vec!["answers.sock".into()],
        port: "8787".into(),
        variables: "GUARD_".into(),
        lifts: ["LIFT_GATE".into(), "x-lift".into()],
        address: "MODEL_URL".into(),
        routes: vec!["MODEL_URL".into(), "OTHER_URL".into()],
        answers: vec!["o".into(), "lift the gate".into()],
    }
}

fn words(text: &str) -> Vec<Value> {
    text.split_whitespace().map(Value::known).collect()
}

#[test]
fn a_command_of_the_operators_is_known_under_any_name() {
    let own = names();
    for acts in [
        "approve a1",
        "approve a1 --session",
        "approve --config f a1",
        "ledger seal",
    ] {
        assert!(own.would_act(&words(acts)), "{acts}");
    }
    for shows in [
        "approve",
        "approve a b",
        "approve a1 --squash",
        "approve ./x",
        "ledger verify",
    ] {
        assert!(!own.would_act(&words(shows)), "{shows}");
    }
}

#[test]
fn what_a_command_runs_is_told_from_its_own_arguments() {
    let own = names();
    let line = words("run --goal x make --goal y");
    let told = own.read(&line).unwrap();
    assert_eq!(
        told.operands,
        words("make --goal y").iter().collect::<Vec<_>>()
    );
    assert!(told.has_settings());
    assert!(own.is_beginning(&words("ledger")));
    assert!(!own.is_beginning(&words("ledger x")));
    assert!(own.read(&words("ledger x")).is_none());
}

#[test]
fn help_is_an_option_and_not_a_value() {
    let own = names();
    for (line, help) in [
        ("approve --help", true),
        ("approve a1 -h", true),
        ("approve a1 --config --help", false),
        ("approve a1 --config version", false),
        ("approve a1 -- --help", false),
        ("run make --help", false),
    ] {
        assert_eq!(own.read(&words(line)).unwrap().help, help, "{line}");
    }
}

#[test]
fn the_program_has_its_name_on_every_system() {
    let own = names();
    for (name, expected) in [
        ("guard", true),
        ("guard.EXE", true),
        ("guards", false),
        ("é.exe", false),
    ] {
        assert_eq!(own.is_program(name), expected, "{name}");
    }
    assert!(!OwnNames::default().is_program(""));
}

#[test]
fn effects_that_name_a_part_of_the_guard_are_tagged() {
    let own = names();
    let check = |kind: Kind, text: &str, expected: &[Tag]| {
        let mut effect = Actor::new("x", "").does(kind).about(text);
        if kind == Kind::System {
            effect = effect.tagged(Tag::Keystrokes);
        }
        assert_eq!(own.tags(&effect), expected, "{text}");
    };
    check(Kind::Env, "GUARD_CONFIG=/tmp/x", &[Tag::GuardVariable]);
    check(Kind::Env, "OTHER_URL=", &[Tag::GuardRoute]);
    check(Kind::Env, "MODEL_URLS=", &[]);
    check(
        Kind::Write,
        "export GUARD_CONFIG=/tmp/x",
        &[Tag::GuardVariable],
    );
    check(Kind::Write, "unset A OTHER_URL", &[Tag::GuardRoute]);
    check(Kind::Write, "OTHER_URL=x", &[]);
    check(Kind::Write, "\"MODEL_URL\": \"x\"", &[Tag::GuardRoute]);
    check(Kind::Kill, "pkill Guard", &[Tag::OfGuard]);
    check(Kind::Kill, "18787", &[]);
    check(Kind::Run, "-U /run/answers.sock", &[Tag::GuardSocket]);
    check(Kind::Run, "-H X-Lift:1", &[Tag::LiftsGate]);
    check(Kind::System, "send-keys -t 0 o Enter", &[Tag::Answer]);
    check(
        Kind::System,
        "send-keys 'x' Lift the gate^M",
        &[Tag::Answer],
    );
    check(Kind::System, "send-keys foo Enter", &[]);
}

#[test]
fn code_that_gives_the_operators_answer_is_recognised() {
    let own = names();
    assert!(own.is_in_code("spawn guard approve a1\nexpect eof"));
    assert!(!own.is_in_code("spawn guard ledger verify\napprove a1"));
}
