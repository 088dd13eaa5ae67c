//! Pipelines that run words of whoever pushes or asks: the message of a commit, the title of a request.

use super::scan::has_any;
use crate::effect::{Actor, Effect, Kind};
use crate::tag::Tag;
use crate::text::words::AnyWord;
use std::sync::LazyLock;

#[rustfmt::skip]
const TAKES: [&str; 16] = [
    "CI_COMMIT_MESSAGE", "CI_COMMIT_TITLE", "CI_COMMIT_DESCRIPTION", "CI_MERGE_REQUEST_TITLE",
    "CI_MERGE_REQUEST_DESCRIPTION", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CHANGE_TITLE", "CHANGE_BRANCH",
    "Build.SourceVersionMessage", "BUILD_SOURCEVERSIONMESSAGE", "TRIGGER_PAYLOAD", "ghprbComment", "ghprbPullTitle",
    "DRONE_COMMIT_MESSAGE", "BUILDKITE_MESSAGE", "TRAVIS_COMMIT_MESSAGE",
];
#[rustfmt::skip]
const RUNS: [&str; 15] = [
    "| sh", "| bash", "|sh", "|bash", "| sudo", "| python", "| node", "eval ", "bash -c", "sh -c", "bash <(", "sh <(",
    "source <(", "<<<", "sh \"$",
];

static ANY_TAKES: LazyLock<AnyWord> = LazyLock::new(|| AnyWord::of(TAKES));

pub(super) fn run(content: &str, found: &mut Vec<Effect>) {
    if !ANY_TAKES.is_in(content) {
        return;
    }
    for line in content
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        if has_any(line, &TAKES) && has_any(line, &RUNS) {
            let line = crate::json::shorten(line.trim(), 200);
            let door = Actor::new("workflow", &line).does(Kind::ExecuteOpaque);
            found.push(door.tagged(Tag::BackDoor).tagged(Tag::Ci).about(&line));
            return;
        }
    }
}
