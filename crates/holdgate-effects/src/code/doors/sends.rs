//! What people type, or the whole environment, that goes to somebody else.

use super::Doors;
use super::loads::enclosing;
use super::parts::{calls, end_of, inside, names};
use crate::effect::{Actor, Effect, Kind};
use crate::host::HostClass;
use crate::knowledge::doors::Group;
use crate::path::PathClass;
use crate::scene::Scene;
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Lines around an address in which something may be sent to it.
const LINES_BEFORE: usize = 3;
const LINES_AFTER: usize = 3;
/// Bytes around an address, where lines are long.
const MAX_WINDOW: usize = 1000;
/// Calls of one file that may send what was typed.
const MAX_CALLS: usize = 4096;

impl Doors<'_> {
    /// What people type, or the environment, goes to an address that is somebody else's.
    pub(super) fn sends(&self, scene: &Scene<'_>) -> Vec<Effect> {
        let mut found = Vec::new();
        if !self.present.has(Group::Addresses) {
            return found;
        }
        let starts: Vec<usize> = std::iter::once(0)
            .chain(self.text.code.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        for (at, _) in self.text.clean.match_indices("://").take(256) {
            let before = self.text.clean.get(..at).unwrap_or("");
            let scheme = ["https", "http", "wss", "ws"]
                .iter()
                .find(|s| before.ends_with(**s));
            let Some(scheme) = scheme else {
                continue;
            };
            let rest = self.text.clean.get(at - scheme.len()..).unwrap_or("");
            let url = rest
                .split(['"', '\'', '`', ' ', '\n', '<', '>', ')'])
                .next()
                .unwrap_or("");
            let host = scene.know.hosts.host(&Value::known(url));
            let named = host.name.contains('.') && !host.name.contains(['$', '{', '%', '#']);
            if !named || !matches!(host.class, HostClass::External | HostClass::Drop) {
                continue;
            }
            let line = starts
                .partition_point(|start| *start <= at)
                .saturating_sub(1);
            let from = starts
                .get(line.saturating_sub(LINES_BEFORE))
                .copied()
                .unwrap_or(0);
            let to = starts
                .get(line + LINES_AFTER + 1)
                .copied()
                .unwrap_or(self.text.code.len());
            let from = from.max(at.saturating_sub(MAX_WINDOW));
            let to = to.min(at + MAX_WINDOW);
            let window = window_of(&self.text.code, from, to);
            let near = window_of(&self.text.clean, from, to);
            if !self.table.sends.iter().any(|name| names(window, name)) {
                continue;
            }
            let shown = scene_line(&self.text.clean, &starts, line);
            let actor = Actor::new("file", &shown);
            let effect = |tag| {
                actor
                    .does(Kind::Send)
                    .with(host.clone())
                    .about(url)
                    .tagged(tag)
            };
            if let Some(secret) = self.hands_secret(scene, at) {
                let mut effect = actor.does(Kind::Send).with(host.clone()).about(secret);
                effect.origins |= Origins::SECRET | Origins::FILE;
                found.push(effect);
                continue;
            }
            let has = |name: &String| window.contains(name.as_str());
            if self.table.environment.iter().any(has) || self.hands_environment(at) {
                let mut effect = effect(Tag::WholeEnvironment);
                effect.origins |= Origins::ENVIRONMENT;
                found.push(effect);
            } else if !self.is_login(url) && self.is_private(window, near, &shown) {
                found.push(effect(Tag::Grabs));
            }
        }
        found
    }

    /// The bracket of the call that sends something to the address at `at`.
    fn sending(&self, at: usize) -> Option<usize> {
        let (around, _) = enclosing(&self.text.code, at);
        let call = around.iter().find(|call| {
            let part = |c: char| !(c.is_alphanumeric() || "_.:/$".contains(c));
            !call.name.rsplit(part).next().unwrap_or("").is_empty()
        })?;
        let part = |c: char| !(c.is_alphanumeric() || c == '_' || c == '$');
        let last = call.name.rsplit(part).next().unwrap_or("");
        let sends = |name: &String| name == last || call.name.ends_with(name.as_str());
        self.table.sends.iter().any(sends).then_some(call.bracket)
    }

    /// The secret file that the call takes which sends to the address at `at`.
    fn hands_secret(&self, scene: &Scene<'_>, at: usize) -> Option<&str> {
        let bracket = self.sending(at)?;
        let given = inside(self.text.clean.get(bracket + 1..).unwrap_or(""));
        let mut texts = given.split(['"', '\'']).skip(1).step_by(2).take(32);
        texts.find(|text| {
            let path = text.trim_start_matches('/');
            let named = text.contains(['/', '.']) && !text.contains("://") && text.len() > 3;
            let is_secret = |path: String| scene.place(&Value::known(path)).is(PathClass::Secret);
            named && (is_secret((*text).to_owned()) || is_secret(format!("~/{path}")))
        })
    }

    /// Whether the call that takes the address at `at` takes the whole environment too.
    fn hands_environment(&self, at: usize) -> bool {
        let Some(bracket) = self.sending(at) else {
            return false;
        };
        let given = inside(self.text.code.get(bracket + 1..).unwrap_or(""));
        self.table.environments.iter().any(|name| {
            given.match_indices(name.as_str()).any(|(at, _)| {
                let after = given.get(at + name.len()..).unwrap_or("").trim_start();
                let before = given.get(..at).unwrap_or("");
                // One variable of it is a setting.
                !after.starts_with(['.', '[', '?', '_', '-'])
                    && !after.starts_with(char::is_alphanumeric)
                    && !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        })
    }

    /// Whether what people type stands around an address.
    fn is_private(&self, window: &str, near: &str, line: &str) -> bool {
        let table = self.table;
        let has = |name: &String| near.contains(name.as_str());
        table.private.iter().any(|name| names(window, name))
            || table.typed_keys.iter().any(has) && sends_field(line, ".key")
            || table.all_fields.iter().any(has) && sends_field(line, ".value")
            || table.cards.iter().any(|name| names(near, name))
    }

    /// Keys that are listened to in the whole system, and sent.
    pub(super) fn send_keys(&self, scene: &Scene<'_>, found: &mut Vec<Effect>) {
        if !self.is_in_code(Group::Listeners) {
            return;
        }
        let code = self.text.code.as_str();
        for (at, _) in code.match_indices('(').take(MAX_CALLS) {
            let before = end_of(code.get(..at).unwrap_or(""));
            if !calls(&self.table.channels, before) {
                continue;
            }
            let given = inside(self.text.clean.get(at + 1..).unwrap_or(""));
            let text = given.split(['"', '\'']).nth(1).unwrap_or("");
            let host = scene.know.hosts.host(&Value::known(text));
            if host.name.contains('.')
                && matches!(host.class, HostClass::External | HostClass::Drop)
            {
                let actor = Actor::new("file", &crate::json::shorten(given, 100));
                found.push(actor.does(Kind::Send).with(host).tagged(Tag::Grabs));
            }
        }
    }

    fn is_login(&self, url: &str) -> bool {
        let url = url.to_ascii_lowercase();
        let path = url.split_once("://").map_or("", |(_, rest)| rest);
        self.table
            .logins
            .iter()
            .any(|word| path.contains(word.as_str()))
    }
}

fn scene_line(text: &str, starts: &[usize], line: usize) -> String {
    let start = starts.get(line).copied().unwrap_or(0);
    let rest = text.get(start..).unwrap_or("");
    crate::json::shorten(rest.lines().next().unwrap_or("").trim(), 200)
}

/// Whether a field stands behind the address in a line that sends to it.
fn sends_field(line: &str, field: &str) -> bool {
    line.split_once("://")
        .is_some_and(|(_, behind)| behind.contains(field))
}

/// A piece of a text, to the next whole characters.
fn window_of(text: &str, from: usize, to: usize) -> &str {
    let from = (from..=to).find(|at| text.is_char_boundary(*at));
    let to = (to..text.len()).find(|at| text.is_char_boundary(*at));
    text.get(from.unwrap_or(0)..to.unwrap_or(text.len()))
        .unwrap_or("")
}
