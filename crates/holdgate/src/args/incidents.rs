//! `holdgate incidents` and `holdgate why`

use super::Place;
use holdgate_core::Verdict;
use std::time::{Duration, SystemTime};

/// `holdgate why`
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct WhyArgs {
    /// The incident, as a refusal or `holdgate incidents` names it. The start of it is enough.
    pub id: String,
    /// Write the exception that is shown. Works only at a terminal, and not from within an agent.
    #[arg(long)]
    pub apply: bool,
    /// Allow the call in every project, not only in the one where it was refused.
    #[arg(long)]
    pub everywhere: bool,
    /// Allow the call for this time only: `2h`, `7days`.
    #[arg(long = "for", value_name = "TIME", value_parser = parse_exception_time)]
    pub time: Option<Duration>,
    /// Let exactly this call pass one time, within a day or the time that `--for` says.
    #[arg(long)]
    pub once: bool,
    /// Print the record as JSON.
    #[arg(long, conflicts_with = "apply")]
    pub json: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

fn parse_exception_time(text: &str) -> Result<Duration, String> {
    let year = Duration::from_hours(366 * 24);
    let time = humantime::parse_duration(text).ok();
    time.filter(|time| (Duration::from_secs(1)..=year).contains(time))
        .ok_or_else(|| {
            format!("`{text}` is not a duration between one second and one year, write `2h`")
        })
}

/// `holdgate incidents`
#[derive(Debug, clap::Args)]
pub struct IncidentArgs {
    /// Explain this incident, as `holdgate why` does.
    #[arg(conflicts_with_all = ["since", "session", "door", "rule", "verdict", "last", "follow"])]
    pub id: Option<String>,
    /// Only this many, the newest ones.
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = parse_count, conflicts_with = "follow")]
    pub last: Option<usize>,
    /// Which records to show.
    #[command(flatten)]
    pub filter: Filter,
    /// Wait for new records.
    #[arg(long)]
    pub follow: bool,
    /// Print the records as JSON, one per line.
    #[arg(long)]
    pub json: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

/// Which records to show.
#[derive(Debug, Default, clap::Args)]
pub struct Filter {
    /// Only records since this time: `30m`, `2h`, `2026-11-15T20:00:00Z`.
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub since: Option<SystemTime>,
    /// Only this session.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only records from this part of Holdgate: proxy, hook, monitor or run.
    #[arg(long, value_name = "DOOR")]
    pub door: Option<String>,
    /// Only this rule.
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// Only this verdict: allow, audit, ask, block or kill [default: all except allow].
    #[arg(long, value_name = "VERDICT", value_parser = parse_verdict)]
    pub verdict: Option<Verdict>,
}

fn parse_count(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a whole number, write `10`"))
}

/// `2h` ago, or a time such as `2026-11-15T20:00:00Z`.
pub(super) fn parse_since(text: &str) -> Result<SystemTime, String> {
    if let Ok(ago) = humantime::parse_duration(text) {
        return SystemTime::now()
            .checked_sub(ago)
            .ok_or_else(|| format!("`{text}` is too long ago"));
    }
    humantime::parse_rfc3339_weak(text).map_err(|_| {
        format!(
            "`{text}` is not a valid time, write `30m`, `2h` or \
                              `2026-11-15T20:00:00Z`"
        )
    })
}

fn parse_verdict(word: &str) -> Result<Verdict, String> {
    Verdict::from_word(word).ok_or_else(|| {
        format!(
            "`{word}` is not a valid verdict, write allow, audit, ask, \
                                block or kill"
        )
    })
}
