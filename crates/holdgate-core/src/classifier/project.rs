//! What a project has learned: which shapes were allowed, how its own words look, and where its
//! honest calls score.
//!
//! Everything here is bounded so that nobody can teach it to overlook something: weights only rise
//! above those of the base model, by at most a fifth for facts, and thresholds move within limits.

use super::base::{Base, Thresholds};
use super::codec::{BadModel, Reader, Writer};
use super::facts::SLOTS;
use super::grams::{self, BUCKETS};
use super::learn::{Ftrl, probability};
use super::lesson::Part;
use super::shape::Seen;
use std::collections::BTreeMap;

const MAGIC: [u8; 4] = *b"HGCP";
const VERSION: u32 = 1;
/// Projects that are remembered; the one that was not used for longest goes first.
pub const MAX_PROJECTS: usize = 64;
/// Shapes of one project.
const MAX_SEEN: usize = 20_000;
/// Scores of honest calls that are kept; the oldest go first.
const MAX_SCORES: usize = 4_000;
/// Honest calls without which the thresholds are those of the base model.
pub const MIN_SCORES: usize = 1_000;
/// Features of a project: a few of the base model's share one.
const FEATURES: usize = 1 << 14;
const SHARED: usize = BUCKETS / FEATURES;
/// What a fact's weight may gain.
const MAX_RAISE: f32 = 0.2;
/// How far a threshold may move up and down.
const MAX_UP: f32 = 0.5;
const MAX_DOWN: f32 = 1.0;
/// Of how many honest calls one may be recorded, and asked about.
const AUDITED: usize = 100;
const ASKED: usize = 1_000;

/// What a project has learned, ready to score.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    raises: BTreeMap<u16, f32>,
    grams: Vec<f32>,
    seen: Seen,
    thresholds: Option<(Thresholds, Thresholds)>,
}

impl Learned {
    /// The share by which a fact weighs more here.
    pub(super) fn raise(&self, fact: u16) -> f32 {
        self.raises.get(&fact).copied().unwrap_or_default()
    }

    /// The weight of a feature beyond that of the base model.
    pub(super) fn gram(&self, feature: usize) -> f32 {
        self.grams
            .get(feature / SHARED)
            .copied()
            .unwrap_or_default()
    }

    /// Where its own calls score, semantic and lexical, if there are enough of them.
    pub fn thresholds(&self) -> Option<(Thresholds, Thresholds)> {
        self.thresholds
    }

    /// Whether a shape was allowed here.
    pub fn has_seen(&self, hash: u32) -> bool {
        self.seen.has(hash)
    }
}

/// What a project has learned, as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// The record that taught it last.
    pub last_used: u64,
    raises: BTreeMap<u16, f32>,
    grams: Ftrl,
    seen: Vec<u32>,
    /// Of honest calls: semantic and lexical.
    scores: Vec<(f32, f32)>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            last_used: 0,
            raises: BTreeMap::new(),
            grams: Ftrl::new(FEATURES),
            seen: Vec::new(),
            scores: Vec::new(),
        }
    }
}

impl Memory {
    /// Honest calls whose scores are kept.
    pub fn honest(&self) -> usize {
        self.scores.len()
    }

    /// Learns from a unit. The slope is that of the base model and of what was learned so far.
    pub fn learn(&mut self, part: &Part, base: &Base, is_attack: bool, weight: f32) {
        let goal = f32::from(u8::from(is_attack));
        let score = self.semantic(part, base);
        let slope = (probability(score) - goal) * weight;
        for fact in &part.facts {
            let raise = self.raises.entry(*fact).or_default();
            *raise = (*raise - 0.05 * slope).clamp(0.0, MAX_RAISE);
        }
        self.raises.retain(|_, raise| *raise > 0.0);
        for window in grams::windows(&part.text) {
            let (features, sum) = self.window(window, base);
            let slope = (probability(sum + base.grams_bias) - goal) * weight;
            self.grams.learn(&features, slope);
        }
    }

    /// Remembers an honest call: its shapes and its scores.
    pub fn allow(&mut self, parts: &[Part], scores: (f32, f32)) {
        for hash in parts.iter().filter_map(|part| part.shape.last()) {
            if self.seen.len() < MAX_SEEN
                && let Err(at) = self.seen.binary_search(hash)
            {
                self.seen.insert(at, *hash);
            }
        }
        self.scores.push(scores);
        let surplus = self.scores.len().saturating_sub(MAX_SCORES);
        self.scores.drain(..surplus);
    }

    /// Ready to score, beside this base model.
    pub fn learned(&self, base: &Base) -> Learned {
        let weight = |feature| self.grams.weight(feature);
        Learned {
            raises: self.raises.clone(),
            grams: (0..FEATURES).map(weight).collect(),
            seen: Seen::of(self.seen.iter().copied()),
            thresholds: (self.scores.len() >= MIN_SCORES).then(|| {
                let semantic = self.scores.iter().map(|(semantic, _)| *semantic).collect();
                let lexical = self.scores.iter().map(|(_, lexical)| *lexical).collect();
                (
                    calibrated(semantic, base.semantic),
                    calibrated(lexical, base.lexical),
                )
            }),
        }
    }

    fn semantic(&self, part: &Part, base: &Base) -> f32 {
        let weight = |fact: &u16| {
            let weight = base
                .facts
                .get(usize::from(*fact))
                .copied()
                .unwrap_or_default();
            weight * (1.0 + self.raises.get(fact).copied().unwrap_or_default())
        };
        base.facts_bias + part.facts.iter().map(weight).sum::<f32>()
    }

    /// The features of a window with their values, and its score without the bias.
    fn window(&self, window: &[u8], base: &Base) -> (Vec<(usize, f32)>, f32) {
        let mut squares = 0.0_f32;
        let mut sum = 0.0_f32;
        let mut found = BTreeMap::<usize, f32>::new();
        grams::features(window, |feature| {
            let [weight, square] = base.grams.get(feature).copied().unwrap_or_default();
            squares += square;
            sum += weight;
            *found.entry(feature / SHARED).or_default() += square.sqrt();
        });
        let length = squares.sqrt().max(f32::MIN_POSITIVE);
        let features = found
            .into_iter()
            .map(|(feature, value)| (feature, value / length));
        let features: Vec<_> = features.collect();
        let learned: f32 = features
            .iter()
            .map(|(feature, value)| self.grams.weight(*feature) * value)
            .sum();
        (features, sum / length + learned)
    }
}

/// Thresholds by split conformal prediction on honest calls: of the next calls like them, at most the
/// agreed share scores higher. They stay near the base model's, whatever was seen.
fn calibrated(mut scores: Vec<f32>, base: Thresholds) -> Thresholds {
    scores.sort_unstable_by(|a, b| b.total_cmp(a));
    // The k-th largest of n, with k the whole part of the share of n + 1.
    let at = |one_in: usize, base: f32| {
        let rank = ((scores.len() + 1) / one_in).max(1);
        let found = scores.get(rank - 1).copied().unwrap_or(base);
        found.clamp(base - MAX_DOWN, base + MAX_UP)
    };
    let audit = at(AUDITED, base.audit);
    let ask = at(ASKED, base.ask).max(audit);
    Thresholds {
        audit,
        ask,
        block: base.block.max(ask),
    }
}

/// All projects, and how far the ledger was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memories {
    /// The number of the last record that was read.
    pub read_to: u64,
    /// By the hash of the project.
    pub projects: BTreeMap<u64, Memory>,
}

impl Memories {
    /// The memory of a project, which is in use now.
    pub fn of(&mut self, project: u64, now: u64) -> &mut Memory {
        if !self.projects.contains_key(&project) && self.projects.len() >= MAX_PROJECTS {
            let oldest = self
                .projects
                .iter()
                .min_by_key(|(_, memory)| memory.last_used);
            if let Some(oldest) = oldest.map(|(project, _)| *project) {
                self.projects.remove(&oldest);
            }
        }
        let memory = self.projects.entry(project).or_default();
        memory.last_used = now;
        memory
    }

    /// The file.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u64(self.read_to);
        writer.length(self.projects.len());
        for (project, memory) in &self.projects {
            writer.u64(*project);
            writer.u64(memory.last_used);
            writer.length(memory.raises.len());
            for (fact, raise) in &memory.raises {
                writer.u16(*fact);
                writer.f32(*raise);
            }
            let known: Vec<usize> = memory.grams.known().collect();
            writer.length(known.len());
            for feature in known {
                let (z, n) = memory.grams.state(feature);
                writer.u16(u16::try_from(feature).unwrap_or_default());
                writer.f32(z);
                writer.f32(n);
            }
            writer.rising(&memory.seen);
            writer.length(memory.scores.len());
            for (semantic, lexical) in &memory.scores {
                writer.f32(*semantic);
                writer.f32(*lexical);
            }
        }
        writer.file(MAGIC, VERSION)
    }

    /// Reads a file. Any bytes are memories or an error.
    pub fn read(bytes: &[u8]) -> Result<Memories, BadModel> {
        let mut reader = Reader::open(bytes, MAGIC, VERSION)?;
        let mut memories = Memories {
            read_to: reader.u64()?,
            projects: BTreeMap::new(),
        };
        for _ in 0..reader.length_of(32, MAX_PROJECTS)? {
            let project = reader.u64()?;
            let mut memory = Memory {
                last_used: reader.u64()?,
                ..Memory::default()
            };
            for _ in 0..reader.length_of(6, SLOTS)? {
                let (fact, raise) = (reader.u16()?, reader.f32()?);
                memory.raises.insert(fact, raise.clamp(0.0, MAX_RAISE));
            }
            for _ in 0..reader.length_of(10, FEATURES)? {
                let feature = usize::from(reader.u16()?);
                let state = (reader.f32()?, reader.f32()?);
                if state.1 < 0.0 {
                    return Err(BadModel::Invalid("a sum of squares is negative"));
                }
                memory.grams.set(feature, state);
            }
            memory.seen = reader.rising(MAX_SEEN)?;
            for _ in 0..reader.length_of(8, MAX_SCORES)? {
                memory.scores.push((reader.f32()?, reader.f32()?));
            }
            memories.projects.insert(project, memory);
        }
        reader.end()?;
        Ok(memories)
    }
}
