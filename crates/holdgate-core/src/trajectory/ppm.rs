//! Prediction by partial matching over the sequence without neutral actions: how surprising is the
//! next action after the last ones? What was never seen after them is judged by shorter contexts.

use super::action::Action;

/// Actions before the next one that are looked at.
pub(super) const ORDER: usize = 2;
/// No action: before the first one.
const NOTHING: u8 = u8::MAX;
/// So much the shipped counts weigh in each context beside a project's own.
const BASE_WEIGHT: f64 = 16.0;

/// How many actions are not neutral.
const RELEVANT: f64 = 32.0;

/// Actions in a row, the last of which follows the others: at most `ORDER` and one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gram {
    /// How many actions stand before the last, and which, the nearest in the lowest byte.
    context: u32,
    action: u8,
}

impl Gram {
    /// From numbers as they are stored; `None` if they are none of ours.
    pub(super) fn stored(context: u32, action: u8) -> Option<Gram> {
        let order = (context >> 24) as usize;
        let bytes = context.to_le_bytes();
        let known = |number: &u8| {
            Action::of(*number).is_some_and(|a| !a.is_neutral()) || *number == NOTHING
        };
        let used = bytes.iter().take(order).all(known);
        let rest = bytes.iter().take(3).skip(order).all(|number| *number == 0);
        let action = Action::of(action).filter(|action| !action.is_neutral())?;
        (order <= ORDER && used && rest).then_some(Gram {
            context,
            action: action as u8,
        })
    }

    pub(super) fn numbers(self) -> (u32, u8) {
        (self.context, self.action)
    }

    /// The actions of its context, the oldest first, `None` for the beginning; and the last one.
    pub fn actions(self) -> (Vec<Option<Action>>, Option<Action>) {
        let order = (self.context >> 24) as usize;
        let bytes = self.context.to_le_bytes();
        let context = bytes
            .iter()
            .take(order)
            .rev()
            .map(|number| Action::of(*number));
        (context.collect(), Action::of(self.action))
    }

    /// The reverse of [`Gram::actions`].
    pub fn new(context: &[Option<Action>], action: Action) -> Option<Gram> {
        let mut packed = u32::try_from(context.len()).ok()? << 24;
        for (at, action) in context.iter().rev().enumerate() {
            let number = action.map_or(NOTHING, |action| action as u8);
            packed |= u32::from(number) << (8 * at);
        }
        Gram::stored(packed, action as u8)
    }
}

/// The last actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ending([u8; ORDER]);

impl Default for Ending {
    fn default() -> Self {
        Ending([NOTHING; ORDER])
    }
}

impl Ending {
    /// Goes on with an action. Says `false` if it is the same as the last one: how often something
    /// is repeated says nothing about the sequence.
    pub(super) fn push(&mut self, action: Action) -> bool {
        let number = action as u8;
        if self.0.first() == Some(&number) {
            return false;
        }
        self.0.rotate_right(1);
        if let Some(first) = self.0.first_mut() {
            *first = number;
        }
        true
    }

    /// The contexts, the shortest first.
    fn contexts(self) -> impl DoubleEndedIterator<Item = u32> {
        (0..=ORDER).map(move |order| {
            let mut bytes = [0; 4];
            for (byte, number) in bytes.iter_mut().zip(self.0.iter().take(order)) {
                *byte = *number;
            }
            if let (Some(last), Ok(order)) = (bytes.last_mut(), u8::try_from(order)) {
                *last = order;
            }
            u32::from_le_bytes(bytes)
        })
    }

    /// What is counted when an action follows.
    pub(super) fn grams(self, action: Action) -> impl Iterator<Item = Gram> {
        let action = action as u8;
        self.contexts().map(move |context| Gram { context, action })
    }

    /// How surprising an action is, in bits; `None` if it repeats the last one.
    pub(super) fn surprise(self, action: Action, base: &Ppm, own: Option<&Ppm>) -> Option<f64> {
        if self.0.first() == Some(&(action as u8)) {
            return None;
        }
        let mut bits = 0.0;
        for context in self.contexts().rev() {
            let mut seen = base.seen(context, action as u8);
            if let Some(own) = own {
                let scale = (BASE_WEIGHT / seen.total.max(1.0)).min(1.0);
                let more = own.seen(context, action as u8);
                seen = Seen {
                    count: seen.count * scale + more.count,
                    total: seen.total * scale + more.total,
                    kinds: seen.kinds.max(more.kinds),
                };
            }
            if seen.total <= 0.0 {
                continue;
            }
            let all = seen.total + seen.kinds;
            if seen.count > 0.0 {
                return Some(bits - (seen.count / all).log2());
            }
            bits -= (seen.kinds / all).log2();
        }
        // Never seen at all: one of those that are left.
        Some(bits + RELEVANT.log2())
    }
}

/// How often actions followed each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ppm {
    /// In order.
    counts: Vec<(Gram, u16)>,
}

/// What is known of one context: how often this action followed, how often any, and how many kinds.
struct Seen {
    count: f64,
    total: f64,
    kinds: f64,
}

impl Ppm {
    /// These counts; of equal ones the sum.
    pub fn of(counts: impl IntoIterator<Item = (Gram, u16)>) -> Ppm {
        let mut ppm = Ppm::default();
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(gram, _)| *gram);
        for (gram, count) in counts {
            match ppm.counts.last_mut() {
                Some((last, sum)) if *last == gram => *sum = sum.saturating_add(count),
                _ => ppm.counts.push((gram, count)),
            }
        }
        ppm
    }

    /// All counts, in order.
    pub fn counts(&self) -> impl ExactSizeIterator<Item = (Gram, u16)> {
        self.counts.iter().copied()
    }

    /// Counts what one session did: each gram once, so that no session can teach by repetition.
    pub fn learn(&mut self, sequence: &[Action], weight: u16) {
        let mut ending = Ending::default();
        let mut grams: Vec<Gram> = Vec::new();
        for action in sequence {
            if action.is_neutral() {
                continue;
            }
            let before = ending;
            if ending.push(*action) {
                grams.extend(before.grams(*action));
            }
        }
        grams.sort_unstable();
        grams.dedup();
        let known = std::mem::take(&mut self.counts);
        *self = Ppm::of(
            known
                .into_iter()
                .chain(grams.into_iter().map(|gram| (gram, weight))),
        );
    }

    /// Forgets the rarest grams until at most `most` are left.
    pub(super) fn bound(&mut self, most: usize) {
        let mut floor = 1;
        while self.counts.len() > most {
            self.counts.retain(|(_, count)| *count > floor);
            floor += 1;
        }
    }

    fn seen(&self, context: u32, action: u8) -> Seen {
        let from = self
            .counts
            .partition_point(|(gram, _)| gram.context < context);
        let mut seen = Seen {
            count: 0.0,
            total: 0.0,
            kinds: 0.0,
        };
        let counts = self.counts.get(from..).unwrap_or_default();
        for (gram, count) in counts
            .iter()
            .take_while(|(gram, _)| gram.context == context)
        {
            let count = f64::from(*count);
            if gram.action == action {
                seen.count = count;
            }
            seen.total += count;
            seen.kinds += 1.0;
        }
        seen
    }
}
