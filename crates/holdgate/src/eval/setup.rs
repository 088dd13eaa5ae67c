//! What judges the cases: the stack as it is by default, whole or with a part left out.

use super::{Bench, PROJECT};
use crate::args::{EvalArgs, WrongUse};
use crate::config::Config;
use crate::judging;
use holdgate_core::rules::{RuleFile, RuleSet};
use holdgate_core::{Context, Counts, Finding, Layer, LayerName, OutOfFuel, RateLimits, ToolCall};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

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
    Layer(LayerName),
    /// All rules of a category.
    Category(String),
}

impl SetUp {
    /// The defaults, whatever this machine's settings are: the same cases give the same figures
    /// everywhere.
    pub(super) fn new(args: &EvalArgs) -> anyhow::Result<SetUp> {
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
        Ok(SetUp {
            config: Config::defaults("")?,
            rules: rules(args)?,
            without: without?,
            project: args.project.clone().unwrap_or_else(|| PROJECT.to_owned()),
        })
    }

    /// A bench without `part`.
    pub(super) fn bench(&self, part: &Part) -> anyhow::Result<Bench> {
        let mut without = self.without.clone();
        let mut silent = HashSet::new();
        match part {
            Part::Nothing => {}
            Part::Layer(layer) => without.push(*layer),
            Part::Category(category) => {
                let rules = self.rules.rules();
                let rules = rules.filter(|rule| rule.category == *category);
                silent.extend(rules.map(|rule| rule.id.clone()));
            }
        }
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
        let there = |layer: &LayerName| !self.without.contains(layer);
        let layers = layers().into_iter().filter(there).map(Part::Layer);
        let rules = self.rules.rules();
        let categories: BTreeSet<&str> = rules.map(|rule| rule.category.as_str()).collect();
        let categories = categories.into_iter().map(str::to_owned);
        layers.chain(categories.map(Part::Category)).collect()
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Nothing => f.write_str("nothing"),
            Part::Layer(layer) => write!(f, "layer {layer}"),
            Part::Category(category) => write!(f, "rules {category}"),
        }
    }
}

/// The names of all layers.
fn layers() -> Vec<LayerName> {
    let layers = judging::layers(Arc::default(), &[], RateLimits::NONE);
    layers.iter().map(|layer| layer.name()).collect()
}

fn rules(args: &EvalArgs) -> anyhow::Result<Arc<RuleSet>> {
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
