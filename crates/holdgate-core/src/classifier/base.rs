//! The base model: weights and hashes of shapes, trained on public and own cases. It is part of the
//! program, and stays in force whatever happens to what a project learns.

use super::codec::{BadModel, Reader, Writer};
use super::facts::SLOTS;
use super::grams::BUCKETS;
use super::shape::Seen;
use std::sync::{Arc, LazyLock};

const MAGIC: [u8; 4] = *b"HGCB";
const VERSION: u32 = 1;
/// Hashes of shapes.
const MAX_SEEN: usize = 400_000;
/// Steps of a quantised weight.
const STEPS: f32 = 127.0;
/// Steps of a quantised inverse document frequency.
const IDF_STEPS: f32 = 255.0;

/// The file.
static BYTES: &[u8] = include_bytes!("base.model");

/// Scores from which on something is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// It is recorded.
    pub audit: f32,
    /// A person is asked.
    pub ask: f32,
    /// It is refused.
    pub block: f32,
}

impl Thresholds {
    /// Whatever the score, nothing is done.
    pub const NEVER: Thresholds = Thresholds {
        audit: f32::MAX,
        ask: f32::MAX,
        block: f32::MAX,
    };
}

/// The base model.
#[derive(Clone, Debug)]
pub struct Base {
    /// By fact: at least 0.
    pub(crate) facts: Vec<f32>,
    pub(crate) facts_bias: f32,
    /// By hashed feature: its weight times its inverse document frequency, and the square of that.
    pub(crate) grams: Vec<[f32; 2]>,
    pub(crate) grams_bias: f32,
    /// Shapes of honest work.
    pub(crate) seen: Seen,
    /// Of the semantic head.
    pub semantic: Thresholds,
    /// Of the lexical head. It never blocks.
    pub lexical: Thresholds,
}

/// What a base model is made of, before it is quantised.
#[derive(Clone, Debug)]
pub struct Parts {
    /// By fact.
    pub facts: Vec<f32>,
    /// What is added to the facts.
    pub facts_bias: f32,
    /// By hashed feature.
    pub grams: Vec<f32>,
    /// The inverse document frequencies.
    pub idf: Vec<f32>,
    /// What is added to the features.
    pub grams_bias: f32,
    /// Shapes of honest work.
    pub seen: Seen,
    /// Of the semantic head.
    pub semantic: Thresholds,
    /// Of the lexical head.
    pub lexical: Thresholds,
}

impl Base {
    /// The one in this program.
    pub fn built_in() -> Arc<Base> {
        static BASE: LazyLock<Arc<Base>> =
            LazyLock::new(|| Arc::new(Base::read(BYTES).unwrap_or_else(|_| Base::empty())));
        BASE.clone()
    }

    /// A model that finds nothing.
    pub fn empty() -> Base {
        Base {
            facts: vec![0.0; SLOTS],
            facts_bias: 0.0,
            grams: vec![[0.0, 0.0]; BUCKETS],
            grams_bias: 0.0,
            seen: Seen::default(),
            semantic: Thresholds::NEVER,
            lexical: Thresholds::NEVER,
        }
    }

    /// Reads a model. Any bytes are a model or an error.
    pub fn read(bytes: &[u8]) -> Result<Base, BadModel> {
        let mut reader = Reader::open(bytes, MAGIC, VERSION)?;
        let facts_bias = reader.f32()?;
        let grams_bias = reader.f32()?;
        let facts_scale = reader.f32()?;
        let grams_scale = reader.f32()?;
        let idf_scale = reader.f32()?;
        let semantic = thresholds(&mut reader)?;
        let lexical = thresholds(&mut reader)?;
        let facts = reader.take(SLOTS)?;
        let weights = reader.take(BUCKETS)?;
        let idf = reader.take(BUCKETS)?;
        let seen = Seen::of(reader.rising(MAX_SEEN)?);
        reader.end()?;
        let gram = |(weight, idf): (&u8, &u8)| {
            let idf = f32::from(*idf) * idf_scale / IDF_STEPS;
            let weight = f32::from(weight.cast_signed()) * grams_scale / STEPS;
            [weight * idf, idf * idf]
        };
        if facts_scale < 0.0 {
            return Err(BadModel::Invalid("a weight of a fact is negative"));
        }
        Ok(Base {
            facts: facts
                .iter()
                .map(|step| f32::from(*step) * facts_scale / IDF_STEPS)
                .collect(),
            facts_bias,
            grams: weights.iter().zip(idf).map(gram).collect(),
            grams_bias,
            seen,
            semantic,
            lexical,
        })
    }
}

impl Parts {
    /// The file.
    pub fn write(&self) -> Vec<u8> {
        let most = |values: &[f32]| values.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
        let scales = [most(&self.facts), most(&self.grams), most(&self.idf)];
        let [facts_scale, grams_scale, idf_scale] =
            scales.map(|scale| scale.max(f32::MIN_POSITIVE));
        let mut writer = Writer::default();
        for number in [
            self.facts_bias,
            self.grams_bias,
            facts_scale,
            grams_scale,
            idf_scale,
        ] {
            writer.f32(number);
        }
        for head in [&self.semantic, &self.lexical] {
            for number in [head.audit, head.ask, head.block] {
                writer.f32(number);
            }
        }
        let facts = sized(&self.facts, SLOTS);
        writer.u8s(&quantise(facts, IDF_STEPS / facts_scale, 0.0, IDF_STEPS));
        let grams = sized(&self.grams, BUCKETS);
        writer.u8s(&quantise(grams, STEPS / grams_scale, -STEPS, STEPS));
        let idf = sized(&self.idf, BUCKETS);
        writer.u8s(&quantise(idf, IDF_STEPS / idf_scale, 0.0, IDF_STEPS));
        writer.rising(self.seen.hashes());
        writer.file(MAGIC, VERSION)
    }
}

fn thresholds(reader: &mut Reader<'_>) -> Result<Thresholds, BadModel> {
    let (audit, ask, block) = (reader.f32()?, reader.f32()?, reader.f32()?);
    if audit > ask || ask > block {
        return Err(BadModel::Invalid("its thresholds are not in order"));
    }
    Ok(Thresholds { audit, ask, block })
}

/// Exactly `size` values.
fn sized(values: &[f32], size: usize) -> impl Iterator<Item = f32> {
    let rest = std::iter::repeat(0.0);
    values.iter().copied().chain(rest).take(size)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a value between -127 and 255 is meant"
)]
fn quantise(values: impl Iterator<Item = f32>, by: f32, least: f32, most: f32) -> Vec<u8> {
    let step = |value: f32| (value * by).round().clamp(least, most) as i16;
    values.map(|value| step(value).to_le_bytes()[0]).collect()
}
