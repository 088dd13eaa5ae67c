//! Workflows that others start: whoever opens a pull request or writes a comment has their code, or their
//! words as a command, run with the secrets of the repository.

use super::Reader;
use crate::effect::{Actor, Kind};
use crate::json::Json;
use crate::scene::Fueled;
use crate::tag::Tag;

/// What anybody can cause, and runs with the rights of the repository.
const CAUSES: [&str; 7] = [
    "pull_request_target",
    "workflow_run",
    "issue_comment",
    "issues",
    "discussion",
    "discussion_comment",
    "pull_request_review_comment",
];
/// The code of whoever opened a pull request.
const HEADS: [&str; 4] = [
    "github.event.pull_request.head.",
    "github.head_ref",
    "github.event.workflow_run.head_",
    "refs/pull/",
];
/// Words of others.
const WORDS: [&str; 11] = [
    "github.event.comment.body",
    "github.event.issue.title",
    "github.event.issue.body",
    "github.event.pull_request.title",
    "github.event.pull_request.body",
    "github.event.pull_request.head.ref",
    "github.event.pull_request.head.label",
    "github.event.review.body",
    "github.event.discussion.title",
    "github.event.discussion.body",
    "github.head_ref",
];
/// A step stands no deeper than this.
const MAX_DEPTH: usize = 12;

impl Reader<'_, '_, '_> {
    /// Looks at a workflow that anybody can start.
    pub(super) fn workflow(&mut self, tree: &Json<'_>) -> Fueled {
        let Some(jobs) = tree.get("jobs") else {
            return Ok(());
        };
        if super::is_all_secrets(&jobs.text()) {
            self.takes_all_secrets()?;
        }
        let Some(cause) = tree.get("on").and_then(caused_by) else {
            return Ok(());
        };
        let Some(step) = opened(jobs, 0) else {
            return Ok(());
        };
        let text = format!("on {cause}: {}", crate::json::shorten(&step, 160));
        let door = Actor::new("workflow", &text).does(Kind::ExecuteOpaque);
        self.scene
            .emit(door.tagged(Tag::BackDoor).tagged(Tag::Ci).about(&text))
    }

    /// `toJSON(secrets)`: a step gets every secret of the repository as one text.
    pub(super) fn takes_all_secrets(&mut self) -> Fueled {
        let actor = Actor::new("workflow", "toJSON(secrets)");
        let all = actor.does(Kind::Read).tagged(Tag::SecretStore);
        self.scene
            .emit(all.tagged(Tag::Ci).about("toJSON(secrets)"))
    }
}

fn caused_by(on: &Json<'_>) -> Option<&'static str> {
    let has = |cause: &&&str| match on {
        Json::String(text) => text == **cause,
        Json::Array(items) => items.iter().any(|item| item.as_str() == Some(**cause)),
        Json::Object(members) => members.iter().any(|(name, _)| name == **cause),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    };
    CAUSES.iter().find(has).copied()
}

/// The step that takes code or words of others, if there is one.
fn opened(node: &Json<'_>, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    match node {
        Json::Object(members) => {
            let takes = |text: &str, all: &[&str]| all.iter().any(|word| text.contains(word));
            let checkout = node
                .get_str("uses")
                .filter(|uses| uses.contains("checkout"));
            if let (Some(uses), Some(with)) = (checkout, node.get("with")) {
                let text = with.text();
                if takes(&text, &HEADS) {
                    return Some(format!("{uses} {text}"));
                }
            }
            if let Some(run) = node.get_str("run") {
                let mut holes = run.split("${{").skip(1);
                let taken = holes.any(|hole| takes(hole.split("}}").next().unwrap_or(""), &WORDS));
                let git = takes(run, &["git fetch", "git checkout", "git merge", "git pull"]);
                let fetched = run.contains("gh pr checkout")
                    || takes(run, &["refs/pull/"])
                    || git && takes(run, &HEADS);
                if taken || fetched {
                    return Some(run.to_owned());
                }
            }
            members
                .iter()
                .find_map(|(_, value)| opened(value, depth + 1))
        }
        Json::Array(items) => items.iter().find_map(|item| opened(item, depth + 1)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
    }
}
