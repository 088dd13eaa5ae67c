//! Whatever comes: nothing hides an attack, and nothing grows without bound.

use super::{at, attacks, from, rules, step, to};
use crate::trajectory::case::Families;
use crate::trajectory::files::MAX_FILES;
use crate::trajectory::*;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::host::{Host, HostClass};
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;
use holdgate_effects::value::Origins;
use proptest::prelude::*;

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
            trail.take(&acts, Ended { ran: *ran, shown: *shown, replaced: *shown, created: *ran });
            prop_assert!(trail.bytes() <= 64 << 10);
        }
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
