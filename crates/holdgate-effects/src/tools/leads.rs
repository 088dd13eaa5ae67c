//! What leads to somebody outside from now on: an address beside words that forward, redirect or call back, in rules
//! for mail, automations, subscriptions and scripts of their own languages.

use super::fields::Call;
use super::gives::{is_address, is_outside};
use super::name::Name;
use crate::json::Json;
use crate::knowledge::tools::words;
use crate::scene::{Fueled, Scene};

/// Objects in objects that are looked into.
const MAX_DEPTH: u32 = 10;
/// Bytes of one script that are looked at.
const MAX_SCRIPT: usize = 16 << 10;
/// Bytes behind a verb in a script where the address stands.
const NEAR: usize = 48;

/// Words in names of arguments, and in short values beside an address.
#[rustfmt::skip]
const LEADS: [&str; 26] = [
    "webhook", "webhooks", "hook", "hooks", "hookurl", "callback", "callbacks", "forward", "forwards", "forwarding",
    "forwardto", "redirect", "redirects", "redirectto", "deliver", "delivery", "relay", "mirror", "mirrors", "sink",
    "drain", "bcc", "delegate", "delegates", "subscriptions", "httprequest",
];
/// Names of arguments that lead a call or a message somewhere: `sms_url`.
#[rustfmt::skip]
const CARRIES: [&str; 8] = [
    "sms", "voice", "inbound", "incoming", "message", "event", "events", "notification",
];
/// Words in names of tools that make something which acts by itself.
#[rustfmt::skip]
const ACTS: [&str; 22] = [
    "zap", "zaps", "workflow", "workflows", "flow", "flows", "scenario", "applet", "automation", "automations",
    "recipe", "trigger", "triggers", "rule", "rules", "route", "routes", "subscribe", "subscription", "mirror", "sieve",
    "filters",
];
/// Words in names of tools that change something.
#[rustfmt::skip]
const CHANGES: [&str; 20] = [
    "create", "add", "update", "set", "register", "configure", "modify", "enable", "upsert", "put", "connect",
    "subscribe", "save", "edit", "patch", "insert", "write", "replace", "import", "change",
];
/// Arguments that hold a script.
#[rustfmt::skip]
const SCRIPTS: [&str; 12] = [
    "script", "sieve", "source", "rules", "rule", "filter", "expression", "action", "code", "definition", "content",
    "config",
];
/// Words in names of servers and tools for mail.
#[rustfmt::skip]
const MAILS: [&str; 12] = [
    "mail", "gmail", "outlook", "exchange", "fastmail", "protonmail", "sieve", "procmail", "mailbox", "imap", "mailgun",
    "postfix",
];

/// Whether a call makes something lead to somebody outside.
pub(super) fn leads_outside(scene: &Scene<'_>, call: &Call<'_>, name: &Name) -> Fueled<bool> {
    let said = |list: &[&str]| name.own.iter().any(|word| list.contains(&word.as_str()));
    if name.server.is_empty() || !said(&CHANGES) {
        return Ok(false);
    }
    let mails = |word: &String| MAILS.contains(&word.as_str()) || word.contains("mail");
    let walk = Walk {
        scene,
        acts: said(&ACTS),
        mails: name.own.iter().chain(&name.server).any(mails),
    };
    walk.finds(call.input, "", false, MAX_DEPTH)
}

struct Walk<'s, 'w> {
    scene: &'s Scene<'w>,
    /// What is made acts by itself.
    acts: bool,
    /// The tool is for mail.
    mails: bool,
}

impl Walk<'_, '_> {
    fn finds(&self, node: &Json<'_>, key: &str, beside: bool, depth: u32) -> Fueled<bool> {
        if depth == 0 {
            return Ok(false);
        }
        self.scene.fuel.spend(4)?;
        match node {
            Json::Object(members) => {
                let short = |value: &Json<'_>| {
                    let text = value
                        .as_str()
                        .filter(|t| t.len() < 60 && !t.contains("://"));
                    text.is_some_and(leads)
                };
                let beside = beside || members.iter().any(|(_, value)| short(value));
                for (key, value) in members {
                    self.scene.fuel.spend_on(key.len())?;
                    if self.finds(value, key, beside || leads(key), depth - 1)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Json::Array(items) => {
                for item in items.iter().take(64) {
                    if self.finds(item, key, beside, depth - 1)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Json::String(text) => {
                self.scene.fuel.spend_on(text.len().min(MAX_SCRIPT))?;
                Ok(self.is_way_out(text, key, beside))
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => Ok(false),
        }
    }

    fn is_way_out(&self, text: &str, key: &str, beside: bool) -> bool {
        let text = text.trim();
        let outside = is_outside(self.scene, text);
        let said = words(key);
        let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
        // `url`, `sms_url`, `targetUri`: other arguments name what is looked at.
        let url = has(&["url", "uri", "endpoint", "target", "href"]) || beside;
        if outside && url && (beside || self.acts || has(&CARRIES)) {
            return true;
        }
        if beside && is_address(text) {
            return true;
        }
        let script = (self.mails || self.acts) && has(&SCRIPTS) || has(&["sieve"]);
        script && text.contains(char::is_whitespace) && self.script_leads(text)
    }

    /// `redirect :copy "x@host";`, `forward("https://…")`, `! x@host`, `fetch("https://…")`
    fn script_leads(&self, text: &str) -> bool {
        let text = crate::text::beginning(text, MAX_SCRIPT);
        let lower = text.to_ascii_lowercase();
        let verbs = [
            "redirect", "forward", "fetch(", "post(", "deliver", "notify", "bcc",
        ];
        let near = |at: usize| {
            let rest = text.get(at..).unwrap_or("");
            let rest = crate::text::beginning(rest, NEAR + 200);
            let mut quoted = rest.split(['"', '\'']).skip(1).step_by(2).take(3);
            quoted.any(|part| is_address(part) || is_outside(self.scene, part))
        };
        let found = verbs
            .iter()
            .flat_map(|verb| lower.match_indices(verb).take(16))
            .any(|(at, _)| near(at));
        let mut lines = text.lines().take(512);
        let piped = |line: &str| {
            let rest = line.trim_start().strip_prefix('!');
            rest.is_some_and(|rest| is_address(rest.trim()))
        };
        found || lines.any(piped)
    }
}

/// Whether a name or a short value says that something leads somewhere.
fn leads(name: &str) -> bool {
    let words = words(name);
    let pair = words
        .windows(2)
        .any(|pair| LEADS.contains(&pair.concat().as_str()));
    pair || words
        .iter()
        .any(|word| LEADS.contains(&word.as_str()) || word.starts_with("forward"))
}

#[cfg(test)]
mod tests {
    use super::leads;

    #[test]
    fn names_tell_that_something_leads_elsewhere() {
        for name in [
            "InboundHookUrl",
            "event_webhook",
            "forwardTo",
            "httpRequest",
            "WEBHOOK",
        ] {
            assert!(leads(name), "{name}");
        }
        for name in ["url", "homepage", "title", "request"] {
            assert!(!leads(name), "{name}");
        }
    }
}
