//! Which projects have which label.

use super::sections::SpillageFile;
use super::values::Folder;
use serde::de;
use serde::{Deserialize, Deserializer};
use std::ops::Range;
use std::path::PathBuf;
use toml::Spanned;

/// The labels, the lowest first. A project without a label has the lowest.
const LABELS: [&str; 4] = ["public", "internal", "confidential", "secret"];

/// Which projects have which label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpillageSettings {
    /// The labels, the lowest first.
    pub labels: Vec<String>,
    /// The projects that have one.
    pub projects: Vec<LabelledFolder>,
}

/// A project's folder and the number of its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledFolder {
    /// The folder.
    pub path: PathBuf,
    /// The number of its label; the lowest is 0.
    pub label: usize,
}

/// Labels as written: at least two, all different.
#[derive(Debug)]
pub(super) struct Labels(Vec<String>);

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let labels = Vec::<String>::deserialize(deserializer)?;
        let is_repeated =
            |(at, label): (usize, &String)| labels.iter().take(at).any(|l| l == label);
        if let Some((_, label)) = labels.iter().enumerate().find(|l| is_repeated(*l)) {
            return Err(de::Error::custom(format!(
                "the label `{label}` is listed twice, write each label once, the lowest first"
            )));
        }
        if labels.len() < 2 || labels.iter().any(String::is_empty) {
            return Err(de::Error::custom(
                "write at least two labels, the lowest first, as in `[\"public\", \"secret\"]`",
            ));
        }
        Ok(Labels(labels))
    }
}

/// A project as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProjectEntry {
    path: Folder,
    label: Spanned<String>,
}

/// A label that is not listed: where it stands, and what to write.
#[derive(Debug)]
pub(super) struct UnknownLabel {
    pub(super) label: String,
    pub(super) span: Range<usize>,
    pub(super) reason: String,
}

impl SpillageFile {
    /// Fills in the defaults.
    pub(super) fn settle(self) -> Result<SpillageSettings, UnknownLabel> {
        let labels = self.labels.map(|labels| labels.0);
        let labels = labels.unwrap_or_else(|| LABELS.map(str::to_owned).to_vec());
        let numbered = |entry: ProjectEntry| {
            let label = entry.label.get_ref();
            let Some(number) = labels.iter().position(|known| known == label) else {
                let known: Vec<_> = labels.iter().map(|label| format!("`{label}`")).collect();
                return Err(UnknownLabel {
                    reason: format!(
                        "`{label}` is not a label, write one of {} or add it to `spillage.labels`",
                        known.join(", ")
                    ),
                    label: label.clone(),
                    span: entry.label.span(),
                });
            };
            Ok(LabelledFolder {
                path: entry.path.0,
                label: number,
            })
        };
        let projects = self.projects.unwrap_or_default();
        let projects = projects
            .into_iter()
            .map(numbered)
            .collect::<Result<_, _>>()?;
        Ok(SpillageSettings { labels, projects })
    }
}
