//! What was learned of one project: counts and the surprise of its own sessions, as plain bytes.

use super::action::Action;
use super::ppm::{Gram, Ppm};
use super::project::surprise;
use thiserror::Error;

/// Bytes of a model, at the most.
pub const MAX_BYTES: usize = 100 << 10;
/// Grams that are kept: 7 bytes each.
const MAX_GRAMS: usize = 12_000;
/// Largest surprises of sessions that are kept.
const MAX_SCORES: usize = 64;
/// So many of a thousand sessions may be more surprising than the threshold.
const ALPHA_PER_MILLE: u32 = 5;
const MAGIC: &[u8; 4] = b"HGTJ";
const VERSION: u8 = 1;

/// What is wrong with stored bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Broken {
    /// Not a model at all.
    #[error("the file is not a model of trajectories")]
    NotAModel,
    /// Written by another version.
    #[error("the model has version {0}, and this program reads version {VERSION}")]
    Version(u8),
    /// Changed or cut off.
    #[error("the model is damaged: its checksum does not match")]
    Damaged,
}

/// The model of one project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    ppm: Ppm,
    sessions: u32,
    /// The largest surprises of sessions before they were learned from, in hundredths of a bit, the
    /// largest first.
    scores: Vec<u16>,
}

impl Model {
    /// Learns from a session without blocked or asked calls.
    pub fn learn(&mut self, sequence: &[Action], base: &Ppm) {
        let score = surprise(sequence, base, Some(&self.ppm)).map_or(0.0, |surprise| surprise.bits);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast saturates"
        )]
        let score = (score * 100.0) as u16;
        let at = self.scores.partition_point(|known| *known >= score);
        self.scores.insert(at, score);
        self.scores.truncate(MAX_SCORES);
        self.sessions = self.sessions.saturating_add(1);
        self.ppm.learn(sequence, 1);
        self.ppm.bound(MAX_GRAMS);
    }

    /// Its counts.
    pub fn ppm(&self) -> &Ppm {
        &self.ppm
    }

    /// How many sessions it has learned from.
    pub fn sessions(&self) -> u32 {
        self.sessions
    }

    /// The surprise in bits above which at most 0.5 % of sessions like the learned ones lie (split
    /// conformal); `None` until there are enough of them.
    pub fn threshold(&self) -> Option<f64> {
        let rank = (u64::from(self.sessions) + 1) * u64::from(ALPHA_PER_MILLE) / 1000;
        let rank = usize::try_from(rank).ok()?.min(MAX_SCORES);
        let score = self.scores.get(rank.checked_sub(1)?)?;
        Some(f64::from(*score) / 100.0)
    }

    /// The model as stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.sessions.to_le_bytes());
        bytes.push(u8::try_from(self.scores.len()).unwrap_or(u8::MAX));
        for score in &self.scores {
            bytes.extend_from_slice(&score.to_le_bytes());
        }
        for (gram, count) in self.ppm.counts() {
            let (context, action) = gram.numbers();
            bytes.extend_from_slice(&context.to_le_bytes());
            bytes.push(action);
            bytes.extend_from_slice(&count.to_le_bytes());
        }
        let sum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The reverse of [`Model::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, Broken> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(Broken::NotAModel)?;
        let version = rest.first().copied().ok_or(Broken::NotAModel)?;
        if version != VERSION {
            return Err(Broken::Version(version));
        }
        let (content, sum) = bytes.split_last_chunk::<4>().ok_or(Broken::Damaged)?;
        if bytes.len() > MAX_BYTES || crc32fast::hash(content) != u32::from_le_bytes(*sum) {
            return Err(Broken::Damaged);
        }
        read(content).ok_or(Broken::Damaged)
    }
}

fn read(content: &[u8]) -> Option<Model> {
    let rest = content.get(MAGIC.len() + 1..)?;
    let (sessions, rest) = rest.split_first_chunk::<4>()?;
    let (number, mut rest) = rest.split_first()?;
    let mut model = Model {
        sessions: u32::from_le_bytes(*sessions),
        ..Model::default()
    };
    for _ in 0..*number {
        let (score, after) = rest.split_first_chunk::<2>()?;
        model.scores.push(u16::from_le_bytes(*score));
        rest = after;
    }
    if !model.scores.is_sorted_by(|a, b| a >= b) || model.scores.len() > MAX_SCORES {
        return None;
    }
    let (grams, rest) = rest.as_chunks::<7>();
    let counts = grams.iter().map(|[a, b, c, d, action, low, high]| {
        let gram = Gram::stored(u32::from_le_bytes([*a, *b, *c, *d]), *action)?;
        Some((gram, u16::from_le_bytes([*low, *high])))
    });
    model.ppm = Ppm::of(counts.collect::<Option<Vec<_>>>()?);
    rest.is_empty().then_some(model)
}
