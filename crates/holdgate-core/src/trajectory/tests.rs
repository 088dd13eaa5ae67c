use super::act::hash;
use super::case::Families;
use super::files::MAX_FILES;
use super::*;
use holdgate_effects::effect::{Actor, Effect, Kind};
use holdgate_effects::host::{Host, HostClass};
use holdgate_effects::path::{Classes, PathClass, Place};
use holdgate_effects::tag::Tag;
use holdgate_effects::value::Origins;
use proptest::prelude::*;

const RAN: Ended = Ended {
    ran: true,
    shown: false,
};
const REFUSED: Ended = Ended {
    ran: false,
    shown: false,
};

fn effect(kind: Kind) -> Effect {
    Actor::new("program", "program").does(kind)
}

fn at(kind: Kind, path: &str, class: PathClass) -> Effect {
    let mut classes = Classes::default();
    classes.add(class);
    effect(kind).at(Place {
        text: path.to_owned(),
        short: path.to_owned(),
        classes,
    })
}

fn to(kind: Kind, class: HostClass) -> Effect {
    let name = "host.example".to_owned();
    effect(kind).with(Host { name, class })
}

fn from(mut effect: Effect, origins: Origins, source: &str) -> Effect {
    effect.origins |= origins;
    effect.sources.push(source.into());
    effect
}

fn step(trail: &mut Trail, effects: &[Effect]) {
    trail.take(&Act::all(effects), RAN);
}

fn rules(trail: &Trail, effects: &[Effect]) -> Vec<&'static str> {
    let cases = trail.cases(&Act::all(effects), Families::ALL);
    cases.iter().map(|case| case.rule).collect()
}

/// Attacks, each as calls of effects, and the rule that the last call completes.
fn attacks() -> Vec<(Vec<Vec<Effect>>, &'static str)> {
    let secret = || at(Kind::Read, "/home/dev/.aws/credentials", PathClass::Secret);
    let copy = |path: &str| {
        from(
            at(Kind::Write, path, PathClass::Temp),
            Origins::SECRET,
            "/home/dev/.aws/credentials",
        )
    };
    let run = |path: &str| at(Kind::Run, path, PathClass::Temp);
    let send = |path: &str| from(to(Kind::Send, HostClass::External), Origins::FILE, path);
    let fetched = |path: &str| {
        from(
            at(Kind::Write, path, PathClass::Temp),
            Origins::FETCHED,
            "host.example",
        )
    };
    let moved = |from_: &str, path: &str| {
        from(
            at(Kind::Write, path, PathClass::Project),
            Origins::FILE,
            from_,
        )
    };
    let recon = || Actor::new("whoami", "whoami").does(Kind::Run);
    let wide = |path: &str| at(Kind::Mode, path, PathClass::Project).tagged(Tag::WorldWritable);
    vec![
        (
            vec![
                vec![secret(), copy("/tmp/a")],
                vec![moved("/tmp/a", "/p/b")],
                vec![send("/p/b")],
            ],
            "staged-secret-leaves",
        ),
        (
            vec![
                vec![
                    secret(),
                    from(
                        at(Kind::Write, "/p/key", PathClass::Project),
                        Origins::SECRET,
                        "/s",
                    ),
                ],
                vec![effect(Kind::Vcs).tagged(Tag::Commit)],
                vec![effect(Kind::Vcs).tagged(Tag::Push)],
            ],
            "staged-secret-leaves",
        ),
        (
            vec![
                vec![to(Kind::Fetch, HostClass::External), fetched("/tmp/t")],
                vec![moved("/tmp/t", "/p/t")],
                vec![run("/p/t")],
            ],
            "fetched-file-runs",
        ),
        (
            vec![
                vec![to(Kind::Fetch, HostClass::External), fetched("/tmp/clone")],
                vec![run("/tmp/clone/install.sh")],
            ],
            "fetched-file-runs",
        ),
        (
            vec![
                vec![from(
                    at(Kind::Write, "/tmp/d", PathClass::Temp),
                    Origins::DECODED,
                    "/p/x.b64",
                )],
                vec![run("/tmp/d")],
            ],
            "decoded-file-runs",
        ),
        (
            vec![
                vec![at(Kind::Write, "/p/s.sh", PathClass::Project)],
                vec![effect(Kind::Elevate), run("/p/s.sh").tagged(Tag::Elevated)],
            ],
            "prepared-privilege",
        ),
        (
            vec![
                vec![wide("/p/a")],
                vec![wide("/p/b")],
                vec![wide("/p/c")],
                vec![effect(Kind::Elevate)],
            ],
            "prepared-privilege",
        ),
        (
            vec![
                vec![at(Kind::Write, "/p/j.sh", PathClass::Project)],
                vec![effect(Kind::Persist), run("/p/j.sh")],
            ],
            "prepared-persistence",
        ),
        (
            vec![
                vec![recon()],
                vec![recon()],
                vec![secret()],
                vec![to(Kind::Send, HostClass::External)],
            ],
            "credentials-then-sends",
        ),
        (
            vec![
                vec![at(
                    Kind::Delete,
                    "/home/dev/.bash_history",
                    PathClass::History,
                )],
                vec![effect(Kind::Elevate)],
            ],
            "disarmed-then-acts",
        ),
    ]
}

#[test]
fn the_step_that_completes_an_attack_is_found_and_no_earlier_one() {
    for (calls, rule) in attacks() {
        let mut trail = Trail::default();
        let (last, before) = calls.split_last().unwrap();
        for call in before {
            assert!(rules(&trail, call).is_empty(), "{rule}: {call:?}");
            step(&mut trail, call);
        }
        assert!(
            rules(&trail, last).contains(&rule),
            "{rule}: {:?}",
            rules(&trail, last)
        );
    }
}

#[test]
fn each_family_can_be_left_out() {
    for (calls, rule) in attacks() {
        let mut trail = Trail::default();
        let (last, before) = calls.split_last().unwrap();
        for call in before {
            step(&mut trail, call);
        }
        let acts = Act::all(last);
        let found = trail.cases(&acts, Families::ALL);
        let family = found.iter().find(|case| case.rule == rule).unwrap().family;
        let rest = trail.cases(&acts, Families::ALL.without(family));
        assert!(rest.iter().all(|case| case.family != family), "{rule}");
    }
}

#[test]
fn a_refused_step_changes_no_file() {
    let mut trail = Trail::default();
    let fetch = [
        to(Kind::Fetch, HostClass::External),
        from(
            at(Kind::Write, "/tmp/t", PathClass::Temp),
            Origins::FETCHED,
            "h",
        ),
    ];
    trail.take(&Act::all(&fetch), REFUSED);
    assert!(rules(&trail, &[at(Kind::Run, "/tmp/t", PathClass::Temp)]).is_empty());
}

#[test]
fn files_that_are_replaced_or_come_from_known_hosts_may_run() {
    let run = [at(Kind::Run, "/tmp/t", PathClass::Temp)];
    let fetched = from(
        at(Kind::Write, "/tmp/t", PathClass::Temp),
        Origins::FETCHED,
        "h",
    );
    let mut trail = Trail::default();
    step(
        &mut trail,
        &[to(Kind::Fetch, HostClass::Registry), fetched.clone()],
    );
    assert!(rules(&trail, &run).is_empty(), "a registry");
    step(&mut trail, &[to(Kind::Fetch, HostClass::External), fetched]);
    assert!(!rules(&trail, &run).is_empty());
    step(&mut trail, &[at(Kind::Write, "/tmp/t", PathClass::Temp)]);
    assert!(rules(&trail, &run).is_empty(), "written anew");
}

#[test]
fn attempts_to_destroy_data_are_counted_when_they_are_refused() {
    let destroy = [effect(Kind::Database).tagged(Tag::Delete).tagged(Tag::Prod)];
    let mut trail = Trail::default();
    for _ in 0..2 {
        assert!(rules(&trail, &destroy).is_empty());
        trail.take(&Act::all(&destroy), REFUSED);
    }
    assert_eq!(rules(&trail, &destroy), ["keeps-destroying"]);
    let mut approved = Trail::default();
    for _ in 0..9 {
        step(&mut approved, &destroy);
        let cases = approved.cases(&Act::all(&destroy), Families::ALL);
        assert!(
            cases.iter().all(|case| !case.blocks),
            "a person has approved it"
        );
    }
}

#[test]
fn deletions_are_counted_by_call_and_not_for_own_files() {
    let delete = |number: u32| at(Kind::Delete, &format!("/p/{number}"), PathClass::Project);
    let mut trail = Trail::default();
    let many: Vec<Effect> = (0..20).map(delete).collect();
    step(&mut trail, &many);
    assert!(rules(&trail, &[delete(90)]).is_empty(), "one call");
    let mut trail = Trail::default();
    for number in 0..20 {
        step(
            &mut trail,
            &[at(Kind::Write, &format!("/p/{number}"), PathClass::Project)],
        );
        assert!(rules(&trail, &[delete(number)]).is_empty(), "its own file");
        step(&mut trail, &[delete(number)]);
    }
    assert!(rules(&trail, &[delete(90)]).is_empty());
    let mut trail = Trail::default();
    for number in 0..11 {
        assert!(rules(&trail, &[delete(number)]).is_empty());
        step(&mut trail, &[delete(number)]);
    }
    assert_eq!(rules(&trail, &[delete(90)]), ["mass-deletion"]);
}

#[test]
fn a_model_survives_storing_and_damage_is_found() {
    let mut model = Model::default();
    for _ in 0..300 {
        model.learn(&[Action::Install, Action::RunWritten, Action::Push], base());
    }
    let bytes = model.to_bytes();
    assert_eq!(Model::from_bytes(&bytes), Ok(model.clone()));
    assert_eq!(Model::from_bytes(b"something"), Err(Broken::NotAModel));
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        assert!(Model::from_bytes(&bytes).is_err(), "byte {at}");
    }
    assert!(Model::from_bytes(&bytes[..bytes.len() - 1]).is_err());
}

#[test]
fn a_project_is_calibrated_once_enough_sessions_are_known() {
    let mut model = Model::default();
    for _ in 0..198 {
        model.learn(&[Action::Push], base());
    }
    assert_eq!(model.threshold(), None);
    model.learn(&[Action::Push], base());
    assert!(model.threshold().is_some());
}

#[test]
fn what_was_learned_is_less_surprising() {
    let sequence = [Action::SetRemote, Action::Pack, Action::WriteOut];
    let before = surprise(&sequence, base(), None).unwrap().bits;
    let mut model = Model::default();
    for _ in 0..20 {
        model.learn(&sequence, base());
    }
    let after = surprise(&sequence, base(), Some(model.ppm())).unwrap().bits;
    assert!(after < before, "{after} < {before}");
}

#[test]
fn no_session_teaches_by_repetition() {
    let mut once = Model::default();
    let mut often = Model::default();
    once.learn(&[Action::Send, Action::Push, Action::Send], base());
    often.learn(&[Action::Send, Action::Push].repeat(50), base());
    assert!(often.ppm().counts().all(|(_, count)| count == 1));
    assert_eq!(once.sessions(), 1);
}

fn any_action() -> impl Strategy<Value = Action> {
    (0..Action::ALL.len()).prop_map(|at| Action::ALL[at])
}

fn any_effect() -> impl Strategy<Value = Effect> {
    let kind = (0..Kind::ALL.len()).prop_map(|at| Kind::ALL[at]);
    let class = (0..PathClass::ALL.len()).prop_map(|at| PathClass::ALL[at]);
    let tag = (0..Tag::ALL.len()).prop_map(|at| Tag::ALL[at]);
    let host = (0..HostClass::ALL.len()).prop_map(|at| HostClass::ALL[at]);
    let origins = prop::sample::select(vec![
        Origins::NONE,
        Origins::FETCHED,
        Origins::FILE,
        Origins::SECRET,
        Origins::DECODED,
        Origins::OUTPUT,
    ]);
    (
        kind,
        class,
        tag,
        host,
        origins,
        "/[a-c]{1,2}(/[a-c]){0,3}",
        "/[a-c]{1,2}",
    )
        .prop_map(|(kind, class, tag, class_of_host, origins, path, source)| {
            let name = "h.example".to_owned();
            let host = Host {
                name,
                class: class_of_host,
            };
            from(
                at(kind, &path, class).tagged(tag).with(host),
                origins,
                &source,
            )
        })
}

/// A call that only works in the project, on files that no attack above names.
fn neutral_call() -> impl Strategy<Value = Vec<Effect>> {
    let kind = prop::sample::select(vec![Kind::Read, Kind::Write]);
    let effect =
        (kind, "/work/[a-z]{1,6}").prop_map(|(kind, path)| at(kind, &path, PathClass::Project));
    prop::collection::vec(effect, 0..3)
}

proptest! {
    #[test]
    fn neutral_steps_between_never_hide_an_attack(
        which in 0..10_usize,
        gaps in prop::collection::vec(prop::collection::vec(neutral_call(), 0..21), 4),
    ) {
        let all = attacks();
        let (calls, rule) = &all[which];
        let mut trail = Trail::default();
        let (last, before) = calls.split_last().unwrap();
        for (call, gap) in before.iter().zip(gaps.iter().cycle()) {
            step(&mut trail, call);
            for call in gap {
                step(&mut trail, call);
            }
        }
        prop_assert!(rules(&trail, last).contains(rule), "{rule}: {:?}", rules(&trail, last));
    }

    #[test]
    fn any_history_is_followed_within_bounds(
        calls in prop::collection::vec((prop::collection::vec(any_effect(), 0..30), any::<bool>(), any::<bool>()), 0..60),
    ) {
        let mut trail = Trail::default();
        for (effects, ran, shown) in &calls {
            let acts = Act::all(effects);
            trail.cases(&acts, Families::ALL);
            if let Some((bits, action)) = trail.surprise(&acts, base(), None) {
                prop_assert!(bits.is_finite() && bits >= 0.0);
                prop_assert!(!action.is_neutral());
            }
            trail.take(&acts, Ended { ran: *ran, shown: *shown });
            prop_assert!(trail.bytes() <= 64 << 10);
        }
    }

    #[test]
    fn a_model_stays_within_its_bound(
        sequences in prop::collection::vec(prop::collection::vec(any_action(), 0..200), 0..20),
    ) {
        let mut model = Model::default();
        for sequence in &sequences {
            model.learn(sequence, base());
        }
        let bytes = model.to_bytes();
        prop_assert!(bytes.len() <= MAX_BYTES);
        prop_assert_eq!(Model::from_bytes(&bytes), Ok(model));
    }

    #[test]
    fn broken_bytes_are_no_model(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Model::from_bytes(&bytes).is_err());
    }
}

#[test]
fn a_flood_of_files_hides_nothing_that_is_bad() {
    let mut trail = Trail::default();
    step(
        &mut trail,
        &[
            to(Kind::Fetch, HostClass::External),
            from(
                at(Kind::Write, "/tmp/t", PathClass::Temp),
                Origins::FETCHED,
                "h",
            ),
        ],
    );
    for number in 0..4 * MAX_FILES {
        step(
            &mut trail,
            &[at(Kind::Write, &format!("/p/{number}"), PathClass::Project)],
        );
        assert!(trail.bytes() <= 64 << 10, "{}", trail.bytes());
    }
    assert_eq!(
        rules(&trail, &[at(Kind::Run, "/tmp/t", PathClass::Temp)]),
        ["fetched-file-runs"]
    );
    assert!(!trail.has_lost());
    for number in 0..4 * MAX_FILES {
        let path = format!("/tmp/{number}");
        let fetched = from(
            at(Kind::Write, &path, PathClass::Temp),
            Origins::FETCHED,
            "h",
        );
        step(&mut trail, &[to(Kind::Fetch, HostClass::External), fetched]);
        assert!(trail.bytes() <= 64 << 10, "{}", trail.bytes());
    }
    assert!(trail.has_lost());
}

#[test]
fn a_packed_file_holds_what_it_was_made_from() {
    let mut trail = Trail::default();
    let secret = at(Kind::Read, "/home/dev/.kube/config", PathClass::Secret);
    let copy = from(
        at(Kind::Write, "/tmp/k", PathClass::Temp),
        Origins::SECRET,
        "/home/dev/.kube/config",
    );
    step(&mut trail, &[secret, copy]);
    step(
        &mut trail,
        &[Actor::new("xz", "xz /tmp/k")
            .does(Kind::Run)
            .about("/tmp/k")],
    );
    let read = at(Kind::Read, "/tmp/k.xz", PathClass::Temp);
    let send = from(
        to(Kind::Send, HostClass::External),
        Origins::FILE,
        "/tmp/k.xz",
    );
    assert_eq!(rules(&trail, &[read, send]), ["staged-secret-leaves"]);
}

#[test]
fn paths_differ_by_their_hash() {
    let paths = ["/a", "/a/b", "/a/b/c", "/b", "/a/bb"];
    let hashes: std::collections::HashSet<u64> = paths.iter().map(|path| hash(path)).collect();
    assert_eq!(hashes.len(), paths.len());
    assert_eq!(hash("/a/"), hash("/a"));
}
