//! Agents that make very many calls are slowed down before they are stopped. Virtual time.

use crate::guarding::{Play, judge, settings};
use crate::responses::message;
use holdgate_core::{GuardSettings, RequestFacts, ResponseContext, StreamGuard};
use std::sync::Arc;
use std::time::Duration;

/// An agent of a session.
fn agent(of: &ResponseContext, root: &str) -> ResponseContext {
    ResponseContext {
        request: Arc::new(RequestFacts {
            root: root.to_owned(),
            ..(*of.request).clone()
        }),
        ..of.clone()
    }
}

fn calls(count: usize) -> String {
    let commands: Vec<String> = (0..count).map(|n| format!("echo {n}")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    message(&commands)
}

/// Lets time pass until nothing is due.
fn wait(play: &mut Play) {
    while let Some(due) = play.guard.next_deadline() {
        play.now = due;
        play.act(StreamGuard::tick);
    }
}

#[test]
fn many_calls_of_one_message_take_longer_and_all_pass() {
    for hold_all in [false, true] {
        let context = judge(GuardSettings {
            keep_alive: Duration::from_secs(1),
            hold_all,
            ..settings()
        });
        let mut play = Play::new(context);
        play.feed(calls(60).as_bytes());
        let at_once = if hold_all { 0 } else { 45 };
        assert_eq!(play.seen.sent().len(), at_once, "hold_all {hold_all}");
        assert!(play.guard.is_waiting());
        wait(&mut play);
        play.finish();
        assert_eq!(play.seen.sent().len(), 60, "hold_all {hold_all}");
        let seconds = play.now.as_secs();
        assert!((25..60).contains(&seconds), "it took {seconds} s");
        let text = play.seen.text();
        assert!(text.contains("message_stop") && text.matches("event: ping").count() > 9);
        assert!(!play.guard.has_failed());
    }
}

#[test]
fn an_agent_is_not_slowed_down_by_another_one_of_its_session() {
    let context = judge(settings());
    for root in ["one", "two", "three", "four"] {
        let mut play = Play::new(agent(&context, root));
        play.feed(calls(44).as_bytes());
        assert_eq!(play.seen.sent().len(), 44, "{root}");
    }
    // All together may make five times as many as one.
    let mut all = 4 * 44;
    for root in ["five", "six", "seven"] {
        let mut play = Play::new(agent(&context, root));
        play.feed(calls(30).as_bytes());
        all += play.seen.sent().len();
    }
    assert_eq!(all, 225);
}

#[test]
fn an_agent_that_goes_on_in_parallel_is_stopped_in_the_end() {
    let context = judge(settings());
    let mut plays: Vec<Play> = (0..80).map(|_| Play::new(context.clone())).collect();
    for (n, play) in plays.iter_mut().enumerate() {
        play.feed(message(&[&format!("echo {n}")]).as_bytes());
    }
    for play in &mut plays {
        wait(play);
    }
    let sent = plays.iter().filter(|play| !play.seen.sent().is_empty());
    assert_eq!(sent.count(), 60);
    let last = plays.last().unwrap().seen.text();
    assert!(last.contains("call-rate"), "{last}");
}

#[test]
fn a_session_that_feels_for_an_edge_waits_longer_and_longer() {
    let context = judge(settings());
    let mut waited = Vec::new();
    let mut now = Duration::ZERO;
    let mut told = String::new();
    for n in 0..30 {
        let mut play = Play::new(context.clone());
        play.now = now;
        play.feed(message(&[&format!("cat ~/.ssh/id_rsa # {n}")]).as_bytes());
        wait(&mut play);
        play.finish();
        waited.push(play.now.saturating_sub(now));
        now = play.now;
        assert!(play.seen.sent().is_empty());
        told.push_str(&format!("{:?}\n", play.seen.decisions()));
    }
    assert_eq!(waited[..5], [Duration::ZERO; 5], "{told}");
    assert!(waited[5] > Duration::ZERO && waited[10] > Duration::from_secs(10));
    // Work that nobody refuses is not slowed down.
    let honest = judge(settings());
    let mut now = Duration::ZERO;
    for n in 0..200 {
        let mut play = Play::new(honest.clone());
        play.now = now;
        play.feed(message(&[&format!("cargo test {n}")]).as_bytes());
        assert_eq!(play.seen.sent().len(), 1, "call {n} waits");
        now += Duration::from_secs(2);
    }
}
