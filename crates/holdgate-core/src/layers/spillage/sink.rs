//! Where a call carries something, and what that means for a secret.

use crate::history::{History, Step};
use crate::provenance::is_named;
use crate::shown::{Shown, domain};
use crate::taint::Secret;
use crate::verdict::Verdict;
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::host::{Host, HostClass};
use holdgate_effects::path::{PathClass, Place};
use holdgate_effects::tag::Tag;
use std::fmt;

/// A secret, the step that showed it, and what else that has shown.
pub(super) type Known<'h> = (&'h Step, &'h Shown, &'h Secret);

/// How a call carries a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Where a credential stands: in a header, a login, an option of that name.
    Credential,
    /// After a name that says so: `password=…`, in whatever text.
    Named,
    /// Anywhere else.
    Data,
}

/// Where something would go.
pub(super) enum Sink<'e> {
    Host(&'e Host),
    /// Where others read it: a message, a comment, a search.
    Shared(&'e str),
    /// The user's own account at a service: a cluster, a registry, a login.
    Service(&'e str),
    /// A remote of version control.
    Push(&'e str),
    /// A file outside of the project.
    File(&'e Place),
    /// A tool of which nobody knows where it sends what it gets.
    Tool(&'e str),
}

/// What others read.
const SHARED: [Tag; 10] = [
    Tag::Message,
    Tag::Comment,
    Tag::Issue,
    Tag::Pr,
    Tag::Mr,
    Tag::Gist,
    Tag::Paste,
    Tag::Mail,
    Tag::Publish,
    Tag::WebSearch,
];

/// Files that stay with the agent.
const STAYS: [PathClass; 5] = [
    PathClass::Project,
    PathClass::Temp,
    PathClass::Cache,
    PathClass::Generated,
    PathClass::Stream,
];

impl<'e> Sink<'e> {
    pub(super) fn of(effect: &'e Effect) -> Option<Sink<'e>> {
        let shared = || SHARED.iter().any(|tag| effect.is(*tag));
        match (effect.kind, &effect.host) {
            (
                Kind::Fetch
                | Kind::Send
                | Kind::Connect
                | Kind::RemoteShell
                | Kind::Remote
                | Kind::Database
                | Kind::Install,
                Some(host),
            ) => {
                let near = matches!(host.class, HostClass::Loopback | HostClass::Private);
                (!near).then_some(Sink::Host(host))
            }
            (Kind::Send, None) => Some(Sink::Shared(&effect.program)),
            (Kind::Run | Kind::Remote, None) if shared() => Some(Sink::Shared(&effect.program)),
            (Kind::Remote, None) => Some(Sink::Service(&effect.program)),
            (Kind::Vcs, _) if effect.is(Tag::Push) => Some(Sink::Push(&effect.program)),
            (Kind::Write, _) => {
                let place = effect.path.as_ref()?;
                let leaves = !STAYS.iter().any(|class| place.is(*class));
                leaves.then_some(Sink::File(place))
            }
            _ => None,
        }
    }

    /// A tool that no table knows may send what it gets.
    pub(super) fn of_unknown_tool(effects: &'e [Effect]) -> Option<Sink<'e>> {
        match effects {
            [effect]
                if effect.kind == Kind::Run && effect.is(Tag::Tool) && !effect.is(Tag::Inert) =>
            {
                Some(Sink::Tool(&effect.program))
            }
            _ => None,
        }
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Sink::Tool(_))
    }

    /// Whether a secret may go there.
    pub(super) fn verdict(&self, known: &Known<'_>, how: Use, history: &History) -> Verdict {
        let (step, shown, secret) = known;
        match (self, how) {
            (Sink::Host(host), _) if came_from(host, step) => Verdict::Allow,
            (Sink::Host(host), _) if is_issuer(host, secret) => Verdict::Audit,
            (Sink::Host(host), _) if host.class == HostClass::Drop => Verdict::Block,
            (Sink::Host(host), Use::Credential | Use::Named) => {
                let expected = shown.names_host(&host.name)
                    || is_named(&host.name, history)
                    || is_named(domain(&host.name), history);
                if expected {
                    Verdict::Audit
                } else {
                    Verdict::Ask
                }
            }
            // A login is a login, but what a message calls a password is read by others. Secrets that
            // the user's own services are to have are judged by other rules.
            (Sink::Shared(_), Use::Credential) | (Sink::Service(_), _) => Verdict::Audit,
            (Sink::Host(host), Use::Data) if shown.names_host(&host.name) => Verdict::Ask,
            (Sink::Host(_) | Sink::Shared(_), _) if secret.is_guess() => Verdict::Ask,
            (Sink::Host(_), Use::Data) | (Sink::Shared(_), _) => Verdict::Block,
            (Sink::Push(_) | Sink::Tool(_), _) => Verdict::Ask,
            (Sink::File(place), _) => {
                let paths = step
                    .effects
                    .iter()
                    .filter_map(|effect| effect.path.as_ref());
                let own = paths.into_iter().any(|path| path.text == place.text);
                let kept = [PathClass::Secret, PathClass::Workspace, PathClass::Home];
                let kept = kept.iter().any(|class| place.is(*class));
                match (own, kept) {
                    (true, _) => Verdict::Allow,
                    (false, true) => Verdict::Ask,
                    (false, false) => Verdict::Block,
                }
            }
        }
    }
}

/// Whether the host sent the secret itself.
fn came_from(host: &Host, step: &Step) -> bool {
    let mut hosts = step
        .effects
        .iter()
        .filter_map(|effect| effect.host.as_ref());
    hosts.any(|other| domain(&other.name) == domain(&host.name))
}

fn is_issuer(host: &Host, secret: &Secret) -> bool {
    secret.issuers.iter().any(|issuer| {
        let rest = host.name.strip_suffix(issuer);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

impl fmt::Display for Sink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sink::Host(host) => write!(f, "to the host `{}`", host.name),
            Sink::Shared(name) => write!(f, "through `{name}` to where others read it"),
            Sink::Service(name) => write!(f, "through `{name}`"),
            Sink::Push(name) => write!(f, "with what `{name}` pushes"),
            Sink::File(place) => write!(f, "to `{}`, outside of the project", place.text),
            Sink::Tool(name) => write!(f, "through the tool `{name}`, which is not known"),
        }
    }
}
