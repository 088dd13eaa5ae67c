//! What the automaton finds, and what it does not.

use super::act::hash;
use super::case::Families;
use super::*;
use holdgate_effects::effect::{Actor, Effect, Kind};
use holdgate_effects::host::{Host, HostClass};
use holdgate_effects::path::{Classes, PathClass, Place};
use holdgate_effects::tag::Tag;
use holdgate_effects::value::Origins;

mod bounds;
mod combined;
mod followed;
mod learning;

const RAN: Ended = Ended {
    ran: true,
    shown: false,
    replaced: false,
    created: false,
};
const REFUSED: Ended = Ended {
    ran: false,
    shown: false,
    replaced: false,
    created: false,
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
        project: None,
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
