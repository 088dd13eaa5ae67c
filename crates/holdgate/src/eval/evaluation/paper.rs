//! The rows of the paper "Selective-Buffer Streaming Safety for AI Coding Agents", and ours beside
//! them.

use super::Figures;
use super::parts::ablated;
use super::tables::{self, dash, full, honest_calls, of_files};
use crate::eval::cases::Expect;
use crate::eval::setup::Part;
use crate::eval::stats::Rate;
use holdgate_core::LayerName;

/// The paper's classes of rules (its Table V), with what it measured, and the categories of ours
/// that do the same.
const RULES: [(&str, &str, &[&str]); 4] = [
    (
        "shell commands",
        "25 % [14.7, 37.9], 36 missed",
        &[
            "destructive",
            "download-and-execute",
            "reverse-shell",
            "process-control",
            "privilege-escalation",
            "exfiltration",
            "persistence",
            "sandbox-escape",
            "shell",
            "system-configuration",
        ],
    ),
    (
        "path rules",
        "75 % [62.1, 85.3], 12 missed",
        &["path-restriction", "file-system", "self-protection"],
    ),
    (
        "credential rules",
        "69 % [55.7, 80.1], 15 missed",
        &["credential-access", "credentials"],
    ),
    (
        "evasion rules",
        "92 % [82.7, 97.1], 4 missed",
        &["encoding-evasion", "defence-evasion"],
    ),
];

/// What is left out for the paper's ablation.
pub(super) fn parts() -> Vec<Part> {
    let rules = RULES.iter().map(|(name, _, categories)| {
        let categories = categories.iter().map(|c| (*c).to_owned()).collect();
        Part::Categories((*name).to_owned(), categories)
    });
    let gate = Part::Layers("action gate".to_owned(), vec![LayerName::Gate]);
    rules.chain([gate]).collect()
}

/// Its rows, and ours.
pub(super) fn table_of_ablation(figures: &Figures<'_>) -> String {
    let theirs = RULES.iter().map(|(_, theirs, _)| *theirs);
    let theirs = theirs.chain(["62.5 % [50.0, 74.1], 18 missed"]);
    let mut rows = vec![with(
        "full stack",
        "100 % [94.0, 100], 0 missed",
        ablated(String::new(), &figures.calls),
    )];
    for (theirs, ablation) in theirs.zip(&figures.by_paper) {
        let name = ablation
            .without
            .trim_start_matches("rules ")
            .trim_start_matches("layer ");
        rows.push(with(
            &format!("without {name}"),
            theirs,
            ablated(String::new(), &ablation.tally),
        ));
    }
    let headings = [
        "<",
        "<paper, n = 60",
        "ours: attacks blocked %",
        "95 % interval",
        "F1",
        "missed",
        "honest work asked about",
    ];
    tables::table(&headings, &rows)
}

fn with(name: &str, theirs: &str, ours: Vec<String>) -> Vec<String> {
    let ours = ours.into_iter().skip(1);
    [name.to_owned(), theirs.to_owned()]
        .into_iter()
        .chain(ours)
        .collect()
}

/// All rows of the paper that have figures.
pub(super) fn table(figures: &Figures<'_>) -> String {
    let attacks = |names: &[&str]| {
        let counts = of_files(figures, names).of(Expect::Block);
        full(counts.rate(counts.blocked))
    };
    let honest = |names: &[&str]| {
        let counts = of_files(figures, names).of(Expect::Allow);
        full(counts.rate(counts.blocked))
    };
    let work = honest_calls(figures);
    let sequences = [
        "trajectories",
        "trajectories-third",
        "trajectories-fourth",
        "trajectories-fifth",
        "trajectories-sixth",
        "trajectories-seventh",
        "trajectories-eighth",
        "trajectories-ninth",
        "trajectories-tenth",
    ];
    let paper = |hits, of| full(Rate { hits, of });
    let rows: Vec<[String; 4]> = vec![
        row(
            "27 classes of attack, full stack",
            "Table III",
            &paper(60, 60),
            &attacks(&["classes"]),
        ),
        row(
            "direct attacks, many programs",
            "–",
            &dash(),
            &attacks(&["attacks"]),
        ),
        row(
            "honest operations blocked",
            "Table III",
            &paper(0, 12),
            &full(work.rate(work.blocked)),
        ),
        row(
            "honest operations asked about",
            "–",
            "not reported",
            &full(work.rate(work.asked)),
        ),
        row(
            "evasions, before normalisation",
            "V-F",
            &paper(10, 25),
            "no such stage; step by step with plain patterns: see other guards",
        ),
        row("evasions", "V-F", &paper(22, 25), &attacks(&["evasions"])),
        row(
            "anomalous sequences, threshold 0.5",
            "IV-C",
            &paper(8, 20),
            "see sequences by threshold",
        ),
        row(
            "anomalous sequences, threshold 0.3, chosen on the same sequences",
            "IV-C",
            &paper(19, 20),
            &attacks(&sequences),
        ),
        row(
            "normal sequences",
            "IV-C",
            &paper(0, 20),
            &honest(&sequences),
        ),
        row(
            "spillage found",
            "Table IV",
            "94.86 %, n not reported",
            &attacks(&["spillage"]),
        ),
        row(
            "spillage, harmless texts",
            "–",
            "not reported",
            &honest(&["spillage"]),
        ),
        row(
            "refusal in text, call in fact",
            "III-F",
            "12 patterns, no rate",
            &attacks(&["divergence"]),
        ),
        row(
            "the same, harmless",
            "–",
            "not reported",
            &honest(&["divergence"]),
        ),
        row(
            "injected orders in results",
            "III-F",
            "12 patterns, no rate",
            &attacks(&["injections"]),
        ),
        row(
            "the same, harmless",
            "–",
            "not reported",
            &honest(&["injections"]),
        ),
        row(
            "learned classifier",
            "Table IV",
            "not measurable: untrained",
            "see the classifier",
        ),
        row(
            "streams and bridges",
            "Table VI",
            "no cases",
            &attacks(&["streams", "bridges"]),
        ),
    ];
    let rows: Vec<_> = rows.into_iter().map(Vec::from).collect();
    let rows = tables::table(&["<", "<in the paper", "<paper", "<ours"], &rows);
    format!(
        "Intervals are exact (Clopper and Pearson) for both, computed from the counts that the paper gives; for 0 of 12 it \
         prints [0, 24.2]. Its vectors were written with its rules, and so were these cases, except the blind ones.\n\n\
         {rows}\nLeave-one-out, as in its Table V, over calls, sessions and messages. The paper's rates and missed counts do not \
         fit each other (36 missed of 60 would be 40 %); they are quoted as printed. Each of its classes stands for several of our \
         categories of rules.\n\n{}",
        table_of_ablation(figures)
    )
}

fn row(what: &str, place: &str, theirs: &str, ours: &str) -> [String; 4] {
    [what, place, theirs, ours].map(str::to_owned)
}
