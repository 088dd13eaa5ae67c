//! Rules and settings that change while the proxy runs.
//!
//! One thread looks at the files. What has changed is read and tried here, off the way of requests,
//! and put in force as a whole; what cannot be used is reported, and nothing changes.

use super::App;
use crate::config::{Config, ConfigError};
use crate::in_force::{InForce, News};
use crate::learning::classifier;
use crate::learning::classifier::models::{self, Models};
use crate::rulebook::{self, RuleText, Stamp};
use holdgate_core::{Finding, LayerName, Masked};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};

/// How long files must have been left alone before they are read, and how often that is tried.
const SETTLE: Duration = Duration::from_millis(25);
const MAX_SETTLES: usize = 20;

/// How often something changed.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Changes that are in force, or were.
    pub(crate) loaded: AtomicU64,
    /// Changes that could not be used.
    pub(crate) failed: AtomicU64,
}

/// Looks at the files until the other end of `stop` is gone.
pub(super) fn watch(app: &App, stop: &Receiver<()>) {
    let mut watcher = Watcher {
        // It was read when the proxy started.
        model: rulebook::stamp(&models::path(&app.config.state_dir)),
        ..Watcher::default()
    };
    // What changed between the start and now has not been seen yet.
    watcher.look(app);
    while stop.recv_timeout(app.config.rules.check_every) == Err(RecvTimeoutError::Timeout) {
        watcher.look(app);
    }
}

#[derive(Debug, Default)]
struct Watcher {
    /// The files as they were last read; `None` if they have to be read.
    seen: Option<Seen>,
    settings_problem: Option<String>,
    rules_problem: Option<String>,
    /// The file of what the classifier has learned, as it was last seen.
    model: Option<Stamp>,
}

/// The files as they stood at one time.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    settings: Option<Stamp>,
    rules: Vec<(PathBuf, Option<Stamp>)>,
    /// Why the rules cannot be listed.
    problem: Option<String>,
}

impl Seen {
    fn now(app: &App) -> Seen {
        let settings = app.config.settings_file();
        let stamped = |path: PathBuf| {
            let stamp = rulebook::stamp_of_target(&path);
            (path, stamp)
        };
        let listed = rulebook::operator_paths(&app.config.rules.dirs);
        let problem = listed.as_ref().err().map(|e| format!("{e:#}"));
        Seen {
            settings: settings.as_deref().and_then(rulebook::stamp_of_target),
            rules: listed
                .unwrap_or_default()
                .into_iter()
                .map(stamped)
                .collect(),
            problem,
        }
    }
}

/// A folder whose rules are in force and that is no longer there. Rules can be taken out one by
/// one; all at once looks like an accident, or worse.
fn vanished(files: &[RuleText]) -> Option<String> {
    let mut folders = files
        .iter()
        .filter_map(|file| Path::new(&file.name).parent());
    let gone = folders.find(|folder| !folder.is_dir())?;
    Some(gone.display().to_string())
}

/// Takes rules out of force that held for some time, which is over. They were valid before.
fn end_rules(app: &App) {
    let in_force = app.in_force();
    if !in_force.is_over(SystemTime::now()) {
        return;
    }
    match in_force.next(in_force.config.clone(), in_force.operator.clone()) {
        Ok(next) => app.put_in_force(next),
        Err(error) => crate::log::warn(&format!("an exception has not ended: {error:#}")),
    }
}

impl Watcher {
    fn look(&mut self, app: &App) {
        let mut now = Seen::now(app);
        if self.seen.as_ref() != Some(&now) {
            // Somebody may still be writing.
            for _ in 0..MAX_SETTLES {
                std::thread::sleep(SETTLE);
                let then = std::mem::replace(&mut now, Seen::now(app));
                if then == now {
                    break;
                }
            }
            let reloaded = app.in_force().config.reload_unless_gone();
            let files = rulebook::operator_files(&app.config.rules.dirs);
            // What was written while it was read may have been read in part.
            let is_whole = Seen::now(app) == now;
            self.seen = is_whole.then_some(now);
            if is_whole {
                self.apply(app, reloaded, files);
            }
        }
        self.look_at_model(app);
        end_rules(app);
        let in_force = app.in_force();
        for project in in_force.known_projects() {
            if let Some(news) = in_force.look_at(&project) {
                app.report(&news);
            }
        }
    }

    /// Puts in force what the classifier has learned since, if it passes the checks. What cannot be
    /// used is reported, and the previous model stays.
    fn look_at_model(&mut self, app: &App) {
        let dir = &app.config.state_dir;
        let stamp = rulebook::stamp(&models::path(dir));
        let before = std::mem::replace(&mut self.model, stamp);
        // Without a file, what is in force stays.
        if before == stamp || stamp.is_none() {
            return;
        }
        let used = models::read(dir).and_then(|memories| {
            let memories = memories.unwrap_or_default();
            classifier::is_acceptable(&memories).map_err(anyhow::Error::msg)?;
            app.in_force().with_models(Models::of(&memories).into())
        });
        match used {
            Ok(next) => {
                app.put_in_force(next);
                app.note_model("in-force", "what the classifier has learned is in force");
            }
            Err(error) => {
                let reason = format!("the classifier keeps its previous model: {error:#}");
                crate::log::warn(&reason);
                app.note_model("not-used", &reason);
            }
        }
    }

    /// Puts in force what can be used of these settings and rules.
    fn apply(
        &mut self,
        app: &App,
        reloaded: Result<Config, ConfigError>,
        files: anyhow::Result<Vec<RuleText>>,
    ) {
        let old = app.in_force();
        let mut news = Vec::new();
        let mut config = None;
        let problem = reloaded.as_ref().err().map(ToString::to_string);
        let was_broken = std::mem::replace(&mut self.settings_problem, problem.clone());
        match reloaded {
            Ok(new) if old.config.is_written_otherwise(&new) => {
                news.push(settings_news(&app.config.waiting_for_restart(&new)));
                config = Some(old.config.with_live(&new));
            }
            Ok(_) if was_broken.is_some() => news.push(settings_news(&[])),
            Ok(_) => {}
            Err(_) if was_broken == problem => {}
            Err(_) => news.push(News {
                subject: "settings",
                now: "keeping the previous settings".to_owned(),
                problem,
            }),
        }
        let settings = config.clone().unwrap_or_else(|| old.config.clone());
        let mut next = None;
        let mut problem = None;
        let mut rules_changed = false;
        match files {
            Ok(files) if files == *old.operator => {}
            Ok(_) if let Some(folder) = vanished(&old.operator) => {
                problem = Some(format!(
                    "{folder} is missing; restart to continue without its rules"
                ));
            }
            Ok(files) => match old.next(settings.clone(), files.into()) {
                Ok(new) => (next, rules_changed) = (Some(new), true),
                Err(error) => problem = Some(format!("{error:#}")),
            },
            Err(error) => problem = Some(format!("{error:#}")),
        }
        let was_broken = std::mem::replace(&mut self.rules_problem, problem.clone());
        match (&problem, was_broken) {
            (Some(new), Some(old)) if *new == old => {}
            (Some(_), _) => news.push(News {
                subject: "rules",
                now: "keeping the previous rules".to_owned(),
                problem,
            }),
            (None, was_broken) if rules_changed || was_broken.is_some() => {
                let files = next.as_ref().map_or(&old.operator, |new| &new.operator);
                news.push(rules_news(files));
            }
            (None, _) => {}
        }
        if next.is_none() && config.is_some() {
            // The rules were good with other settings, so only a bug can stop them now.
            match old.next(settings, old.operator.clone()) {
                Ok(new) => next = Some(new),
                Err(error) => crate::log::warn(&format!("the settings cannot be used: {error:#}")),
            }
        }
        if let Some(next) = next {
            app.put_in_force(next);
        }
        for news in news {
            app.report(&news);
        }
    }
}

fn settings_news(waiting: &[String]) -> News {
    let mut now = "the new settings are in force".to_owned();
    if !waiting.is_empty() {
        now.push_str(&format!(
            ", except these, which need a restart: {}",
            waiting.join(", ")
        ));
    }
    News {
        subject: "settings",
        now,
        problem: None,
    }
}

fn rules_news(files: &[RuleText]) -> News {
    let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
    let now = match names.as_slice() {
        [] => "only the built-in rules are in force".to_owned(),
        names => format!("the rules are in force: built-in, {}", names.join(", ")),
    };
    News {
        subject: "rules",
        now,
        problem: None,
    }
}

impl App {
    /// What is in force now.
    pub(crate) fn in_force(&self) -> Arc<InForce> {
        let in_force = self.in_force.read();
        in_force
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone()
    }

    fn put_in_force(&self, next: InForce) {
        let in_force = self.in_force.write();
        *in_force.unwrap_or_else(std::sync::PoisonError::into_inner) = Arc::new(next);
    }

    /// Records what became of the classifier's model.
    pub(super) fn note_model(&self, action: &str, reason: &str) {
        let finding = Finding::audit(LayerName::Classifier, "model", reason);
        if let Err(error) = self.ledger.append_event("classifier", action, &finding) {
            crate::log::warn(&format!("cannot write the ledger: {error}"));
        }
    }

    /// Says what became of a change: on the terminal, in the ledger, and in the counters.
    pub(crate) fn report(&self, news: &News) {
        let (counter, action, rule) = match (&news.problem, news.subject) {
            (None, "settings") => (&self.reloads.loaded, "loaded", "settings-loaded"),
            (None, _) => (&self.reloads.loaded, "loaded", "rules-loaded"),
            (Some(_), "settings") => (&self.reloads.failed, "not-loaded", "settings-not-loaded"),
            (Some(_), _) => (&self.reloads.failed, "not-loaded", "rules-not-loaded"),
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let mut reason = news.now.clone();
        match &news.problem {
            Some(problem) => {
                crate::log::warn(&format!("{}:\n{problem}", news.now));
                let first = problem.lines().next().unwrap_or_default();
                reason.push_str(&format!(": {first}"));
            }
            None => crate::log::warn(&news.now),
        }
        let finding = Finding {
            evidence: news.problem.as_deref().map(Masked::of),
            ..Finding::audit(LayerName::Rules, rule, reason)
        };
        if let Err(error) = self.ledger.append_event(news.subject, action, &finding) {
            crate::log::warn(&format!("cannot write the ledger: {error}"));
        }
    }
}
