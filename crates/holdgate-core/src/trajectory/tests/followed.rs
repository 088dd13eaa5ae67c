//! What is followed from one call to another: harm that is written down, files that are named, moved
//! or replaced.

use super::{RAN, at, effect, from, rules, step, to};
use crate::trajectory::*;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::host::HostClass;
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;
use holdgate_effects::value::Origins;

fn combines(trail: &Trail, effects: &[Effect]) -> bool {
    trail.combination(&Act::all(effects), false).is_some()
}

fn planted() -> Effect {
    to(Kind::ExecuteFetched, HostClass::External).tagged(Tag::Written)
}

fn fetched(path: &str) -> [Effect; 2] {
    let file = at(Kind::Write, path, PathClass::Project);
    [
        to(Kind::Fetch, HostClass::External),
        from(file, Origins::FETCHED, "host.example"),
    ]
}

fn named(path: &str) -> Effect {
    at(Kind::Run, path, PathClass::Project).tagged(Tag::Written)
}

#[test]
fn a_grave_act_counts_between_other_work_and_not_alone() {
    let job = [effect(Kind::Persist)];
    let mut trail = Trail::default();
    assert!(!combines(&trail, &job));
    step(&mut trail, &[at(Kind::Read, "/p/a", PathClass::Project)]);
    assert!(combines(&trail, &job));
}

#[test]
fn harm_that_is_written_first_counts_when_it_is_used() {
    let mut trail = Trail::default();
    assert!(!combines(&trail, &[planted()]));
    step(&mut trail, &[planted()]);
    let looks = at(Kind::Read, "/p/a", PathClass::Project);
    assert!(!combines(&trail, &[looks]));
    assert!(combines(&trail, &[effect(Kind::Vcs).tagged(Tag::Commit)]));
}

#[test]
fn a_written_file_that_runs_a_fetched_one_is_harm_in_either_order() {
    let path = "/p/tools/x.dat";
    let mut trail = Trail::default();
    step(&mut trail, &fetched(path));
    assert!(combines(&trail, &[named(path)]));
    let mut trail = Trail::default();
    step(&mut trail, &[named(path)]);
    assert!(combines(&trail, &fetched(path)));
    let mut trail = Trail::default();
    step(&mut trail, &[named(path)]);
    assert!(!combines(
        &trail,
        &[at(Kind::Write, path, PathClass::Project)]
    ));
}

#[test]
fn what_was_moved_away_is_lost_when_its_new_place_is_cleared() {
    let away = [
        at(Kind::Move, "/home/dev/letters", PathClass::Home),
        at(Kind::Write, "/tmp/x", PathClass::Temp),
    ];
    let clear = [at(Kind::Delete, "/tmp/x", PathClass::Temp)];
    let mut trail = Trail::default();
    assert!(!combines(&trail, &clear));
    step(&mut trail, &away);
    assert!(combines(&trail, &clear));
}

#[test]
fn files_that_tools_replace_unread_are_counted() {
    let write = |name: usize| [at(Kind::Write, &format!("/p/{name}"), PathClass::Project)];
    let replaced = Ended {
        replaced: true,
        ..RAN
    };
    let mut trail = Trail::default();
    for name in 0..4 {
        assert!(rules(&trail, &write(name)).is_empty());
        trail.take(&Act::all(&write(name)), replaced);
    }
    assert_eq!(rules(&trail, &write(9)), ["blind-overwrites"]);
    // What was written here may be written again.
    assert!(rules(&trail, &write(0)).is_empty());
}

#[test]
fn what_was_compared_with_its_checksum_is_asked_about() {
    let run = [at(Kind::Run, "/p/t", PathClass::Project)];
    let blocks = |trail: &Trail| {
        let cases = trail.cases(&Act::all(&run), Families::ALL);
        cases.first().map(|case| case.blocks)
    };
    let mut trail = Trail::default();
    step(&mut trail, &fetched("/p/t"));
    assert_eq!(blocks(&trail), Some(true));
    let mut check = effect(Kind::Run);
    check.program = "sha256sum".into();
    step(&mut trail, &[check]);
    assert_eq!(blocks(&trail), Some(false));
}

#[test]
fn files_that_tools_empty_are_lost_unless_they_are_new() {
    let write = |name: usize| {
        let path = format!("/p/{name}.rs");
        [at(Kind::Write, &path, PathClass::Project).tagged(Tag::Empties)]
    };
    for created in [false, true] {
        let ended = Ended {
            replaced: !created,
            created,
            ..RAN
        };
        let mut trail = Trail::default();
        for name in 0..2 {
            assert!(rules(&trail, &write(name)).is_empty());
            trail.take(&Act::all(&write(name)), ended);
        }
        assert_eq!(rules(&trail, &write(9)).is_empty(), created);
    }
}

#[test]
fn all_source_that_is_emptied_at_once_is_lost() {
    let empties = |path: &str| {
        let mut effect = at(Kind::Write, path, PathClass::Project).tagged(Tag::Empties);
        // By a command, not by a tool.
        effect.evidence = "truncate -s 0".into();
        Act::all(&[effect]).first().map(|act| act.action)
    };
    assert_eq!(empties("/p/src/*.rs"), Some(Action::DestroyData));
    assert_eq!(empties("/p/\u{fffc}"), Some(Action::DestroyData));
    assert_eq!(empties("/p/src/a.rs"), Some(Action::Delete));
    assert_eq!(empties("/p/src/__init__.py"), Some(Action::Write));
}
