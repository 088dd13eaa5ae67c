//! Ranges of addresses that are as good as the whole world, by their size.

use std::net::{IpAddr, Ipv4Addr};

/// Ranges of one text that are looked at.
const MAX_RANGES: usize = 256;
/// The longest address as text.
const MAX_ADDRESS: usize = 40;
/// A range of more addresses than the largest that one owner has.
const MANY: u32 = 1 << 25;

/// Whether a range holds more public addresses than one owner has: `0.0.0.0/0`, `128.0.0.0/1`, `2000::/3`.
pub(crate) fn is_everywhere(range: &str) -> bool {
    let Some((address, length)) = range.split_once('/') else {
        return false;
    };
    let Ok(length) = length.parse::<u8>() else {
        return false;
    };
    match address.parse::<IpAddr>() {
        // Beyond, addresses belong to groups of receivers.
        Ok(IpAddr::V4(v4)) => length < 8 && v4.octets().first().is_some_and(|first| *first < 224),
        Ok(IpAddr::V6(v6)) => {
            let private = v6.segments().first().is_some_and(|first| *first >= 0xfc00);
            length < 16 && !private
        }
        Err(_) => false,
    }
}

/// Whether two addresses are the ends of such a range.
pub(crate) fn spans(first: &str, last: &str) -> bool {
    match (first.parse::<Ipv4Addr>(), last.parse::<Ipv4Addr>()) {
        (Ok(first), Ok(last)) => u32::from(last).saturating_sub(u32::from(first)) > MANY,
        _ => false,
    }
}

/// The ranges in a text that are the whole world, with their places.
pub(crate) fn everywhere(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let slashes = memchr::memchr_iter(b'/', text.as_bytes());
    let ranges = slashes.filter_map(|at| {
        let rest = text.as_bytes().get(at + 1..).unwrap_or(&[]);
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        if !(1..=2).contains(&digits) {
            return None;
        }
        let end = at + 1 + digits;
        let head = text.get(..at)?.bytes().rev().take(MAX_ADDRESS);
        let part = |b: &u8| b.is_ascii_hexdigit() || matches!(b, b'.' | b':');
        let length = head.take_while(part).count();
        if length < 2 {
            return None;
        }
        // Letters of a word before an address may look like a part of it.
        let mut starts = at - length..at - 1;
        starts.find_map(|from| {
            let range = text.get(from..end)?;
            is_everywhere(range).then_some((from, range))
        })
    });
    ranges.take(MAX_RANGES)
}

#[cfg(test)]
mod tests {
    use super::{everywhere, is_everywhere, spans};

    #[test]
    fn the_size_of_a_range_counts() {
        for wide in [
            "0.0.0.0/0",
            "0.0.0.0/1",
            "128.0.0.0/1",
            "64.0.0.0/2",
            "::/0",
            "2000::/3",
        ] {
            assert!(is_everywhere(wide), "{wide}");
        }
        for narrow in [
            "10.0.0.0/8",
            "203.0.113.7/32",
            "fd00::/8",
            "224.0.0.0/4",
            "2001:db8::/32",
            "a/1",
        ] {
            assert!(!is_everywhere(narrow), "{narrow}");
        }
        assert!(spans("1.0.0.0", "254.255.255.255"));
        assert!(!spans("203.0.113.0", "203.0.113.255"));
    }

    #[test]
    fn ranges_are_found_among_words() {
        let found: Vec<_> =
            everywhere("--source2000::/3 --cidr0.0.0.0/1 10.0.0.0/16 a/1").collect();
        assert_eq!(found, [(8, "2000::/3"), (23, "0.0.0.0/1")]);
    }
}
