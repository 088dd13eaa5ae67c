//! What judges the cases: the stack as it is by default, whole or with a part left out.

use super::{Bench, Case, Hit, Outcome, PROJECT};
use crate::args::{StackArgs, WrongUse};
use crate::config::Config;
use crate::judging;
use holdgate_core::rules::{RuleFile, RuleSet};
use holdgate_core::{Context, Counts, Finding, Layer, LayerName, OutOfFuel, RateLimits, ToolCall};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The wall time for one verdict where only the verdict counts.
const UNHURRIED: Duration = Duration::from_mins(1);

/// Everything that a bench is made of.
pub(super) struct SetUp {
    config: Config,
    rules: Arc<RuleSet>,
    without: Vec<LayerName>,
    project: String,
}

/// What is left out.
pub(super) enum Part {
    Nothing,
    /// Some layers, under one name.
    Layers(String, Vec<LayerName>),
    /// All rules of some categories, under one name.
    Categories(String, Vec<String>),
}

impl SetUp {
    /// The defaults, whatever this machine's settings are: the same cases give the same figures
    /// everywhere. `unhurried` if only verdicts count, and not their time.
    pub(super) fn new(args: &StackArgs, unhurried: bool) -> anyhow::Result<SetUp> {
        let layer = |name: &String| {
            let known = layers().into_iter().find(|layer| layer.word() == name);
            known.ok_or_else(|| {
                let layers: Vec<_> = layers().into_iter().map(LayerName::word).collect();
                let layers = layers.join(", ");
                WrongUse(format!(
                    "--without: `{name}` is not a valid layer, the layers are {layers}"
                ))
            })
        };
        let without: Result<_, _> = args.without.iter().map(layer).collect();
        let mut config = Config::defaults("")?;
        if unhurried {
            // A report must not depend on how busy the machine is. Fuel bounds the work.
            config.judge.deadline = UNHURRIED;
        }
        Ok(SetUp {
            config,
            rules: rules(args)?,
            without: without?,
            project: args.project.clone().unwrap_or_else(|| PROJECT.to_owned()),
        })
    }

    /// A bench without `part`.
    pub(super) fn bench(&self, part: &Part) -> anyhow::Result<Bench> {
        let Share {
            layers,
            rules: silent,
        } = self.share(part);
        let without = [self.without.as_slice(), layers].concat();
        let mut layers = judging::layers(self.rules.clone(), &without, self.config.rates);
        if !silent.is_empty() {
            let silent = Arc::new(silent);
            let silence = |layer| -> Box<dyn Layer> {
                Box::new(Silenced {
                    layer,
                    silent: silent.clone(),
                })
            };
            layers = layers.into_iter().map(silence).collect();
        }
        let stack = judging::stack_of(layers, self.config.judge)?;
        let guard = self.config.guard.clone();
        Ok(Bench::new(Arc::new(stack), guard, &self.project))
    }

    /// All that can be left out.
    pub(super) fn parts(&self) -> Vec<Part> {
        let layers = self.layers().into_iter();
        let layers = layers.map(|layer| Part::Layers(layer.to_string(), vec![layer]));
        let rules = self.rules.rules();
        let categories: BTreeSet<&str> = rules.map(|rule| rule.category.as_str()).collect();
        let categories = categories
            .into_iter()
            .map(|name| Part::Categories(name.to_owned(), vec![name.to_owned()]));
        layers.chain(categories).collect()
    }

    /// The layers that judge.
    pub(super) fn layers(&self) -> Vec<LayerName> {
        let mut layers = layers();
        layers.retain(|layer| !self.without.contains(layer));
        layers
    }

    /// The examples of all rules, as cases.
    pub(super) fn examples(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for rule in self.rules.rules() {
            for (number, example) in rule.examples.iter().enumerate() {
                let id = format!("{}, example {}", rule.id, number + 1);
                cases.push(Case::of_call(id, &example.call.tool, &example.call.input));
            }
        }
        cases
    }

    /// How many rules say that they are about this risk.
    pub(super) fn rules_about(&self, risk: &str) -> usize {
        let rules = self.rules.rules();
        rules
            .filter(|rule| rule.owasp.iter().any(|word| word == risk))
            .count()
    }

    /// What belongs to a part.
    pub(super) fn share<'a>(&self, part: &'a Part) -> Share<'a> {
        let (layers, categories): (&[LayerName], &[String]) = match part {
            Part::Nothing => (&[], &[]),
            Part::Layers(_, layers) => (layers, &[]),
            Part::Categories(_, categories) => (&[], categories),
        };
        let rules = self.rules.rules();
        let rules = rules.filter(|rule| categories.contains(&rule.category));
        Share {
            layers,
            rules: rules.map(|rule| rule.id.clone()).collect(),
        }
    }
}

/// The layers and rules that belong to a part.
pub(super) struct Share<'a> {
    layers: &'a [LayerName],
    rules: HashSet<String>,
}

impl Share<'_> {
    /// Whether the part has a say in what was found: if not, leaving it out changes nothing.
    pub(super) fn spoke(&self, outcome: &Outcome) -> bool {
        let is_ours =
            |hit: &Hit| self.layers.contains(&hit.layer) || self.rules.contains(&hit.rule);
        outcome.hits.iter().any(is_ours)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Nothing => f.write_str("nothing"),
            Part::Layers(name, _) => write!(f, "layer {name}"),
            Part::Categories(name, _) => write!(f, "rules {name}"),
        }
    }
}

/// The names of all layers.
fn layers() -> Vec<LayerName> {
    let layers = judging::layers(Arc::default(), &[], RateLimits::NONE);
    layers.iter().map(|layer| layer.name()).collect()
}

fn rules(args: &StackArgs) -> anyhow::Result<Arc<RuleSet>> {
    let Some(path) = &args.rules else {
        return Ok(RuleSet::built_in(args.profile)?);
    };
    let read = if args.alone {
        RuleSet::read
    } else {
        RuleSet::joined
    };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| WrongUse(format!("{name}: {e}")))?;
    // Their examples are not tried: a draft can be measured before they hold.
    let rules = read(args.profile, &[RuleFile::operator(&name, &text)]);
    Ok(rules.map_err(|errors| WrongUse(errors.to_string()))?)
}

/// A layer whose word on some rules does not count.
struct Silenced {
    layer: Box<dyn Layer>,
    silent: Arc<HashSet<String>>,
}

impl Layer for Silenced {
    fn name(&self) -> LayerName {
        self.layer.name()
    }

    fn judge(
        &self,
        call: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        let mut findings = self.layer.judge(call, effects, context, fuel)?;
        findings.retain(|finding| !self.silent.contains(finding.rule.as_ref()));
        Ok(findings)
    }

    fn count(&self, call: &ToolCall, counts: &Counts, expert: bool) -> Vec<Finding> {
        let mut findings = self.layer.count(call, counts, expert);
        findings.retain(|finding| !self.silent.contains(finding.rule.as_ref()));
        findings
    }
}
