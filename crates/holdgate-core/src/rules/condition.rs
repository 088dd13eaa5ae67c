//! Conditions from their written form.

use super::lazy::LazyRegex;
use super::reach::{self, Sample};
use super::report::{Mark, Report};
use super::rule::{RuleLayer, Tier};
use super::sets::Kinds;
use super::spec::{ConditionSpec, HostSpec, PathSpec, Words};
use super::when::{Call, Globs, HostTest, Names, PathTest, Pattern, RefTest};
use globset::{Glob, GlobSet, GlobSetBuilder};
use holdgate_effects::effect::Kind;
use holdgate_effects::host::HostClass;
use holdgate_effects::path::{PathClass, PathGlobs};
use holdgate_effects::tag::Tag;
use holdgate_effects::value::Origins;
use holdgate_effects::worded;
use serde_saphyr::Spanned;

/// Regular expressions in a project's file: building one takes up to a millisecond.
const MAX_PROJECT_REGEXES: usize = 400;
/// Bytes that one of them may take when it is compiled.
const MAX_PROJECT_REGEX: usize = 64 << 10;

const NOTHING_DONE: &str =
    "this says only what a call must not do: add a condition on what it does";

/// Reads the conditions of one file and gathers what is wrong with them.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) report: Report,
    pub(super) tier: Tier,
    pub(super) layer: RuleLayer,
    /// Regular expressions so far.
    pub(super) regexes: usize,
    /// Whether a branch that is not known counts as the one that a condition names.
    pub(super) unknown_counts: bool,
}

worded! {
    /// Where what an effect names comes from.
    pub(super) enum Provenance as "provenance" {
        Untrusted = "untrusted": "From a text that others wrote: a page, an answer of a service, a file outside of the project.",
        Exposed = "exposed": "From a conversation that holds both such a text and secrets or marked passages, and the effect leads outwards or changes something.",
    }
}

impl Provenance {
    pub(super) fn tag(self) -> Tag {
        match self {
            Provenance::Untrusted => Tag::Untrusted,
            Provenance::Exposed => Tag::Exposed,
        }
    }
}

impl Reader {
    pub(super) fn error(&mut self, at: impl Into<Mark>, what: impl Into<String>) {
        self.report.error(at, what);
    }

    /// A rule's whole condition.
    pub(super) fn when(&mut self, spec: &Spanned<ConditionSpec>) -> Call {
        let before = self.report.errors.len();
        let call = self.call(spec);
        if self.report.errors.len() > before {
            return call;
        }
        let only_not = spec.value.is_only_not();
        match call.needs() {
            Some(_) if only_not => self.report.absent(spec.referenced, NOTHING_DONE),
            None => self.report.absent(spec.referenced, NOTHING_DONE),
            Some(kinds) if kinds.is_empty() => self.report.absent(
                spec.referenced,
                "no single effect can meet all of this; to match several effects of a call, \
                 write `all: [{…}, {…}]`",
            ),
            Some(_) => {}
        }
        call
    }

    /// A condition on the call: `all`, an `any` that has an `all` in it, or a pattern.
    fn call(&mut self, spec: &Spanned<ConditionSpec>) -> Call {
        let at = Mark::from(spec.referenced);
        let condition = &spec.value;
        if let Some(parts) = &condition.all {
            self.alone(condition.is_only(|c| c.all = None), at, "all");
            self.not_empty(parts, "all");
            return Call::All(parts.value.iter().map(|p| self.part(p)).collect());
        }
        match &condition.any {
            Some(parts) if parts.value.iter().any(|p| is_about_call(&p.value)) => {
                self.alone(condition.is_only(|c| c.any = None), at, "any");
                Call::Any(parts.value.iter().map(|p| self.part(p)).collect())
            }
            _ => Call::Some(Box::new(self.pattern(spec))),
        }
    }

    /// A part of an `all`: here, a `not` on its own is about the whole call.
    fn part(&mut self, spec: &Spanned<ConditionSpec>) -> Call {
        match &spec.value.not {
            Some(not) if spec.value.is_only_not() => {
                Call::Not(Box::new(self.negated(|reader| reader.call(not))))
            }
            _ => self.call(spec),
        }
    }

    /// What stands under a `not`: there, what is not known must not count.
    pub(super) fn negated<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.unknown_counts = !self.unknown_counts;
        let read = read(self);
        self.unknown_counts = !self.unknown_counts;
        read
    }

    fn refs(&mut self, words: &Spanned<Words>) -> RefTest {
        RefTest {
            names: self.names(words),
            unknown: self.unknown_counts,
        }
    }

    fn alone(&mut self, is_alone: bool, at: Mark, key: &str) {
        if !is_alone {
            self.error(
                at,
                format!(
                    "`{key}` matches several effects here, but the other keys match one \
                     effect: put them into an `all`, as in `all: [{{…}}, {{{key}: […]}}]`"
                ),
            );
        }
    }

    fn not_empty<T>(&mut self, parts: &Spanned<Vec<T>>, key: &str) {
        if parts.value.is_empty() {
            let what = format!("`{key}` needs a condition");
            self.report.absent(parts.referenced, what);
        }
    }

    /// A condition on one effect.
    pub(super) fn pattern(&mut self, spec: &Spanned<ConditionSpec>) -> Pattern {
        let condition = &spec.value;
        if *condition == ConditionSpec::default() {
            self.report.absent(
                spec.referenced,
                "an empty condition matches everything: say which effect to match",
            );
        }
        if let Some(all) = &condition.all {
            self.error(
                all.referenced,
                "`all` matches several effects, but the condition around it matches one effect",
            );
        }
        let mut kinds = Kinds::ALL;
        if condition.effect.is_some() {
            let found = self.words(condition.effect.as_ref(), "effect", Kind::read);
            kinds = Kinds::of(found.into_iter());
        }
        let any: Vec<Pattern> = match &condition.any {
            Some(parts) => {
                self.not_empty(parts, "any");
                parts.value.iter().map(|p| self.pattern(p)).collect()
            }
            None => Vec::new(),
        };
        if !any.is_empty() {
            let of_any = any.iter().fold(Kinds::default(), |all, p| all.or(p.kinds));
            kinds = kinds.and(of_any);
        }
        let mut is = self.tags(condition.is.as_ref());
        let mut is_not = self.tags(condition.is_not.as_ref());
        for (flag, tag) in [
            (condition.recursive, Tag::Recursive),
            (condition.force, Tag::Force),
        ] {
            match flag {
                Some(true) => is.push(tag),
                Some(false) => is_not.push(tag),
                None => {}
            }
        }
        let provenance = condition.provenance.as_ref();
        let provenance = provenance.and_then(|word| self.report.word(word, Provenance::read));
        is.extend(provenance.map(Provenance::tag));
        Pattern {
            kinds,
            programs: condition.program.as_ref().map(|w| self.names(w)),
            is,
            is_any: self.tags(condition.is_any.as_ref()),
            is_not,
            from: self.origins(condition.from.as_ref()),
            not_from: self.origins(condition.not_from.as_ref()),
            path: condition.path.as_ref().map(|p| self.path(p)),
            host: condition.host.as_ref().map(|h| self.host(h)),
            branch: condition.branch.as_ref().map(|w| self.refs(w)),
            remote: condition.remote.as_ref().map(|w| self.refs(w)),
            any,
            not: condition
                .not
                .as_ref()
                .map(|not| Box::new(self.negated(|reader| reader.pattern(not)))),
            text: self.regex(condition.text.as_ref()),
            not_text: self.regex(condition.not_text.as_ref()),
            evidence: self.regex(condition.evidence.as_ref()),
        }
    }

    fn path(&mut self, spec: &PathSpec) -> PathTest {
        PathTest {
            within: self.words(spec.within.as_ref(), "path class", PathClass::read),
            outside: self.words(spec.outside.as_ref(), "path class", PathClass::read),
            globs: self.path_globs(spec.glob.as_ref()),
            not_globs: self.path_globs(spec.not_glob.as_ref()),
            samples: spec.glob.as_ref().map_or_else(Vec::new, |words| {
                let each = each(words).into_iter();
                each.map(|(glob, _)| Sample::of(&glob)).collect()
            }),
        }
    }

    fn path_globs(&mut self, words: Option<&Spanned<Words>>) -> Option<Globs> {
        let words = each(words?);
        for (glob, at) in &words {
            self.check_glob(glob, *at);
        }
        let in_project = words.iter().filter_map(|(glob, at)| {
            let glob = reach::in_project(glob)?;
            Some((glob, *at))
        });
        let in_project: Vec<(&str, Mark)> = in_project.collect();
        let elsewhere = words.iter().map(|(glob, at)| (glob.as_str(), *at));
        let elsewhere = elsewhere.filter(|(glob, _)| reach::in_project(glob).is_none());
        let elsewhere: Vec<(&str, Mark)> = elsewhere.collect();
        let mut read = |globs: &[(&str, Mark)]| {
            let read = PathGlobs::read(globs.iter().map(|(glob, _)| *glob));
            let Err((at, error)) = read else {
                return read.ok();
            };
            let (glob, at) = globs.get(at)?;
            let what = format!("`{glob}` is not a valid glob: {}", error.kind());
            self.error(*at, what);
            None
        };
        Some(Globs {
            anywhere: read(&elsewhere)?,
            in_project: read(&in_project)?,
        })
    }

    /// Globs that could not match what their author means.
    fn check_glob(&mut self, glob: &str, at: Mark) {
        if self.tier == Tier::BuiltIn {
            return;
        }
        let what = if glob.is_empty() {
            "an empty glob matches nothing: write `./**` for the whole project".to_owned()
        } else if glob.starts_with("../") || glob == ".." {
            format!(
                "`{glob}` leads out of the project: write the whole path, from `/` or `~/`, or \
                 `**/` and its last names"
            )
        } else if glob.len() > 1 && glob.ends_with('/') {
            format!("write `{glob}**` for a folder and all that lies in it")
        } else if glob.starts_with(['*', '?', '[']) && !glob.contains('/') && glob != "**" {
            format!(
                "write `./{glob}` for what lies in the project's folder, or `**/{glob}` for what \
                 lies in any folder"
            )
        } else {
            return;
        };
        self.error(at, what);
    }

    fn host(&mut self, spec: &HostSpec) -> HostTest {
        HostTest {
            within: self.words(spec.within.as_ref(), "host class", HostClass::read),
            outside: self.words(spec.outside.as_ref(), "host class", HostClass::read),
            names: spec.name.as_ref().map(|w| self.names(w)),
        }
    }

    fn origins(&mut self, words: Option<&Spanned<Words>>) -> Option<Origins> {
        let found = self.words(Some(words?), "origin", Origins::read);
        Some(found.into_iter().fold(Origins::NONE, |all, o| all | o))
    }

    fn tags(&mut self, words: Option<&Spanned<Words>>) -> Vec<Tag> {
        self.words(words, "tag", Tag::read)
    }

    fn names(&mut self, words: &Spanned<Words>) -> Names {
        let (globs, exact): (Vec<_>, Vec<_>) = each(words)
            .into_iter()
            .partition(|(name, _)| name.contains(['*', '?', '[', '{']));
        Names {
            exact: exact.into_iter().map(|(name, _)| name).collect(),
            patterns: globs.iter().map(|(name, _)| name.clone()).collect(),
            globs: self.globs(globs),
        }
    }

    fn globs(&mut self, words: Vec<(String, Mark)>) -> Option<GlobSet> {
        let at = words.first()?.1;
        let mut set = GlobSetBuilder::new();
        for (pattern, at) in words {
            match Glob::new(&pattern) {
                Ok(glob) => {
                    set.add(glob);
                }
                Err(error) => self.error(
                    at,
                    format!("`{pattern}` is not a valid glob: {}", error.kind()),
                ),
            }
        }
        let built = set.build();
        if let Err(error) = &built {
            self.error(at, format!("these globs cannot be used: {error}"));
        }
        built.ok()
    }

    /// Builds a regular expression of a file that nobody has tried yet.
    fn try_out(&self, regex: &LazyRegex) -> Result<(), regex::Error> {
        let size = match self.tier {
            Tier::BuiltIn => return Ok(()),
            Tier::Operator => LazyRegex::MAX_SIZE,
            Tier::Project => MAX_PROJECT_REGEX,
        };
        regex.build_within(size).map(drop)
    }

    fn regex(&mut self, pattern: Option<&Spanned<String>>) -> Option<LazyRegex> {
        let pattern = pattern?;
        let regex = LazyRegex::new(&pattern.value);
        self.regexes += 1;
        if self.tier == Tier::Project && self.regexes > MAX_PROJECT_REGEXES {
            if self.regexes == MAX_PROJECT_REGEXES + 1 {
                let what = format!(
                    "a project's file can have at most {MAX_PROJECT_REGEXES} \
                                    regular expressions"
                );
                self.error(pattern.referenced, what);
            }
        } else if let Err(error) = self.try_out(&regex) {
            self.report.regex_error(pattern, &error);
        }
        Some(regex)
    }

    /// Words out of a closed set; none, if there is no list.
    fn words<T>(
        &mut self,
        words: Option<&Spanned<Words>>,
        what: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<T> {
        let mut found = Vec::new();
        let Some(words) = words else {
            return found;
        };
        let each = each(words);
        if each.is_empty() {
            let what = format!("the list of {what} words is empty");
            self.error(words.referenced, what);
        }
        for (word, at) in each {
            match read(&word) {
                Ok(value) => found.push(value),
                Err(error) => self.error(at, error),
            }
        }
        found
    }
}

/// Whether a condition is about several effects.
fn is_about_call(condition: &ConditionSpec) -> bool {
    let any = |parts: &Spanned<Vec<Spanned<ConditionSpec>>>| {
        parts.value.iter().any(|p| is_about_call(&p.value))
    };
    condition.all.is_some() || condition.any.as_ref().is_some_and(any)
}

/// The words, each with its place.
pub(super) fn each(words: &Spanned<Words>) -> Vec<(String, Mark)> {
    match &words.value {
        Words::One(word) => vec![(word.clone(), words.referenced.into())],
        Words::Many(words) => words
            .iter()
            .map(|w| (w.value.clone(), w.referenced.into()))
            .collect(),
    }
}
