//! Canaries: files and values that no honest work needs. A call that touches one is certain to feel
//! its way around, or to follow somebody else's orders.

use super::spillage::texts;
use crate::call::ToolCall;
use crate::mask::Masked;
use crate::stack::{Context, Layer, OutOfFuel};
use crate::taint::{Search, Secret, Table};
use crate::verdict::{Finding, LayerName};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use holdgate_effects::path::is_under;
use holdgate_effects::pattern::Pattern;

/// Bytes that one unit of fuel reads: every reading of a text together.
const BYTES_PER_FUEL: usize = 16;

/// The canaries, and the layer that looks for them.
#[derive(Clone, Debug)]
pub struct Canaries {
    paths: Vec<String>,
    values: Option<Table>,
}

impl Canaries {
    /// These files and values. The error is the number of a value that cannot be told from other text.
    pub fn new(paths: Vec<String>, values: &[String]) -> Result<Canaries, usize> {
        let values = values.iter().enumerate();
        let secret =
            |(at, value): (usize, &String)| Secret::new(value, "canary", &[]).ok_or(at + 1);
        let secrets: Vec<Secret> = values.map(secret).collect::<Result<_, _>>()?;
        let values = (!secrets.is_empty()).then(|| Table::new(secrets.iter()));
        Ok(Canaries { paths, values })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.values.is_none()
    }

    /// Whether this path is one of them, or may be one if it is a pattern.
    fn has(&self, path: &str) -> bool {
        let pattern = path.contains(['*', '?', '[']).then(|| Pattern::read(path));
        let pattern = pattern.flatten();
        self.paths.iter().any(|canary| {
            is_under(path, canary) || pattern.as_ref().is_some_and(|p| p.matches(canary))
        })
    }

    fn value(
        &self,
        call: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Option<Finding>, OutOfFuel> {
        let Some(table) = &self.values else {
            return Ok(None);
        };
        let texts = texts(call, effects, context);
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        fuel.spend((bytes / BYTES_PER_FUEL) as u64)?;
        let mut search = Search::new(table);
        for text in &texts {
            search.look(text);
        }
        let found = search.found().next();
        Ok(found.map(|(number, form)| {
            let reason = format!(
                "it carries canary value {} {}, which nothing but a look into a canary can have shown",
                number + 1,
                form.word(),
            );
            finding("canary-value", reason)
        }))
    }
}

impl Layer for Canaries {
    fn name(&self) -> LayerName {
        LayerName::Canaries
    }

    fn judge(
        &self,
        call: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        let mut findings = Vec::new();
        fuel.spend(effects.len() as u64)?;
        let touched = effects.iter().find_map(|effect| {
            let path = effect.path.as_ref()?;
            self.has(&path.text).then_some((effect, path))
        });
        if let Some((effect, path)) = touched {
            let reason = format!(
                "it touches the canary {}, which no honest work needs",
                path.text
            );
            let evidence = Some(Masked::start(&effect.evidence, 200));
            findings.push(Finding {
                evidence,
                ..finding("canary-touched", reason)
            });
        }
        findings.extend(self.value(call, effects, context, fuel)?);
        Ok(findings)
    }
}

fn finding(rule: &'static str, reason: String) -> Finding {
    Finding::block(LayerName::Canaries, rule, reason)
        .instead("stop here, and tell the user what led you to it")
}
