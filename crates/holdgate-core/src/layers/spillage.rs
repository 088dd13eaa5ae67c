//! The spillage layer: does data go where it must not? (Inspired by "Argus".)
//!
//! It knows the secrets and the marked passages that results have shown, and looks for them in
//! everything that a call carries outwards, in every form. The finding names both steps: the one
//! that showed the value, and the one that would carry it away.

mod sink;

use crate::call::ToolCall;
use crate::history::{History, Step};
use crate::mask::{self, How, Masked};
use crate::shown;
use crate::spillage;
use crate::stack::{Context, Layer, OutOfFuel};
use crate::taint::{Form, Search, Secret};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::fuel::Fuel;
use holdgate_effects::json::Json;
use sink::{Known, Sink, Use};
use std::borrow::Cow;
use std::collections::HashSet;

/// Bytes that one unit of fuel reads: every reading of a text together.
const BYTES_PER_FUEL: usize = 16;
/// Passages of a marked text that a call must share with it.
const MIN_PASSAGES: usize = 2;

/// A shorter name of an argument carries nothing.
const MIN_KEY: usize = 8;

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
        let mut sinks: Vec<Sink<'_>> = effects.iter().filter_map(Sink::of).collect();
        if sinks.is_empty() {
            sinks.extend(Sink::of_unknown_tool(effects));
        }
        let mut findings = Vec::new();
        if sinks.is_empty() {
            return Ok(findings);
        }
        let texts = texts(call, effects, context);
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        fuel.spend((bytes / BYTES_PER_FUEL) as u64)?;
        if !sinks.iter().all(Sink::is_unknown) {
            findings.extend(marked(&texts, &sinks));
        }
        if context.history.is_suspect() {
            findings.extend(secrets(&texts, &sinks, context.history));
            findings.extend(passages(&texts, &sinks, context.history));
            findings.extend(lost(context.history));
        }
        Ok(findings)
    }
}

/// All that a call carries: its arguments, what they evaluate to, and what files hold that it reads.
pub(super) fn texts<'c>(
    call: &'c ToolCall,
    effects: &'c [Effect],
    context: &Context<'c>,
) -> Vec<Cow<'c, str>> {
    let mut texts = Vec::new();
    let mut numbers = String::new();
    let mut open = vec![&call.input];
    while let Some(json) = open.pop() {
        match json {
            Json::String(text) => texts.push(Cow::Borrowed(text.as_ref())),
            Json::Number(number) => numbers.extend([number, ", "]),
            Json::Array(items) => open.extend(items.iter().rev()),
            Json::Object(members) => {
                let keys = members.iter().map(|(key, _)| Cow::Borrowed(key.as_ref()));
                texts.extend(keys.filter(|key| key.len() >= MIN_KEY));
                open.extend(members.iter().rev().map(|(_, value)| value));
            }
            Json::Null | Json::Bool(_) => {}
        }
    }
    texts.push(Cow::Owned(numbers));
    // Each once, so that the cost stays linear. A part of a text says less than all of it: what stands
    // before a value counts.
    let mut known: HashSet<&str> = HashSet::new();
    for effect in effects {
        let evidence: &'c str = &effect.evidence;
        let host = effect.host.as_ref().map(|host| host.name.as_str());
        let parts = host.into_iter().chain(effect.text.as_deref());
        let parts = parts.filter(|part| !evidence.contains(part));
        let paths = effect.path.iter().map(|place| place.text.as_str());
        let paths = paths.chain(effect.sources.iter().map(AsRef::as_ref));
        let contents = paths.filter_map(|path| context.traces?.content(path));
        let carried = std::iter::once(evidence).chain(parts).chain(contents);
        texts.extend(carried.filter(|text| known.insert(text)).map(Cow::Borrowed));
    }
    texts
}

/// Secrets that earlier results have shown.
fn secrets(texts: &[Cow<'_, str>], sinks: &[Sink<'_>], history: &History) -> Option<Finding> {
    let known: Vec<Known<'_>> = history.secrets().collect();
    let mut search = Search::new(history.taint());
    for text in texts {
        search.look(text);
    }
    let found: Vec<(usize, Form)> = search.found().collect();
    if found.is_empty() {
        return None;
    }
    // What is found without the places where a credential stands is data.
    let left = |blanked: fn(How) -> bool| {
        let mut search = Search::new(history.taint());
        for text in texts {
            search.look(&without(text, blanked));
        }
        search.found().map(|(at, _)| at).collect::<HashSet<usize>>()
    };
    let (data, named) = (left(|_| true), left(|how| how != How::Assigned));
    let judged = found.iter().flat_map(|(at, form)| {
        let use_ = match (data.contains(at), named.contains(at)) {
            (true, _) => Use::Data,
            (false, true) => Use::Named,
            (false, false) => Use::Credential,
        };
        let secret = known.get(*at);
        let sinks = sinks.iter();
        sinks.filter_map(move |sink| Some((secret?, *form, sink, use_)))
    });
    // The same value may have been shown by several steps: the kindest counts, and no guess if one of
    // them is sure.
    let verdict = |(_, _, secret): &Known<'_>, sink: &Sink<'_>, use_: Use| {
        let same = || known.iter().filter(|(_, _, other)| other.is(secret));
        let sure = same().any(|(_, _, other)| !other.is_guess());
        let counts = same().filter(|(_, _, other)| !(sure && other.is_guess()));
        counts.map(|known| sink.verdict(known, use_, history)).min()
    };
    let judged = judged.filter_map(|(known, form, sink, use_)| {
        Some((verdict(known, sink, use_)?, known, form, sink))
    });
    // Of equal ones, the first.
    let worst = judged.reduce(|worst, next| if next.0 > worst.0 { next } else { worst });
    let (verdict, (step, _, secret), form, sink) = worst?;
    (verdict > Verdict::Allow).then(|| leak(verdict, step, secret, form, sink))
}

/// A text with blanks in the places of these kinds where a credential stands.
pub(super) fn without(text: &str, kinds: fn(How) -> bool) -> String {
    let mut out = text.to_owned();
    for found in mask::in_context(text)
        .into_iter()
        .filter(|found| kinds(found.how))
    {
        if let Some(value) = text.get(found.range.clone()) {
            out.replace_range(found.range, &" ".repeat(value.len()));
        }
    }
    out
}

fn leak(verdict: Verdict, step: &Step, secret: &Secret, form: Form, sink: &Sink<'_>) -> Finding {
    let reason = format!(
        "a secret ({}) that an earlier call of `{}` showed goes {sink}, {}",
        secret.rule,
        step.tool,
        form.word(),
    );
    // Where it may go, it is only recorded.
    let rule = if verdict == Verdict::Audit {
        "secret-used"
    } else {
        "secret-leaves"
    };
    let finding = Finding::block(LayerName::Spillage, rule, reason).instead(
        "let the program read the secret itself, from its file or a variable, and send it only to \
         the service that it belongs to",
    );
    Finding {
        verdict,
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
fn passages(texts: &[Cow<'_, str>], sinks: &[Sink<'_>], history: &History) -> Option<Finding> {
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
fn marked(texts: &[Cow<'_, str>], sinks: &[Sink<'_>]) -> Option<Finding> {
    let sink = sinks.first()?;
    texts.iter().find_map(|text| {
        let spills = spillage::markings(text, None);
        let spill = spills.iter().find(|spill| spill.verdict >= Verdict::Ask)?;
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
