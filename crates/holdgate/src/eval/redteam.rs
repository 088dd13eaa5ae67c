//! `holdgate redteam`: blocked commands in other forms that do the same, and what gets through.
//!
//! The mutants are judged and never run. The same seed makes the same ones.

mod mutate;
mod quote;
mod seed;
mod swaps;

use super::cases::{Case, Expect, Subject};
use super::judge::{Bench, Hit, Outcome};
use super::report::Table;
use super::setup::{Part, SetUp};
use super::stats::Rate;
use super::tally::Counts;
use super::{Missed, read_all};
use crate::args::RedteamArgs;
use holdgate_core::LayerName;
use holdgate_effects::json::{Json, shorten};
use mutate::{MUTATORS, Mutator};
pub(super) use seed::Seed;
use std::io::Write;

pub use mutate::Class;

/// Mutants of one mutator that are shown.
const SHOWN: usize = 3;
/// Letters of a command that are shown.
const LETTERS: usize = 200;

/// What became of the mutants of one mutator.
pub(super) struct Tested {
    pub(super) class: Class,
    pub(super) name: &'static str,
    pub(super) counts: Counts,
    /// Those that passed without a question.
    pub(super) through: Vec<Mutant>,
}

/// A mutant.
pub(super) struct Mutant {
    /// The case that it was made from.
    pub(super) of: String,
    /// Its calls, as they are judged.
    calls: Vec<String>,
}

/// Mutants that passed without a question.
pub(super) fn through(counts: Counts) -> Rate {
    counts.rate(counts.audited + counts.allowed)
}

/// Makes mutants of blocked commands and reports what gets through.
pub fn run(args: &RedteamArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let set_up = SetUp::new(&args.stack, true)?;
    let bench = set_up.bench(&Part::Nothing)?;
    let cases: Vec<Case> = if args.files.is_empty() {
        set_up.examples()
    } else {
        let files = read_all(&args.files)?;
        files.into_iter().flat_map(|(_, cases)| cases).collect()
    };
    let judged = cases
        .iter()
        .filter_map(|case| Some((case, bench.judge(case)?)));
    let seeds: Vec<Seed> = judged
        .filter_map(|(case, outcome)| seed_of(case, &outcome))
        .collect();
    let tested = attack(&bench, &seeds, args.seed, args.each);
    let all = sum(&tested);
    if args.json {
        writeln!(out, "{}", json(&seeds, &tested))?;
    } else {
        print(out, &seeds, &tested, args.verbose)?;
    }
    out.flush()?;
    match (args.max_through, through(all).percent()) {
        (Some(most), Some(rate)) if rate > most => {
            let missed = format!(
                "{rate:.2} % of the mutants get through, but --max-through allows {most} %"
            );
            Err(Missed(missed).into())
        }
        (Some(_), None) => {
            Err(Missed("--max-through: there are no blocked commands".to_owned()).into())
        }
        _ => Ok(()),
    }
}

/// The command of a case that was blocked for what it does.
pub(super) fn seed_of(case: &Case, outcome: &Outcome) -> Option<Seed> {
    // What the reader cannot read would not run either.
    let unread = |hit: &Hit| matches!(hit.layer, LayerName::Reader | LayerName::Stack);
    let blocked = outcome.is_blocked() && !outcome.hits.iter().any(unread);
    Seed::new(case).filter(|_| blocked)
}

/// Judges `each` mutants of every class for every seed.
pub(super) fn attack(bench: &Bench, seeds: &[Seed], number: u64, each: usize) -> Vec<Tested> {
    let nothing = |mutator: &Mutator| Tested {
        class: mutator.class,
        name: mutator.name,
        counts: Counts::default(),
        through: Vec::new(),
    };
    let mut tested: Vec<Tested> = MUTATORS.iter().map(nothing).collect();
    for seed in seeds {
        for class in Class::ALL {
            let mut choice: Vec<_> = MUTATORS.iter().zip(&mut tested).enumerate().collect();
            choice.retain(|(_, (mutator, _))| mutator.class == class);
            choice.sort_by_key(|(index, _)| scatter(number, &seed.id, *index));
            let made = choice
                .into_iter()
                .filter_map(|(_, (mutator, tested))| Some((tested, mutator.apply(seed)?)));
            for (tested, calls) in made.take(each) {
                let inputs = calls.iter().map(|call| call.input.clone()).collect();
                let case = Case {
                    id: seed.id.clone(),
                    expect: Expect::Block,
                    category: class.to_string(),
                    severity: None,
                    cwd: seed.cwd.clone(),
                    source: None,
                    subject: Subject::Calls {
                        calls,
                        stop_by: None,
                    },
                };
                let Some(outcome) = bench.judge(&case) else {
                    continue;
                };
                tested.counts.count(outcome.verdict);
                if outcome.verdict.lets_pass() {
                    tested.through.push(Mutant {
                        of: seed.id.clone(),
                        calls: inputs,
                    });
                }
            }
        }
    }
    tested
}

/// A number that looks random (splitmix64), for an order that differs from seed to seed.
fn scatter(number: u64, id: &str, index: usize) -> u64 {
    let mix = |state: u64| {
        let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let start = mix(number ^ u64::try_from(index).unwrap_or(0));
    id.bytes()
        .fold(start, |state, byte| mix(state ^ u64::from(byte)))
}

/// All mutants.
pub(super) fn sum(tested: &[Tested]) -> Counts {
    let mut sum = Counts::default();
    for tested in tested {
        sum.add(tested.counts);
    }
    sum
}

fn print(
    out: &mut impl Write,
    seeds: &[Seed],
    tested: &[Tested],
    all: bool,
) -> std::io::Result<()> {
    writeln!(
        out,
        "{} blocked commands, {} mutants",
        seeds.len(),
        sum(tested).all()
    )?;
    let mut table = Table::new(&[
        "<class",
        "<mutator",
        "mutants",
        "blocked",
        "asked",
        "through",
        "through %",
        "95 % interval",
    ]);
    let mut row = |class: String, name: &str, counts: Counts| {
        let rate = through(counts);
        let (low, high) = rate.interval();
        table.row([
            class,
            name.to_owned(),
            counts.all().to_string(),
            counts.blocked.to_string(),
            counts.asked.to_string(),
            rate.hits.to_string(),
            rate.percent()
                .map_or_else(|| "-".to_owned(), |p| format!("{p:.2}")),
            format!("[{low:.2}, {high:.2}]"),
        ]);
    };
    for class in Class::ALL {
        let of_class: Vec<_> = tested
            .iter()
            .filter(|t| t.class == class && t.counts.all() > 0)
            .collect();
        let mut counts = Counts::default();
        for tested in &of_class {
            row(class.to_string(), tested.name, tested.counts);
            counts.add(tested.counts);
        }
        row(class.to_string(), "all", counts);
    }
    row("all".to_owned(), "", sum(tested));
    table.write(out)?;
    for tested in tested.iter().filter(|tested| !tested.through.is_empty()) {
        writeln!(
            out,
            "\n{} {}: {} get through",
            tested.class,
            tested.name,
            tested.through.len()
        )?;
        let shown = if all { usize::MAX } else { SHOWN };
        for mutant in tested.through.iter().take(shown) {
            writeln!(out, "  of {}", shorten(&mutant.of, LETTERS))?;
            for call in &mutant.calls {
                let call = if all {
                    call.clone()
                } else {
                    shorten(call, LETTERS)
                };
                writeln!(out, "    {call}")?;
            }
        }
    }
    Ok(())
}

fn json(seeds: &[Seed], tested: &[Tested]) -> Json<'static> {
    let number = |n: usize| Json::from(u64::try_from(n).unwrap_or(u64::MAX));
    let mutant = |mutant: &Mutant| {
        let calls = mutant
            .calls
            .iter()
            .map(|call| call.clone().into())
            .collect();
        Json::object([
            ("of", mutant.of.clone().into()),
            ("calls", Json::Array(calls)),
        ])
    };
    let mutator = |tested: &Tested| {
        let through = tested.through.iter().map(mutant).collect();
        Json::object([
            ("class", tested.class.word().into()),
            ("mutator", tested.name.into()),
            ("mutants", tested.counts.all().into()),
            ("blocked", tested.counts.blocked.into()),
            ("asked", tested.counts.asked.into()),
            ("through", Json::Array(through)),
        ])
    };
    Json::object([
        ("seeds", number(seeds.len())),
        ("mutants", sum(tested).all().into()),
        (
            "mutators",
            Json::Array(tested.iter().map(mutator).collect()),
        ),
    ])
}

#[cfg(test)]
mod tests;
