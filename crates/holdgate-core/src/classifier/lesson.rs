//! What a record keeps of a call, so that the classifier can learn from it: facts and shapes as
//! hashes, and the start of each command, masked when it is written.

use super::base::Base;
use super::hash::Hash;
use super::unit::{self, Look, Looked, Unit};
use crate::mask::Masked;
use holdgate_effects::effect::Effect;
use holdgate_effects::json::Json;
use std::sync::Arc;

/// Units of a call that are kept.
const MAX_UNITS: usize = 8;
/// Characters of a command that are kept.
const MAX_TEXT: usize = 240;
/// Facts and hashes of a unit that are kept.
const MAX_NUMBERS: usize = 160;

/// What can be learned from a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    /// The project, as a hash; 0 if there is none.
    pub project: u64,
    /// The first units of the call.
    pub units: Vec<Part>,
}

/// What can be learned from a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The facts, compared with honest work that the base model knows.
    pub facts: Vec<u16>,
    /// The hashes of its shape.
    pub shape: Vec<u32>,
    /// The command or action.
    pub text: Arc<str>,
}

/// The hash by which a project is known.
pub fn project_hash(project: Option<&str>) -> u64 {
    project.map_or(0, |path| Hash::of("project").and(path).whole() >> 1)
}

impl Lesson {
    /// What can be learned from a call with these effects.
    pub fn of(effects: &[Effect], base: &Base, project: Option<&str>) -> Lesson {
        let units = unit::units(effects).into_iter().take(MAX_UNITS);
        let looked = units.map(|unit| {
            let look = Look::at(&unit, base);
            (unit, look)
        });
        Lesson::made_of(looked, project)
    }

    /// What can be learned from units that were looked at.
    pub(crate) fn from(looked: Looked<'_>, project: Option<&str>) -> Lesson {
        Lesson::made_of(looked.units.into_iter().zip(looked.looks), project)
    }

    fn made_of<'e>(
        looked: impl Iterator<Item = (Unit<'e>, Look)>,
        project: Option<&str>,
    ) -> Lesson {
        let part = |(unit, look): (Unit<'_>, Look)| {
            let first = unit.effects.first();
            Part {
                facts: look.facts,
                shape: look.shape.all().collect(),
                text: first.map(|e| e.evidence.clone()).unwrap_or_default(),
            }
        };
        Lesson {
            project: project_hash(project),
            units: looked.take(MAX_UNITS).map(part).collect(),
        }
    }

    /// As it is written to a record. `hides` if a secret is in the call that an earlier one has shown.
    pub(crate) fn to_json(&self, hides: bool) -> Json<'static> {
        let numbers = |numbers: Vec<String>| {
            let number = |number: String| Json::Number(number.into());
            Json::Array(numbers.into_iter().map(number).collect())
        };
        let unit = |part: &Part| {
            let text = if hides {
                Masked::start(&Masked::runs(&part.text), MAX_TEXT)
            } else {
                Masked::start(&part.text, MAX_TEXT)
            };
            Json::object([
                (
                    "facts",
                    numbers(part.facts.iter().map(u16::to_string).collect()),
                ),
                (
                    "shape",
                    numbers(part.shape.iter().map(u32::to_string).collect()),
                ),
                ("text", text.into_string().into()),
            ])
        };
        Json::object([
            ("project", format!("{:016x}", self.project).into()),
            ("units", Json::Array(self.units.iter().map(unit).collect())),
        ])
    }

    /// Reads what a record says; `None` if it is not a lesson.
    pub fn read(json: &Json<'_>) -> Option<Lesson> {
        let project = json.get("project")?.as_str()?;
        let project = u64::from_str_radix(project, 16).ok()?;
        let units = json.get("units")?.as_array()?.iter().take(MAX_UNITS);
        let unit = |json: &Json<'_>| {
            let numbers = |key: &str| Some(json.get(key)?.as_array()?.iter().take(MAX_NUMBERS));
            let number = |json: &Json<'_>| match json {
                Json::Number(text) => text.parse::<u32>().ok(),
                Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                    None
                }
            };
            let facts = numbers("facts")?.map(|fact| u16::try_from(number(fact)?).ok());
            Some(Part {
                facts: facts.collect::<Option<_>>()?,
                shape: numbers("shape")?.map(number).collect::<Option<_>>()?,
                text: json.get("text")?.as_str()?.into(),
            })
        };
        Some(Lesson {
            project,
            units: units.map(unit).collect::<Option<_>>()?,
        })
    }
}
