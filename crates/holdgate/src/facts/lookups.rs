//! Looks at the disk on a few threads of their own, and waits for none of them for long.
//!
//! A file system may hang for ever: a dead network mount, a FUSE daemon that does not answer. The
//! thread that looks there is then lost until it comes back. Who asked is told that the answer is
//! not known, another thread takes its place, and nobody enters that file system meanwhile.

use crate::threads::lock;
use holdgate_effects::path::{Real, is_under};
use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Threads that look.
const THREADS: usize = 4;
/// Threads with those that hang: when so many do, nothing is known any more.
const MAX_THREADS: usize = 16;
/// Look-ups that may wait for a thread.
const MAX_WAITING: usize = 256;
/// A look-up that takes longer hangs.
const HANGS_AFTER: Duration = Duration::from_millis(50);
/// Room for what a look-up needs.
const STACK_BYTES: usize = 256 << 10;

/// A disk. Each of these may take for ever.
pub(super) trait Look: Send + Sync + fmt::Debug {
    /// Where `path` leads. `enter` is called with each place on the way, which is not accessed if
    /// that says no: the answer is then not known.
    fn real(&self, path: &str, enter: &mut dyn FnMut(&str) -> bool) -> Real;
    /// Whether `path` is a file that holds something.
    fn is_file(&self, path: &str) -> bool;
    /// Whether `path` is a folder.
    fn is_folder(&self, path: &str) -> bool;
    /// What the text file at `path` holds, if it is no longer than this.
    fn content(&self, path: &str, most: usize) -> Option<String>;
    /// The mount that a path without links lies in, if it is not the root; must not hang.
    fn mount_of(&self, path: &str) -> Option<String>;
}

/// What is asked about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum About {
    Real,
    IsFile,
    IsFolder,
    /// What a text file holds that is no longer than this.
    Content(usize),
}

/// What the disk says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Real(Real),
    Yes(bool),
    Text(Option<String>),
}

/// The threads and what they do.
#[derive(Debug)]
pub(super) struct Lookups {
    disk: Box<dyn Look>,
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Arc<Question>>,
    running: Vec<Running>,
    threads: usize,
    idle: usize,
}

#[derive(Debug)]
struct Question {
    about: About,
    path: String,
    /// Where the look-up is now.
    at: Mutex<String>,
    answer: SyncSender<Said>,
}

#[derive(Debug)]
struct Running {
    question: Arc<Question>,
    since: Instant,
    /// The place that nobody enters, once it hangs there.
    hung: Option<String>,
}

impl Lookups {
    pub(super) fn new(disk: Box<dyn Look>) -> Arc<Lookups> {
        Arc::new(Lookups {
            disk,
            state: Mutex::default(),
            more: Condvar::new(),
        })
    }

    /// Asks the disk; `None` if it does not answer within `patience`.
    pub(super) fn ask(
        self: &Arc<Self>,
        about: About,
        path: &str,
        patience: Duration,
    ) -> Option<Said> {
        let start = Instant::now();
        let (answer, answered) = sync_channel(1);
        let question = Arc::new(Question {
            about,
            path: path.to_owned(),
            at: Mutex::default(),
            answer,
        });
        if !self.submit(&question) {
            return None;
        }
        loop {
            let left = patience.saturating_sub(start.elapsed());
            match answered.recv_timeout(left.min(HANGS_AFTER)) {
                Ok(said) => return Some(said),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let mut state = lock(&self.state);
            self.look_after(&mut state);
            let is_this = |other: &Arc<Question>| Arc::ptr_eq(other, &question);
            let mut running = state.running.iter();
            let hangs = running.any(|r| r.hung.is_some() && is_this(&r.question));
            if hangs || start.elapsed() >= patience {
                state.waiting.retain(|other| !is_this(other));
                return None;
            }
        }
    }

    /// How many look-ups hang.
    #[cfg(test)]
    pub(super) fn hanging(&self) -> usize {
        let state = lock(&self.state);
        state.running.iter().filter(|r| r.hung.is_some()).count()
    }

    fn submit(self: &Arc<Self>, question: &Arc<Question>) -> bool {
        let mut state = lock(&self.state);
        if state.waiting.len() >= MAX_WAITING {
            return false;
        }
        state.waiting.push_back(question.clone());
        self.look_after(&mut state);
        self.more.notify_one();
        if state.at_work() == 0 {
            // All hang, and no more may be started.
            state.waiting.clear();
        }
        !state.waiting.is_empty()
    }

    /// Marks what hangs, and starts threads in place of those that do.
    fn look_after(self: &Arc<Self>, state: &mut State) {
        for running in &mut state.running {
            if running.hung.is_none() && running.since.elapsed() >= HANGS_AFTER {
                let at = lock(&running.question.at).clone();
                running.hung = Some(self.disk.mount_of(&at).unwrap_or(at));
            }
        }
        let needed = state.waiting.len() > state.idle;
        if needed && state.at_work() < THREADS && state.threads < MAX_THREADS {
            let this = self.clone();
            let thread = std::thread::Builder::new().name("look-up".to_owned());
            let started = thread.stack_size(STACK_BYTES).spawn(move || this.work());
            state.threads += usize::from(started.is_ok());
        }
    }

    fn work(&self) {
        let mut state = lock(&self.state);
        loop {
            let Some(question) = state.waiting.pop_front() else {
                state.idle += 1;
                state = self
                    .more
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            let hung = state.running.iter().filter_map(|r| r.hung.clone());
            let hung: Vec<String> = hung.collect();
            state.running.push(Running {
                question: question.clone(),
                since: Instant::now(),
                hung: None,
            });
            drop(state);
            let said = self.look(&question, &hung);
            // Who asked may have gone.
            let _ = question.answer.try_send(said);
            state = lock(&self.state);
            let is_this = |running: &Running| Arc::ptr_eq(&running.question, &question);
            state.running.retain(|running| !is_this(running));
            if state.at_work() > THREADS {
                // One that hung has come back, and another has taken its place.
                state.threads -= 1;
                return;
            }
        }
    }

    fn look(&self, question: &Question, hung: &[String]) -> Said {
        let mut enter = |place: &str| {
            let mut at = lock(&question.at);
            place.clone_into(&mut at);
            !hung.iter().any(|hung| is_under(place, hung))
        };
        match question.about {
            About::Real => Said::Real(self.disk.real(&question.path, &mut enter)),
            // What cannot be looked at may be anything.
            About::IsFile => Said::Yes(!enter(&question.path) || self.disk.is_file(&question.path)),
            About::IsFolder => {
                Said::Yes(!enter(&question.path) || self.disk.is_folder(&question.path))
            }
            About::Content(most) if enter(&question.path) => {
                Said::Text(self.disk.content(&question.path, most))
            }
            About::Content(_) => Said::Text(None),
        }
    }
}

impl State {
    /// Threads that do not hang.
    fn at_work(&self) -> usize {
        let hung = self.running.iter().filter(|r| r.hung.is_some()).count();
        self.threads.saturating_sub(hung)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    const LONG: Duration = Duration::from_mins(1);

    /// A disk on which everything under `/hung` hangs until it is let go.
    #[derive(Debug)]
    struct Hangs(Mutex<Receiver<()>>);

    impl Hangs {
        fn wait_at(&self, path: &str) {
            if is_under(path, "/hung") || is_under(path, "/other") {
                // The lock is a part of it: nobody gets through before it is let go.
                let _ = self.0.lock().unwrap().recv();
            }
        }
    }

    impl Look for Hangs {
        fn real(&self, path: &str, enter: &mut dyn FnMut(&str) -> bool) -> Real {
            // `/link` leads to what hangs.
            let path = path.replace("/link", "/hung");
            if !enter(&path) {
                return Real::Unknown;
            }
            self.wait_at(&path);
            Real::At(path)
        }

        fn is_file(&self, path: &str) -> bool {
            self.wait_at(path);
            false
        }

        fn is_folder(&self, _: &str) -> bool {
            false
        }

        fn content(&self, path: &str, _: usize) -> Option<String> {
            self.wait_at(path);
            Some(path.to_owned())
        }

        fn mount_of(&self, path: &str) -> Option<String> {
            is_under(path, "/hung").then(|| "/hung".to_owned())
        }
    }

    fn lookups() -> (Arc<Lookups>, Sender<()>) {
        let (let_go, held) = channel();
        (Lookups::new(Box::new(Hangs(Mutex::new(held)))), let_go)
    }

    fn at(path: &str) -> Said {
        Said::Real(Real::At(path.to_owned()))
    }

    #[test]
    fn a_hung_mount_is_unknown_and_costs_one_thread() {
        let (lookups, let_go) = lookups();
        let real = |path: &str| lookups.ask(About::Real, path, LONG);
        assert_eq!(real("/a"), Some(at("/a")));
        assert_eq!(real("/hung/x"), None);
        assert_eq!(lookups.hanging(), 1);
        for n in 0..100 {
            let unknown = Some(Said::Real(Real::Unknown));
            assert_eq!(real(&format!("/hung/{n}")), unknown);
            assert_eq!(real(&format!("/link/{n}")), unknown);
            assert_eq!(real(&format!("/b/{n}")), Some(at(&format!("/b/{n}"))));
        }
        let may_be = lookups.ask(About::IsFile, "/hung/x", LONG);
        assert_eq!(may_be, Some(Said::Yes(true)));
        let text = |path: &str| lookups.ask(About::Content(9), path, LONG);
        assert_eq!(text("/hung/x"), Some(Said::Text(None)));
        assert_eq!(text("/b"), Some(Said::Text(Some("/b".to_owned()))));
        assert_eq!(lookups.hanging(), 1);

        let_go.send(()).unwrap();
        while lookups.hanging() > 0 {
            std::thread::yield_now();
        }
        drop(let_go);
        assert_eq!(real("/hung/x"), Some(at("/hung/x")), "it has come back");
    }

    #[test]
    fn when_every_thread_hangs_nothing_is_known_at_once() {
        let (lookups, let_go) = lookups();
        for n in 0..MAX_THREADS {
            // Each in a place of its own.
            assert_eq!(lookups.ask(About::Real, &format!("/other/{n}"), LONG), None);
            assert_eq!(lookups.hanging(), n + 1);
        }
        assert_eq!(lookups.ask(About::Real, "/a", LONG), None);
        assert!(
            lock(&lookups.state).waiting.is_empty(),
            "and nothing piles up"
        );
        drop(let_go);
        while lookups.hanging() > 0 {
            std::thread::yield_now();
        }
        assert_eq!(lookups.ask(About::Real, "/a", LONG), Some(at("/a")));
        assert!(lock(&lookups.state).threads <= THREADS);
    }

    #[test]
    fn who_has_no_patience_leaves_nothing_behind() {
        let (lookups, let_go) = lookups();
        assert_eq!(lookups.ask(About::Real, "/hung/x", Duration::ZERO), None);
        assert_eq!(lookups.ask(About::Real, "/hung/y", Duration::ZERO), None);
        assert!(lock(&lookups.state).waiting.is_empty());
        drop(let_go);
    }
}
