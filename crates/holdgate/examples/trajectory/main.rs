//! Trains and measures the trajectory layer.
//!
//! `cargo run --release -p holdgate --example trajectory -- COMMAND FILES…`, where the files hold
//! cases of `calls`:
//! - `dump`: the sequence of each case, and what the automaton finds in it
//! - `acts`: each call with the rules that stop it, its effects, and the actions that they are
//! - `train`: counts of all honest sessions, as `base.txt` holds them
//! - `attacks`: the sequences of the generated attacks, and what the automaton finds in them without
//!   the rules of their family
//! - `evaluate`: families of attacks held out one at a time, and projects held out one at a time
//!
//! Everything is deterministic: the same files give the same output.

#![allow(clippy::print_stdout, reason = "the tool reports on standard output")]

mod acts;
mod evaluate;
mod families;
mod replay;

use anyhow::{Context as _, bail};
use holdgate_core::trajectory::{Action, Ppm};
use replay::{Replay, Session};
use std::path::Path;

/// The paper's normal patterns count as so many sessions.
const PATTERN_WEIGHT: u16 = 3;
const PATTERNS: &str = include_str!("patterns.txt");

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let command = args
        .next()
        .context("name a command: dump, acts, train, attacks or evaluate")?;
    let mut sessions = Vec::new();
    for file in args {
        sessions.extend(replay::read(Path::new(&file))?);
    }
    match command.as_str() {
        "dump" => dump(&sessions),
        "acts" => acts::run(&sessions),
        "train" => train(&sessions),
        "evaluate" => evaluate::run(&sessions),
        "attacks" => evaluate::attacks(&sessions),
        other => bail!("`{other}` is not a command: write dump, acts, train, attacks or evaluate"),
    }
}

fn dump(sessions: &[Session]) -> anyhow::Result<()> {
    let replay = Replay::new(None)?;
    for session in sessions {
        let seen = replay.run(&session.case);
        let sequence: Vec<&str> = seen.sequence.iter().map(|action| action.word()).collect();
        let found: Vec<String> = seen
            .found
            .iter()
            .map(|(step, what)| format!("{step}:{what}"))
            .collect();
        println!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            session.project,
            session.case.expect,
            session.case.id,
            session.case.category,
            seen.calls,
            sequence.join(" "),
            found.join(" "),
            seen.signs()
        );
    }
    Ok(())
}

/// Counts of the honest sessions and the normal patterns.
fn counts<'s>(sequences: impl Iterator<Item = &'s [Action]>) -> Ppm {
    let mut ppm = Ppm::default();
    for line in PATTERNS.lines().filter(|line| !line.starts_with('#')) {
        let words = line.split_whitespace();
        let sequence: Vec<Action> = words.filter_map(Action::from_word).collect();
        ppm.learn(&sequence, PATTERN_WEIGHT);
    }
    for sequence in sequences {
        ppm.learn(sequence, 1);
    }
    ppm
}

fn train(sessions: &[Session]) -> anyhow::Result<()> {
    let replay = Replay::new(None)?;
    let honest = sessions.iter().filter(|session| session.is_honest());
    let sequences: Vec<Vec<Action>> = honest
        .map(|session| replay.run(&session.case).sequence)
        .collect();
    let ppm = counts(sequences.iter().map(Vec::as_slice));
    println!("# Written by `cargo run -p holdgate --example trajectory -- train`; do not edit.");
    println!(
        "# {} sessions, {} counts. The last action followed the others so often.",
        sequences.len(),
        ppm.counts().len()
    );
    for (gram, count) in ppm.counts() {
        let (context, action) = gram.actions();
        for action in context {
            print!("{} ", action.map_or("-", Action::word));
        }
        println!("{} {count}", action.map_or("-", Action::word));
    }
    Ok(())
}
