//! Settings among the words of a command line: protections that go off, and times after which something is gone.

use super::{MAX_LENGTH, MAX_WORDS, PROTECTS};
use crate::value::Value;

/// What expires sooner leaves no time to notice.
const FEW_DAYS: u32 = 7;

#[rustfmt::skip]
const OFF: [&str; 8] = [
    "false", "off", "disabled", "disable", "none", "suspended", "suspend", "no",
];
/// Words in the name of a time after which something is gone.
#[rustfmt::skip]
const EXPIRES: [&str; 9] = [
    "maxage", "expir", "retention", "deleteafter", "daysfrom", "keepdays", "removeafter",
    "purgeafter", "expungeafter",
];

/// Names and values: `--name value`, `name=value`, `{"name": value}`.
pub(super) fn settings(words: &[Value]) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    let plain = |name: &str| -> String {
        let kept = name.chars().filter(char::is_ascii_alphanumeric);
        kept.map(|c| c.to_ascii_lowercase()).collect()
    };
    let mut option = "";
    for word in words.iter().take(MAX_WORDS) {
        let text = word.text.as_str();
        let before = std::mem::take(&mut option);
        if text.len() > MAX_LENGTH {
            continue;
        }
        if text.starts_with('-') && !text.contains('=') {
            if text.starts_with("--no-") || text.starts_with("--disable-") {
                let name = text.trim_start_matches('-');
                let name = name.split_once('-').map_or("", |(_, name)| name);
                found.push((plain(name), "off"));
            }
            option = text;
            continue;
        }
        if !before.is_empty() && text.len() < 16 {
            found.push((plain(before), text));
        }
        for piece in text.split([',', '{', '}', ';', ' ']) {
            if let Some((name, value)) = piece.split_once(['=', ':']) {
                let value = value.trim_matches(|c: char| "\"' ".contains(c));
                if value.len() < 16 && !name.is_empty() && name.len() < 64 {
                    found.push((plain(name), value));
                }
            }
        }
    }
    found
}

pub(super) fn is_off(name: &str, value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    let protects = || {
        let status = matches!(name, "status" | "state") && value == "suspended";
        status || PROTECTS.iter().any(|word| name.contains(word))
    };
    let reversed = name.ends_with("disabled") && matches!(value.as_str(), "true" | "yes" | "on");
    (OFF.contains(&value.as_str()) || reversed) && protects()
}

/// Whether what is kept is gone after a few days.
pub(super) fn expires(name: &str, value: &str) -> bool {
    let others = [
        "token", "session", "cert", "cache", "url", "link", "artifact",
    ];
    // `P1D` of ISO 8601.
    let lower = value.to_ascii_lowercase();
    let value = lower.strip_prefix('p').unwrap_or(&lower);
    let value = value.strip_prefix('t').unwrap_or(value);
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = value.get(digits.len()..).unwrap_or("");
    let days = name.contains("day") || matches!(unit, "d" | "day" | "days");
    let hours = matches!(unit, "h" | "m" | "s");
    EXPIRES.iter().any(|word| name.contains(word))
        && !others.iter().any(|word| name.contains(word))
        && (days && unit.len() < 5 || hours)
        && digits
            .parse::<u32>()
            .is_ok_and(|n| if hours { n < 48 } else { n < FEW_DAYS })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Value> {
        line.split(' ').map(Value::known).collect()
    }

    #[test]
    fn settings_tell_protections_and_times() {
        let weighs = |line: &str| {
            let words = words(line);
            let off = settings(&words).iter().any(|(n, v)| is_off(n, v));
            let soon = settings(&words).iter().any(|(n, v)| expires(n, v));
            (off, soon)
        };
        assert_eq!(weighs("a PointInTimeRecoveryEnabled=false"), (true, false));
        assert_eq!(weighs("a --no-deletion-protection"), (true, false));
        assert_eq!(weighs("a --enable-purge-protection false"), (true, false));
        assert_eq!(weighs("a Status=Suspended"), (true, false));
        assert_eq!(weighs("a --expire-days 1"), (false, true));
        assert_eq!(weighs("a DeleteAfterDays=1"), (false, true));
        assert_eq!(weighs("a --retention 30d"), (false, false));
        assert_eq!(weighs("a --no-color --retention-days 90"), (false, false));
        assert_eq!(weighs("a metrics.enabled=false"), (false, false));
    }
}
