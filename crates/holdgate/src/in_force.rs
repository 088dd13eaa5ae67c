//! What is in force: the settings that can change, the rules, and the stacks made of them.
//!
//! A request takes one [`InForce`] when it begins and keeps it to its end, so it never sees half of
//! a change. Whoever changes something makes a new one.

use crate::config::{ClassifierMode, Config};
use crate::judging::{self, Beside};
use crate::labelled;
use crate::learning::classifier::models::Models;
use crate::rulebook::{self, PROJECT_FILE, RuleText, Stamp};
use crate::threads::lock;
use holdgate_core::rules::RuleSet;
use holdgate_core::{Classification, GuardSettings, OnBlock, Stack, Verdict};
use holdgate_effects::Knowledge;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// Projects that are remembered, each with its rules.
const MAX_PROJECTS: usize = 64;

/// Settings, rules and stacks that belong together.
#[derive(Debug)]
pub struct InForce {
    /// The settings.
    pub config: Config,
    /// How responses are guarded.
    guard: Arc<GuardSettings>,
    /// The same for clients that do not go on after a call that fails.
    explaining: Arc<GuardSettings>,
    /// The operator's rule files.
    pub(crate) operator: Arc<[RuleText]>,
    /// The rules outside of all projects.
    rules: Arc<RuleSet>,
    /// When the next rule that holds for some time ends.
    ends: Option<SystemTime>,
    /// For projects without a file of their own.
    stack: Arc<Stack>,
    know: Arc<Knowledge>,
    /// What calls are compared with.
    pub(crate) beside: Beside,
    /// What the classifier has learned.
    models: Arc<Models>,
    projects: Mutex<HashMap<String, Arc<Project>>>,
    /// Held while a project's rules are read, so that nobody reads them twice.
    reading: Mutex<()>,
}

/// A project and its own rules.
#[derive(Clone, Debug, Default)]
struct Project {
    /// The file, when it was last read.
    stamp: Option<Stamp>,
    /// The last rules that could be used.
    file: Option<RuleText>,
    /// Why those in the file now cannot.
    problem: Option<String>,
    /// `None` until the rules have been joined with those around them.
    ready: Option<(Arc<Stack>, Arc<RuleSet>)>,
}

/// What became of a change.
#[derive(Debug)]
pub struct News {
    /// What was changed: `rules`, `settings` or `project`.
    pub subject: &'static str,
    /// What is in force now, in a line.
    pub now: String,
    /// What is wrong with the change, if it was not taken.
    pub problem: Option<String>,
}

impl InForce {
    /// These settings with the operator's rules that they name.
    pub fn load(config: Config) -> anyhow::Result<InForce> {
        let operator = rulebook::operator_files(&config.rules.dirs)?;
        let beside = Beside::default();
        let labelled = labelled::without_prints(&config.spillage);
        beside.labelled.set(labelled);
        let models = Arc::new(match config.classifier.mode {
            ClassifierMode::Off => Models::default(),
            ClassifierMode::Audit | ClassifierMode::On => Models::load(&config.state_dir),
        });
        InForce::new(config, operator.into(), beside, models)
    }

    /// These settings and these rules.
    fn new(
        config: Config,
        operator: Arc<[RuleText]>,
        beside: Beside,
        models: Arc<Models>,
    ) -> anyhow::Result<InForce> {
        let know = crate::own::knowledge()?;
        let rules = rulebook::set(config.profile, &operator, &know)?;
        let now = SystemTime::now();
        let ends = rules.next_end(now);
        let rules = Arc::new(rules.used_in(None, now));
        let scores = classification(&config, &models, None);
        let stack = judging::stack_beside(&beside, &config, scores, rules.clone())?;
        Ok(InForce {
            guard: Arc::new(config.guard.clone()),
            explaining: Arc::new(GuardSettings {
                on_block: OnBlock::Explain,
                ..config.guard.clone()
            }),
            config,
            operator,
            rules,
            ends,
            stack: Arc::new(stack),
            know,
            beside,
            models,
            projects: Mutex::default(),
            reading: Mutex::default(),
        })
    }

    /// What follows on this: new settings and rules, and the same projects.
    pub(crate) fn next(
        &self,
        config: Config,
        operator: Arc<[RuleText]>,
    ) -> anyhow::Result<InForce> {
        self.next_with(config, operator, self.models.clone())
    }

    /// The same settings and rules, with what the classifier has learned since.
    pub(crate) fn with_models(&self, models: Arc<Models>) -> anyhow::Result<InForce> {
        self.next_with(self.config.clone(), self.operator.clone(), models)
    }

    fn next_with(
        &self,
        config: Config,
        operator: Arc<[RuleText]>,
        models: Arc<Models>,
    ) -> anyhow::Result<InForce> {
        let next = InForce::new(config, operator, self.beside.clone(), models)?;
        let carried = |(name, project): (&String, &Arc<Project>)| {
            let ready = None;
            let project = Project::clone(project);
            (name.clone(), Arc::new(Project { ready, ..project }))
        };
        *lock(&next.projects) = lock(&self.projects).iter().map(carried).collect();
        Ok(next)
    }

    /// Whether a rule that held for some time has ended since.
    pub(crate) fn is_over(&self, now: SystemTime) -> bool {
        self.ends.is_some_and(|end| end <= now)
    }

    /// What judges the calls of a project, or of an agent without one; `None` if the project's
    /// rules have to be [looked at](Self::look_at) first.
    pub fn stack(&self, project: Option<&str>) -> Option<Arc<Stack>> {
        let Some(project) = project else {
            return Some(self.stack.clone());
        };
        let known = lock(&self.projects).get(project)?.ready.clone();
        known.map(|(stack, _)| stack)
    }

    /// How responses to this client are guarded. A client that is not known to check calls could
    /// run the empty one that keeps an agent going, or fail at it.
    pub fn guard_for(&self, user_agent: Option<&str>) -> Arc<GuardSettings> {
        let client = user_agent.unwrap_or_default();
        let mut known = self.config.continue_clients.iter();
        if known.any(|start| start == "*" || !start.is_empty() && client.starts_with(start)) {
            self.guard.clone()
        } else {
            self.explaining.clone()
        }
    }

    /// What judges while a project's own rules cannot be had.
    pub fn stack_without_project(&self) -> Arc<Stack> {
        self.stack.clone()
    }

    /// The rules that hold in a project that was looked at.
    pub fn rules(&self, project: Option<&str>) -> Arc<RuleSet> {
        let known = project.and_then(|p| lock(&self.projects).get(p)?.ready.clone());
        known.map_or_else(|| self.rules.clone(), |(_, rules)| rules)
    }

    /// The projects that are known.
    pub(crate) fn known_projects(&self) -> Vec<String> {
        lock(&self.projects).keys().cloned().collect()
    }

    /// Reads the rules of `project` if they are new or have changed. Returns what there is to say.
    pub fn look_at(&self, project: &str) -> Option<News> {
        let _alone = lock(&self.reading);
        let path = Path::new(project).join(PROJECT_FILE);
        let stamp = rulebook::stamp(&path).filter(|_| self.config.rules.project_files);
        let known = lock(&self.projects).get(project).cloned();
        let known = known.map(|p| Project::clone(&p)).unwrap_or_default();
        if known.ready.is_some() && known.stamp == stamp {
            return None;
        }
        let read = if self.config.rules.project_files {
            rulebook::project_file(project)
        } else {
            Ok(None)
        };
        let (found, problem) =
            match read.and_then(|file| Ok((self.join(project, file.as_ref())?, file))) {
                Ok((ready, file)) => ((ready, file), None),
                Err(error) => {
                    // Those that were good last are better than none, if they still are.
                    let last = self.join(project, known.file.as_ref()).ok();
                    let last = last.map(|ready| (ready, known.file.clone()));
                    let found = last.unwrap_or_else(|| (self.base(), None));
                    (found, Some(format!("{error:#}")))
                }
            };
        let (ready, file) = found;
        let news = news(&path, &known, file.as_ref(), problem.as_ref());
        let project_now = Project {
            stamp,
            file,
            problem,
            ready: Some(ready),
        };
        let mut projects = lock(&self.projects);
        if projects.len() >= MAX_PROJECTS {
            projects.clear();
        }
        projects.insert(project.to_owned(), Arc::new(project_now));
        news
    }

    /// Reads labelled projects now; a proxy does so in the background.
    pub(crate) fn read_labels(&self) {
        if self.config.spillage.projects.is_empty() {
            return;
        }
        if let Some(read) = labelled::Reader::new().read(&self.config.spillage) {
            self.beside.labelled.set(read);
        }
    }

    /// Whether the classifier has learned something in a project.
    #[cfg(test)]
    pub(crate) fn knows(&self, project: &str) -> bool {
        self.models.knows(Some(project))
    }

    /// The same, judged by other layers.
    #[cfg(test)]
    pub(crate) fn with_stack(self, stack: Stack) -> InForce {
        let stack = Arc::new(stack);
        InForce { stack, ..self }
    }

    fn base(&self) -> (Arc<Stack>, Arc<RuleSet>) {
        (self.stack.clone(), self.rules.clone())
    }

    /// The rules with those of a project's file, and what the project has learned.
    fn join(
        &self,
        project: &str,
        file: Option<&RuleText>,
    ) -> anyhow::Result<(Arc<Stack>, Arc<RuleSet>)> {
        let knows_more = self.rules.allows_in(project) || self.models.knows(Some(project));
        let rules = match file {
            Some(file) => {
                let mut files = self.operator.to_vec();
                files.push(file.clone());
                rulebook::set(self.config.profile, &files, &self.know)?
            }
            None if knows_more => self.rules.clone(),
            None => return Ok(self.base()),
        };
        let rules = Arc::new(rules.used_in(Some(project), SystemTime::now()));
        let scores = classification(&self.config, &self.models, Some(project));
        let stack = judging::stack_beside(&self.beside, &self.config, scores, rules.clone())?;
        Ok((Arc::new(stack), rules))
    }
}

/// The layer that scores the calls of a project, if the settings want one.
fn classification(
    config: &Config,
    models: &Models,
    project: Option<&str>,
) -> Option<Classification> {
    let most = match config.classifier.mode {
        ClassifierMode::Off => return None,
        ClassifierMode::Audit => Verdict::Audit,
        ClassifierMode::On => Verdict::Block,
    };
    Some(Classification::new(models.classifier(project), most))
}

fn news(
    path: &Path,
    before: &Project,
    file: Option<&RuleText>,
    problem: Option<&String>,
) -> Option<News> {
    if before.problem.as_ref() == problem && before.file.as_ref() == file {
        return None;
    }
    let path = path.display();
    let now = match (problem, file) {
        (Some(_), None) => format!("{path} is not in force: using the other rules without it"),
        (Some(_), Some(_)) => format!("{path} is not in force: keeping its previous rules"),
        (None, Some(_)) => format!("{path} is in force"),
        (None, None) => format!("{path} was removed; its rules no longer apply"),
    };
    Some(News {
        subject: "project",
        now,
        problem: problem.cloned(),
    })
}

#[cfg(test)]
mod tests;
