//! `holdgate rules`: what rules there are, what they say, and whether they hold.

mod diff;
mod docs;
mod stats;

use crate::args::{RuleFiles, RulesCommand, WrongUse};
use crate::config::Config;
use crate::in_force::InForce;
use crate::incidents::verdict_style;
use crate::rulebook;
use anstyle::Style;
use anyhow::Context as _;
use holdgate_core::rules::{
    Expect, Profile, Rule, RuleErrors, RuleFile, RuleSet, Stage, Tier, Tried, try_examples,
};
use holdgate_core::watch::Commands;
use holdgate_effects::json::{Json, shorten};
use holdgate_effects::worded::nearest;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Does what `holdgate rules …` asks for. Returns whether all is well.
///
/// `config` is there if the command has a place for it.
pub fn run(
    command: &RulesCommand,
    config: Option<Config>,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let built_in = || RuleSet::built_in(Profile::default());
    let state_dir = config
        .as_ref()
        .map(|c| c.state_dir.clone())
        .unwrap_or_default();
    let dirs = config.as_ref().map(|c| c.rules.dirs.clone());
    let dirs = dirs.unwrap_or_default();
    let here = || match config {
        Some(config) => rules_here(config),
        None => Ok(Here {
            rules: built_in()?,
            operator: built_in()?,
            problem: None,
        }),
    };
    match command {
        RulesCommand::Check(files) if files.files.is_empty() => {
            check_here(here(), &dirs, false, out)
        }
        RulesCommand::Test(files) if files.files.is_empty() => check_here(here(), &dirs, true, out),
        RulesCommand::Check(files) => check(files, false, out),
        RulesCommand::Test(files) => check(files, true, out),
        RulesCommand::List { json, .. } => list(&warned(here()?), *json, out),
        RulesCommand::Explain { id, .. } => explain(&warned(here()?), id, out),
        RulesCommand::Diff(args) => diff::run(args, out),
        RulesCommand::Stats { since, json, .. } => {
            stats::run(&state_dir, *since, &warned(here()?), *json, out)
        }
        RulesCommand::Words => {
            write!(out, "{}", holdgate_effects::vocabulary())?;
            Ok(true)
        }
        RulesCommand::Docs => {
            write!(out, "{}", docs::reference(&*built_in()?))?;
            Ok(true)
        }
    }
}

/// The rules that hold in a folder.
struct Here {
    rules: Arc<RuleSet>,
    /// Those of them that hold everywhere.
    operator: Arc<RuleSet>,
    /// What is wrong with the project's own.
    problem: Option<String>,
}

/// The rules that hold in this folder.
fn rules_here(config: Config) -> anyhow::Result<Here> {
    let world = crate::check::world(None, &config)?;
    let in_force = InForce::load(config)?;
    let project = world.project.as_deref();
    let news = project.and_then(|project| in_force.look_at(project));
    Ok(Here {
        rules: in_force.rules(project),
        operator: in_force.rules(None),
        problem: news.and_then(|news| news.problem),
    })
}

/// The rules, after a word about the project's own if they are left out.
fn warned(here: Here) -> Arc<RuleSet> {
    if let Some(problem) = here.problem {
        crate::log::warn(&format!("the project's rules are ignored:\n{problem}"));
    }
    here.rules
}

/// Tries the examples of all rules that hold here.
fn check_here(
    here: anyhow::Result<Here>,
    dirs: &[PathBuf],
    verbose: bool,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let Some(here) = printed(here, out)? else {
        return Ok(false);
    };
    let know = crate::own::knowledge()?;
    // Rules may be stricter than those that they build on, whose examples then need not pass.
    let built_in = RuleSet::built_in(Profile::default())?;
    let (mut tried, mut rules) = (Vec::new(), 0);
    for (set, tier) in [
        (&built_in, Tier::BuiltIn),
        (&here.operator, Tier::Operator),
        (&here.rules, Tier::Project),
    ] {
        tried.extend(try_examples(set, &know, |rule| rule.tier == tier));
        rules += set.rules().filter(|rule| rule.tier == tier).count();
    }
    let mut hold = print_tried(tried, rules, verbose, out)?;
    let Here { rules, problem, .. } = here;
    let patterns = rulebook::patterns(dirs, &Commands::new(rules, know, Arc::default()));
    match printed(patterns, out)? {
        Some(patterns) => writeln!(out, "{} patterns for output", patterns.iter().count())?,
        None => hold = false,
    }
    if let Some(problem) = &problem {
        writeln!(out, "{problem}\n")?;
    }
    Ok(hold && problem.is_none())
}

/// The result; `None` if there are errors, which are printed.
fn printed<T>(read: anyhow::Result<T>, out: &mut impl Write) -> anyhow::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.is::<RuleErrors>() => {
            writeln!(out, "{error}\n")?;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Reads the rules of `files` and tries their examples.
fn check(files: &RuleFiles, verbose: bool, out: &mut impl Write) -> anyhow::Result<bool> {
    let texts = read(files)?;
    let set = match set(&texts, files.alone) {
        Ok(set) => set,
        Err(errors) => return report(&with_examples(&texts, files.alone, errors)?, out),
    };
    let own = |rule: &Rule| {
        let place = rule.place();
        let of = |name: &str| place.strip_prefix(name).is_some_and(|r| r.starts_with(':'));
        texts.iter().any(|(name, _)| of(name))
    };
    try_all(&set, own, verbose, out)
}

/// The errors, with those in the examples of the sound rules.
fn with_examples(
    texts: &[(String, String)],
    alone: bool,
    errors: RuleErrors,
) -> anyhow::Result<RuleErrors> {
    if alone {
        return Ok(errors);
    }
    let files: Vec<RuleFile<'_>> = texts.iter().map(|(n, t)| file(n, t)).collect();
    let know = crate::own::knowledge()?;
    let all = RuleSet::load(Profile::default(), &files, &know);
    Ok(all.err().unwrap_or(errors))
}

/// Tries the examples of the rules that `which` picks, and says which do not hold.
fn try_all(
    set: &RuleSet,
    which: impl Fn(&Rule) -> bool,
    verbose: bool,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let know = crate::own::knowledge()?;
    let tried = try_examples(set, &know, &which);
    let rules = set.rules().filter(|rule| which(rule)).count();
    print_tried(tried, rules, verbose, out)
}

/// Says which examples hold. Returns whether all do.
fn print_tried(
    tried: Vec<Tried>,
    rules: usize,
    verbose: bool,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    if verbose {
        let mut rule = "";
        for tried in &tried {
            if tried.rule != rule {
                rule = &tried.rule;
                writeln!(out, "{rule}")?;
            }
            let (style, word) = match (&tried.error, tried.expect) {
                (Some(_), _) => (verdict_style("block"), "WRONG"),
                (None, Expect::Match) => (Style::new(), "matches"),
                (None, Expect::Allow | Expect::Untouched) => (Style::new(), "passes"),
            };
            let text = shorten(&tried.text, 120);
            writeln!(out, "  {style}{word:<7}{style:#}  {text}")?;
        }
    }
    let count = tried.len();
    let errors: Vec<_> = tried.into_iter().filter_map(|t| t.error).collect();
    let wrong = errors.len();
    if wrong > 0 {
        report(&RuleErrors(errors), out)?;
        writeln!(out, "{wrong} of {count} examples failed")?;
    } else {
        writeln!(out, "{rules} rules, {count} examples: all passed")?;
    }
    Ok(wrong == 0)
}

/// Names and texts.
fn read(files: &RuleFiles) -> anyhow::Result<Vec<(String, String)>> {
    let one = |path: &PathBuf| {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
        Ok((name, text))
    };
    files.files.iter().map(one).collect()
}

/// A project's own file is known by its name.
fn file<'a>(name: &'a str, text: &'a str) -> RuleFile<'a> {
    if name.ends_with(".holdgate.yaml") {
        RuleFile::project(name, text)
    } else {
        RuleFile::operator(name, text)
    }
}

fn set(texts: &[(String, String)], alone: bool) -> Result<Arc<RuleSet>, RuleErrors> {
    let files: Vec<RuleFile<'_>> = texts.iter().map(|(n, t)| file(n, t)).collect();
    if alone {
        RuleSet::read(Profile::default(), &files)
    } else {
        RuleSet::joined(Profile::default(), &files)
    }
}

fn report(errors: &RuleErrors, out: &mut impl Write) -> anyhow::Result<bool> {
    writeln!(out, "{errors}\n")?;
    Ok(false)
}

fn list(set: &RuleSet, json: bool, out: &mut impl Write) -> anyhow::Result<bool> {
    if json {
        let rules = set.rules().map(to_json).collect();
        writeln!(out, "{}", Json::Array(rules))?;
        return Ok(true);
    }
    let width = set.rules().map(|r| r.id.len()).max().unwrap_or(0);
    for rule in set.rules() {
        let verdicts = Profile::ALL.map(|p| rule.word(p));
        let [usual, container, strict] = verdicts;
        let mut line = format!("{:<width$}  {usual:<5}  {}", rule.id, rule.category);
        for (profile, word) in [("container", container), ("strict", strict)] {
            if word != usual {
                line.push_str(&format!("  {profile}: {word}"));
            }
        }
        if rule.stage == Stage::Trial {
            line.push_str("  (on trial: only audits)");
        }
        writeln!(out, "{line}")?;
    }
    Ok(true)
}

fn to_json(rule: &Rule) -> Json<'static> {
    let texts = |items: &[String]| Json::Array(items.iter().map(|i| i.clone().into()).collect());
    let examples = |expect: Expect| {
        let examples = rule.examples.iter().filter(|e| e.expect == expect);
        Json::Array(examples.map(|e| e.text().into()).collect())
    };
    let mut json = Json::object([
        ("id", rule.id.clone().into()),
        ("layer", rule.layer.name().word().into()),
        ("from", rule.tier.word().into()),
        ("category", rule.category.clone().into()),
        ("stage", rule.stage.word().into()),
        ("because", rule.because.clone().into()),
        ("owasp", texts(&rule.owasp)),
        ("matches", examples(Expect::Match)),
        ("passes", examples(Expect::Allow)),
    ]);
    for profile in Profile::ALL {
        json.set(profile.word(), rule.word(profile).into());
    }
    if let Some(instead) = &rule.instead {
        json.set("instead", instead.clone().into());
    }
    json
}

fn explain(set: &RuleSet, id: &str, out: &mut impl Write) -> anyhow::Result<bool> {
    let Some(rule) = set.rule(id) else {
        let near = nearest(id, set.rules().map(|r| r.id.as_str()));
        let near = near.map_or_else(
            || "`holdgate rules list` shows all".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(WrongUse(format!("there is no rule `{id}`, {near}")).into());
    };
    let bold = Style::new().bold();
    writeln!(out, "{bold}{}{bold:#}  {}", rule.id, rule.place())?;
    writeln!(out, "  because   {}", shorten(&rule.because, 1000))?;
    if let Some(instead) = &rule.instead {
        writeln!(out, "  instead   {}", shorten(instead, 1000))?;
    }
    let verdicts = Profile::ALL.map(|p| format!("{} in {p}", rule.word(p)));
    writeln!(out, "  verdict   {}", verdicts.join(", "))?;
    let (layer, from) = (rule.layer.name().word(), rule.tier.word());
    writeln!(out, "  layer     {layer}, {from}")?;
    writeln!(out, "  category  {}", rule.category)?;
    writeln!(out, "  stage     {}", rule.stage.word())?;
    if !rule.owasp.is_empty() {
        writeln!(out, "  OWASP     {}", rule.owasp.join(", "))?;
    }
    for line in rule.condition().lines() {
        writeln!(out, "  {line}")?;
    }
    for (title, expect) in [
        ("matches", Expect::Match),
        ("does not match", Expect::Allow),
    ] {
        writeln!(out, "  {title}")?;
        for example in rule.examples.iter().filter(|e| e.expect == expect) {
            writeln!(out, "    {}", example.text().replace('\n', "\n    "))?;
        }
    }
    Ok(true)
}
