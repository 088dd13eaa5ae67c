//! `holdgate check --result`: what a tool returned, examined by the same code as in the proxy.

use super::{MAX_INPUT, micros, print_findings};
use crate::args::WrongUse;
use crate::config::Config;
use crate::incidents::verdict_style;
use anstyle::Style;
use anyhow::Context as _;
use holdgate_core::injection::{self, Suspicion};
use holdgate_core::{Finding, Masked, Verdict, spillage};
use holdgate_effects::json::Json;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// What was found in a result.
struct Report {
    /// The strictest finding.
    verdict: Verdict,
    /// Whether it seems to give orders.
    orders: bool,
    findings: Vec<Finding>,
    took: Duration,
}

/// Examines the result in `file` and prints what was found. Returns whether it passes as it is.
pub(super) fn run(
    file: &Path,
    json: bool,
    config: &Config,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let is_stdin = file == Path::new("-");
    let bytes = if is_stdin {
        read(std::io::stdin().lock()).context("cannot read standard input")
    } else {
        let open = File::open(file).map_err(anyhow::Error::from);
        open.and_then(read)
            .with_context(|| format!("cannot read {}", file.display()))
    };
    let bytes = bytes.map_err(|error| WrongUse(format!("{error:#}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let path = file.to_str().filter(|_| !is_stdin);
    let report = examine(&text, path, injection::examine);
    report.print(json, config.injection.mark, out)?;
    Ok(report.passes())
}

fn read(input: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(MAX_INPUT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_INPUT {
        anyhow::bail!("it has more than {MAX_INPUT} bytes");
    }
    Ok(bytes)
}

fn examine(text: &str, path: Option<&str>, orders: fn(&str) -> Option<Suspicion>) -> Report {
    let begin = Instant::now();
    let suspicion = orders(text);
    let spills = spillage::examine(text, path);
    let took = begin.elapsed();
    let mut findings: Vec<Finding> = suspicion.iter().map(Suspicion::finding).collect();
    findings.extend(spills.iter().map(|spill| spill.finding(text)));
    let strictest = findings.iter().map(|finding| finding.verdict).max();
    Report {
        verdict: strictest.unwrap_or(Verdict::Allow),
        orders: suspicion.is_some(),
        findings,
        took,
    }
}

impl Report {
    fn passes(&self) -> bool {
        !self.orders && self.verdict.lets_pass()
    }

    /// `mark` is the setting.
    fn print(&self, json: bool, mark: bool, out: &mut impl Write) -> anyhow::Result<()> {
        let marked = self.orders && mark;
        if json {
            let findings = self.findings.iter().map(Finding::to_json).collect();
            let json = Json::object([
                ("verdict", self.verdict.word().into()),
                ("marked", Json::Bool(marked)),
                ("findings", Json::Array(findings)),
                ("us", micros(self.took).into()),
            ]);
            return Ok(writeln!(out, "{}", Masked::json(json))?);
        }
        print_findings(&self.findings, out)?;
        let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
        let what = match (self.orders, mark) {
            (true, true) => "the model gets it between markers that call it data",
            (true, false) => "the model gets it as it is: `[injection] mark` is false",
            (false, _) => "the model gets it as it is",
        };
        let style = verdict_style(self.verdict.word());
        let (word, us) = (self.verdict.word(), micros(self.took));
        writeln!(
            out,
            "{bold}verdict{bold:#} {style}{word}{style:#}: {what} {dim}({us} µs){dim:#}"
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(text: &str) -> Option<Suspicion> {
        text.contains("OBEY").then(|| Suspicion {
            rule: "order",
            reason: "it gives orders".to_owned(),
            evidence: Masked::of("OBEY"),
            range: None,
        })
    }

    #[track_caller]
    fn check(text: &str, (json, mark): (bool, bool), passes: bool, expected: &[&str]) {
        let report = examine(text, None, orders);
        assert_eq!(report.passes(), passes);
        let mut out = Vec::new();
        report.print(json, mark, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        for part in expected {
            assert!(out.contains(part), "`{part}` is not in: {out}");
        }
    }

    #[test]
    fn what_would_be_marked_is_said_and_does_not_pass() {
        let quiet = [r#"{"verdict":"allow","marked":false,"findings":[],"us":"#];
        check("a page", (true, true), true, &quiet);
        check("a page", (false, true), true, &["as it is"]);
        let found = [
            r#""marked":true"#,
            r#""layer":"injection","rule":"order","verdict":"audit""#,
            r#""evidence":"OBEY""#,
        ];
        check("OBEY", (true, true), false, &found);
        let told = [
            "order (injection): it gives orders",
            "matched: OBEY",
            "between markers",
        ];
        check("OBEY", (false, true), false, &told);
        check("OBEY", (true, false), false, &[r#""marked":false"#]);
        check(
            "OBEY",
            (false, false),
            false,
            &["`[injection] mark` is false"],
        );
    }
}
