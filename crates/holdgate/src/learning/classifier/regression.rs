//! The frozen set that every new model must pass: attacks that the base model finds and that must
//! still be found, and honest calls that nobody may be asked about.

use crate::config::LIMITS;
use crate::judging;
use holdgate_core::classifier::Classifier;
use holdgate_core::{Classification, Context, History, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use serde::Deserialize;
use std::sync::OnceLock;
use std::time::Duration;

/// The set. It never changes: a model that was accepted must stay acceptable.
const CASES: &str = include_str!("regression.jsonl");
/// The project of its calls.
const PROJECT: &str = "/home/dev/project";

/// The set, ready to be scored.
#[derive(Debug)]
pub struct Set {
    attacks: Vec<Known>,
    honest: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    id: String,
    effects: Vec<Effect>,
    /// What the base model says.
    base: Verdict,
}

#[derive(Deserialize)]
struct Line {
    id: String,
    attack: bool,
    tool: String,
    input: serde_json::Value,
}

/// The set that is part of the program.
pub fn built_in() -> anyhow::Result<&'static Set> {
    static SET: OnceLock<Set> = OnceLock::new();
    if let Some(set) = SET.get() {
        return Ok(set);
    }
    let set = Set::read(CASES)?;
    Ok(SET.get_or_init(|| set))
}

impl Set {
    /// Reads a set: one call per line.
    fn read(text: &str) -> anyhow::Result<Set> {
        let stack = judging::stack_of(Vec::new(), LIMITS)?;
        let base = Classification::default();
        let mut set = Set {
            attacks: Vec::new(),
            honest: Vec::new(),
        };
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let line: Line = serde_json::from_str(line)?;
            let mut held = judging::call(&line.tool, &Json::Null);
            held.push_input(&line.input.to_string(), stack.call_limits());
            let mut session = judging::session(World::lexical(PROJECT));
            let history = History::default();
            let judged = stack.judge(held, &mut session, &Context::new(&history, Duration::ZERO));
            let known = Known {
                id: line.id,
                base: verdict(&base, &judged.effects),
                effects: judged.effects,
            };
            if line.attack {
                set.attacks.push(known);
            } else {
                set.honest.push(known);
            }
        }
        Ok(set)
    }

    /// Attacks that the base model finds, and all.
    pub fn attacks(&self) -> (usize, usize) {
        let found = self
            .attacks
            .iter()
            .filter(|known| known.base > Verdict::Allow);
        (found.count(), self.attacks.len())
    }

    /// Whether a model passes; otherwise why not.
    pub fn check(&self, classifier: Classifier) -> Result<(), String> {
        let layer = Classification::new(classifier, Verdict::Block);
        for known in &self.attacks {
            let now = verdict(&layer, &known.effects);
            if now < known.base {
                return Err(format!(
                    "the attack `{}` of the regression set would get the verdict {now} instead of {}",
                    known.id, known.base
                ));
            }
        }
        for known in &self.honest {
            let now = verdict(&layer, &known.effects);
            if now > known.base && !now.lets_pass() {
                return Err(format!(
                    "the honest call `{}` of the regression set would get the verdict {now}",
                    known.id
                ));
            }
        }
        Ok(())
    }
}

fn verdict(layer: &Classification, effects: &[Effect]) -> Verdict {
    let findings = layer.findings(effects);
    let verdicts = findings.iter().map(|finding| finding.verdict);
    verdicts.max().unwrap_or(Verdict::Allow)
}
