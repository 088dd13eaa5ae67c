//! The evaluation: every figure that the cases give, as Markdown with plots.
//!
//! The same cases and the same program give the same bytes: there are no times in it. What people
//! have written between the generated parts is kept.

mod merge;
mod mutants;
mod owasp;
mod paper;
mod parts;
mod sequences;
mod tables;

use super::cases::{Case, Subject};
use super::oracle::{self, Oracle};
use super::plot::{self, Scale};
use super::redteam::{self, Tested};
use super::setup::{Part, SetUp};
use super::stats::Rate;
use super::tally::Tally;
use super::{Ablation, Bench, Judged, ablate};
use anyhow::Context as _;
use holdgate_core::LayerName;
use std::path::Path;

/// Which mutants are made, and how many of each class for a command: the defaults of the command.
const SEED: u64 = 1;
const EACH: usize = 2;

/// What an evaluation is made of.
pub(super) struct Material<'a> {
    pub(super) set_up: &'a SetUp,
    pub(super) bench: &'a Bench,
    pub(super) files: &'a [Judged],
    /// Cases that no rule was written from.
    pub(super) blind: &'a [Judged],
    pub(super) oracle: Option<&'a Oracle>,
}

/// What the cases give when parts are left out.
struct Figures<'a> {
    material: &'a Material<'a>,
    total: Tally,
    /// Only what the layers judge: calls, sessions and messages.
    calls: Tally,
    by_layer: Vec<Ablation>,
    by_rules: Vec<Ablation>,
    /// The paper's classes of rules, as sets of our categories.
    by_paper: Vec<Ablation>,
    stages: Vec<Ablation>,
    sequences: Vec<sequences::Sequences>,
    redteam: Vec<Tested>,
}

/// A part of the evaluation.
struct Section {
    name: &'static str,
    heading: &'static str,
    text: String,
}

/// Writes the evaluation and its plots, or with `check` only says which of them is not current.
pub(super) fn write(
    path: &Path,
    check: bool,
    material: &Material<'_>,
) -> anyhow::Result<Vec<String>> {
    let figures = Figures::new(material)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let plots = plots(&figures, &stem);
    let sections = sections(&figures, &stem);
    let name = path.display().to_string();
    let old = match std::fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(e).context(name),
    };
    let text =
        merge::merge(old.as_deref(), &sections).map_err(|e| anyhow::anyhow!("{name}: {e}"))?;
    let mut files = vec![(path.to_owned(), text)];
    files.extend(
        plots
            .into_iter()
            .map(|(plot, svg)| (path.with_file_name(plot), svg)),
    );
    let mut stale = Vec::new();
    for (path, text) in files {
        let name = path.display().to_string();
        if !check {
            std::fs::write(&path, text).context(name)?;
            continue;
        }
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if let Some(difference) = merge::first_difference(&old, &text) {
            stale.push(format!(
                "{name}:{difference}\nThe evaluation is not current. Write it again with --report and without --check"
            ));
        }
    }
    Ok(stale)
}

impl<'a> Figures<'a> {
    fn new(material: &'a Material<'a>) -> anyhow::Result<Figures<'a>> {
        let (set_up, files) = (material.set_up, material.files);
        let left_out = |parts: &[Part]| ablate(set_up, files, parts, is_call);
        let (layers, rules): (Vec<_>, Vec<_>) = set_up
            .parts()
            .into_iter()
            .partition(|part| matches!(part, Part::Layers(..)));
        Ok(Figures {
            material,
            total: tally(files, |_, _| true),
            calls: tally(files, |_, case| is_call(case)),
            by_layer: left_out(&layers)?,
            by_rules: left_out(&rules)?,
            by_paper: left_out(&paper::parts())?,
            stages: left_out(&stages(set_up))?,
            sequences: sequences::judge(set_up, files)?,
            redteam: redteam(material),
        })
    }
}

/// Mutants of all blocked commands.
fn redteam(material: &Material<'_>) -> Vec<Tested> {
    let cases = material.files.iter().flat_map(|file| &file.cases);
    let seeds = cases.filter_map(|(case, outcome)| redteam::seed_of(case, outcome.as_ref()?));
    let seeds: Vec<_> = seeds.collect();
    redteam::attack(material.bench, &seeds, SEED, EACH)
}

/// The layers in the order in which the paper adds them. A stage is named after what it adds, and
/// leaves out what comes later.
fn stages(set_up: &SetUp) -> Vec<Part> {
    let order: [(&str, &[LayerName]); 6] = [
        ("strict reading alone", &[]),
        ("+ gate", &[LayerName::Gate]),
        ("+ policy", &[LayerName::Policy]),
        (
            "+ spillage, divergence",
            &[LayerName::Spillage, LayerName::Divergence],
        ),
        (
            "+ trajectory, drift",
            &[LayerName::Trajectory, LayerName::Drift],
        ),
        ("+ classifier: all layers", &[LayerName::Classifier]),
    ];
    let mut off = set_up.layers();
    let stage = |(name, added): (&str, &[LayerName])| {
        off.retain(|layer| !added.contains(layer));
        Part::Layers(name.to_owned(), off.clone())
    };
    order.into_iter().map(stage).collect()
}

fn plots(figures: &Figures<'_>, stem: &str) -> Vec<(String, String)> {
    let plot = |name: &str, title: &str, rates: &[(String, Rate)], to: f64| {
        let scale = Scale { from: 0.0, to };
        let svg = plot::rates(title, rates, scale);
        (format!("{stem}-{name}.svg"), svg)
    };
    vec![
        plot(
            "rates",
            "Attacks blocked, in %, with 95 % intervals",
            &tables::attack_rates(figures),
            100.0,
        ),
        plot(
            "honest",
            "Honest work blocked or asked about, in %, with 95 % intervals",
            &tables::honest_rates(figures),
            20.0,
        ),
        plot(
            "ablation",
            "Attacks by calls that are still blocked without a part, in %",
            &parts::ablation_rates(figures),
            100.0,
        ),
    ]
}

fn sections(figures: &Figures<'_>, stem: &str) -> Vec<Section> {
    let section = |name, heading, text| Section {
        name,
        heading,
        text,
    };
    let image = |what: &str, alt: &str| format!("![{alt}]({stem}-{what}.svg)\n\n");
    vec![
        section("summary", "All cases", tables::summary(figures)),
        section(
            "files",
            "By kind of case",
            image("rates", "Attacks blocked, by file")
                + &image("honest", "Honest work stopped, by file")
                + &tables::files(figures),
        ),
        section("paper", "Beside the paper", paper::table(figures)),
        section(
            "owasp",
            "OWASP Top 10 for agentic applications",
            owasp::table(figures),
        ),
        section("classes", "The 27 classes", tables::classes(figures)),
        section("blind", "Blind cases", tables::blind(figures)),
        section("layers", "What each layer finds", parts::layers(figures)),
        section(
            "ablation",
            "What each part contributes",
            image("ablation", "Attacks blocked without a part") + &parts::ablation(figures),
        ),
        section("stages", "Layer by layer", parts::stages(figures)),
        section(
            "sequences",
            "Sequences by threshold",
            sequences::thresholds(figures),
        ),
        section(
            "redteam",
            "Mutants of blocked commands",
            mutants::by_class(figures),
        ),
        section("misses", "Known misses", tables::misses(figures)),
        section("categories", "All categories", tables::categories(figures)),
    ]
}

/// What the layers judge. Output, results and texts have judges of their own, and a stream is
/// about its form.
fn is_call(case: &Case) -> bool {
    match case.subject {
        Subject::Call(_) | Subject::Calls { .. } | Subject::Message { .. } => true,
        Subject::ToolResult { .. }
        | Subject::Spillage { .. }
        | Subject::Stream(_)
        | Subject::Output(_)
        | Subject::Bridge(_)
        | Subject::NotYet(_) => false,
    }
}

/// Counts those cases that `picks` picks by the name of their file and by what they are.
fn tally(files: &[Judged], picks: impl Fn(&str, &Case) -> bool) -> Tally {
    let mut tally = Tally::default();
    for file in files {
        for (case, outcome) in &file.cases {
            if picks(stem(file), case) {
                tally.count(case, outcome.as_ref());
            }
        }
    }
    tally
}

/// The name of a file without folder and ending.
fn stem(file: &Judged) -> &str {
    let stem = Path::new(&file.name).file_stem();
    stem.and_then(|stem| stem.to_str()).unwrap_or(&file.name)
}
