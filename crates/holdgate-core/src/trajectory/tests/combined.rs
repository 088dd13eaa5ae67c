//! What comes together, whatever attack it may be.

use super::{at, attacks, effect, from, step, to};
use crate::trajectory::*;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::host::HostClass;
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;
use holdgate_effects::value::Origins;

fn combines(trail: &Trail, effects: &[Effect]) -> bool {
    trail.combination(&Act::all(effects), false).is_some()
}

#[test]
fn attacks_are_found_without_the_rule_that_names_them() {
    for (calls, rule) in attacks() {
        let mut trail = Trail::default();
        let mut found = false;
        for call in &calls {
            found |= combines(&trail, call);
            step(&mut trail, call);
        }
        assert!(found, "{rule}");
    }
}

#[test]
fn a_single_call_is_no_combination() {
    let sudoers = [
        effect(Kind::Elevate),
        at(Kind::Write, "/etc/sudoers.d/x", PathClass::Privilege),
        to(Kind::Send, HostClass::External),
    ];
    assert!(!combines(&Trail::default(), &sudoers));
}

#[test]
fn usual_work_combines_to_nothing() {
    let work = [
        at(Kind::Read, "/p/.env", PathClass::Project),
        effect(Kind::Install),
        at(Kind::Write, "/p/run.sh", PathClass::Project),
        at(Kind::Mode, "/p/run.sh", PathClass::Project).tagged(Tag::Executable),
        at(Kind::Run, "/p/run.sh", PathClass::Project),
        at(Kind::Delete, "/p/old", PathClass::Project),
        effect(Kind::Elevate),
        effect(Kind::Vcs).tagged(Tag::Push),
        to(Kind::Send, HostClass::Loopback),
    ];
    let mut trail = Trail::default();
    for call in work {
        assert!(!combines(&trail, std::slice::from_ref(&call)), "{call:?}");
        step(&mut trail, &[call]);
    }
}

#[test]
fn what_is_encrypted_and_then_deleted_is_found() {
    let path = "/home/dev/tax.pdf";
    let mut packed = from(
        at(Kind::Write, "/home/dev/tax.pdf.enc", PathClass::Home),
        Origins::FILE,
        path,
    );
    packed.program = "openssl".into();
    let delete = [at(Kind::Delete, path, PathClass::Home)];
    let mut trail = Trail::default();
    let pack = effect_of("openssl", "enc -in /home/dev/tax.pdf");
    step(&mut trail, &[pack, packed]);
    assert!(combines(&trail, &delete));
    assert!(!combines(&Trail::default(), &delete));
}

#[test]
fn what_others_wrote_counts_where_it_would_be_obeyed() {
    let trail = Trail::default();
    let persist = Act::all(&[at(Kind::Write, "/home/dev/.bashrc", PathClass::Startup)]);
    assert!(trail.combination(&persist, true).is_some());
    assert!(trail.combination(&persist, false).is_none());
    let send = Act::all(&[to(Kind::Send, HostClass::External)]);
    assert!(trail.combination(&send, true).is_none());
}

fn effect_of(program: &str, text: &str) -> Effect {
    holdgate_effects::effect::Actor::new(program, text)
        .does(Kind::Run)
        .about(text)
}
