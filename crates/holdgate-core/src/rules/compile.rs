//! Rules from their written form. Everything is checked here, so that matching cannot fail.

use super::condition::{Reader, each};
use super::report::{Mark, Report, RuleError, Source};
use super::rule::{ExampleCall, ExampleRepository, RuleLayer, Tier};
use super::scope::Scope;
use super::spec::{AdjustSpec, ExampleSpec, ExamplesSpec, RuleFileSpec, RuleSpec};
use super::when::Call;
use super::{Example, Expect, Profile, Rule, RuleFile, Stage};
use crate::verdict::Verdict;
use holdgate_effects::json::{Json, shorten};
use holdgate_effects::worded::suggestion;
use serde_saphyr::Spanned;
use std::sync::Arc;
use std::time::SystemTime;

/// Words for what a rule does, and the verdict behind each.
const VERDICTS: [(&str, Verdict); 5] = [
    ("ALLOW", Verdict::Allow),
    ("AUDIT", Verdict::Audit),
    ("ASK", Verdict::Ask),
    ("DENY", Verdict::Block),
    (REQUIRE, Verdict::Block),
];
/// A call that lacks what is required is denied, or asked about.
pub(super) const REQUIRE: &str = "REQUIRE";

/// Nesting of a file: a condition in conditions, an example's input.
const MAX_DEPTH: usize = 48;
/// Rules and changes of rules in a project's file, and characters of a text in it: a stranger may
/// have written it, and these texts are shown for each call that its rules match.
const MAX_PROJECT_RULES: usize = 200;
const MAX_PROJECT_TEXT: usize = 400;

/// The word for a verdict in rules.
pub(super) fn word(verdict: Verdict) -> &'static str {
    let found = VERDICTS.iter().find(|(_, v)| *v == verdict);
    found.map_or("DENY", |(word, _)| word)
}

/// The content of one file.
#[derive(Debug, Default)]
pub(super) struct FileRules {
    pub(super) rules: Vec<Rule>,
    pub(super) adjusted: Vec<Adjustment>,
}

/// A new verdict for an existing rule.
#[derive(Debug)]
pub(super) struct Adjustment {
    pub(super) rule: String,
    pub(super) verdict: Verdict,
    pub(super) tier: Tier,
    pub(super) source: Arc<Source>,
    pub(super) rule_at: Mark,
    pub(super) verdict_at: Mark,
}

impl Adjustment {
    pub(super) fn error(&self, at: Mark, what: String) -> RuleError {
        RuleError::new(&self.source, at, what)
    }
}

/// The sound rules of one file, and all errors in it.
pub(super) fn read(file: RuleFile<'_>) -> (FileRules, Vec<RuleError>) {
    let mut report = Report::new(file.name, file.text);
    let specs = RuleFileSpec::read(&report.source, MAX_DEPTH);
    report.errors = specs.errors;
    let mut reader = Reader {
        report,
        tier: file.tier,
        layer: file.layer,
        regexes: 0,
        unknown_counts: true,
    };
    let entries = specs.entries.len() + specs.adjust.len();
    if file.tier == Tier::Project && entries > MAX_PROJECT_RULES {
        let what =
            format!("a project's file can have at most {MAX_PROJECT_RULES} rules and adjustments");
        reader.error(Mark::default(), what);
        return (FileRules::default(), reader.report.errors);
    }
    let mut read = FileRules::default();
    for (spec, is_whole) in specs.entries {
        reader.report.is_partial = !is_whole;
        let before = reader.report.errors.len();
        let rule = reader.rule(spec);
        if is_whole && reader.report.errors.len() == before {
            read.rules.push(rule);
        }
    }
    for (spec, is_whole) in &specs.adjust {
        reader.report.is_partial = !is_whole;
        let before = reader.report.errors.len();
        let adjustment = reader.adjustment(spec);
        if *is_whole && reader.report.errors.len() == before {
            read.adjusted.push(adjustment);
        }
    }
    let mut errors = reader.report.errors;
    errors.sort_by_key(RuleError::place);
    (read, errors)
}

impl Reader {
    fn rule(&mut self, spec: RuleSpec) -> Rule {
        let at = Mark::from(spec.id.referenced);
        for name in [&spec.id, &spec.category] {
            self.report.check_name(name);
            self.check_length(name);
        }
        for text in [Some(&spec.because), spec.instead.as_ref()]
            .into_iter()
            .flatten()
        {
            self.report.check_clause(text);
            self.check_length(text);
        }
        let profiles = spec.profiles.clone().unwrap_or_default();
        let other = [profiles.container.as_ref(), profiles.strict.as_ref()];
        let mut words = other.into_iter().flatten().chain([&spec.verdict]);
        let requires = words.any(|word| word.value == REQUIRE);
        let timing = self.timing(&spec, requires).map(Arc::new);
        let mut verdict = |word: &Spanned<String>| {
            let asks = spec.approval && word.value == REQUIRE;
            let verdict = self.verdict(word);
            if asks { Verdict::Ask } else { verdict }
        };
        let usual = verdict(&spec.verdict);
        let mut other = |word: Option<&Spanned<String>>| word.map_or(usual, &mut verdict);
        let container = other(profiles.container.as_ref());
        let verdicts = [usual, container, other(profiles.strict.as_ref())];
        let stage = spec.stage.as_ref();
        let stage = stage.and_then(|word| self.report.word(word, Stage::read));
        let owasp = spec.owasp.iter().map(|word| self.owasp(word)).collect();
        let (tried_in, verb) = tried(verdicts);
        // An exception must be certain.
        self.unknown_counts = verb != "allow";
        let when = self.when(&spec.when);
        self.unknown_counts = true;
        if verb == "allow" {
            self.allowing(&spec.verdict, timing.is_some(), &when);
        }
        let only = spec.only.as_ref().map(each).unwrap_or_default();
        if let Some((_, at)) = only.first().filter(|_| verb != "allow") {
            self.error(*at, "`only` belongs to ALLOW");
        }
        let scope = self.scope(&spec, verb == "allow");
        let examples = self.examples(spec.examples.as_ref(), &verb, at).into();
        let when = Arc::new(when);
        Rule {
            layer: self.layer_of(usual),
            tier: self.tier,
            requires,
            allows: verb == "allow",
            only,
            scope,
            timing,
            id: spec.id.value,
            category: spec.category.value,
            because: spec.because.value.trim().to_owned(),
            instead: spec.instead.as_ref().map(|i| i.value.trim().to_owned()),
            instead_at: spec.instead.map(|i| i.referenced.into()),
            owasp,
            stage: stage.unwrap_or(Stage::Stable),
            verdicts,
            tried_in,
            examples,
            when,
            source: self.report.source.clone(),
            at,
            when_at: spec.when.referenced.into(),
        }
    }

    fn check_length(&mut self, text: &Spanned<String>) {
        if self.tier == Tier::Project && text.value.len() > MAX_PROJECT_TEXT {
            let what = format!("write at most {MAX_PROJECT_TEXT} characters");
            self.error(text.referenced, what);
        }
    }

    fn verdict(&mut self, word: &Spanned<String>) -> Verdict {
        let text = word.value.as_str();
        if let Some((_, verdict)) = VERDICTS.iter().find(|(w, _)| *w == text) {
            return *verdict;
        }
        let known = VERDICTS.map(|(word, _)| word);
        let nearest = suggestion(&text.to_uppercase(), &known);
        let what = format!("`{text}` is not a valid verdict, {nearest}");
        self.error(word.referenced, what);
        Verdict::Block
    }

    /// The gate has the rules that deny regardless of intent. Rules that need a person or the
    /// history belong to the policy.
    fn layer_of(&self, usual: Verdict) -> RuleLayer {
        if self.tier == Tier::BuiltIn && usual < Verdict::Block {
            RuleLayer::Policy
        } else {
            self.layer
        }
    }

    /// A rule that allows hides effects from other rules.
    fn allowing(&mut self, word: &Spanned<String>, has_timing: bool, when: &Call) {
        let what = if self.layer == RuleLayer::Gate {
            "a gate rule that allows in every profile has no effect: write DENY, ASK or AUDIT"
        } else if self.tier == Tier::Project {
            "a project's rules can only tighten, and this one loosens: the operator can allow \
             it in a file in `~/.config/holdgate/rules`"
        } else if has_timing {
            "ALLOW does not depend on time: remove `after`, `within` and `same`"
        } else if !matches!(when, Call::Some(_)) {
            "ALLOW matches one effect: remove `all`"
        } else {
            return;
        };
        self.error(word.referenced, what);
    }

    /// The limits of a rule that allows.
    fn scope(&mut self, spec: &RuleSpec, allows: bool) -> Scope {
        for (name, limit) in [("project", &spec.project), ("until", &spec.until)] {
            if let Some(limit) = limit.as_ref().filter(|_| !allows) {
                self.error(limit.referenced, format!("`{name}` belongs to ALLOW"));
            }
        }
        let project = spec.project.as_ref().map(|project| {
            let folder = project.value.trim_end_matches('/');
            if !folder.starts_with('/') {
                let what = "write the whole path of the project's folder, `/home/me/project`";
                self.error(project.referenced, what);
            }
            folder.to_owned()
        });
        let until = spec.until.as_ref().map(|until| {
            humantime::parse_rfc3339_weak(&until.value).unwrap_or_else(|_| {
                let text = shorten(&until.value, 80);
                let what = format!("`{text}` is not a valid time, write `2026-11-15T20:00:00Z`");
                self.error(until.referenced, what);
                SystemTime::UNIX_EPOCH
            })
        });
        Scope { project, until }
    }

    fn adjustment(&mut self, spec: &AdjustSpec) -> Adjustment {
        if spec.because.value.trim().is_empty() {
            let what = "give the reason, as a clause";
            self.error(spec.because.referenced, what);
        }
        if spec.verdict.value == REQUIRE {
            let what = "a verdict can be changed to DENY, ASK, AUDIT or ALLOW";
            self.error(spec.verdict.referenced, what);
        }
        Adjustment {
            rule: spec.rule.value.clone(),
            verdict: self.verdict(&spec.verdict),
            tier: self.tier,
            source: self.report.source.clone(),
            rule_at: spec.rule.referenced.into(),
            verdict_at: spec.verdict.referenced.into(),
        }
    }

    fn owasp(&mut self, word: &Spanned<String>) -> String {
        let number = word.value.strip_prefix("ASI").unwrap_or_default();
        let known = number.len() == 2 && number.parse().is_ok_and(|n: u8| (1..=10).contains(&n));
        if !known {
            let what = format!("`{}` is not an OWASP id, write ASI01 to ASI10", word.value);
            self.error(word.referenced, what);
        }
        word.value.clone()
    }

    fn examples(&mut self, spec: Option<&ExamplesSpec>, verb: &str, at: Mark) -> Vec<Example> {
        let mut examples = Vec::new();
        let allows = verb == "allow";
        let (mut meets, mut others) = (0, 0);
        if let Some(spec) = spec {
            for (key, list) in [
                ("deny", &spec.deny),
                ("ask", &spec.ask),
                ("audit", &spec.audit),
                ("allow", &spec.allow),
            ] {
                let Some(list) = list else {
                    continue;
                };
                let (expect, count) = match key {
                    "allow" if !allows => (Expect::Allow, &mut others),
                    _ if allows && key != verb => (Expect::Untouched, &mut others),
                    _ => (Expect::Match, &mut meets),
                };
                if expect == Expect::Match && key != verb {
                    let what = format!("this rule's verdict is `{verb}`, so write `{verb}:` here");
                    self.error(list.referenced, what);
                }
                *count += list.value.len();
                examples.extend(list.value.iter().map(|e| self.example(e, expect)));
            }
        }
        let other = if allows { "ask" } else { "allow" };
        for (key, count) in [(verb, meets), (other, others)] {
            if count == 0 {
                self.report.absent(
                    at,
                    format!("a rule needs an example of both kinds: add one to `examples.{key}`"),
                );
            }
        }
        examples
    }

    fn example(&mut self, spec: &Spanned<ExampleSpec>, expect: Expect) -> Example {
        let at = Mark::from(spec.referenced);
        let (mut first, mut files) = (Vec::new(), Vec::new());
        let mut repository = None;
        let mut call = &spec.value;
        if let ExampleSpec::Call(sequence) = &spec.value
            && let Some(then) = &sequence.then
        {
            first.extend(sequence.first.iter().map(|step| self.step(step, at)));
            files.clone_from(&sequence.files);
            repository = sequence.branch.as_ref().map(|branch| ExampleRepository {
                branch: branch.clone(),
                remotes: sequence.remotes.clone().into_iter().collect(),
            });
            call = then;
        }
        Example {
            expect,
            call: self.step(call, at),
            first,
            files,
            repository,
            at,
        }
    }

    fn step(&mut self, spec: &ExampleSpec, at: Mark) -> ExampleCall {
        let call = match spec {
            ExampleSpec::Command(command) => ExampleCall::command(command),
            ExampleSpec::Call(call) => ExampleCall {
                tool: call.tool.clone().unwrap_or_default(),
                input: call.input.as_ref().map_or(Json::Null, |i| i.0.clone()),
                result: call.result.clone(),
            },
        };
        if call.tool.is_empty() || call.input.as_object().is_none() {
            let what = "a call has a tool and a map as its input, `{tool: …, input: {…}}`; a \
                        sequence of calls is `{first: […], then: …}`";
            self.error(at, what);
        }
        call
    }
}

/// The verdicts of a rule in the profiles, in their order.
pub(super) type Verdicts = [Verdict; Profile::ALL.len()];

/// The verdict in a profile.
pub(super) fn in_profile([workstation, container, strict]: Verdicts, profile: Profile) -> Verdict {
    match profile {
        Profile::Workstation => workstation,
        Profile::Container => container,
        Profile::Strict => strict,
    }
}

/// The profile in which the examples are tried, and the word for the verdict there: the usual
/// profile, unless the rule is off in it.
fn tried(verdicts: Verdicts) -> (Profile, String) {
    let [workstation, container, strict] = verdicts;
    let profile = if workstation != Verdict::Allow || verdicts == [Verdict::Allow; 3] {
        Profile::Workstation
    } else if container > strict {
        Profile::Container
    } else {
        Profile::Strict
    };
    (profile, word(in_profile(verdicts, profile)).to_lowercase())
}
