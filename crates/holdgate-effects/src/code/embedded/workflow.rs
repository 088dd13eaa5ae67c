//! Workflows that others start: whoever opens a pull request or writes a comment has their code, or their
//! words as a command, run with the secrets of the repository.

use super::Reader;
use crate::effect::{Actor, Kind};
use crate::json::Json;
use crate::scene::Fueled;
use crate::tag::Tag;

/// What anybody can cause, and runs with the rights of the repository.
const CAUSES: [&str; 11] = [
    "pull_request_target",
    "workflow_run",
    "issue_comment",
    "issues",
    "discussion",
    "discussion_comment",
    "pull_request_review_comment",
    "pull_request_review",
    "repository_dispatch",
    "gollum",
    "fork",
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
        let text = jobs.text();
        if super::is_all_secrets(&text) {
            self.takes_all_secrets()?;
        }
        if text.contains("secrets.") && keeps_environment(jobs, 0) {
            let actor = Actor::new(
                "workflow",
                "a step keeps its environment, with the secrets in it",
            );
            let all = actor.does(Kind::Read).tagged(Tag::SecretStore);
            self.scene.emit(all.tagged(Tag::Ci).about("env"))?;
        }
        let Some(cause) = tree.get("on").and_then(caused_by) else {
            return Ok(());
        };
        let mut variables = Vec::new();
        taken_by_variables(tree, 0, &mut variables);
        let Some(step) = opened(jobs, &variables, 0) else {
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

/// Whether a step that gets secrets puts its whole environment into a file, or in another form through a
/// pipe: logs hide secrets only as they are.
fn keeps_environment(node: &Json<'_>, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    match node {
        Json::Object(members) => {
            let kept = node
                .get_str("run")
                .is_some_and(|run| run.lines().any(keeps));
            kept || members
                .iter()
                .any(|(_, value)| keeps_environment(value, depth + 1))
        }
        Json::Array(items) => items.iter().any(|item| keeps_environment(item, depth + 1)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// `env > file`, `printenv | base64`.
fn keeps(line: &str) -> bool {
    const FORMS: [&str; 8] = [
        "base64", "base32", "xxd", "od ", "rev", "gzip", "tee ", "openssl",
    ];
    line.split(['&', ';']).any(|command| {
        let command = command.trim();
        let shown = ["env", "printenv", "export -p", "declare -x"];
        let rest = shown.iter().find_map(|word| command.strip_prefix(word));
        let rest = rest.unwrap_or("").trim_start();
        let file = rest.trim_start_matches(['>', ' ', '"']);
        // What later steps of the same job get.
        let passed_on = file.starts_with('$') || file.starts_with("/dev/");
        rest.starts_with('>') && !passed_on
            || rest.starts_with('|') && FORMS.iter().any(|form| rest.contains(form))
    })
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

/// Members of an event that whoever caused it has written.
const WRITTEN_BY_OTHERS: [&str; 12] = [
    "body",
    "title",
    "message",
    "email",
    "ref",
    "label",
    "page_name",
    "description",
    "head_branch",
    "display_title",
    "default_branch",
    "text",
];

/// Whether what stands between `${{` and `}}` is a word of others.
fn is_of_others(hole: &str) -> bool {
    let hole = hole.trim();
    if WORDS.iter().any(|word| hole.contains(word)) || hole.contains("client_payload") {
        return true;
    }
    let events = hole.match_indices("github.event.");
    events.into_iter().any(|(at, _)| {
        let rest = hole.get(at..).unwrap_or("");
        let part = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '*' | '[' | ']'));
        let path = rest.split(part).next().unwrap_or("");
        let last = path.rsplit('.').next().unwrap_or("");
        let trusted = path.contains(".repository.") || path.contains(".base.");
        WRITTEN_BY_OTHERS.contains(&last) && !trusted
    })
}

/// Variables of which others decide what they hold.
fn taken_by_variables<'j>(node: &'j Json<'_>, depth: usize, found: &mut Vec<&'j str>) {
    if depth > MAX_DEPTH || found.len() > 64 {
        return;
    }
    match node {
        Json::Object(members) => {
            for (key, value) in members {
                let taken = value.as_str().is_some_and(|text| {
                    let mut holes = text.split("${{").skip(1);
                    holes.any(|hole| is_of_others(hole.split("}}").next().unwrap_or("")))
                });
                if taken {
                    found.push(key);
                }
                taken_by_variables(value, depth + 1, found);
            }
        }
        Json::Array(items) => {
            for item in items {
                taken_by_variables(item, depth + 1, found);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Whether a step runs words of others: those of the event as a whole, of a request about it, or of a
/// variable that holds them.
fn runs_words(run: &str, variables: &[&str]) -> bool {
    const RUNS: [&str; 31] = [
        "| sh",
        "| bash",
        "|sh",
        "|bash",
        "| sudo",
        "| python",
        "| node",
        "| perl",
        "| ruby",
        "eval ",
        "eval(",
        "bash -c \"$",
        "sh -c \"$",
        "bash -c $",
        "sh -c $",
        "bash <(",
        "sh <(",
        "source <(",
        "source /dev/stdin",
        "<<<",
        "node -e \"$",
        "python -c \"$",
        "python3 -c \"$",
        "Function(",
        "exec(",
        "execSync(",
        "spawn(",
        "spawnSync(",
        "getExecOutput(",
        "runInThisContext",
        "runInNewContext",
    ];
    const TAKES: [&str; 9] = [
        "GITHUB_EVENT_PATH",
        "github.event_path",
        "context.payload",
        "client_payload",
        "toJSON(github.event",
        "gh issue view",
        "gh pr view",
        "/comments",
        "comment.body",
    ];
    let takes = TAKES.iter().any(|word| run.contains(word))
        || variables.iter().any(|name| {
            run.contains(&format!("${name}"))
                || run.contains(&format!("${{{name}"))
                || run.contains(&format!("env.{name}"))
        });
    takes && RUNS.iter().any(|word| run.contains(word))
}

/// The step that takes code or words of others, if there is one.
fn opened(node: &Json<'_>, variables: &[&str], depth: usize) -> Option<String> {
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
            let script = node.get("with").and_then(|with| with.get_str("script"));
            if let Some(run) = node.get_str("run").or(script) {
                let mut holes = run.split("${{").skip(1);
                let taken = holes.any(|hole| is_of_others(hole.split("}}").next().unwrap_or("")))
                    || runs_words(run, variables);
                let git = takes(run, &["git fetch", "git checkout", "git merge", "git pull"]);
                let pulled = takes(run, &["pull/"]) && takes(run, &["/head", "/merge"]);
                let fetched = run.contains("gh pr checkout")
                    || takes(run, &["refs/pull/"])
                    || git && (pulled || takes(run, &HEADS));
                if taken || fetched {
                    return Some(run.to_owned());
                }
            }
            members
                .iter()
                .find_map(|(_, value)| opened(value, variables, depth + 1))
        }
        Json::Array(items) => items
            .iter()
            .find_map(|item| opened(item, variables, depth + 1)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
    }
}
