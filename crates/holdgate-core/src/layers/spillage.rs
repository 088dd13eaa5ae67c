//! The spillage layer: does data go where it must not? (Inspired by "Argus".)
//!
//! It knows the secrets and the marked passages that results have shown, and looks for them in
//! everything that a call carries outwards, in every form. The finding names both steps: the one
//! that showed the value, and the one that would carry it away.

use crate::call::ToolCall;
use crate::history::{History, Step};
use crate::mask::Masked;
use crate::shown::{self, Shown, domain};
use crate::spillage::{self, What};
use crate::stack::{Context, Layer, OutOfFuel};
use crate::taint::{Form, Search, Secret};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::fuel::Fuel;
use holdgate_effects::host::HostClass;
use holdgate_effects::json::Json;
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;
use std::fmt;

/// Bytes that one unit of fuel reads: every reading of a text together.
const BYTES_PER_FUEL: usize = 16;
/// Passages of a marked text that a call must share with it.
const MIN_PASSAGES: usize = 2;

/// The layer.
#[derive(Clone, Copy, Debug)]
pub struct Spillage;

impl Layer for Spillage {
    fn name(&self) -> LayerName {
        LayerName::Spillage
    }

    fn judge(
        &self,
        call: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        fuel.spend(1)?;
        let sinks: Vec<Sink<'_>> = effects.iter().filter_map(Sink::of).collect();
        let mut findings = Vec::new();
        if sinks.is_empty() {
            return Ok(findings);
        }
        let texts = texts(call, effects, context);
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        fuel.spend((bytes / BYTES_PER_FUEL) as u64)?;
        findings.extend(marked(&texts, &sinks));
        if context.history.has_sensitive() {
            findings.extend(secrets(&texts, &sinks, context.history));
            findings.extend(passages(&texts, &sinks, context.history));
            findings.extend(lost(context.history));
        }
        Ok(findings)
    }
}

/// Where something would go.
enum Sink<'e> {
    Host(&'e str),
    /// A service that the call does not name by its host.
    Service(&'e str),
    /// A file outside of the project.
    File(&'e str),
}

impl<'e> Sink<'e> {
    fn of(effect: &'e Effect) -> Option<Sink<'e>> {
        let outside = |class| !matches!(class, HostClass::Loopback | HostClass::Private);
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
            ) => outside(host.class).then_some(Sink::Host(&host.name)),
            (Kind::Send | Kind::Remote, None) => Some(Sink::Service(&effect.program)),
            (Kind::Vcs, _) if effect.is(Tag::Push) => Some(Sink::Service(&effect.program)),
            (Kind::Write, _) => {
                let place = effect.path.as_ref()?;
                let stays = [
                    PathClass::Project,
                    PathClass::Temp,
                    PathClass::Cache,
                    PathClass::Generated,
                    PathClass::Stream,
                ];
                let leaves = !stays.iter().any(|class| place.is(*class));
                leaves.then_some(Sink::File(&place.text))
            }
            _ => None,
        }
    }

    /// Whether a secret may go there: where it came from, and where it is used.
    fn is_home(&self, secret: &Secret, step: &Step, shown: &Shown) -> bool {
        let mut effects = step.effects.iter();
        match self {
            Sink::Host(name) => {
                let below = |issuer: &&str| {
                    let rest = name.strip_suffix(*issuer);
                    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
                };
                let asked = |effect: &Effect| {
                    let host = effect.host.as_ref();
                    host.is_some_and(|host| domain(&host.name) == domain(name))
                };
                secret.issuers.iter().any(below) || effects.any(asked) || shown.names_host(name)
            }
            Sink::File(path) => effects.any(|effect| {
                let place = effect.path.as_ref();
                place.is_some_and(|place| place.text == **path)
            }),
            Sink::Service(_) => false,
        }
    }
}

impl fmt::Display for Sink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sink::Host(name) => write!(f, "to the host `{name}`"),
            Sink::Service(name) => write!(f, "through `{name}`"),
            Sink::File(path) => write!(f, "to `{path}`, outside of the project"),
        }
    }
}

/// All that a call carries: its arguments, what they evaluate to, and what files hold that it reads.
fn texts<'c>(call: &'c ToolCall, effects: &'c [Effect], context: &Context<'c>) -> Vec<&'c str> {
    let mut texts = Vec::new();
    let mut open = vec![&call.input];
    while let Some(json) = open.pop() {
        match json {
            Json::String(text) => texts.push(text.as_ref()),
            Json::Array(items) => open.extend(items.iter().rev()),
            Json::Object(members) => open.extend(members.iter().rev().map(|(_, value)| value)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    let mut add = |text: &'c str| {
        if !texts.contains(&text) {
            texts.push(text);
        }
    };
    for effect in effects {
        add(&effect.evidence);
        if let Some(host) = &effect.host {
            add(&host.name);
        }
        if let Some(text) = &effect.text {
            add(text);
        }
        let paths = effect.path.iter().map(|place| place.text.as_str());
        let paths = paths.chain(effect.sources.iter().map(AsRef::as_ref));
        for content in paths.filter_map(|path| context.traces?.content(path)) {
            add(content);
        }
    }
    texts
}

/// Secrets that earlier results have shown.
fn secrets(texts: &[&str], sinks: &[Sink<'_>], history: &History) -> Option<Finding> {
    let known: Vec<(&Step, &Shown, &Secret)> = history.secrets().collect();
    let mut search = Search::new(history.taint());
    for text in texts {
        search.look(text);
    }
    // The same value may have been shown by several steps: it is at home where any of them was.
    let found: Vec<_> = search
        .found()
        .filter_map(|(at, form)| Some((known.get(at)?, form)))
        .collect();
    let leaves = |(_, _, secret): &(&Step, &Shown, &Secret), sink: &Sink<'_>| {
        let mut same = known.iter().filter(|(_, _, other)| other == secret);
        !same.any(|(step, shown, secret)| sink.is_home(secret, step, shown))
    };
    let (known, form, sink) = found.iter().find_map(|(known, form)| {
        let sink = sinks.iter().find(|sink| leaves(known, sink))?;
        Some((known, *form, sink))
    })?;
    Some(leak(known.0, known.2, form, sink))
}

fn leak(step: &Step, secret: &Secret, form: Form, sink: &Sink<'_>) -> Finding {
    let reason = format!(
        "a secret ({}) that an earlier call of `{}` showed would leave {sink}, {}",
        secret.rule,
        step.tool,
        form.word(),
    );
    let finding = Finding::block(LayerName::Spillage, "secret-leaves", reason).instead(
        "let the program read the secret itself, from its file or a variable, and send it only to \
         the service that it belongs to",
    );
    Finding {
        evidence: Some(shown_by(step)),
        ..finding
    }
}

/// The step that showed something, as people know it.
fn shown_by(step: &Step) -> Masked {
    let read = step.effects.iter().find(|e| e.kind == Kind::Read);
    let read = read.and_then(|effect| Some(effect.path.as_ref()?.text.as_str()));
    let said = step.effects.iter().map(|effect| effect.evidence.as_ref());
    let said = read
        .or(said.max_by_key(|text| text.len()))
        .unwrap_or_default();
    Masked::start(
        &format!("shown by `{}`, call {}: {said}", step.tool, step.call),
        200,
    )
}

/// Passages of marked texts that earlier results have shown.
fn passages(texts: &[&str], sinks: &[Sink<'_>], history: &History) -> Option<Finding> {
    let mut marked = history
        .shown()
        .filter(|(_, shown)| shown.marking.is_some())
        .peekable();
    marked.peek()?;
    let prints = texts.iter().map(|text| shown::passages(text));
    let prints = prints.reduce(|all, prints| all.and(&prints))?;
    let (step, shown) = marked.find(|(_, shown)| shown.shares(&prints) >= MIN_PASSAGES)?;
    let reason = format!(
        "a passage of a marked text ({}) that an earlier call of `{}` showed would leave {}",
        shown.marking?,
        step.tool,
        sinks.first()?,
    );
    let finding = Finding::block(LayerName::Spillage, "marked-passage-leaves", reason)
        .instead("leave marked material where it is, and ask the user who may have it");
    Some(Finding {
        evidence: Some(shown_by(step)),
        ..finding
    })
}

/// A text that carries a marking itself.
fn marked(texts: &[&str], sinks: &[Sink<'_>]) -> Option<Finding> {
    let sink = sinks.first()?;
    texts.iter().find_map(|text| {
        let spills = spillage::examine(text, None);
        let mark =
            |spill: &&spillage::Spill| spill.what == What::Marking && spill.verdict >= Verdict::Ask;
        let spill = spills.iter().find(mark)?;
        let reason = format!("{}, and would leave {sink}", spill.reason);
        let finding = Finding::block(LayerName::Spillage, "marked-text-leaves", reason)
            .instead("leave marked material where it is, and ask the user who may have it");
        let evidence = spill.finding(text).evidence;
        Some(Finding {
            evidence,
            verdict: spill.verdict,
            ..finding
        })
    })
}

/// Older secrets that there is no room for any more.
fn lost(history: &History) -> Option<Finding> {
    let lost: usize = history.shown().map(|(_, shown)| shown.lost).sum();
    (lost > 0).then(|| {
        let reason = format!(
            "{lost} secrets that earlier calls showed are not remembered any more, so nobody looked \
             for them in this call"
        );
        Finding::audit(LayerName::Spillage, "secrets-forgotten", reason)
    })
}
