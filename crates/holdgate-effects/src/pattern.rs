//! Shell patterns on known texts: `${x#…}`, `${x/…}`, `case`.

use crate::fuel::{Fuel, OutOfFuel};

/// Elements of a pattern, one less than the bits of [`States`].
const MAX_ELEMENTS: usize = 127;

/// Which elements of a pattern may come next: a set.
type States = u128;

/// A pattern, read.
pub struct Pattern {
    elements: Vec<Element>,
    /// Which of them are stars.
    stars: States,
    /// The characters that a text must begin and end with, if there are such.
    ends: [Option<char>; 2],
}

enum Element {
    Star,
    Any,
    Char(char),
    /// `[a-z_]`; the flag says whether it is turned round.
    Set(Vec<(char, char)>, bool),
}

impl Pattern {
    /// Whether it matches all of `text`.
    pub fn matches(&self, text: &str) -> bool {
        let [first, last] = self.ends;
        if first.is_some_and(|c| !text.starts_with(c)) || last.is_some_and(|c| !text.ends_with(c)) {
            return false;
        }
        let mut states = self.start();
        for char in text.chars() {
            states = self.step(states, char);
            if states == 0 {
                return false;
            }
        }
        self.accepts(states)
    }

    /// `None` if it is too long to be followed.
    pub fn read(text: &str) -> Option<Self> {
        let mut elements = Vec::new();
        let mut chars = text.chars();
        while let Some(char) = chars.next() {
            let element = match char {
                '*' if matches!(elements.last(), Some(Element::Star)) => continue,
                '*' => Element::Star,
                '?' => Element::Any,
                '\\' => Element::Char(chars.next().unwrap_or('\\')),
                '[' => match set(chars.as_str()) {
                    Some((set, rest)) => {
                        chars = rest.chars();
                        set
                    }
                    None => Element::Char('['),
                },
                char => Element::Char(char),
            };
            elements.push(element);
            if elements.len() > MAX_ELEMENTS {
                return None;
            }
        }
        Some(Pattern::of(elements))
    }

    fn of(elements: Vec<Element>) -> Self {
        let mut stars = 0;
        for (at, element) in elements.iter().enumerate() {
            if matches!(element, Element::Star) {
                stars |= 1 << at;
            }
        }
        let fixed = |element: Option<&Element>| match element {
            Some(Element::Char(own)) => Some(*own),
            Some(Element::Star | Element::Any | Element::Set(..)) | None => None,
        };
        let ends = [fixed(elements.first()), fixed(elements.last())];
        Pattern {
            elements,
            stars,
            ends,
        }
    }

    /// The same pattern for texts that are read from their end.
    fn reversed(mut self) -> Self {
        self.elements.reverse();
        Pattern::of(self.elements)
    }

    fn start(&self) -> States {
        self.past_stars(1)
    }

    fn accepts(&self, states: States) -> bool {
        states & (1 << self.elements.len()) != 0
    }

    /// A star may also stand for nothing.
    fn past_stars(&self, states: States) -> States {
        // Two stars never stand side by side.
        states | (states & self.stars) << 1
    }

    fn step(&self, states: States, char: char) -> States {
        let mut next = states & self.stars;
        let mut left = states & !self.stars;
        while left != 0 {
            let at = left.trailing_zeros();
            left &= left - 1;
            let taken = match self.elements.get(at as usize) {
                Some(Element::Any) => true,
                Some(Element::Char(own)) => *own == char,
                Some(Element::Set(ranges, negated)) => {
                    let within = |(from, to): &(char, char)| (*from..=*to).contains(&char);
                    ranges.iter().any(within) != *negated
                }
                Some(Element::Star) | None => false,
            };
            if taken {
                next |= 1 << (at + 1);
            }
        }
        self.past_stars(next)
    }

    /// How many of `chars` the pattern takes, at the least or at the most.
    fn taken(
        &self,
        chars: impl Iterator<Item = char>,
        longest: bool,
        fuel: &Fuel,
    ) -> Result<Option<usize>, OutOfFuel> {
        let cost = 1 + self.elements.len() as u64 / 16;
        let mut states = self.start();
        let mut found = self.accepts(states).then_some(0);
        for (at, char) in chars.enumerate() {
            if states == 0 || found.is_some() && !longest {
                break;
            }
            fuel.spend(cost)?;
            states = self.step(states, char);
            if self.accepts(states) {
                found = Some(at + 1);
            }
        }
        Ok(found)
    }
}

/// The inside of `[…]`, and what comes after it.
fn set(text: &str) -> Option<(Element, &str)> {
    let negated = text.starts_with(['!', '^']);
    let mut chars = text.chars();
    if negated {
        chars.next();
    }
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        let mut char = chars.next()?;
        match char {
            ']' if !ranges.is_empty() => break,
            '[' if chars.as_str().starts_with(':') => {
                let (name, rest) = chars.as_str().split_once(":]")?;
                ranges.extend(class(name.get(1..)?)?);
                chars = rest.chars();
                continue;
            }
            '\\' => char = chars.next()?,
            _ => {}
        }
        let mut ahead = chars.clone();
        let range = (ahead.next(), ahead.next());
        if let (Some('-'), Some(last)) = range
            && last != ']'
        {
            ranges.push((char, last));
            chars = ahead;
        } else {
            ranges.push((char, char));
        }
        if ranges.len() > 64 {
            return None;
        }
    }
    Some((Element::Set(ranges, negated), chars.as_str()))
}

/// The characters of `[:name:]`, as ranges.
pub(super) fn class(name: &str) -> Option<&'static [(char, char)]> {
    Some(match name {
        "alpha" => &[('a', 'z'), ('A', 'Z')],
        "digit" => &[('0', '9')],
        "alnum" => &[('a', 'z'), ('A', 'Z'), ('0', '9')],
        "upper" => &[('A', 'Z')],
        "lower" => &[('a', 'z')],
        "xdigit" => &[('a', 'f'), ('A', 'F'), ('0', '9')],
        "space" => &[(' ', ' '), ('\t', '\r')],
        "blank" => &[(' ', ' '), ('\t', '\t')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "print" => &[(' ', '~')],
        "graph" => &[('!', '~')],
        _ => return None,
    })
}

/// `text` with the characters escaped that mean more in a pattern.
pub(super) fn escaped(text: &str, special: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        if special.contains(&char) {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}

/// `${x#pattern}`, `${x##pattern}`; from the end `${x%pattern}`, `${x%%pattern}`
pub(super) fn remove(
    text: &str,
    pattern: &str,
    from_end: bool,
    longest: bool,
    fuel: &Fuel,
) -> Result<String, OutOfFuel> {
    let Some(pattern) = Pattern::read(pattern) else {
        return Ok(text.to_owned());
    };
    if !from_end {
        let taken = pattern.taken(text.chars(), longest, fuel)?;
        return Ok(text.chars().skip(taken.unwrap_or(0)).collect());
    }
    let pattern = pattern.reversed();
    let taken = pattern.taken(text.chars().rev(), longest, fuel)?;
    let kept = text.chars().count() - taken.unwrap_or(0);
    Ok(text.chars().take(kept).collect())
}

/// `${x/pattern/with}`, `${x//pattern/with}`; a plain `&` in `with` stands for what was found.
pub(super) fn replace(
    text: &str,
    pattern: &str,
    with: &str,
    all: bool,
    fuel: &Fuel,
) -> Result<String, OutOfFuel> {
    let anchor = pattern
        .chars()
        .next()
        .filter(|c| !all && matches!(c, '#' | '%'));
    let read = Pattern::read(if anchor.is_some() {
        pattern.get(1..).unwrap_or("")
    } else {
        pattern
    });
    let Some(pattern) = read.filter(|_| !pattern.is_empty()) else {
        return Ok(text.to_owned());
    };
    let mut changed = String::with_capacity(text.len());
    if anchor == Some('%') {
        let pattern = pattern.reversed();
        let Some(taken) = pattern.taken(text.chars().rev(), true, fuel)? else {
            return Ok(text.to_owned());
        };
        let kept = text.chars().count() - taken;
        changed.extend(text.chars().take(kept));
        let found: String = text.chars().skip(kept).collect();
        put(&mut changed, with, &found);
        return Ok(changed);
    }
    let mut rest = text.chars();
    while !rest.as_str().is_empty() {
        let taken = pattern.taken(rest.clone(), true, fuel)?;
        let Some(taken) = taken.filter(|taken| *taken > 0 || anchor.is_some()) else {
            if anchor.is_some() {
                break;
            }
            changed.extend(rest.next());
            continue;
        };
        let found: String = rest.by_ref().take(taken).collect();
        put(&mut changed, with, &found);
        fuel.spend_on(with.len())?;
        if !all {
            break;
        }
    }
    changed.push_str(rest.as_str());
    Ok(changed)
}

fn put(changed: &mut String, with: &str, found: &str) {
    let mut chars = with.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => changed.extend(chars.next()),
            '&' => changed.push_str(found),
            char => changed.push(char),
        }
    }
}

/// `${x^^pattern}`, `${x,pattern}`: the case of the characters that match; all do if there is none.
pub(super) fn change_case(
    text: &str,
    pattern: &str,
    all: bool,
    upper: bool,
    fuel: &Fuel,
) -> Result<String, OutOfFuel> {
    fuel.spend_on(text.len() * (1 + pattern.len() / 16))?;
    let pattern = Pattern::read(if pattern.is_empty() { "?" } else { pattern });
    let mut changed = String::with_capacity(text.len());
    for (at, char) in text.chars().enumerate() {
        let fits = |p: &Pattern| p.accepts(p.step(p.start(), char));
        if (at > 0 && !all) || !pattern.as_ref().is_some_and(fits) {
            changed.push(char);
        } else if upper {
            changed.extend(char.to_uppercase());
        } else {
            changed.extend(char.to_lowercase());
        }
    }
    Ok(changed)
}

/// `${x:offset:length}`
pub(super) fn slice(text: &str, offset: i64, length: i64) -> String {
    let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let (from, take) = range(count, offset, length);
    text.chars().skip(from).take(take).collect()
}

/// How many of `count` to skip and to take.
pub(super) fn range(count: i64, offset: i64, length: i64) -> (usize, usize) {
    let from = if offset < 0 {
        count.saturating_add(offset)
    } else {
        offset.min(count)
    };
    if from < 0 {
        // Before its start a text has nothing.
        return (0, 0);
    }
    let to = if length < 0 {
        count.saturating_add(length).max(from)
    } else {
        from.saturating_add(length).min(count)
    };
    let from = usize::try_from(from).unwrap_or(0);
    (from, usize::try_from(to).unwrap_or(0).saturating_sub(from))
}
