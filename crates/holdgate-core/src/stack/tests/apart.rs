//! Judging in a session that others use meanwhile, and within its time.

use super::*;
use crate::rules::{Profile, RuleSet};
use crate::session::{self, SharedSession};
use holdgate_effects::path::{Facts, Real, World};
use std::sync::atomic::AtomicUsize;

fn limited(calls_per_minute: usize) -> Box<dyn Layer> {
    let limits = RateLimits {
        calls_per_minute,
        identical_in_a_row: 0,
    };
    Box::new(Gate::new(limits, Arc::default()))
}

#[test]
fn the_session_is_free_while_a_call_is_judged() {
    let session = SharedSession::default();
    let used = session.clone();
    let layer = says(move |_| {
        assert!(used.try_lock().is_ok());
        Ok(Vec::new())
    });
    let stack = stack(vec![layer], Arc::default());
    let judgement = judge(&stack, held(Executor::AtClient, "{}"), &session);
    assert!(rules(&judgement).is_empty());
}

#[test]
fn parallel_responses_do_not_multiply_a_limit() {
    let session = SharedSession::default();
    let other = session.clone();
    let other_stack = stack(vec![limited(1)], Arc::default());
    // While this call is judged, another one of the session is judged and cleared.
    let layer = says(move |_| {
        let call = held(Executor::AtClient, r#"{"n":2}"#);
        let judgement = judge(&other_stack, call, &other);
        assert!(judgement.outcome.is_ok());
        Ok(Vec::new())
    });
    let stack = stack(vec![limited(1), layer], Arc::default());
    let judgement = judge(&stack, held(Executor::AtClient, "{}"), &session);
    assert_eq!(rules(&judgement), ["call-rate"]);
    assert!(judgement.outcome.is_err());
    assert_eq!(session::lock(&session).refusals_in_a_row(), 1);
}

#[test]
fn a_call_above_the_rate_costs_no_work() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let layer = says(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(Vec::new())
    });
    let stack = stack(vec![limited(1), layer], Arc::default());
    let session = SharedSession::default();
    let judged = || rules(&judge(&stack, held(Executor::AtClient, "{}"), &session));
    assert!(judged().is_empty());
    for _ in 0..3 {
        assert_eq!(judged(), ["call-rate"]);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

/// A clock that goes on by a millisecond whenever it is looked at.
#[derive(Default)]
struct Moving(AtomicU64);

impl Clock for Moving {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

fn on_time(layers: Vec<Box<dyn Layer>>) -> Stack {
    let mut stack = stack(layers, Arc::default());
    stack.clock = Arc::new(Moving::default());
    stack.limits.call.max_bytes = 1 << 20;
    stack.limits.fuel = u64::MAX / 2;
    stack
}

#[test]
fn the_time_limit_interrupts_a_layer() {
    let endless = says(|fuel| {
        loop {
            fuel.spend(100)?;
        }
    });
    let judgement = judge_first(&on_time(vec![endless]), held(Executor::AtClient, "{}"));
    assert!(rules(&judgement).contains(&"judging-too-slow".to_owned()));
}

#[test]
fn the_time_limit_interrupts_understanding() {
    let stack = on_time(Vec::new());
    let ten = "for i in 1 2 3 4 5 6 7 8 9 0; do ".repeat(5);
    let command = format!("{ten}echo $i | tr 1 2 | sed s/2/3/; {}", "done; ".repeat(5));
    let input = Json::object([("command", command.into())]).text();
    let judgement = judge_first(&stack, held(Executor::AtClient, &input));
    assert_eq!(rules(&judgement), ["judging-too-slow"]);
    assert!(judgement.effects.is_empty());
}

/// A disk that never says where a path leads.
#[derive(Debug)]
struct Silent;

impl Facts for Silent {
    fn real(&self, _: &str) -> Real {
        Real::Unknown
    }

    fn is_file(&self, _: &str) -> bool {
        true
    }
}

#[test]
fn where_the_disk_is_silent_nothing_is_harmless() {
    let built_in = RuleSet::built_in(Profile::default()).unwrap();
    let gate = Gate::new(RateLimits::NONE, built_in);
    let mut stack = stack(vec![Box::new(gate)], Arc::default());
    stack.limits.fuel = 100_000;
    let judge = |world: World, command: &str| {
        let mut session = Session::default();
        session.world = Arc::new(world);
        let input = Json::object([("command", command.to_owned().into())]).text();
        let call = held(Executor::AtClient, &input);
        rules(&judge(&stack, call, &mut session))
    };
    let silent = World {
        facts: Some(Arc::new(Silent)),
        ..World::default()
    };
    assert!(judge(World::default(), "rm -rf target").is_empty());
    let refused = judge(silent.clone(), "rm -rf target");
    assert_eq!(refused, ["recursive-delete-outside-project"]);
    assert!(judge(silent, "cat src/main.rs").is_empty());
}

/// Many costly calls must not keep those who judge from other responses.
#[test]
fn a_session_of_costly_calls_gets_less_work_done() {
    let mut stack = stack(vec![says(|_| Ok(Vec::new()))], Arc::default());
    stack.limits.call.max_bytes = 1 << 20;
    stack.limits.fuel = 64_000;
    stack.limits.deadline = Duration::from_mins(1);
    let session = SharedSession::default();
    let history = History::default();
    let is_judged = |command: &str, now: u64| {
        let input = format!(r#"{{"command":"{command}"}}"#);
        let context = Context::new(&history, Duration::from_secs(now));
        let judgement = stack.judge(held(Executor::AtClient, &input), &session, &context);
        judgement.outcome.is_ok()
    };
    let digits = "1 2 3 4 5 6 7 8 9";
    let loops = format!(
        "for a in {digits}; do for b in {digits}; do sed -e s/$a/$b/ f > o$a$b; done; done; "
    );
    assert!(is_judged(&loops, 0), "it is costly, but not too costly");
    for _ in 0..4 {
        assert!(!is_judged(&loops.repeat(40), 1));
    }
    assert!(!is_judged(&loops, 2));
    assert!(is_judged("cargo test --workspace 2>&1 | tail -5", 3));
    assert!(is_judged(&loops, 62), "a minute later");
}
