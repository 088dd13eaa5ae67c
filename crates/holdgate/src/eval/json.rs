//! The report, and single verdicts, for programs.

use super::cases::{Case, Expect};
use super::judge::Outcome;
use super::stats::{Rate, micros};
use super::tally::{Counts, Spoke, Tally};
use super::{Ablation, Judged};
use holdgate_core::{LayerName, Verdict};
use holdgate_effects::json::Json;

/// The line of one case in the file of verdicts.
pub(super) fn verdict(case: &Case, outcome: &Outcome) -> Json<'static> {
    let word = match outcome.verdict {
        Verdict::Block | Verdict::Kill => "block",
        Verdict::Ask => "flag",
        Verdict::Audit | Verdict::Allow => "allow",
    };
    let mut rules: Vec<&str> = Vec::new();
    for hit in &outcome.hits {
        if !rules.contains(&hit.rule.as_str()) {
            rules.push(&hit.rule);
        }
    }
    let rules = rules.into_iter().map(|r| r.to_owned().into()).collect();
    let slowest = outcome.times.iter().max().copied().unwrap_or_default();
    Json::object([
        ("id", case.id.clone().into()),
        ("verdict", word.into()),
        ("step", outcome.step.map_or(Json::Null, count)),
        ("rules", Json::Array(rules)),
        ("us", Json::Number(micros(slowest).into())),
    ])
}

/// The whole report.
pub(super) fn report(
    files: &[Judged],
    total: &Tally,
    ablations: Option<&[Ablation]>,
) -> Json<'static> {
    let named = |file: &Judged| {
        let mut json = Json::object([("file", file.name.clone().into())]);
        extend(&mut json, &file.tally);
        json
    };
    let mut whole = Json::Object(Vec::new());
    extend(&mut whole, total);
    let mut json = Json::object([
        ("files", Json::Array(files.iter().map(named).collect())),
        ("total", whole),
    ]);
    if let Some(ablations) = ablations {
        let without = |a: &Ablation| {
            let mut json = Json::object([("without", a.without.clone().into())]);
            for expect in Expect::ALL {
                json.set(expect.word(), counts(a.tally.of(expect), expect));
            }
            json
        };
        let all = ablations.iter().map(without).collect();
        json.set("ablation", Json::Array(all));
    }
    json
}

fn extend(json: &mut Json<'static>, tally: &Tally) {
    json.set("cases", tally.cases().into());
    for expect in Expect::ALL {
        json.set(expect.word(), counts(tally.of(expect), expect));
    }
    if tally.in_time.of > 0 {
        let mut in_time = Json::object([
            ("n", tally.in_time.of.into()),
            ("stopped", tally.in_time.hits.into()),
        ]);
        set_rate(&mut in_time, tally.in_time);
        json.set("in_time", in_time);
    }
    let category = |((expect, name), of_category): (&(Expect, String), &Counts)| {
        let mut json = counts(*of_category, *expect);
        json.set("expect", expect.word().into());
        json.set("category", name.clone().into());
        json
    };
    let categories = tally.categories.iter().map(category).collect();
    json.set("categories", Json::Array(categories));
    let rule = |(layer, rule, verdict, cases): (LayerName, &str, Verdict, Spoke)| {
        let mut json = Json::object([
            ("rule", rule.to_owned().into()),
            ("layer", layer.word().into()),
            ("wants", verdict.word().into()),
        ]);
        spoke(&mut json, cases);
        json
    };
    let rules = tally.loudest_rules().into_iter().map(rule).collect();
    json.set("rules", Json::Array(rules));
    let layer = |(name, cases): (&LayerName, &Spoke)| {
        let mut json = Json::object([("layer", name.word().into())]);
        let mut alone = Json::Object(Vec::new());
        for expect in Expect::ALL {
            let found = tally
                .alone
                .get(&(*name, expect))
                .copied()
                .unwrap_or_default();
            let verdicts = [
                ("blocked", found.blocked.into()),
                ("asked", found.asked.into()),
                ("audited", found.audited.into()),
            ];
            alone.set(expect.word(), Json::object(verdicts));
        }
        json.set("alone", alone);
        spoke(&mut json, *cases);
        json
    };
    json.set(
        "layers",
        Json::Array(tally.layers.iter().map(layer).collect()),
    );
    let latency = tally.latency();
    let time = |time| Json::Number(micros(time).into());
    json.set(
        "latency_us",
        Json::object([
            ("verdicts", count(latency.verdicts)),
            ("p50", time(latency.p50)),
            ("p90", time(latency.p90)),
            ("p99", time(latency.p99)),
            ("max", time(latency.max)),
        ]),
    );
    let not_judged = tally.not_judged.iter();
    let not_judged = not_judged.map(|(name, n)| (name.clone().into(), (*n).into()));
    json.set("not_judged", Json::Object(not_judged.collect()));
    let ids = |ids: &[String]| Json::Array(ids.iter().map(|id| id.clone().into()).collect());
    json.set("false_blocks", ids(&tally.false_blocks));
    json.set("missed", ids(&tally.missed));
}

fn counts(counts: Counts, expect: Expect) -> Json<'static> {
    let mut json = Json::object([
        ("n", counts.all().into()),
        ("blocked", counts.blocked.into()),
        ("asked", counts.asked.into()),
        ("audited", counts.audited.into()),
        ("allowed", counts.allowed.into()),
    ]);
    set_rate(&mut json, counts.main_rate(expect));
    json
}

fn set_rate(json: &mut Json<'static>, rate: Rate) {
    let (low, high) = rate.interval();
    let number = |per_cent: f64| Json::Number(format!("{per_cent:.4}").into());
    json.set("rate", rate.percent().map_or(Json::Null, number));
    json.set("interval", Json::Array(vec![number(low), number(high)]));
}

fn spoke(json: &mut Json<'static>, spoke: Spoke) {
    json.set("block", spoke.block.into());
    json.set("allow", spoke.allow.into());
    json.set("flag", spoke.flag.into());
}

fn count(number: usize) -> Json<'static> {
    u64::try_from(number).unwrap_or(u64::MAX).into()
}
