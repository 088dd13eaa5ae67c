//! `holdgate check --rule-for`: a rule for calls like this one, whose examples hold.

use crate::args::{RuleFor, WrongUse};
use crate::config::Config;
use crate::rulebook::{PROJECT_FILE, RuleText};
use anyhow::Context as _;
use holdgate_core::rules::draft::{Condition, quoted, word};
use holdgate_core::rules::{Profile, RuleFile, RuleSet, Tier, Tried, try_examples};
use holdgate_core::{Finding, Judgement, LayerName, Masked};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::json::{Json, LoneSurrogates, shorten};
use holdgate_effects::path::World;

/// Where examples are tried: rules are about any project.
const EXAMPLE_PROJECT: &str = "/home/dev/project";
const EXAMPLE_HOME: &str = "/home/dev";
/// Examples of each kind.
const MAX_EXAMPLES: usize = 2;
const MAX_ID: usize = 48;
const MAX_DEPTH: usize = 64;
/// The kinds of effects, the most telling first. What a program does says more than that it runs.
const TELLING: [Kind; 20] = [
    Kind::Remote,
    Kind::Send,
    Kind::Database,
    Kind::Install,
    Kind::Vcs,
    Kind::Container,
    Kind::Service,
    Kind::System,
    Kind::Persist,
    Kind::Kill,
    Kind::Delete,
    Kind::Move,
    Kind::Mode,
    Kind::Write,
    Kind::Fetch,
    Kind::Connect,
    Kind::Listen,
    Kind::Read,
    Kind::Env,
    Kind::Run,
];

/// A rule that is wanted for a call.
pub(super) struct Wanted {
    verdict: RuleFor,
    tool: String,
    /// As it stands in an example.
    input: Json<'static>,
    project: Option<String>,
}

impl Wanted {
    pub(super) fn new(verdict: RuleFor, tool: &str, input: &str, world: &World) -> Wanted {
        let mut input = input.to_owned();
        // The project, and the home around it, are those of the examples there.
        let project = world.project.as_ref();
        for (here, there) in [
            (project, EXAMPLE_PROJECT),
            (Some(&world.home), EXAMPLE_HOME),
        ] {
            if let Some(here) = here.filter(|here| here.len() > 1) {
                input = input.replace(here.as_str(), there);
            }
        }
        let input = Json::read(input.as_bytes(), MAX_DEPTH, LoneSurrogates::Replace);
        Wanted {
            verdict,
            tool: tool.to_owned(),
            input: input.map_or(Json::Null, Json::into_owned),
            project: world.project.clone(),
        }
    }

    /// The rule as YAML.
    pub(super) fn rule(
        &self,
        judgement: &Judgement,
        rules: &RuleSet,
        others: &[RuleText],
    ) -> anyhow::Result<String> {
        let (effect, when, only) = self.condition(judgement, rules)?;
        let id = self.id(effect, rules);
        let all = Examples {
            same: self.same(),
            near: self.near(),
        };
        let results = tried(&self.text(&id, &when, &only, &all), &id, others)?;
        let (same, near) = results.split_at_checked(all.same.len()).unwrap_or_default();
        let holds = |examples: &[String], tried: &[Tried]| {
            let holds = examples
                .iter()
                .zip(tried)
                .filter(|(_, t)| t.error.is_none());
            let holds = holds.map(|(example, _)| example.clone());
            holds.take(MAX_EXAMPLES).collect::<Vec<_>>()
        };
        let left = Examples {
            same: holds(&all.same, same),
            near: holds(&all.near, near),
        };
        if left.same.is_empty() || left.near.is_empty() {
            let why = same.iter().chain(near).find_map(|t| t.error.as_ref());
            let why = why.map_or_else(String::new, |error| format!(": {}", error.what()));
            let what = format!("no rule can be drafted from this call alone{why}");
            return Err(WrongUse(what).into());
        }
        let text = self.text(&id, &when, &only, &left);
        let wrong = tried(&text, &id, others)?
            .into_iter()
            .find_map(|tried| tried.error);
        match wrong {
            None if Masked::of(&text).as_str() != text => {
                let what = "the call contains a secret, which must not be written to a rule";
                Err(WrongUse(what.into()).into())
            }
            None => Ok(text),
            Some(error) => Err(WrongUse(format!("no rule can be drafted: {error}")).into()),
        }
    }

    /// What the rule is about, its condition, and the rules that it makes an exception from.
    fn condition<'j>(
        &self,
        judgement: &'j Judgement,
        rules: &RuleSet,
    ) -> anyhow::Result<(&'j Effect, String, Vec<String>)> {
        let against = judgement
            .findings()
            .iter()
            .filter(|f| !f.verdict.lets_pass());
        let against: Vec<&Finding> = against.collect();
        if self.verdict != RuleFor::Allow {
            let certain = |e: &&Effect| !Condition::is_for_deny_only(e);
            let found = against
                .iter()
                .filter_map(|f| f.effect.as_deref())
                .find(certain);
            let telling = || {
                let rank = |e: &&Effect| TELLING.iter().position(|k| *k == e.kind);
                let certain = judgement.effects.iter().filter(certain);
                certain.min_by_key(|e| rank(e).unwrap_or(0))
            };
            let effect = found.or_else(telling);
            let effect = effect.context("the call has no effect that a rule could match")?;
            return Ok((effect, Condition::telling(effect).to_string(), Vec::new()));
        }
        let (mut effect, mut parts, mut only) = (None, Vec::new(), Vec::new());
        for finding in &against {
            let rule = &finding.rule;
            let is_rule = matches!(finding.layer, LayerName::Gate | LayerName::Policy);
            let Some(about) = finding.effect.as_deref().filter(|_| is_rule) else {
                let layer = finding.layer;
                let what = format!(
                    "`{rule}` of the layer `{layer}` is against this call, and no rule can \
                     allow that"
                );
                return Err(WrongUse(what).into());
            };
            if rules.protects_holdgate(rule) {
                let what = format!("`{rule}` protects Holdgate itself and has no exceptions");
                return Err(WrongUse(what).into());
            }
            if rules.rule(rule).is_some_and(|r| r.tier == Tier::Project) {
                let what = format!(
                    "`{rule}` stands in the project's {PROJECT_FILE}, from which there are no \
                     exceptions: change it there"
                );
                return Err(WrongUse(what).into());
            }
            let part = Condition::narrow(about).to_string();
            if !parts.contains(&part) {
                parts.push(part);
            }
            only.push(rule.to_string());
            effect = effect.or(Some(about));
        }
        let effect = effect.ok_or_else(|| {
            WrongUse("this call passes already: there is nothing to make an exception from".into())
        })?;
        // Rules of other files are not known when this one is checked alone.
        let built_in = |id: &String| rules.rule(id).is_some_and(|r| r.tier == Tier::BuiltIn);
        if !only.iter().all(built_in) {
            only.clear();
        }
        let when = match parts.as_slice() {
            [one] => one.clone(),
            several => format!("{{ any: [{}] }}", several.join(", ")),
        };
        Ok((effect, when, only))
    }

    fn text(&self, id: &str, when: &str, only: &[String], examples: &Examples) -> String {
        let (verdict, same, near) = match self.verdict {
            RuleFor::Ask => ("ASK", "ask", "allow"),
            RuleFor::Block => ("DENY", "deny", "allow"),
            RuleFor::Audit => ("AUDIT", "audit", "allow"),
            RuleFor::Allow => ("ALLOW", "allow", "ask"),
        };
        let call = shorten(&self.shown(), 80).replace(['`', '\n'], " ");
        let because = match self.verdict {
            RuleFor::Ask => format!("a person decides about `{call}`"),
            RuleFor::Block => format!("`{call}` is not wanted"),
            RuleFor::Audit => format!("`{call}` is worth a record"),
            RuleFor::Allow => format!("`{call}` is wanted"),
        };
        let mut only = match only {
            [] => String::new(),
            only => format!("  only: [{}]\n", only.join(", ")),
        };
        let project = self.project.as_ref();
        if let Some(project) = project.filter(|_| self.verdict == RuleFor::Allow) {
            only.push_str(&format!("  project: {}\n", word(project)));
        }
        let list = |examples: &[String]| -> String {
            examples.iter().map(|e| format!("      - {e}\n")).collect()
        };
        format!(
            "- id: {id}\n  do: {verdict}\n{only}  category: own\n  when: {when}\n  because: {}\n  \
             examples:\n    {same}:\n{}    {near}:\n{}",
            quoted(&because),
            list(&examples.same),
            list(&examples.near),
        )
    }

    /// The call as a person reads it.
    fn shown(&self) -> String {
        match self.command() {
            Some(command) => command.to_owned(),
            None => self.tool.clone(),
        }
    }

    fn command(&self) -> Option<&str> {
        self.input
            .get_str("command")
            .filter(|_| self.tool == super::SHELL)
    }

    /// The call, and others that do the same.
    fn same(&self) -> Vec<String> {
        match self.command() {
            Some(command) => vec![
                quoted(command),
                quoted(&format!("bash -c {}", super::quoted(command))),
                quoted(&format!("{command} && echo done")),
            ],
            None => vec![self.call(self.input.clone())],
        }
    }

    /// Calls that look like it and do something else.
    fn near(&self) -> Vec<String> {
        let plain = ["git status", "ls"].map(quoted);
        let Some(command) = self.command() else {
            let mut near = Vec::new();
            for (key, value) in self.input.as_object().unwrap_or_default() {
                if let Some(text) = value.as_str() {
                    let mut other = self.input.clone();
                    other.set(key, format!("{text}x").into());
                    near.push(self.call(other));
                }
            }
            return near.into_iter().chain(plain).collect();
        };
        let program = command.split_whitespace().next().unwrap_or_default();
        let words: Vec<&str> = command.split_whitespace().collect();
        let mut near = Vec::new();
        // The last word, then the one before it, is another; a sub-command only if it is the last.
        let first = words.len().min(3).saturating_sub(1).max(1);
        for at in (first..words.len()).rev().take(3) {
            let other = words.iter().enumerate().map(|(n, word)| {
                let more = if n == at { "x" } else { "" };
                format!("{word}{more}")
            });
            near.push(other.collect::<Vec<_>>().join(" "));
        }
        near.push(format!("{program} --help"));
        near.push(format!("echo {}", super::quoted(command)));
        near.iter().map(|near| quoted(near)).chain(plain).collect()
    }

    fn call(&self, input: Json<'static>) -> String {
        Json::object([("tool", self.tool.clone().into()), ("input", input)]).to_string()
    }

    /// A name that no other rule has.
    fn id(&self, effect: &Effect, rules: &RuleSet) -> String {
        let verb = match self.verdict {
            RuleFor::Ask => "ask",
            RuleFor::Block => "no",
            RuleFor::Audit => "audit",
            RuleFor::Allow => "allow",
        };
        let words = self.command().unwrap_or(&effect.program);
        let mut id = verb.to_owned();
        for part in words.split(|c: char| !c.is_ascii_alphanumeric()) {
            if !part.is_empty() && id.len() + part.len() < MAX_ID {
                id.push('-');
                id.push_str(&part.to_ascii_lowercase());
            }
        }
        let mut free = id.clone();
        let mut number = 2;
        while rules.rule(&free).is_some() {
            free = format!("{id}-{number}");
            number += 1;
        }
        free
    }
}

/// What happens to the examples of the rule among the operator's others; an error if it cannot be read.
fn tried(text: &str, id: &str, others: &[RuleText]) -> anyhow::Result<Vec<Tried>> {
    let know = crate::own::knowledge()?;
    let others = others.iter().map(|o| RuleFile::operator(&o.name, &o.text));
    let files: Vec<RuleFile<'_>> = others.chain([RuleFile::operator("draft", text)]).collect();
    let set = RuleSet::joined(Profile::default(), &files)
        .with_context(|| format!("the drafted rule cannot be read:\n{text}"))?;
    Ok(try_examples(&set, &know, |rule| rule.id == id))
}

struct Examples {
    same: Vec<String>,
    near: Vec<String>,
}

/// Where the rule goes, as comments.
pub(super) fn place(verdict: Option<RuleFor>, config: &Config) -> String {
    let own = config.rules.dirs.last().map(|dir| dir.join("own.yaml"));
    let own = own.map_or_else(|| "own.yaml".to_owned(), |path| path.display().to_string());
    let project = match verdict {
        Some(RuleFor::Allow) => String::new(),
        _ => format!(
            "# or, for everybody who works on a project, to {PROJECT_FILE} in its folder.\n"
        ),
    };
    format!(
        "# A draft: shorten `when` to what you mean, and say why in `because`.\n\
         # Add it to {own}\n{project}\
         # `holdgate rules check FILE` tries the examples; a running proxy uses it within a second.\n"
    )
}
