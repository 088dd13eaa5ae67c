//! Expert mode: the operator lifts the gate, and only the gate, on purpose and for a while.
//!
//! There are two ways. `SAFETY_EXPERT_MODE=1` in the server's environment lets the header
//! `X-Expert-Mode: true` lift it for one request; or `holdgate expert --for 10m`, typed in a
//! terminal, lifts it for all requests that begin before the time is over, after the code that the
//! proxy's terminal shows, or the PIN. Calls judged so are recorded with all their arguments and
//! told on the terminal.

use crate::threads::lock;
use holdgate_core::{Finding, LayerName, Masked, Record, Subject};
use holdgate_effects::json::{Json, shorten};
use hyper::HeaderMap;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

/// Lifts the gate for one request.
pub(crate) const HEADER: &str = "x-expert-mode";
/// The longest that the gate can be lifted for.
pub const MAX: Duration = Duration::from_hours(1);
/// What has to be typed.
pub(crate) const PHRASE: &str = "lift the gate";

/// Whether a request asks for expert mode.
pub(crate) fn is_asked_for(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(HEADER).iter();
    let says_so = |value: &hyper::header::HeaderValue| value.as_bytes() == b"true";
    values.next().is_some_and(says_so) && values.all(says_so)
}

/// Says on the terminal what was judged with the gate lifted.
pub(crate) fn warn_of(record: &Record) {
    let Subject::Call { tool, input, .. } = &record.subject else {
        return;
    };
    let tool = shorten(tool.as_deref().unwrap_or("?"), 200);
    let input = input.as_deref().map(|text| Masked::json_text(text));
    let input = input.unwrap_or_default();
    crate::log::warn(&format!(
        "WARN expert mode: {tool} {} ({}, incident {}, session {})",
        shorten(&input, usize::MAX),
        record.verdict.word(),
        record.id,
        shorten(&record.session, 200),
    ));
}

/// The gate lifted for a while.
#[derive(Debug, Default)]
pub(crate) struct Grant(Mutex<Option<Until>>);

/// The end by two clocks, of which one stands still while the machine sleeps and the other can be
/// set: the first to get there counts.
#[derive(Clone, Copy, Debug)]
struct Until {
    running: Instant,
    wall: SystemTime,
}

impl Grant {
    /// Lifts the gate for `time`, from now on; for no time, puts it back.
    pub(crate) fn set(&self, time: Duration) {
        let time = time.min(MAX);
        let until = (|| {
            Some(Until {
                running: Instant::now().checked_add(time)?,
                wall: SystemTime::now().checked_add(time)?,
            })
        })();
        *lock(&self.0) = until.filter(|_| !time.is_zero());
    }

    /// How long the gate stays lifted.
    pub(crate) fn left(&self) -> Option<Duration> {
        let mut until = lock(&self.0);
        let end = (*until)?;
        let running = end.running.checked_duration_since(Instant::now());
        let wall = end.wall.duration_since(SystemTime::now()).ok();
        let left = running.and_then(|running| Some(running.min(wall?)));
        let left = left.filter(|left| !left.is_zero());
        if left.is_none() {
            *until = None;
        }
        left
    }

    /// Does what a message from the operator's terminal says: `{"expert": SECONDS}` lifts the gate,
    /// 0 puts it back, `null` only asks. The answer says how long it stays lifted. What is done
    /// goes into the ledger first, through `record`.
    pub(crate) fn message(
        &self,
        message: &Json<'_>,
        record: impl FnOnce(&Finding) -> std::io::Result<()>,
    ) -> Json<'static> {
        let refused = |why: String| Json::object([("error", why.into())]);
        match message.get("expert") {
            Some(Json::Null) => {}
            Some(seconds) => {
                let seconds = seconds.as_u64().filter(|s| *s <= MAX.as_secs());
                let Some(seconds) = seconds else {
                    return refused(format!("write 0 to {} seconds", MAX.as_secs()));
                };
                let reason = match seconds {
                    0 => "the operator has ended expert mode".to_owned(),
                    seconds => format!("the operator has lifted the gate for {seconds} s"),
                };
                let finding = Finding::audit(LayerName::Expert, "expert-mode", reason);
                if let Err(error) = record(&finding) {
                    return refused(format!("the ledger cannot be written: {error}"));
                }
                crate::log::warn(&format!("WARN expert mode: {}", finding.reason));
                self.set(Duration::from_secs(seconds));
            }
            None => return refused("not about expert mode".to_owned()),
        }
        // Rounded up: a grant that lasts is never said to have ended.
        let left = self
            .left()
            .map_or(0, |left| left.as_millis().div_ceil(1000));
        Json::object([("expert", u64::try_from(left).unwrap_or(u64::MAX).into())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_effects::json::LoneSurrogates;
    use hyper::header::HeaderValue;

    #[test]
    fn only_true_asks_for_it() {
        let check = |values: &[&'static str], expected: bool| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(HEADER, HeaderValue::from_static(value));
            }
            assert_eq!(is_asked_for(&headers), expected, "{values:?}");
        };
        check(&["true"], true);
        check(&[], false);
        check(&["false"], false);
        check(&["1"], false);
        check(&[""], false);
        check(&["true", "false"], false);
        check(&["true,false"], false);
    }

    #[test]
    fn a_grant_ends_by_itself_or_when_told() {
        let grant = Grant::default();
        assert_eq!(grant.left(), None);
        grant.set(Duration::from_millis(30));
        assert!(grant.left().is_some());
        std::thread::sleep(Duration::from_millis(40));
        assert_eq!(grant.left(), None);
        grant.set(Duration::from_hours(24));
        assert!(grant.left().unwrap() <= MAX, "an hour at the most");
        grant.set(Duration::ZERO);
        assert_eq!(grant.left(), None);
    }

    #[test]
    fn messages_are_recorded_before_they_count() {
        let grant = Grant::default();
        let check = |message: &str, recorded: bool, answer: &str| {
            let message = Json::read(message.as_bytes(), 8, LoneSurrogates::Refuse).unwrap();
            let mut records = 0;
            let said = grant.message(&message, |_| {
                records += 1;
                Ok(())
            });
            assert_eq!(
                (said.to_string().as_str(), records == 1),
                (answer, recorded)
            );
        };
        check(r#"{"expert":null}"#, false, r#"{"expert":0}"#);
        check(r#"{"expert":600}"#, true, r#"{"expert":600}"#);
        check(r#"{"expert":null}"#, false, r#"{"expert":600}"#);
        check(r#"{"expert":0}"#, true, r#"{"expert":0}"#);
        let wrong = r#"{"error":"write 0 to 3600 seconds"}"#;
        check(r#"{"expert":3601}"#, false, wrong);
        check(r#"{"expert":-1}"#, false, wrong);
        check(r#"{"expert":"600"}"#, false, wrong);
        check("{}", false, r#"{"error":"not about expert mode"}"#);
        assert_eq!(grant.left(), None);
        let message = Json::object([("expert", 60.into())]);
        let full = std::io::Error::other("disk full");
        let said = grant.message(&message, |_| Err(full));
        assert!(said.get("error").is_some(), "{said}");
        assert_eq!(grant.left(), None, "what cannot be recorded does not count");
    }
}
