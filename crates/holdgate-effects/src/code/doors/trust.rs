//! Source that trusts what a request says, or whoever answers: calls without brackets, rights and functions
//! by requested names, tokens and certificates that nobody checks.

use super::parts::{assignment, identifiers, inside};
use super::requests::{Brings, Held};
use super::{Doors, back_door};
use crate::effect::{Actor, Effect, Kind};
use crate::knowledge::doors::Group;
use crate::scene::Scene;
use crate::tag::Tag;

/// Bytes of a line before a call without brackets.
const MAX_BEFORE_BARE: usize = 64;
/// Modules of one file whose functions may be picked by name.
const MAX_MODULES: usize = 32;

impl<'t> Doors<'t> {
    /// Settings that switch checks off, rights that source gives in a cloud, and tokens that are believed.
    pub(super) fn trusts(&self, scene: &Scene<'_>, found: &mut Vec<Effect>) {
        // What stood there before is nobody's doing now.
        let new = |mark: &&&str| !scene.replaced.contains(**mark);
        for mark in self.present.of(Group::Unverified).iter().filter(new) {
            let actor = Actor::new("file", mark);
            found.push(actor.does(Kind::System).tagged(Tag::Insecure).about(mark));
        }
        let of_cloud = self.present.has(Group::Clouds);
        for mark in self
            .present
            .of(Group::Grants)
            .iter()
            .filter(new)
            .filter(|_| of_cloud)
        {
            let actor = Actor::new("access", mark);
            found.push(actor.does(Kind::Remote).tagged(Tag::Elevate).about(mark));
        }
        if of_cloud && let Some(statement) = self.allows_all(scene) {
            let actor = Actor::new("access", &crate::json::shorten(statement, 200));
            let effect = actor.does(Kind::Remote).tagged(Tag::Elevate);
            found.push(effect.about(statement));
        }
        if self.believes_tokens() && !scene.replaced.contains("uthorization") {
            found.push(back_door(
                Kind::Elevate,
                "a token is read, and nobody asks who signed it",
            ));
        }
    }

    /// A statement of a policy in source that allows everything, or to give oneself any right, everywhere.
    fn allows_all(&self, scene: &Scene<'_>) -> Option<&'t str> {
        let clean = self.text.clean.as_str();
        let mark = "PolicyStatement(";
        let statements = clean.match_indices(mark);
        let statements =
            statements.map(|(at, _)| inside(clean.get(at + mark.len()..).unwrap_or("")));
        let allows = |statement: &&str| {
            let plain: String = statement.chars().filter(|c| !c.is_whitespace()).collect();
            let list = |key: &str| {
                let (_, rest) = plain.split_once(key)?;
                let rest = rest.trim_start_matches([':', '=']).strip_prefix('[')?;
                rest.split(']').next()
            };
            let has = |list: Option<&str>, wanted: &[&str]| {
                let items = list.unwrap_or("").split(',');
                let mut items = items.map(|item| item.trim_matches(['"', '\'', '`']));
                items.any(|item| wanted.contains(&item))
            };
            has(list("actions"), &["*", "*:*", "iam:*"])
                && has(list("resources"), &["*"])
                && !plain.contains("Effect.DENY")
                && !scene.replaced.contains(*statement)
        };
        statements.into_iter().find(allows)
    }

    /// Whether the parts of a token are taken as they come: split, decoded, and never verified.
    fn believes_tokens(&self) -> bool {
        let clean = self.text.clean.as_str();
        let has = |words: &[&str]| words.iter().any(|word| clean.contains(word));
        self.present.has(Group::Bearers)
            && has(&[".split(\".\")", ".split('.')"])
            && has(&["b64decode", "atob(", "base64", "Base64"])
            && !has(&[
                "verify",
                "Verify",
                "hmac",
                "Hmac",
                "HMAC",
                "signature",
                "jwks",
                "JWKS",
                "public_key",
            ])
    }

    /// Names under which the file has all functions of a module: `import * as ops`, `ops = require(…)`.
    pub(super) fn namespaces(&self) -> Vec<&'t str> {
        let code = self.text.code.as_str();
        let stars = code.match_indices("* as ").map(|(at, mark)| {
            identifiers(
                code.get(at + mark.len()..)
                    .unwrap_or("")
                    .split('\n')
                    .next()
                    .unwrap_or(""),
            )
            .next()
        });
        let required = code.match_indices("require(").map(|(at, _)| {
            let line = code
                .get(..at)
                .unwrap_or("")
                .rsplit('\n')
                .next()
                .unwrap_or("");
            assignment(line).and_then(|(left, _)| identifiers(left).last())
        });
        let fixed = ["globals()", "locals()", "globalThis", "module.exports"];
        let all = stars.chain(required).flatten().take(MAX_MODULES);
        all.chain(fixed).collect()
    }

    /// `ops[req.body.method]`: the request says which function of a module is meant.
    pub(super) fn picks(&self, line: &str, spaces: &[&str], held: &[Held<'_>]) -> bool {
        line.contains('[')
            && spaces.iter().any(|space| {
                line.contains(space)
                    && line.match_indices(space).any(|(at, _)| {
                        let rest = line.get(at + space.len()..).unwrap_or("");
                        let rest = rest.trim_start_matches(" as any").trim_start_matches(')');
                        let key = rest.strip_prefix('[').and_then(|key| key.split(']').next());
                        key.is_some_and(|key| self.is_brought(key, held))
                    })
            })
    }

    /// Whether the file speaks of those who may do more than others.
    pub(super) fn may_raise(&self) -> bool {
        self.is_in_code(Group::Raised)
    }

    /// `eval params[:code]`, `render inline: params[:page]`: Ruby needs no brackets.
    pub(super) fn bare(&self, line: &str, held: &[Held<'_>]) -> Option<Brings> {
        let line = line.trim_start();
        let words = self.present.of(Group::Bare).iter();
        let given = words
            .filter(|word| line.contains(**word))
            .find_map(|word| {
                let at = line.find(word).filter(|at| *at < MAX_BEFORE_BARE)?;
                let before = line.get(..at).unwrap_or("").trim_end();
                let starts = before.is_empty() || before.ends_with(['=', '{', '|', ';', '(', '.']);
                starts.then(|| {
                    line.get(at + word.trim_end_matches("params").len()..)
                        .unwrap_or("")
                })
            })?;
        self.brings(given.trim_start(), held)
    }

    /// `user = admin if request.GET.get('debug') else user`: what a request says decides who somebody is.
    pub(super) fn raises(&self, line: &str, clean: &str, held: &[Held<'_>]) -> bool {
        const RAISED: [&str; 7] = [
            "superuser",
            "is_admin",
            "isAdmin",
            "is_staff",
            "authenticated = ",
            "Authenticated = ",
            "skip_auth",
        ];
        let Some((left, right)) = assignment(line) else {
            return false;
        };
        let chooses = right.contains(" if ") || right.contains('?') || right.contains(" in ");
        let says =
            |word: &&str| left.contains(word.trim_end_matches(" = ")) || right.contains(*word);
        let given = clean.get(left.len()..).unwrap_or("");
        chooses && RAISED.iter().any(says) && self.is_brought(given, held)
    }

    /// Whether such a call may stand in the file.
    pub(super) fn has_bare_calls(&self) -> bool {
        self.is_in_code(Group::Bare)
    }
}
