//! Tries rules on their own examples, which are read like any call.

use super::report::{Mark, RuleError};
use super::rule::{ExampleCall, ExampleRepository};
use super::scope::Scope;
use super::when::Met;
use super::{Example, Expect, Profile, Rule, RuleLayer, RuleSet, Tier, compile};
use crate::call::ToolCall;
use crate::history::{History, Outcome, Step};
use crate::provenance;
use crate::verdict::{Finding, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::{Fuel, OutOfFuel};
use holdgate_effects::json::shorten;
use holdgate_effects::path::{self, Facts, Real, World};
use holdgate_effects::{self, Knowledge};
use std::sync::Arc;

/// Work for one example: more than any call gets.
const FUEL: u64 = 10_000_000;
/// Work for all examples of a project's file together: enough for 200 rules with ten each, and done
/// in less than a second, whatever the file contains.
const PROJECT_FUEL: u64 = 5_000_000;
/// The project folder of the examples.
const PROJECT: &str = "/home/dev/project";

/// An example that was tried.
#[derive(Debug)]
pub struct Tried {
    /// The rule.
    pub rule: String,
    /// The command, or the tool and its input.
    pub text: String,
    /// The expected result.
    pub expect: Expect,
    /// What is wrong, if it does not hold.
    pub error: Option<RuleError>,
}

/// Tries the examples of the rules that `which` picks, and the commands in their `instead`, each
/// in the profile that it was written for.
pub fn try_examples(set: &RuleSet, know: &Knowledge, which: impl Fn(&Rule) -> bool) -> Vec<Tried> {
    let world = World::lexical(PROJECT);
    let sets = Profile::ALL.map(|profile| set.in_profile(profile));
    let in_profile = |profile| sets.iter().find(|set| set.profile() == profile);
    let shared = Fuel::new(PROJECT_FUEL);
    let mut tried = Vec::new();
    for rule in set.rules().filter(|rule| which(rule)) {
        let set = in_profile(rule.tried_in).unwrap_or(set);
        let limited = (rule.scope != Scope::default()).then(|| set.used_at(rule.scope.inside()));
        let trial = Trial {
            set: limited.as_ref().unwrap_or(set),
            rule,
            know,
            world: &world,
            shared: (rule.tier == Tier::Project).then_some(&shared),
        };
        for example in rule.examples.iter() {
            tried.push(Tried {
                rule: rule.id.clone(),
                text: example.text(),
                expect: example.expect,
                error: trial.example(example),
            });
        }
        for command in commands_in(rule.instead.as_deref().unwrap_or_default()) {
            tried.push(Tried {
                rule: rule.id.clone(),
                text: command.to_owned(),
                expect: Expect::Allow,
                error: trial.instead(command),
            });
        }
    }
    tried
}

struct Trial<'a> {
    set: &'a RuleSet,
    rule: &'a Rule,
    know: &'a Knowledge,
    world: &'a World,
    /// What is left for all examples of a project's file.
    shared: Option<&'a Fuel>,
}

impl Trial<'_> {
    fn example(&self, example: &Example) -> Option<RuleError> {
        let id = &self.rule.id;
        let Ok((effects, findings)) = self.sequence(example) else {
            return self.error(example.at, "judging this example takes too much work");
        };
        let matched = if self.rule.allows {
            let fuel = Fuel::new(FUEL);
            let met = self.rule.met(&effects, &History::default(), &fuel);
            matches!(met, Ok(Met::Yes(_)))
        } else {
            findings.iter().any(|f| f.rule == *id)
        };
        match example.expect {
            Expect::Untouched if matched => {
                self.error(example.at, &format!("`{id}` allows this example too"))
            }
            Expect::Match if !matched => {
                let what = format!(
                    "`{id}` does not match this example, which does: {}",
                    summary(&effects)
                );
                self.error(example.at, &what)
            }
            Expect::Allow if matched => {
                let found = findings.iter().find(|f| f.rule == *id);
                let evidence = found.and_then(|f| f.evidence.as_deref()).unwrap_or("");
                let what = format!("`{id}` matches this example because of `{evidence}`");
                self.error(example.at, &what)
            }
            Expect::Match if self.rule.allows => self.passes(example.at, &findings),
            // The strictest verdict wins, so a rule that matches gets at least its own.
            Expect::Match | Expect::Untouched => None,
            Expect::Allow => self.passes(example.at, &findings),
        }
    }

    fn passes(&self, at: Mark, findings: &[Finding]) -> Option<RuleError> {
        let other = refused_by(findings)?;
        let what = format!(
            "this example must pass, but `{}` says {}",
            other.rule,
            compile::word(other.verdict)
        );
        self.error(at, &what)
    }

    /// The calls of an example, one after the other, each carried out. For a rule that counts refusals,
    /// a call that a rule refuses is refused.
    fn sequence(&self, example: &Example) -> Result<Judged, OutOfFuel> {
        let mut world = self.world.clone();
        if !example.files.is_empty() || example.repository.is_some() {
            let absolute = |file: &String| path::absolute(file, PROJECT, &world.home);
            world.facts = Some(Arc::new(Files {
                there: example.files.iter().map(absolute).collect(),
                repository: example.repository.clone(),
            }));
        }
        let mut history = History::default();
        for step in &example.first {
            let (effects, findings) = self.judge(step, &world, &history)?;
            let timing = self.rule.timing.as_ref();
            let counts = timing.is_some_and(|timing| timing.counts_refusals());
            let outcome = if counts && refused_by(&findings).is_some() {
                Outcome::Refused
            } else {
                Outcome::Done
            };
            let done = Step::new("first", &step.tool, outcome, effects);
            let done = match &step.result {
                Some(result) => done.showing(&[result]),
                None => done,
            };
            history.push(Arc::new(done));
        }
        self.judge(&example.call, &world, &history)
    }

    fn instead(&self, command: &str) -> Option<RuleError> {
        let at = self.rule.instead_at.unwrap_or(self.rule.at);
        let call = ExampleCall::command(command);
        let what = match self.judge(&call, self.world, &History::default()) {
            Err(OutOfFuel) => format!("judging `{command}` takes too much work"),
            Ok((_, findings)) => {
                let other = refused_by(&findings)?;
                format!(
                    "`{command}` is not a safer way: `{}` says {}; write a command that passes",
                    other.rule,
                    compile::word(other.verdict)
                )
            }
        };
        self.error(at, &what)
    }

    fn judge(
        &self,
        call: &ExampleCall,
        world: &World,
        history: &History,
    ) -> Result<Judged, OutOfFuel> {
        let call = ToolCall::alone("example", &call.tool, call.input.clone());
        let own = Fuel::new(FUEL);
        let fuel = self.shared.unwrap_or(&own);
        // For work that is not counted: reading the example and reporting on it.
        fuel.spend(100)?;
        let mut effects = holdgate_effects::understand(call.invocation(), world, self.know, fuel)?;
        provenance::mark(&mut effects, history);
        let mut findings = Vec::new();
        for layer in [RuleLayer::Gate, RuleLayer::Policy] {
            findings.extend(self.set.findings(layer, &effects, history, fuel)?);
        }
        Ok((effects, findings))
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "callers return None when there is no error"
    )]
    fn error(&self, at: Mark, what: &str) -> Option<RuleError> {
        Some(RuleError::new(&self.rule.source, at, what))
    }
}

/// A disk with these files.
#[derive(Debug)]
struct Files {
    there: Vec<String>,
    repository: Option<ExampleRepository>,
}

impl Facts for Files {
    fn real(&self, _: &str) -> Real {
        Real::AsWritten
    }

    fn is_file(&self, path: &str) -> bool {
        self.there.iter().any(|file| file == path)
    }

    fn content(&self, path: &str, _: usize) -> Option<String> {
        let repository = self.repository.as_ref()?;
        match path.strip_prefix(PROJECT)? {
            "/.git/HEAD" => Some(format!("ref: refs/heads/{}\n", repository.branch)),
            "/.git/config" => {
                let remotes = repository.remotes.iter();
                let remotes =
                    remotes.map(|(name, url)| format!("[remote \"{name}\"]\n\turl = {url}\n"));
                Some(remotes.collect())
            }
            _ => None,
        }
    }
}

type Judged = (Vec<Effect>, Vec<Finding>);

fn refused_by(findings: &[Finding]) -> Option<&Finding> {
    let strictest = findings.iter().max_by_key(|f| f.verdict)?;
    (strictest.verdict > Verdict::Audit).then_some(strictest)
}

/// The effects in one line, to find out why a rule did not match.
fn summary(effects: &[Effect]) -> String {
    let mut parts: Vec<String> = effects.iter().take(6).map(one).collect();
    if effects.len() > 6 {
        parts.push("…".to_owned());
    }
    if parts.is_empty() {
        return "nothing".to_owned();
    }
    parts.join(", ")
}

fn one(effect: &Effect) -> String {
    let mut text = effect.kind.word().to_owned();
    for tag in effect.tags.iter().take(4) {
        text.push_str(&format!(" {tag}"));
    }
    if let Some(path) = &effect.path {
        let classes: Vec<&str> = path.classes.names().collect();
        let short = shorten(&path.short, 60);
        text.push_str(&format!(" `{short}` ({})", classes.join(" ")));
    }
    if let Some(host) = &effect.host {
        text.push_str(&format!(" {} ({})", host.name, host.class.word()));
    }
    text
}

/// The parts in `backticks`.
fn commands_in(text: &str) -> impl Iterator<Item = &str> {
    let ticks = text.matches('`').count();
    text.split('`').skip(1).step_by(2).take(ticks / 2)
}
