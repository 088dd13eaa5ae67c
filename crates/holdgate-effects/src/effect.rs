//! What a call does, in terms that rules can speak about.

use crate::host::Host;
use crate::json::Json;
use crate::path::Place;
use crate::tag::Tag;
use crate::value::{HOLE, Origins};
use crate::worded::worded;
use std::sync::Arc;

worded! {
    /// What kind of thing is done.
    pub enum Kind as "effect" {
        Run = "run": "A program runs.",
        Read = "read": "A file or folder is read.",
        Write = "write": "A file is created or changed.",
        Delete = "delete": "A file or folder is deleted.",
        Move = "move": "A file or folder is moved from its place.",
        Mode = "mode": "Permissions, owners or attributes change.",
        Fetch = "fetch": "Something is requested from a host.",
        Send = "send": "Data is sent to a host.",
        Connect = "connect": "A raw connection to a host.",
        Listen = "listen": "A port is opened for others.",
        RemoteShell = "remote-shell": "A shell whose input or output is a network connection.",
        ExecuteFetched = "execute-fetched": "Code from the network runs.",
        ExecuteDecoded = "execute-decoded": "Decoded code runs.",
        ExecuteOpaque = "execute-opaque": "Unknown code runs.",
        Elevate = "elevate": "Privileges are raised.",
        Persist = "persist": "Something will run again later: at login, at boot, on a schedule.",
        Kill = "kill": "A process is stopped.",
        Env = "env": "An environment variable is set.",
        Vcs = "vcs": "A version control system changes something.",
        Install = "install": "A package is installed.",
        Container = "container": "A container is started or changed.",
        Database = "database": "A database is changed.",
        Service = "service": "A system service is controlled.",
        System = "system": "The system configuration changes: users, kernel, network, mounts, \
                            firewall.",
        Remote = "remote": "Something is published or changed in the cloud, a cluster or a registry.",
        Agent = "agent": "Another agent is started.",
        Guard = "guard": "Holdgate's own program is run, copied or removed.",
        Exhaust = "exhaust": "The machine is exhausted: a fork bomb, an endless write.",
        Unreadable = "unreadable": "A command that cannot be read.",
    }
}

/// Who does something: a program in a command, a function in code, a tool.
#[derive(Clone, Debug, Default)]
pub struct Actor {
    /// The program's name without its folder, or the function's.
    pub program: Arc<str>,
    /// The part of the call that says so, as evaluated.
    pub evidence: Arc<str>,
    /// What holds for all that it does.
    pub tags: Vec<Tag>,
    /// What version control acts on.
    pub refs: Option<Arc<Refs>>,
}

impl Actor {
    /// An actor without tags.
    pub fn new(program: &str, evidence: &str) -> Self {
        Actor {
            program: program.into(),
            evidence: evidence.into(),
            tags: Vec::new(),
            refs: None,
        }
    }

    /// Whether it has a tag.
    pub fn is(&self, tag: Tag) -> bool {
        self.tags.contains(&tag)
    }

    /// Adds tags that it does not have yet.
    pub fn tag(&mut self, tags: impl IntoIterator<Item = Tag>) {
        for tag in tags {
            if !self.is(tag) {
                self.tags.push(tag);
            }
        }
    }

    /// The same actor with one more tag.
    #[must_use]
    pub(crate) fn and(&self, tag: Tag) -> Actor {
        let mut actor = self.clone();
        actor.tag([tag]);
        actor
    }

    /// An effect of this actor.
    pub fn does(&self, kind: Kind) -> Effect {
        Effect {
            kind,
            program: self.program.clone(),
            evidence: self.evidence.clone(),
            tags: self.tags.clone(),
            path: None,
            host: None,
            text: None,
            origins: Origins::NONE,
            sources: Vec::new(),
            refs: self.refs.clone(),
            unconditional: true,
        }
    }
}

/// What an allocator takes for so many bytes: its own head, and the next multiple of 16.
pub fn allocated(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        bytes => (bytes + 8).next_multiple_of(16).max(32),
    }
}

/// The branches and the remote that version control acts on. What is not known is a
/// [`HOLE`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Refs {
    /// The branches that it acts on, or may act on: those of the remote for a push, the one that is
    /// checked out for all else.
    pub branches: Vec<String>,
    /// The remote's name, if it has one.
    pub remote: Option<String>,
    /// The remote's address, without the user in it.
    pub url: Option<String>,
}

impl Refs {
    /// Whether a branch among them is not known.
    pub fn has_unknown_branch(&self) -> bool {
        self.branches.iter().any(|branch| branch.contains(HOLE))
    }
}

/// One thing that a call does.
#[derive(Clone, Debug)]
pub struct Effect {
    /// What kind of thing.
    pub kind: Kind,
    /// The program or function that does it.
    pub program: Arc<str>,
    /// The part of the call that says so, as evaluated.
    pub evidence: Arc<str>,
    /// More about it.
    pub tags: Vec<Tag>,
    /// The file or folder that it is about.
    pub path: Option<Place>,
    /// The host that it is about.
    pub host: Option<Host>,
    /// What else it is about: arguments, a package, a variable, the text written.
    pub text: Option<Arc<str>>,
    /// Where the data came from that is written, sent or run.
    pub origins: Origins,
    /// The hosts and paths that it came from.
    pub sources: Vec<Arc<str>>,
    /// The branches and the remote that version control acts on.
    pub refs: Option<Arc<Refs>>,
    /// Whether it was done if the call succeeded: it stands in no branch that may not be taken, and
    /// its failure would have been the call's.
    pub unconditional: bool,
}

impl Effect {
    /// Whether it has a tag.
    pub fn is(&self, tag: Tag) -> bool {
        self.tags.contains(&tag)
    }

    /// The same with one more tag.
    #[must_use]
    pub fn tagged(mut self, tag: Tag) -> Self {
        if !self.is(tag) {
            self.tags.push(tag);
        }
        self
    }

    /// The same, about a path.
    #[must_use]
    pub fn at(mut self, path: Place) -> Self {
        self.path = Some(path);
        self
    }

    /// The same, about a host.
    #[must_use]
    pub fn with(mut self, host: Host) -> Self {
        self.host = Some(host);
        self
    }

    /// The same, about a text.
    #[must_use]
    pub fn about(mut self, text: &str) -> Self {
        self.text = Some(text.into());
        self
    }

    /// The same, with data from somewhere.
    #[must_use]
    pub fn of(mut self, value: &crate::value::Value) -> Self {
        self.origins |= value.origins;
        self.sources.clone_from(&value.sources);
        self
    }

    /// Lets go of what is large: what was written, and all but the start of the command.
    pub fn forget_content(&mut self) {
        const KEPT: usize = 200;
        if self.text.as_ref().is_some_and(|text| text.len() > KEPT) {
            self.text = None;
        }
        if self.evidence.len() > KEPT {
            self.evidence = crate::json::shorten(&self.evidence, KEPT).into();
        }
    }

    /// About how many bytes it takes in memory. What it shares with `before`, the effect that
    /// stands before it, is counted there.
    pub fn bytes(&self, before: Option<&Effect>) -> usize {
        let is_shared = |text: &Arc<str>, before: Option<&Arc<str>>| {
            text.is_empty() || before.is_some_and(|before| Arc::ptr_eq(text, before))
        };
        let mut bytes = size_of::<Effect>();
        for (text, other) in [
            (&self.program, before.map(|b| &b.program)),
            (&self.evidence, before.map(|b| &b.evidence)),
        ] {
            if !is_shared(text, other) {
                bytes += allocated(text.len() + 16);
            }
        }
        bytes += allocated(self.tags.capacity() * size_of::<Tag>());
        if let Some(path) = &self.path {
            bytes += allocated(path.text.capacity()) + allocated(path.short.capacity());
        }
        if let Some(host) = &self.host {
            bytes += allocated(host.name.capacity());
        }
        if let Some(text) = &self.text {
            bytes += allocated(text.len() + 16);
        }
        if let Some(refs) = &self.refs
            && !before
                .and_then(|b| b.refs.as_ref())
                .is_some_and(|other| Arc::ptr_eq(refs, other))
        {
            let texts = refs.branches.iter().chain(&refs.remote).chain(&refs.url);
            bytes += allocated(size_of::<Refs>() + 16);
            bytes += texts.map(|text| 24 + allocated(text.len())).sum::<usize>();
        }
        let sources = self.sources.iter().map(|s| allocated(s.len() + 16));
        let list = allocated(self.sources.capacity() * size_of::<Arc<str>>());
        bytes + list + sources.sum::<usize>()
    }

    /// As `holdgate check` prints it and the ledger keeps it.
    pub fn to_json(&self) -> Json<'static> {
        let mut json = Json::object([
            ("effect", self.kind.word().into()),
            ("program", self.program.to_string().into()),
        ]);
        let list = |items: Vec<String>| Json::Array(items.into_iter().map(Into::into).collect());
        if !self.tags.is_empty() {
            json.set(
                "tags",
                list(self.tags.iter().map(ToString::to_string).collect()),
            );
        }
        if let Some(path) = &self.path {
            json.set("path", path.text.clone().into());
            json.set(
                "path_class",
                list(path.classes.names().map(str::to_owned).collect()),
            );
        }
        if let Some(host) = &self.host {
            json.set("host", host.name.clone().into());
            json.set("host_class", host.class.word().into());
        }
        if let Some(text) = &self.text {
            json.set("text", crate::json::shorten(text, 200).into());
        }
        if let Some(refs) = &self.refs {
            let shown = |text: &String| text.replace(HOLE, "?");
            if !refs.branches.is_empty() {
                json.set("branch", list(refs.branches.iter().map(shown).collect()));
            }
            if let Some(remote) = &refs.remote {
                json.set("remote", shown(remote).into());
            }
            if let Some(url) = &refs.url {
                json.set("remote_url", shown(url).into());
            }
        }
        if self.origins != Origins::NONE {
            json.set(
                "from",
                list(self.origins.names().map(str::to_owned).collect()),
            );
        }
        json
    }
}

/// What two effects must share to count as one.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct EffectKey {
    kind: Kind,
    program: Arc<str>,
    path: Option<String>,
    host: Option<String>,
    text: Option<Arc<str>>,
    tags: Vec<Tag>,
    origins: Vec<&'static str>,
    refs: Option<Arc<Refs>>,
}

impl EffectKey {
    /// The key of an effect.
    pub fn of(effect: &Effect) -> Self {
        EffectKey {
            kind: effect.kind,
            program: effect.program.clone(),
            path: effect.path.as_ref().map(|path| path.text.clone()),
            host: effect.host.as_ref().map(|host| host.name.clone()),
            text: effect.text.clone(),
            tags: effect.tags.clone(),
            origins: effect.origins.names().collect(),
            refs: effect.refs.clone(),
        }
    }
}
