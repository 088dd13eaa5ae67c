//! `paths.yaml`: what is kept where.

use super::lexical::{absolute, is_under, is_uri, is_windows, joined, short_form, without_detours};
use super::{Classes, PathClass, PathGlobs, Place, Real, World};
use crate::pattern::Pattern;
use crate::table::Table;
use crate::text;
use crate::value::{HOLE, Value};
use std::collections::BTreeMap;

/// Bytes of a path.
const MAX_PATH: usize = 4096;

/// Classes that a glob in a command must not reach unseen.
pub(crate) const SAMPLED: [PathClass; 7] = [
    PathClass::Secret,
    PathClass::Privilege,
    PathClass::Startup,
    PathClass::RunsLater,
    PathClass::Holdgate,
    PathClass::AgentSettings,
    PathClass::Device,
];

/// What a pattern says of the paths that it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// They belong to the class.
    In,
    /// They do not.
    Out,
    /// They do not where code lies: tests of a project have keys of their own, a person's folders not.
    OutInCode,
}

/// `paths.yaml`, ready to match.
#[derive(Debug)]
pub struct PathTable {
    globs: PathGlobs,
    classes: Vec<(PathClass, Says)>,
    /// One path that each pattern of a sensitive class finds: what a glob in a command may mean.
    samples: Vec<(String, PathClass)>,
}

impl PathTable {
    /// Reads the table: for each class the globs that belong to it, and with `!` those that do not.
    pub fn read(table: Table<'_>) -> Result<Self, String> {
        let table: BTreeMap<PathClass, Vec<String>> =
            table.read().map_err(|e| format!("paths.yaml: {e}"))?;
        let mut globs = Vec::new();
        let mut classes = Vec::new();
        let mut samples = Vec::new();
        for (class, patterns) in table {
            for pattern in patterns {
                let out = pattern.strip_prefix('!');
                let in_code = out.and_then(|rest| rest.strip_prefix("code:"));
                let (pattern, says) = match (in_code, out) {
                    (Some(rest), _) => (rest.to_owned(), Says::OutInCode),
                    (None, Some(rest)) => (rest.to_owned(), Says::Out),
                    (None, None) => (pattern, Says::In),
                };
                if says == Says::In && SAMPLED.contains(&class) && !pattern.contains(['{', '[']) {
                    let sample = |pattern: &str| pattern.replace("**", "x").replace('*', "x");
                    samples.push((sample(&pattern), class));
                    // A folder of secrets below a home, as a whole.
                    let folder = pattern.strip_suffix("/**").filter(|f| f.starts_with("~/."));
                    samples.extend(folder.map(|folder| (sample(folder), class)));
                }
                globs.push(pattern);
                classes.push((class, says));
            }
        }
        let globs = PathGlobs::read(globs.iter().map(String::as_str))
            .map_err(|(_, e)| format!("paths.yaml: {e}"))?;
        Ok(PathTable {
            globs,
            classes,
            samples,
        })
    }

    /// Resolves `path`, which stands in a command that runs in `cwd`.
    pub fn place(&self, path: &Value, cwd: &str, world: &World) -> Place {
        // No kernel takes longer ones.
        let written = text::beginning(&path.text, MAX_PATH);
        let text = absolute(written, cwd, &world.home);
        let lexical = self.classified(text, world);
        let Some(facts) = &world.facts else {
            return lexical;
        };
        // `link/..` is not where it seems to be: the disk is asked about the path as written.
        let asked = joined(written, cwd, &world.home);
        // A drive of Windows is not on this machine.
        if asked.contains(HOLE) || lexical.is(PathClass::Uri) || is_windows(&asked) {
            return lexical;
        }
        // Standard streams lead to whatever those of the program are.
        if lexical.is(PathClass::Stream) && lexical.text.starts_with("/dev/std") {
            return lexical;
        }
        match facts.real(&asked) {
            Real::At(real) if real != lexical.text => {
                let mut place = self.classified(real, world);
                // What a name stands for it stands for, wherever it leads.
                for class in SAMPLED {
                    if lexical.is(class) {
                        place.classes.add(class);
                    }
                }
                place
            }
            Real::At(_) | Real::AsWritten => lexical,
            Real::Unknown => lexical.unresolved(),
        }
    }

    fn classified(&self, text: String, world: &World) -> Place {
        let text = match without_detours(&text) {
            straight if straight.len() == text.len() => text,
            straight => straight.to_owned(),
        };
        let short = short_form(&text, &world.home);
        let project = world.project.as_ref().unwrap_or(&world.cwd);
        let project = is_under(&text, project).then_some(project.len());
        let mut place = Place {
            text,
            short,
            classes: Classes::default(),
            project,
        };
        self.classify(&mut place, world);
        place
    }

    /// What a glob may find counts as found.
    fn classify_glob(&self, place: &mut Place) {
        if memchr::memchr3(b'?', b'[', b'*', place.short.as_bytes()).is_none() {
            return;
        }
        let short = place.short.clone();
        let (folder, name) = short.rsplit_once('/').unwrap_or(("", &short));
        let literal = |text: &str| text.find(['?', '[', '*']).unwrap_or(text.len());
        // Below a folder, as `find` looks: the name alone tells, if enough of it is spelt.
        let anywhere = short.contains("**");
        if anywhere {
            self.classify_below(place, &short, name);
        }
        let told = if name.starts_with('.') { 2 } else { 4 };
        if anywhere && literal(name) < told {
            return;
        }
        // All that lies in a folder of secrets.
        let in_folder = |class: &PathClass| {
            let mut found = self.globs.matches(folder).into_iter();
            found.any(|at| self.classes.get(at) == Some(&(*class, Says::In)))
        };
        if name.contains(['?', '*']) && in_folder(&PathClass::Secret) {
            place.classes.add(PathClass::Secret);
        }
        let spelt = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
        // `~/.*gnupg/*`: the folder tells.
        let parent = folder.rsplit('/').next().unwrap_or("");
        let below_home = folder.strip_prefix("~/") == Some(parent) && parent.starts_with('.');
        let by_folder = parent.contains(['?', '[', '*'])
            && (spelt(parent) > 2 || below_home && spelt(parent) > 0);
        if spelt(name) < 2 && !name.contains('?') && !name.starts_with('.') && !by_folder {
            return;
        }
        let start = short.get(..literal(&short)).unwrap_or("");
        let start_of_name = name.get(..literal(name)).unwrap_or("");
        let (whole, last) = (Pattern::read(&short), Pattern::read(name));
        let whole = whole.filter(|_| !anywhere);
        for (sample, class) in &self.samples {
            let found = match sample.strip_prefix("x/") {
                // Wherever it lies, its name tells.
                Some(sample) if !sample.contains('/') => {
                    !start_of_name.is_empty()
                        && sample.starts_with(start_of_name)
                        && last.as_ref().is_some_and(|p| p.matches(sample))
                }
                _ => sample.starts_with(start) && whole.as_ref().is_some_and(|p| p.matches(sample)),
            };
            let named = matches!(class, PathClass::Secret | PathClass::Holdgate);
            if found && (!anywhere || named) {
                place.classes.add(*class);
            }
        }
    }

    /// What lies below a home at any depth: all of it, or what bears the name of a secret.
    fn classify_below(&self, place: &mut Place, short: &str, name: &str) {
        let Some((root, tail)) = short.split_once("**") else {
            return;
        };
        let root = root.trim_end_matches('/');
        if !(root.is_empty() || self.finds(root, PathClass::HomeRoot)) {
            return;
        }
        if !tail.contains(|c: char| c.is_alphanumeric() || c == HOLE) {
            place.classes.add(PathClass::HomeRoot);
            return;
        }
        // A folder of its own: `**/.ssh/id_*`.
        let tail = tail.trim_matches('/');
        if tail.contains('/') && !tail.contains("**") {
            self.classify_as(place, &format!("~/{tail}"), &[PathClass::Secret]);
        }
        let spelt = name.find(['?', '[', '*']).unwrap_or(name.len());
        let (Some(pattern), 3..) = (Pattern::read(name), spelt) else {
            return;
        };
        let start = name.get(..spelt).unwrap_or("");
        for (sample, _) in self.samples.iter().filter(|s| s.1 == PathClass::Secret) {
            let last = sample.rsplit('/').next().unwrap_or(sample);
            if spelt < name.len() && last.starts_with(start) && pattern.matches(last) {
                let anywhere = sample.strip_prefix("x/") == Some(last);
                place.classes.add(if anywhere {
                    PathClass::Secret
                } else {
                    PathClass::HoldsSecrets
                });
            }
        }
    }

    /// What a path whose beginning is not known may be: what its end names in a home folder, or in one
    /// of those where programs keep their settings.
    fn classify_end(&self, place: &mut Place) {
        const IN_HOME: [PathClass; 4] = [
            PathClass::Secret,
            PathClass::Startup,
            PathClass::Holdgate,
            PathClass::AgentSettings,
        ];
        // Other than hidden names, these also stand for folders of a project.
        const IN_SETTINGS: [PathClass; 2] = [PathClass::Startup, PathClass::Holdgate];
        let end = place.text.trim_start_matches(HOLE).to_owned();
        if end.starts_with("/.") {
            self.classify_as(place, &format!("~{end}"), &IN_HOME);
        } else if end.starts_with('/') && end.len() > 1 && !end.starts_with("/*") {
            self.classify_as(place, &format!("~/.config{end}"), &IN_SETTINGS);
            self.classify_as(place, &format!("~/Library{end}"), &IN_SETTINGS);
        }
    }

    /// Takes over those of `classes` that the path `short` has, or may have if it is a pattern.
    fn classify_as(&self, place: &mut Place, short: &str, classes: &[PathClass]) {
        let mut other = Place {
            text: String::new(),
            short: short.to_owned(),
            classes: Classes::default(),
            project: None,
        };
        let mut not = Classes::default();
        for index in self.globs.matches(short) {
            match self.classes.get(index) {
                Some((class, Says::In)) => other.classes.add(*class),
                Some((class, Says::Out | Says::OutInCode)) => not.add(*class),
                None => {}
            }
        }
        self.classify_glob(&mut other);
        for class in classes {
            if other.is(*class) && !not.has(*class) {
                place.classes.add(*class);
            }
        }
    }

    fn classify(&self, place: &mut Place, world: &World) {
        if is_uri(&place.text) {
            place.classes.add(PathClass::Uri);
            return;
        }
        let (mut not, mut not_in_code) = (Classes::default(), Classes::default());
        for index in self.globs.matches(&place.short) {
            match self.classes.get(index) {
                Some((class, Says::In)) => place.classes.add(*class),
                Some((class, Says::Out)) => not.add(*class),
                Some((class, Says::OutInCode)) => not_in_code.add(*class),
                None => {}
            }
        }
        let project = world.project.as_deref();
        let in_project = project.is_some_and(|project| is_under(&place.text, project));
        let in_code = [PathClass::Workspace, PathClass::Cache, PathClass::Temp];
        let is_code = |class| place.is(class) && !not.has(class);
        if in_project || !place.is(PathClass::Home) || in_code.into_iter().any(is_code) {
            not.add_all(not_in_code);
        }
        self.classify_glob(place);
        place.classes.remove_all(not);
        let text = place.text.as_str();
        if text.starts_with(HOLE) {
            place.classes.add(PathClass::Unknown);
            self.classify_end(place);
            return;
        }
        if text.starts_with("/root/.") && world.home != "/root" {
            place.classes.add(PathClass::RootHome);
        }
        if world.own.iter().any(|own| is_under(text, own)) {
            place.classes.add(PathClass::Holdgate);
        } else if world.own.iter().any(|own| is_under(own, text)) {
            place.classes.add(PathClass::HoldsHoldgate);
        }
        match &world.project {
            Some(project) if is_under(text, project) => {
                place.classes.add(PathClass::Project);
                place.classes.remove(PathClass::Home);
                place.classes.remove(PathClass::Workspace);
                place.classes.remove(PathClass::System);
                place.classes.remove(PathClass::HomeRoot);
                place.classes.remove(PathClass::Root);
                // A project may lie in a folder for temporary files: it is a project all the same.
                place.classes.remove(PathClass::Temp);
                // Nor is all of it generated because of where it lies.
                let inside = text.get(project.len()..).unwrap_or(text);
                if place.is(PathClass::Generated) && !self.finds(inside, PathClass::Generated) {
                    place.classes.remove(PathClass::Generated);
                }
                let folder = text.trim_end_matches("/.*").trim_end_matches("/*");
                if folder == project {
                    place.classes.add(PathClass::ProjectRoot);
                }
            }
            Some(project) if is_under(project, text) => place.classes.add(PathClass::ProjectRoot),
            _ => {}
        }
    }

    fn finds(&self, path: &str, class: PathClass) -> bool {
        let found = self.globs.matches(path);
        found
            .iter()
            .any(|at| self.classes.get(*at) == Some(&(class, Says::In)))
    }
}
