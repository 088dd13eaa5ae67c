//! `holdgate rules diff A B`: what becomes of the same calls under two sets of rules.

use crate::args::{DiffArgs, WrongUse};
use crate::config::Config;
use crate::eval::{self, Bench, Case, Outcome};
use crate::incidents::verdict_style;
use crate::judging;
use crate::rulebook::{self, PROJECT_FILE};
use anyhow::Context as _;
use holdgate_core::rules::{RuleSet, Tier};
use holdgate_core::{RateLimits, Verdict};
use holdgate_effects::json::{Json, shorten};
use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The word for the rules that come with Holdgate.
const BUILT_IN: &str = "built-in";
/// Cases that are used when they are there.
const CORPUS: &str = "corpus";

/// A case on which the two sets differ.
struct Change<'c> {
    case: &'c Case,
    before: Verdict,
    after: Verdict,
    /// The rule that makes the difference.
    rule: String,
}

impl Change<'_> {
    fn word(&self) -> &'static str {
        if self.after > self.before {
            "tightens"
        } else {
            "loosens"
        }
    }
}

/// Prints what tightens and what loosens from A to B.
pub(super) fn run(args: &DiffArgs, out: &mut impl Write) -> anyhow::Result<bool> {
    let (a, b) = (side(&args.a, args)?, side(&args.b, args)?);
    let cases = cases(&args.cases, [&a, &b])?;
    let (bench_a, bench_b) = (bench(&a)?, bench(&b)?);
    let mut same = 0_u64;
    let mut changes = Vec::new();
    for case in &cases {
        let (Some(before), Some(after)) = (bench_a.judge(case), bench_b.judge(case)) else {
            continue;
        };
        if before.verdict == after.verdict {
            same += 1;
            continue;
        }
        changes.push(Change {
            case,
            before: before.verdict,
            after: after.verdict,
            rule: cause(&before, &after),
        });
    }
    // What loosens comes first: it is what somebody has to agree to.
    changes.sort_by_key(Change::word);
    let only = |one: &RuleSet, other: &RuleSet| -> Vec<String> {
        let rules = one.rules().filter(|r| other.rule(&r.id).is_none());
        rules.map(|rule| rule.id.clone()).collect()
    };
    let only = [only(&a, &b), only(&b, &a)];
    if args.json {
        print_json(&changes, same, only, out)?;
    } else {
        print(&changes, same, &only, out)?;
    }
    Ok(true)
}

/// The rules that a word, a file or a folder stands for.
fn side(name: &str, args: &DiffArgs) -> anyhow::Result<Arc<RuleSet>> {
    let path = Path::new(name);
    let files = if name == BUILT_IN {
        Vec::new()
    } else if path.is_dir() {
        let files = rulebook::operator_files(&[path.to_owned()])?;
        if files.is_empty() {
            return Err(WrongUse(format!(
                "{name}: the folder contains no rule files (*.yaml)"
            ))
            .into());
        }
        files
    } else {
        let of_project = path.file_name().is_some_and(|file| file == PROJECT_FILE);
        let tier = if of_project {
            Tier::Project
        } else {
            Tier::Operator
        };
        vec![rulebook::read(path, tier)?]
    };
    let know = crate::own::knowledge()?;
    let set = rulebook::set(args.profile, &files, &know);
    Ok(set.map_err(|errors| WrongUse(errors.to_string()))?)
}

fn bench(rules: &Arc<RuleSet>) -> anyhow::Result<Bench> {
    // The defaults, whatever this machine's settings are.
    let config = Config::defaults("")?;
    let stack = judging::stack_with(rules.clone(), &[], RateLimits::NONE, config.judge)?;
    Ok(Bench::new(Arc::new(stack), config.guard, eval::PROJECT))
}

/// The cases of these files; without any, the examples of all rules and the corpus of this folder.
fn cases(files: &[PathBuf], sets: [&Arc<RuleSet>; 2]) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut files = files.to_vec();
    if files.is_empty() {
        let mut seen = HashSet::new();
        for rule in sets.iter().flat_map(|set| set.rules()) {
            for (number, example) in rule.examples.iter().enumerate() {
                if seen.insert((example.call.tool.clone(), example.call.input.text())) {
                    let id = format!("{}, example {}", rule.id, number + 1);
                    cases.push(Case::of_call(id, &example.call.tool, &example.call.input));
                }
            }
        }
        if Path::new(CORPUS).is_dir() {
            let entries = std::fs::read_dir(CORPUS).context(CORPUS)?;
            let paths: Result<BTreeSet<PathBuf>, _> = entries
                .map(|entry| Ok::<_, std::io::Error>(entry?.path()))
                .collect();
            let is_cases = |path: &PathBuf| path.extension().is_some_and(|e| e == "jsonl");
            files.extend(paths.context(CORPUS)?.into_iter().filter(is_cases));
        }
    }
    for file in &files {
        cases.extend(eval::read_file(file).map_err(WrongUse)?);
    }
    Ok(cases)
}

/// The strictest rule that matches on the stricter side.
fn cause(before: &Outcome, after: &Outcome) -> String {
    let stricter = if after.verdict > before.verdict {
        after
    } else {
        before
    };
    stricter
        .hits
        .first()
        .map_or_else(|| "-".to_owned(), |hit| hit.rule.clone())
}

fn print(
    changes: &[Change<'_>],
    same: u64,
    only: &[Vec<String>; 2],
    out: &mut impl Write,
) -> std::io::Result<()> {
    for change in changes {
        let (before, after) = (change.before.word(), change.after.word());
        let (old, new) = (verdict_style(before), verdict_style(after));
        writeln!(
            out,
            "{:<8}  {old}{before}{old:#} -> {new}{after}{new:#}  {}  ({})",
            change.word(),
            shorten(&change.case.id, 120),
            change.rule,
        )?;
    }
    for (set, rules) in ["A", "B"].iter().zip(only) {
        if !rules.is_empty() {
            writeln!(out, "only in {set}: {}", rules.join(", "))?;
        }
    }
    let count = |word: &str| changes.iter().filter(|c| c.word() == word).count();
    writeln!(
        out,
        "{} cases: {} tighten, {} loosen, {same} unchanged",
        changes.len() as u64 + same,
        count("tightens"),
        count("loosens"),
    )
}

fn print_json(
    changes: &[Change<'_>],
    same: u64,
    only: [Vec<String>; 2],
    out: &mut impl Write,
) -> std::io::Result<()> {
    let of = |word: &str| {
        let changes = changes.iter().filter(|c| c.word() == word);
        let one = |change: &Change<'_>| {
            Json::object([
                ("case", change.case.id.clone().into()),
                ("before", change.before.word().into()),
                ("after", change.after.word().into()),
                ("rule", change.rule.clone().into()),
            ])
        };
        Json::Array(changes.map(one).collect())
    };
    let names = |rules: Vec<String>| Json::Array(rules.into_iter().map(Into::into).collect());
    let [only_a, only_b] = only;
    let json = Json::object([
        ("tightens", of("tightens")),
        ("loosens", of("loosens")),
        ("same", same.into()),
        ("only_a", names(only_a)),
        ("only_b", names(only_b)),
    ]);
    writeln!(out, "{json}")
}
