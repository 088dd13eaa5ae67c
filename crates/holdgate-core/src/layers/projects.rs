//! Spillage between projects: content of a project with a higher label in one with a lower label, or
//! outside of this machine.
//!
//! A copy is found by its paths. Content that a model writes down is found by the prints of the
//! project's files. The shell takes them; here they are data.

mod known;
#[cfg(test)]
mod tests;

pub use known::{Labelled, LabelledProjects, SharedProjects};

use crate::call::ToolCall;
use crate::mask::Masked;
use crate::prints::{Prints, Winnowing};
use crate::stack::{Context, Layer, OutOfFuel};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::fuel::Fuel;
use holdgate_effects::host::HostClass;
use holdgate_effects::json::Json;
use holdgate_effects::path::{PathClass, is_under};
use holdgate_effects::tag::Tag;
use holdgate_effects::value::Origins;
use std::sync::Arc;

/// So many shared prints are a copy.
const COPY: usize = 3;
/// So many are one if they are a tenth of the text. A single print may be an idiom.
const SMALL_COPY: usize = 2;
/// The most findings about one call.
const MOST_FINDINGS: usize = 8;
/// A value keeps so many of its sources. If it has them all, there may be more.
const SOURCES: usize = 4;
/// A text of fewer bytes has too few prints.
const SHORT: usize = 100;
/// Unlabelled places in which content stays for itself.
const ASIDE: [PathClass; 6] = [
    PathClass::Temp,
    PathClass::Cache,
    PathClass::Generated,
    PathClass::Stream,
    PathClass::History,
    PathClass::AgentSettings,
];
/// Programs whose output is their input in another form.
const ARCHIVERS: &[&str] = &[
    "tar", "bsdtar", "zip", "7z", "7za", "rar", "gzip", "bzip2", "xz", "zstd", "cpio", "ar",
    "base64", "xxd", "openssl", "gpg", "git",
];

/// A host without a name.
const ANOTHER: &str = "another machine";

/// The layer.
#[derive(Clone, Debug)]
pub struct Projects {
    known: Arc<SharedProjects>,
}

impl Projects {
    /// A layer that compares with these projects.
    pub fn new(known: Arc<SharedProjects>) -> Self {
        Projects { known }
    }
}

impl Layer for Projects {
    fn name(&self) -> LayerName {
        LayerName::Spillage
    }

    fn judge(
        &self,
        call: &ToolCall,
        effects: &[Effect],
        _: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        let known = self.known.get();
        if known.has_nothing_to_keep() {
            return Ok(Vec::new());
        }
        let mut found = Found::default();
        let mut sends = None;
        for effect in effects {
            fuel.spend(1)?;
            let Some(sink) = Sink::of(effect, &known) else {
                continue;
            };
            for source in sources(effect, effects) {
                fuel.spend(1)?;
                found.path(source, &sink, effect, &known);
            }
            match &sink {
                Sink::Place { .. } => {
                    let text = effect.text.as_deref().unwrap_or_default();
                    let prints = prints_of([text], &known, fuel)?;
                    found.content(&prints, &sink, effect, &known);
                }
                // What is sent is not always an effect's text, and stands in the call in any case.
                Sink::Outside { .. } => {
                    sends.get_or_insert((sink, effect));
                }
            }
        }
        if let Some((sink, effect)) = sends {
            let prints = prints_of(strings(&call.input), &known, fuel)?;
            found.content(&prints, &sink, effect, &known);
        }
        Ok(found.findings)
    }
}

/// Where content goes.
#[derive(Clone, Debug)]
enum Sink<'a> {
    /// To a file, in a project if it has a label.
    Place {
        path: &'a str,
        project: Option<&'a Labelled>,
    },
    /// To another machine. The project's own services, such as its issues, may be there.
    Outside { to: &'a str, may_be_own: bool },
}

impl<'a> Sink<'a> {
    /// Where the data of an effect goes, if it can be too low for some of it.
    fn of(effect: &'a Effect, known: &'a LabelledProjects) -> Option<Sink<'a>> {
        if effect.is(Tag::Suspect) || effect.is(Tag::Written) {
            None
        } else if effect.kind == Kind::Write {
            Sink::of_write(effect, known)
        } else if effect.kind == Kind::Send {
            Sink::of_send(effect)
        } else if effect.kind == Kind::Remote {
            let may_be_own = !effect.is(Tag::Publish) && !effect.is(Tag::Upload);
            let to = ANOTHER;
            Some(Sink::Outside { to, may_be_own })
        } else {
            None
        }
    }

    fn of_write(effect: &'a Effect, known: &'a LabelledProjects) -> Option<Sink<'a>> {
        let place = effect.path.as_ref()?;
        let path = place.text.as_str();
        if place.is(PathClass::Uri) || effect.is(Tag::Remote) {
            return Some(Sink::outside(path));
        }
        let project = known.project_of(path);
        let is_aside = || ASIDE.iter().any(|class| place.is(*class));
        if project.is_none() && is_aside() {
            return None;
        }
        Some(Sink::Place { path, project })
    }

    fn of_send(effect: &'a Effect) -> Option<Sink<'a>> {
        let host = effect.host.as_ref();
        let stays = host.is_some_and(|host| host.class == HostClass::Loopback);
        // A project's own remote holds the project.
        let is_own = effect.is(Tag::Push) && !effect.is(Tag::GivenUrl);
        if stays || is_own {
            return None;
        }
        let name = host.map(|host| host.name.as_str());
        let name = name.filter(|name| name.contains(char::is_alphanumeric));
        Some(Sink::outside(name.unwrap_or(ANOTHER)))
    }

    fn outside(to: &'a str) -> Sink<'a> {
        Sink::Outside {
            to,
            may_be_own: false,
        }
    }

    fn label(&self) -> usize {
        match self {
            Sink::Place { project, .. } => project.map_or(0, |project| project.label),
            Sink::Outside { .. } => 0,
        }
    }

    /// As a part of a reason.
    fn described(&self, known: &LabelledProjects) -> String {
        match self {
            Sink::Place {
                path,
                project: Some(project),
            } => {
                let label = known.label(project);
                format!("to {path}, and {} is labelled `{label}`", project.path)
            }
            Sink::Place {
                path,
                project: None,
            } => format!("to {path}, which has no label"),
            Sink::Outside { to, .. } => format!("to {to}, outside of this machine"),
        }
    }
}

/// The paths that the data of an effect comes from.
fn sources<'a>(effect: &'a Effect, effects: &'a [Effect]) -> impl Iterator<Item = &'a str> {
    let named = effect.sources.iter().map(|source| &**source);
    let named = named.filter(|source| source.starts_with('/'));
    let has_more = effect.sources.len() >= SOURCES;
    let is_of_files = effect.origins.any(Origins::FILE) || effect.kind != Kind::Write;
    let is_unnamed = effect.sources.is_empty() && is_of_files;
    let reads = effects.iter().filter(move |other| {
        (has_more || is_unnamed)
            && other.kind == Kind::Read
            && Arc::ptr_eq(&other.evidence, &effect.evidence)
            && !other.is(Tag::Suspect)
    });
    let read = reads.filter_map(|other| other.path.as_ref().map(|place| place.text.as_str()));
    named.chain(read)
}

/// All strings of an input.
fn strings<'a>(input: &'a Json<'_>) -> Vec<&'a str> {
    let mut strings = Vec::new();
    let mut left = vec![input];
    while let Some(json) = left.pop() {
        strings.extend(json.as_str());
        left.extend(json.as_array().unwrap_or_default());
        let members = json.as_object().unwrap_or_default();
        left.extend(members.iter().map(|(_, value)| value));
    }
    strings
}

/// The prints of texts that go somewhere. They are not thinned: a short passage in a long text counts.
fn prints_of<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    known: &LabelledProjects,
    fuel: &Fuel,
) -> Result<Prints, OutOfFuel> {
    let how = Winnowing {
        most: usize::MAX,
        ..Winnowing::default()
    };
    let mut all = Vec::new();
    for text in texts.into_iter().filter(|text| text.len() >= SHORT) {
        // About 8 ns a byte, and 16 MiB at most.
        fuel.spend(1 + text.len() as u64 / 256)?;
        all.push(Prints::taken(text, known.key, how));
    }
    Ok(Prints::union(&all))
}

/// What was found about a call.
#[derive(Debug, Default)]
struct Found {
    findings: Vec<Finding>,
}

impl Found {
    /// A file of a labelled project goes to a lower one, or a folder that holds such a project.
    fn path(&mut self, source: &str, sink: &Sink<'_>, effect: &Effect, known: &LabelledProjects) {
        // A count or a few lines of output are not the file.
        let is_partial =
            effect.origins.any(Origins::OUTPUT) && !ARCHIVERS.contains(&&*effect.program);
        let own = known.project_of(source);
        let inside = known.projects().filter(|project| {
            !is_partial && project.path.len() > source.len() && is_under(&project.path, source)
        });
        for project in own.into_iter().chain(inside) {
            if project.label <= sink.label() {
                continue;
            }
            let label = known.label(project);
            let reason = format!(
                "the content of {source} goes {}; {} is labelled `{label}`",
                sink.described(known),
                project.path
            );
            let mut verdict = verdict(project, sink, known);
            if is_partial && matches!(sink, Sink::Place { .. }) {
                verdict = verdict.min(Verdict::Ask);
            }
            self.add("copy-to-lower-label", verdict, reason, effect);
        }
    }

    /// A text goes somewhere, and may be that of a file in a labelled project.
    fn content(
        &mut self,
        prints: &Prints,
        sink: &Sink<'_>,
        effect: &Effect,
        known: &LabelledProjects,
    ) {
        for project in known.projects().filter(|p| p.label > sink.label()) {
            let Some((file, shared)) = project.prints.shared(prints) else {
                continue;
            };
            let share = shared * 100 / prints.len().max(1);
            if shared < COPY && (shared < SMALL_COPY || share < 10) {
                continue;
            }
            let label = known.label(project);
            let reason = format!(
                "about {share} % of a text ({shared} of {} fingerprints) is that of {}/{file}, and \
                 it goes {}; {} is labelled `{label}`",
                prints.len(),
                project.path,
                sink.described(known),
                project.path
            );
            let verdict = verdict(project, sink, known);
            self.add("content-of-higher-label", verdict, reason, effect);
        }
    }

    fn add(&mut self, rule: &'static str, verdict: Verdict, reason: String, effect: &Effect) {
        let is_known = |finding: &Finding| finding.reason == reason;
        if self.findings.len() >= MOST_FINDINGS || self.findings.iter().any(is_known) {
            return;
        }
        let instead = "keep the content in a project with the same label, or ask the user";
        self.findings.push(Finding {
            verdict,
            // The start of the command or text; the content itself is not shown.
            evidence: Some(Masked::start(&effect.evidence, 120)),
            effect: Some(Arc::new(effect.clone())),
            ..Finding::block(LayerName::Spillage, rule, reason).instead(instead)
        });
    }
}

/// Content of the highest label goes nowhere else, and none leaves the machine for a foreign place.
fn verdict(project: &Labelled, sink: &Sink<'_>, known: &LabelledProjects) -> Verdict {
    match sink {
        _ if known.is_highest(project) => Verdict::Block,
        Sink::Outside { may_be_own, .. } if !may_be_own => Verdict::Block,
        Sink::Outside { .. } | Sink::Place { .. } => Verdict::Ask,
    }
}
