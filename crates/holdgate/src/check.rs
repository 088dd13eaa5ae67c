//! `holdgate check`: one call through the same judging as in the proxy, and why it ends as it does.

mod draft;
mod result;

use crate::args::{CheckArgs, WrongUse};
use crate::config::Config;
use crate::facts::Place as Where;
use crate::in_force::InForce;
use crate::incidents::verdict_style;
use crate::judging;
use anstyle::Style;
use anyhow::Context as _;
use holdgate_core::rules::draft::Condition;
use holdgate_core::{Context, Finding, HeldCall, History, Judgement, Masked, RateLimits, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::json::{Json, LoneSurrogates, shorten};
use holdgate_effects::path::{Place, World};
use holdgate_effects::value::HOLE;
use std::io::{Read as _, Write};
use std::path::Path;
use std::time::Duration;

/// Bytes of standard input: the largest call, and the JSON around it.
const MAX_INPUT: u64 = 32 << 20;
const MAX_DEPTH: usize = 64;
const SHELL: &str = "Bash";

/// Judges the call or the result and prints what was found. Returns whether it passes.
pub fn run(args: &CheckArgs, config: &Config, out: &mut impl Write) -> anyhow::Result<bool> {
    if let Some(file) = &args.result {
        return result::run(file, args.json, config, out);
    }
    judging::read_ahead();
    let text = match args.command.as_slice() {
        [] => from_stdin()?,
        [command] => command.clone(),
        words => words
            .iter()
            .map(|w| quoted(w))
            .collect::<Vec<_>>()
            .join(" "),
    };
    let call = call(&text, args.tool.as_deref())?;
    let mut session = judging::session(world(args.project.as_deref(), config)?);
    let project = session.world.project.clone();
    let in_force = in_force(args, config, project.as_deref())?;
    let without = || in_force.stack_without_project();
    let stack = in_force.stack(project.as_deref()).unwrap_or_else(without);
    let drafted = args.rule_for.map(|verdict| {
        let (tool, input) = (call.name.clone(), call.start_input.clone());
        draft::Wanted::new(verdict, &tool.unwrap_or_default(), &input, &session.world)
    });
    let judgement = stack.judge(
        call,
        &mut session,
        &Context::new(&History::default(), Duration::ZERO),
    );
    let (verdict, findings) = (judgement.verdict(), judgement.findings());
    if let Some(wanted) = drafted {
        let rules = in_force.rules(project.as_deref());
        let rule = wanted.rule(&judgement, &rules, &in_force.operator)?;
        write!(out, "{}{rule}", draft::place(args.rule_for, config))?;
        return Ok(true);
    }
    if args.json {
        print_json(&judgement, verdict, findings, out)?;
    } else {
        print(&judgement, verdict, findings, out)?;
    }
    Ok(verdict.lets_pass())
}

/// What would judge the call in this project, without limits on how many come.
fn in_force(args: &CheckArgs, config: &Config, project: Option<&str>) -> anyhow::Result<InForce> {
    let mut config = config.clone();
    config.profile = args.profile.unwrap_or(config.profile);
    config.rates = RateLimits::NONE;
    // A single call waits for nobody, and all tables are read for the first time.
    config.judge.deadline = Duration::from_secs(5);
    let in_force = InForce::load(config).map_err(|error| WrongUse(format!("{error:#}")))?;
    in_force.read_labels();
    let news = project.and_then(|project| in_force.look_at(project));
    if let Some(problem) = news.and_then(|news| news.problem) {
        crate::log::warn(&format!("the project's rules are ignored:\n{problem}"));
    }
    Ok(in_force)
}

pub(crate) fn world(project: Option<&Path>, config: &Config) -> anyhow::Result<World> {
    let here = std::env::current_dir().context("this folder")?;
    let project = match project {
        Some(dir) => here.join(dir),
        None => here,
    };
    let know = crate::own::knowledge()?;
    let place = Where {
        project: project.to_str().map(str::to_owned),
        ..Where::of(config, None)
    };
    Ok(place.world(&know))
}

fn from_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    let mut input = std::io::stdin().lock().take(MAX_INPUT);
    input
        .read_to_string(&mut text)
        .context("cannot read standard input")?;
    if text.trim().is_empty() {
        let what = "nothing to judge: run `holdgate check -- COMMAND`, or pass a command or a \
                    JSON tool call on standard input";
        return Err(WrongUse(what.into()).into());
    }
    Ok(is_json_if_it_looks_so(&text).map(|()| text)?)
}

/// A call that is cut short or misspelt must not be judged as the command that it is not.
fn is_json_if_it_looks_so(text: &str) -> Result<(), WrongUse> {
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if !start.starts_with(['{', '[']) {
        return Ok(());
    }
    let why = match Json::read(text.as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse) {
        Ok(json) if json.as_object().is_some() => return Ok(()),
        Ok(_) => "line 1, column 1: a tool call is one JSON object".to_owned(),
        Err(error) => {
            let before = text.get(..error.at).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            format!("line {line}, column {column}: {}", error.what)
        }
    };
    Err(WrongUse(format!(
        "standard input is not a valid JSON tool call: {why}; pass a command that begins with \
         `{{` or `[` after `--`"
    )))
}

/// A tool call in JSON, the input of a tool that is named, or else a command.
fn call(text: &str, tool: Option<&str>) -> Result<HeldCall, WrongUse> {
    let command = || {
        let input = Json::object([("command", text.trim_end_matches('\n').into())]);
        judging::call(tool.unwrap_or(SHELL), &input)
    };
    let Ok(json) = Json::read(text.as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse) else {
        return Ok(command());
    };
    if json.as_object().is_none() {
        return Ok(command());
    }
    let named = ["tool", "name"].iter().find_map(|key| json.get(key));
    match (named.and_then(Json::as_str), json.get("input"), tool) {
        (Some(name), Some(input), _) => Ok(judging::call(tool.unwrap_or(name), input)),
        (_, _, Some(tool)) => Ok(judging::call(tool, &json)),
        _ => Err(WrongUse(
            "a JSON tool call needs a name and an input: `{\"tool\": \"Write\", \"input\": \
             {…}}`; or name the tool with --tool"
                .into(),
        )),
    }
}

/// A word as it must be written in a shell to mean itself.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn print_json(
    judgement: &Judgement,
    verdict: Verdict,
    findings: &[Finding],
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let effects = judgement.effects.iter().map(effect_json).collect();
    let findings = findings.iter().map(Finding::to_json).collect();
    let json = Json::object([
        ("verdict", verdict.word().into()),
        ("effects", Json::Array(effects)),
        ("findings", Json::Array(findings)),
        ("us", micros(judgement.took).into()),
    ]);
    Ok(writeln!(out, "{}", Masked::json(json))?)
}

/// An effect with all that a rule can match, and the condition that does.
fn effect_json(effect: &Effect) -> Json<'static> {
    let mut json = effect.to_json();
    json.set("evidence", effect.evidence.to_string().into());
    if let Some(inside) = effect.path.as_ref().and_then(Place::in_project) {
        json.set("path_in_project", inside.to_owned().into());
    }
    json.set("when", condition(effect).into());
    json
}

/// The condition that matches an effect. Its expressions are made of texts without secrets: in an
/// expression, a secret looks like none.
fn condition(effect: &Effect) -> String {
    let mut shown = effect.clone();
    shown.evidence = Masked::of(&effect.evidence).into_string().into();
    let text = effect.text.as_deref();
    shown.text = text.map(|text| Masked::of(text).into_string().into());
    Condition::whole(&shown).to_string()
}

fn print(
    judgement: &Judgement,
    verdict: Verdict,
    findings: &[Finding],
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    if !judgement.effects.is_empty() {
        writeln!(
            out,
            "{bold}What it does{bold:#}{dim}, and under each effect the condition of a rule that \
             matches it{dim:#}"
        )?;
    }
    for effect in &judgement.effects {
        // What cannot be known has a mark of its own inside, and dots for people.
        let shorten = |text: &str, most| Masked::start(text, most).replace(HOLE, "…");
        let program = shorten(&effect.program, 40);
        let mut line = format!("  {:<16} {program}", effect.kind.word());
        if let Some(path) = &effect.path {
            let classes: Vec<&str> = path.classes.names().collect();
            let (path, classes) = (shorten(&path.text, 100), classes.join(", "));
            line.push_str(&format!("  {path} {dim}({classes}){dim:#}"));
        }
        if let Some(host) = &effect.host {
            let (name, class) = (shorten(&host.name, 100), host.class.word());
            line.push_str(&format!("  {name} {dim}({class}){dim:#}"));
        }
        if !effect.tags.is_empty() {
            let tags: Vec<&str> = effect.tags.iter().map(|tag| tag.word()).collect();
            let tags = tags.join(", ");
            line.push_str(&format!("  {dim}[{}]{dim:#}", shorten(&tags, 100)));
        }
        if let Some(refs) = &effect.refs {
            let shown = |text: &str| shorten(&text.replace(HOLE, "?"), 100);
            for (before, names) in [
                ("on", refs.branches.iter().collect::<Vec<_>>()),
                ("to", refs.remote.iter().chain(&refs.url).collect()),
            ] {
                let names: Vec<String> = names.iter().map(|name| shown(name)).collect();
                if !names.is_empty() {
                    line.push_str(&format!("  {dim}{before} {}{dim:#}", names.join(", ")));
                }
            }
        }
        let origins: Vec<&str> = effect.origins.names().collect();
        if !origins.is_empty() {
            line.push_str(&format!("  {dim}from {}{dim:#}", origins.join(", ")));
        }
        writeln!(out, "{line}")?;
        let when = Masked::start(&condition(effect), 1_000);
        let note = if Condition::is_for_deny_only(effect) {
            "  # only DENY rules match it"
        } else {
            ""
        };
        writeln!(out, "    {dim}when: {when}{note}{dim:#}")?;
    }
    print_findings(findings, out)?;
    let style = verdict_style(verdict.word());
    let word = verdict.word();
    let asks = if verdict == Verdict::Ask {
        ": a person must decide; if nobody can be asked, it is blocked"
    } else {
        ""
    };
    writeln!(
        out,
        "{bold}verdict{bold:#} {style}{word}{style:#}{asks} {dim}({} µs){dim:#}",
        micros(judgement.took)
    )?;
    Ok(())
}

fn print_findings(findings: &[Finding], out: &mut impl Write) -> anyhow::Result<()> {
    for finding in findings {
        let style = verdict_style(finding.verdict.word());
        let (word, rule) = (finding.verdict.word(), &finding.rule);
        let (layer, reason) = (finding.layer, Masked::start(&finding.reason, 400));
        writeln!(out, "{style}{word}{style:#} {rule} ({layer}): {reason}")?;
        if let Some(evidence) = &finding.evidence {
            writeln!(out, "  matched: {}", shorten(evidence, 400))?;
        }
        if let Some(instead) = &finding.instead {
            writeln!(out, "  instead: {instead}")?;
        }
    }
    Ok(())
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_what_the_text_says() {
        let check = |text: &str, tool: Option<&str>, expected: (&str, &str)| {
            let call = call(text, tool).unwrap();
            assert_eq!(
                (call.name.as_deref().unwrap(), call.start_input.as_str()),
                expected
            );
        };
        check("rm -rf ~\n", None, ("Bash", r#"{"command":"rm -rf ~"}"#));
        check("{rm,-rf,/}", None, ("Bash", r#"{"command":"{rm,-rf,/}"}"#));
        check("42", None, ("Bash", r#"{"command":"42"}"#));
        let whole = r#"{"tool":"Write","input":{"file_path":"x"}}"#;
        check(whole, None, ("Write", r#"{"file_path":"x"}"#));
        let wire = r#"{"type":"tool_use","id":"1","name":"Read","input":{"file_path":"x"}}"#;
        check(wire, None, ("Read", r#"{"file_path":"x"}"#));
        check(r#"{"path":"x"}"#, Some("View"), ("View", r#"{"path":"x"}"#));
        assert!(call(r#"{"path":"x"}"#, None).is_err());
    }

    #[test]
    fn what_looks_like_json_is_json_or_an_error() {
        let check = |text: &str, place: Option<&str>| {
            let found = is_json_if_it_looks_so(text);
            assert_eq!(found.is_ok(), place.is_none(), "{text}");
            if let (Err(error), Some(place)) = (found, place) {
                assert!(error.to_string().contains(place), "{error}");
            }
        };
        check("rm -rf /", None);
        check(r#"{"tool":"Bash","input":{}}"#, None);
        check(r#"{"tool":"Bash","#, Some("line 1, column 16"));
        check("{\n  \"tool\": \"ä\" x}", Some("line 2, column 15"));
        check("\u{feff} {'tool': 'Bash'}", Some("line 1, column 1"));
        check(r#"[{"tool":"Bash"}]"#, Some("one JSON object"));
        check("{} {}", Some("line 1, column 4"));
        check("{rm,-rf,/}", Some("after `--`"));
    }

    #[test]
    fn words_keep_their_meaning() {
        assert_eq!(quoted("--x=a/b"), "--x=a/b");
        assert_eq!(quoted("fix rm -rf"), "'fix rm -rf'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
