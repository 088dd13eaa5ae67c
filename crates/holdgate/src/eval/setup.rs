//! What judges the cases: the stack as it is by default, whole or with a part left out.

use super::{Bench, Options, PROJECT, Rules};
use crate::args::WrongUse;
use crate::config::{Config, Flags};
use crate::judging;
use holdgate_core::call::ToolCall;
use holdgate_core::rules::{RuleFile, RuleSet};
use holdgate_core::stack::{Context, Counts, Layer, OutOfFuel};
use holdgate_core::verdict::Finding;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Everything that a bench is made of.
pub(super) struct SetUp {
    config: Config,
    rules: Arc<RuleSet>,
    without: Vec<String>,
    project: String,
}

/// What is left out.
pub(super) enum Part {
    Nothing,
    Layer(&'static str),
    /// All rules of a category.
    Category(String),
}

impl SetUp {
    /// The defaults, whatever this machine's settings are: the same cases give the same figures
    /// everywhere.
    pub(super) fn new(options: &Options) -> anyhow::Result<SetUp> {
        let known = |name: &String| judging::LAYERS.contains(&name.as_str());
        if let Some(unknown) = options.without.iter().find(|name| !known(name)) {
            let layers = judging::LAYERS.join(", ");
            let message = format!("--without: `{unknown}` is no layer, the layers are {layers}");
            return Err(WrongUse(message).into());
        }
        let flags = Flags {
            state_dir: Some(PathBuf::new()),
            ..Flags::default()
        };
        Ok(SetUp {
            config: Config::load(&flags, [])?,
            rules: rules(options)?,
            without: options.without.clone(),
            project: options
                .project
                .clone()
                .unwrap_or_else(|| PROJECT.to_owned()),
        })
    }

    /// A bench without `part`.
    pub(super) fn bench(&self, part: &Part) -> anyhow::Result<Bench> {
        let mut without = self.without.clone();
        let mut silent = HashSet::new();
        match part {
            Part::Nothing => {}
            Part::Layer(layer) => without.push((*layer).to_owned()),
            Part::Category(category) => {
                let rules = self.rules.rules();
                let rules = rules.filter(|rule| rule.category == *category);
                silent.extend(rules.map(|rule| rule.id.clone()));
            }
        }
        let mut layers = judging::layers(self.rules.clone(), &without, self.config.rates)?;
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
        let there = |layer: &&&str| !self.without.iter().any(|name| name == **layer);
        let layers = judging::LAYERS.iter().filter(there);
        let layers = layers.map(|layer| Part::Layer(layer));
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

fn rules(options: &Options) -> anyhow::Result<Arc<RuleSet>> {
    let (path, read): (_, fn(_, &[RuleFile<'_>]) -> _) = match &options.rules {
        Rules::BuiltIn => return Ok(RuleSet::built_in(options.profile)?),
        Rules::With(path) => (path, RuleSet::joined),
        Rules::Only(path) => (path, RuleSet::read),
    };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| WrongUse(format!("{name}: {e}")))?;
    // Their examples are not tried: a draft can be measured before they hold.
    let rules = read(options.profile, &[RuleFile::operator(&name, &text)]);
    Ok(rules.map_err(|errors| WrongUse(errors.to_string()))?)
}

/// A layer whose word on some rules does not count.
struct Silenced {
    layer: Box<dyn Layer>,
    silent: Arc<HashSet<String>>,
}

impl Layer for Silenced {
    fn name(&self) -> &'static str {
        self.layer.name()
    }

    fn judge(&self, call: &ToolCall, context: &Context<'_>) -> Result<Vec<Finding>, OutOfFuel> {
        let mut findings = self.layer.judge(call, context)?;
        findings.retain(|finding| !self.silent.contains(finding.rule.as_ref()));
        Ok(findings)
    }

    fn count(&self, call: &ToolCall, counts: &Counts, expert: bool) -> Vec<Finding> {
        let mut findings = self.layer.count(call, counts, expert);
        findings.retain(|finding| !self.silent.contains(finding.rule.as_ref()));
        findings
    }
}
