//! A command that the output shows, and what the gate says about it.

use crate::call::ToolCall;
use crate::history::History;
use crate::rules::{RuleLayer, RuleSet};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::fuel::{Fuel, OutOfFuel};
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use holdgate_effects::{self, Knowledge};
use std::sync::Arc;

/// Work for one command: as much as a call gets.
const FUEL: u64 = 64_000;

/// A call that the output shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SeenCommand {
    pub(super) tool: String,
    pub(super) input: Json<'static>,
    /// The command, or all of the input.
    pub(super) text: String,
    /// At a shell's prompt, or traced by a shell: not a call of an agent.
    pub(super) typed: bool,
}

impl SeenCommand {
    pub(super) fn new(tool: &str, input: Json<'static>) -> SeenCommand {
        let command = ["command", "cmd"].iter().find_map(|key| input.get(key));
        let text = match command {
            Some(Json::String(text)) => text.to_string(),
            Some(Json::Array(words)) => {
                let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
                words.join(" ")
            }
            _ => input.text(),
        };
        SeenCommand {
            tool: tool.to_owned(),
            input,
            text,
            typed: false,
        }
    }

    pub(super) fn shell(command: &str) -> SeenCommand {
        SeenCommand::new(
            "Bash",
            Json::object([("command", command.to_owned().into())]),
        )
    }

    pub(super) fn typed(command: &str) -> SeenCommand {
        SeenCommand {
            typed: true,
            ..SeenCommand::shell(command)
        }
    }
}

/// What judges commands: the gate's rules over what they do.
#[derive(Clone, Debug)]
pub struct Commands {
    rules: Arc<RuleSet>,
    know: Arc<Knowledge>,
    world: Arc<World>,
}

impl Commands {
    /// Judges by these rules, for an agent that works in this world.
    pub fn new(rules: Arc<RuleSet>, know: Arc<Knowledge>, world: Arc<World>) -> Self {
        Commands { rules, know, world }
    }

    /// What the rules deny about a call, and what they would ask about. A call that takes too much
    /// work to read is denied, too.
    pub(super) fn judged(&self, said: &SeenCommand) -> Vec<Finding> {
        let call = ToolCall::alone("output", &said.tool, said.input.clone());
        let fuel = Fuel::new(FUEL);
        let mut findings = self.findings(&call, &fuel).unwrap_or_else(|OutOfFuel| {
            let why = "analysing it takes too much work";
            vec![Finding::block(LayerName::Gate, "undecipherable-call", why)]
        });
        findings.retain(|finding| finding.verdict >= Verdict::Ask);
        findings
    }

    fn findings(&self, call: &ToolCall, fuel: &Fuel) -> Result<Vec<Finding>, OutOfFuel> {
        let effects =
            holdgate_effects::understand(call.invocation(), &self.world, &self.know, fuel)?;
        let mut findings = Vec::new();
        for layer in [RuleLayer::Gate, RuleLayer::Policy] {
            let found = self
                .rules
                .findings(layer, &effects, &History::default(), fuel)?;
            // What the policy denies depends on the session, which is not known here.
            let counts = |f: &Finding| layer == RuleLayer::Gate || f.verdict < Verdict::Block;
            findings.extend(found.into_iter().filter(counts));
        }
        Ok(findings)
    }
}
