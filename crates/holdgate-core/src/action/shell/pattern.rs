//! Shell patterns on known texts: `${x#…}`, `${x/…}`, `case`.

/// Longer texts are left as they are: nobody hides a command in them.
const MAX_TEXT: usize = 256;

/// Whether `pattern` matches all of `text`: `*`, `?`, `[…]`. Linear but for the last star's retries.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if let Some(next) = one(&pattern, p, text.get(t).copied()) {
            p = next;
            t += 1;
        } else if pattern.get(p) == Some(&'*') {
            star = Some((p, t));
            p += 1;
        } else if let Some((star_p, star_t)) = star {
            p = star_p + 1;
            t = star_t + 1;
            star = Some((star_p, star_t + 1));
        } else {
            return false;
        }
    }
    pattern
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}

/// Where the pattern goes on if its next element takes `char`.
fn one(pattern: &[char], at: usize, char: Option<char>) -> Option<usize> {
    let char = char?;
    match pattern.get(at)? {
        '*' => None,
        '?' => Some(at + 1),
        '[' => {
            let rest = pattern.get(at + 1..)?;
            let close = rest.iter().skip(1).position(|c| *c == ']')? + 1;
            let set = rest.get(..close)?;
            let (negated, set) = match set.split_first() {
                Some(('!' | '^', set)) => (true, set),
                _ => (false, set),
            };
            (in_set(set, char) != negated).then_some(at + close + 2)
        }
        '\\' => (pattern.get(at + 1) == Some(&char)).then_some(at + 2),
        literal => (*literal == char).then_some(at + 1),
    }
}

fn in_set(set: &[char], char: char) -> bool {
    let mut at = 0;
    while let Some(first) = set.get(at) {
        if let (Some('-'), Some(last)) = (set.get(at + 1), set.get(at + 2)) {
            if (*first..=*last).contains(&char) {
                return true;
            }
            at += 3;
        } else {
            if *first == char {
                return true;
            }
            at += 1;
        }
    }
    false
}

fn is_plain(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '[', '\\'])
}

/// The ends of all characters, the start of the text included.
fn cuts(text: &str) -> impl DoubleEndedIterator<Item = usize> + '_ {
    text.char_indices().map(|(at, _)| at).chain([text.len()])
}

pub(super) fn remove_prefix(text: &str, pattern: &str, longest: bool) -> String {
    if is_plain(pattern) {
        return text.strip_prefix(pattern).unwrap_or(text).to_owned();
    }
    if text.len() > MAX_TEXT {
        return text.to_owned();
    }
    let fits = |at: &usize| text.get(..*at).is_some_and(|head| matches(pattern, head));
    let cut = if longest {
        cuts(text).rev().find(fits)
    } else {
        cuts(text).find(fits)
    };
    cut.and_then(|at| text.get(at..)).unwrap_or(text).to_owned()
}

pub(super) fn remove_suffix(text: &str, pattern: &str, longest: bool) -> String {
    if is_plain(pattern) {
        return text.strip_suffix(pattern).unwrap_or(text).to_owned();
    }
    if text.len() > MAX_TEXT {
        return text.to_owned();
    }
    let fits = |at: &usize| text.get(*at..).is_some_and(|tail| matches(pattern, tail));
    let cut = if longest {
        cuts(text).find(fits)
    } else {
        cuts(text).rev().find(fits)
    };
    cut.and_then(|at| text.get(..at)).unwrap_or(text).to_owned()
}

pub(super) fn replace(text: &str, pattern: &str, with: &str, all: bool) -> String {
    if pattern.is_empty() {
        return text.to_owned();
    }
    if let Some(anchored) = pattern.strip_prefix('#').filter(|_| !all) {
        return match text.strip_prefix(anchored) {
            Some(rest) => format!("{with}{rest}"),
            None => text.to_owned(),
        };
    }
    if is_plain(pattern) {
        return if all {
            text.replace(pattern, with)
        } else {
            text.replacen(pattern, with, 1)
        };
    }
    if text.len() > MAX_TEXT || pattern.len() > 64 {
        return text.to_owned();
    }
    // A single-character pattern is all that is worth doing in full.
    if !pattern.contains('*') {
        let mut changed = String::new();
        let mut done = false;
        for char in text.chars() {
            if (all || !done) && matches(pattern, char.encode_utf8(&mut [0; 4])) {
                changed.push_str(with);
                done = true;
            } else {
                changed.push(char);
            }
        }
        return changed;
    }
    if matches(pattern, text) {
        with.to_owned()
    } else {
        text.to_owned()
    }
}

/// `${x:offset:length}`
pub(super) fn slice(text: &str, offset: i64, length: i64) -> String {
    let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let from = if offset < 0 {
        (count + offset).max(0)
    } else {
        offset.min(count)
    };
    let to = if length < 0 {
        (count + length).max(from)
    } else {
        from.saturating_add(length).min(count)
    };
    let from = usize::try_from(from).unwrap_or(0);
    let take = usize::try_from(to).unwrap_or(0).saturating_sub(from);
    text.chars().skip(from).take(take).collect()
}
