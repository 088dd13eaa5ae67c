//! Rules from their written form: everything is checked here, so that matching has nothing to ask.

use super::condition::{Reader, Trust, is_name};
use super::report::{Mark, RuleError, Source, suggestion};
use super::spec::{ExampleSpec, ExamplesSpec, RuleSpec};
use super::{Example, Expect, Profile, Rule, Stage};
use crate::json::Json;
use crate::verdict::Verdict;
use serde_saphyr::Spanned;
use std::sync::Arc;

/// Words for what a rule does, and the verdict behind each.
const VERDICTS: [(&str, Verdict); 4] = [
    ("ALLOW", Verdict::Allow),
    ("AUDIT", Verdict::Audit),
    ("ASK", Verdict::Ask),
    ("DENY", Verdict::Block),
];

/// Nesting of a file: a condition in conditions, an example's input.
const MAX_DEPTH: usize = 48;

/// The word for a verdict in rules.
pub(super) fn word(verdict: Verdict) -> &'static str {
    let found = VERDICTS.iter().find(|(_, v)| *v == verdict);
    found.map_or("DENY", |(word, _)| word)
}

/// The rules of one file.
pub(super) fn read(name: &str, text: &str, trust: Trust) -> Result<Vec<Rule>, Vec<RuleError>> {
    let source = Arc::new(Source {
        name: name.to_owned(),
        text: text.to_owned(),
    });
    let options = serde_saphyr::options! {
        with_snippet: false,
        // `yes` is a program.
        strict_booleans: true,
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
    };
    let specs: Vec<RuleSpec> = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| vec![RuleError::of_yaml(&source, &error)])?;
    let mut errors = Vec::new();
    let mut reader = Reader {
        source: &source,
        errors: &mut errors,
        trust,
    };
    let rules = specs.into_iter().map(|spec| reader.rule(spec)).collect();
    if errors.is_empty() {
        Ok(rules)
    } else {
        Err(errors)
    }
}

impl Reader<'_> {
    fn rule(&mut self, spec: RuleSpec) -> Rule {
        let at = Mark::from(spec.id.referenced);
        for name in [&spec.id, &spec.category] {
            if !is_name(&name.value) {
                let what = format!("`{}` is no name: names look like `force-push`", name.value);
                self.error(name.referenced.into(), what);
            }
        }
        for text in [Some(&spec.because), spec.instead.as_ref()]
            .into_iter()
            .flatten()
        {
            if text.value.trim().is_empty() || text.value.trim_end().ends_with('.') {
                let what = "write a phrase, without a full stop";
                self.error(text.referenced.into(), what);
            }
        }
        let usual = self.verdict(&spec.verdict);
        let profiles = spec.profiles.unwrap_or_default();
        let mut other = |word: Option<&Spanned<String>>| word.map_or(usual, |w| self.verdict(w));
        let verdicts = Verdicts {
            workstation: usual,
            container: other(profiles.container.as_ref()),
            strict: other(profiles.strict.as_ref()),
        };
        let stage = self.stage(spec.stage.as_ref());
        let owasp = spec.owasp.iter().map(|word| self.owasp(word)).collect();
        let when = self.when(&spec.when);
        let needs = when.needs().unwrap_or_default();
        let (tried_in, verb) = verdicts.tried();
        let mut examples = Vec::new();
        if verb == "allow" {
            let what = "a rule that allows in every profile does nothing: write DENY, ASK or AUDIT";
            self.error(spec.verdict.referenced.into(), what);
        } else {
            examples = self.examples(spec.examples.as_ref(), &verb, at);
        }
        Rule {
            id: spec.id.value,
            category: spec.category.value,
            because: spec.because.value.trim().to_owned(),
            instead: spec.instead.as_ref().map(|i| i.value.trim().to_owned()),
            instead_at: spec.instead.map(|i| i.referenced.into()),
            owasp,
            stage,
            verdicts,
            tried_in,
            examples,
            when,
            needs,
            source: self.source.clone(),
            at,
            when_at: spec.when.referenced.into(),
        }
    }

    fn verdict(&mut self, word: &Spanned<String>) -> Verdict {
        let text = word.value.as_str();
        if let Some((_, verdict)) = VERDICTS.iter().find(|(w, _)| *w == text) {
            return *verdict;
        }
        let what = if text == "REQUIRE" {
            "REQUIRE is not supported yet: write DENY, ASK or AUDIT".to_owned()
        } else {
            let known = VERDICTS.map(|(word, _)| word);
            let nearest = suggestion(&text.to_uppercase(), &known);
            format!("`{text}` is nothing that a rule can do, {nearest}")
        };
        self.error(word.referenced.into(), what);
        Verdict::Block
    }

    fn stage(&mut self, word: Option<&Spanned<String>>) -> Stage {
        let Some(word) = word else {
            return Stage::Stable;
        };
        match word.value.as_str() {
            "stable" => return Stage::Stable,
            "trial" => return Stage::Trial,
            _ => {}
        }
        let known = suggestion(&word.value, &["stable", "trial"]);
        let what = format!("unknown stage `{}`, {known}", word.value);
        self.error(word.referenced.into(), what);
        Stage::Stable
    }

    fn owasp(&mut self, word: &Spanned<String>) -> String {
        let number = word.value.strip_prefix("ASI").unwrap_or_default();
        let known = number.len() == 2 && number.parse().is_ok_and(|n: u8| (1..=10).contains(&n));
        if !known {
            let what = format!(
                "`{}` is not in the list of OWASP, write ASI01 to ASI10",
                word.value
            );
            self.error(word.referenced.into(), what);
        }
        word.value.clone()
    }

    fn examples(&mut self, spec: Option<&ExamplesSpec>, verb: &str, at: Mark) -> Vec<Example> {
        let mut examples = Vec::new();
        let (mut meets, mut allowed) = (0, 0);
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
                    "allow" => (Expect::Allow, &mut allowed),
                    _ => (Expect::Fire, &mut meets),
                };
                if expect == Expect::Fire && key != verb {
                    let what = format!("this rule's verdict is `{verb}`, so write `{verb}:` here");
                    self.error(list.referenced.into(), what);
                }
                *count += list.value.len();
                examples.extend(list.value.iter().map(|e| self.example(e, expect)));
            }
        }
        for (key, count) in [(verb, meets), ("allow", allowed)] {
            if count == 0 {
                self.error(
                    at,
                    format!("a rule needs an example of both kinds: add one to `examples.{key}`"),
                );
            }
        }
        examples
    }

    fn example(&mut self, spec: &Spanned<ExampleSpec>, expect: Expect) -> Example {
        let at = Mark::from(spec.referenced);
        let (tool, input) = match &spec.value {
            ExampleSpec::Command(command) => {
                let input = Json::object([("command", command.clone().into())]);
                ("Bash".to_owned(), input)
            }
            ExampleSpec::Call(call) => (call.tool.clone(), call.input.0.clone()),
        };
        if input.as_object().is_none() {
            self.error(at, "the input of a call is a map: `{tool: …, input: {…}}`");
        }
        Example {
            expect,
            tool,
            input,
            at,
        }
    }
}

/// What a rule does in each profile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdicts {
    workstation: Verdict,
    container: Verdict,
    strict: Verdict,
}

impl Verdicts {
    pub(super) fn in_profile(self, profile: Profile) -> Verdict {
        match profile {
            Profile::Workstation => self.workstation,
            Profile::Container => self.container,
            Profile::Strict => self.strict,
        }
    }

    /// The profile that the examples are tried in, and the word for what they meet there: the
    /// usual profile, unless the rule is off in it.
    fn tried(self) -> (Profile, String) {
        let profile = if self.workstation != Verdict::Allow {
            Profile::Workstation
        } else if self.container > self.strict {
            Profile::Container
        } else {
            Profile::Strict
        };
        (profile, word(self.in_profile(profile)).to_lowercase())
    }
}
