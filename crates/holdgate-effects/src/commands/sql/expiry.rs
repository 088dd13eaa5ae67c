//! Settings by which rows, messages and documents go away by themselves: one list for all stores.

/// Less than this many seconds keep nothing that people would miss in time.
const SOON: u64 = 7 * 86_400;

/// Names before a number of seconds or a time.
const NAMES: [&str; 9] = [
    "expireafterseconds",
    "default_time_to_live",
    "ttl_expire_after",
    "ttl_seconds",
    "add_retention_policy(",
    "modify ttl",
    "retention_period",
    "drop_chunks(",
    "max_age",
];
/// What is made to go away: people do not miss it.
const LIGHT: [&str; 9] = [
    "session", "token", "cache", "otp", "lock", "nonce", "temp", "tmp", "job",
];

/// Whether a text (in lower case) lets what a store holds expire within days.
pub(super) fn expires(text: &str) -> bool {
    let named = NAMES.iter().find_map(|name| {
        let (_, rest) = text.split_once(name)?;
        Some(rest)
    });
    named.is_some_and(|rest| is_soon(rest) && !LIGHT.iter().any(|word| text.contains(word)))
}

/// Whether the first number behind a name is a short time.
fn is_soon(rest: &str) -> bool {
    const MAX_LENGTH: usize = 80;
    let rest = crate::text::beginning(rest, MAX_LENGTH);
    let Some(at) = rest.find(|c: char| c.is_ascii_digit()) else {
        return false;
    };
    let rest = rest.get(at..).unwrap_or("");
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let number = rest.get(..end).and_then(|n| n.parse::<u64>().ok());
    let unit = rest.get(end..).unwrap_or("").trim_start();
    let seconds = match unit {
        _ if unit.starts_with("month") || unit.starts_with("year") => return false,
        _ if unit.starts_with("week") || unit.starts_with('w') => 7 * 86_400,
        _ if unit.starts_with('d') => 86_400,
        _ if unit.starts_with('h') => 3600,
        _ if unit.starts_with("min") || unit.starts_with('m') => 60,
        _ => 1,
    };
    number.is_some_and(|n| n.saturating_mul(seconds) < SOON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_are_told_from_long_ones() {
        for text in [
            "db.orders.createindex({a:1},{expireafterseconds:1})",
            "alter table orders with default_time_to_live = 60",
            "alter table orders modify ttl created_at + interval 1 second",
            "alter table orders set (ttl_expire_after = '1 hour')",
            "select add_retention_policy('orders', interval '2 days')",
        ] {
            assert!(expires(text), "{text}");
        }
        for text in [
            "db.sessions.createindex({a:1},{expireafterseconds:3600})",
            "alter table orders with default_time_to_live = 31536000",
            "alter table orders modify ttl at + interval 3 month",
            "alter table orders add column ttl int",
            "select 1",
        ] {
            assert!(!expires(text), "{text}");
        }
    }
}
