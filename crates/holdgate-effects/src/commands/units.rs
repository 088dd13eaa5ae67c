//! Programs that do more than their table entry says. The entry names a handler; here stands at which
//! points of a run each handler acts. How it acts is in the file of its family.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a handler acts at one or two points of a run, and nowhere else"
)]

use super::args::Parsed;
use super::handler::Handler;
use super::spec::Spec;
use super::{
    Call, Gathered, branches, cloud, find, folder, forwards, git, images, keys, network, own,
    packages,
};
use super::{processes, reads, refs, requests, special, sql, transfer, values, vim, work_tree};
use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// A program that runs: its arguments, and in whose name its effects happen.
#[derive(Clone, Copy)]
pub(super) struct Run<'r> {
    pub(super) call: &'r Call<'r>,
    pub(super) parsed: &'r Parsed,
    /// What is different because certain options are given.
    pub(super) chosen: Option<&'r Spec>,
    pub(super) actor: &'r Actor,
}

/// The words that the program really gets, if they are not those of the call.
pub(super) fn words(handler: Handler, scene: &Scene<'_>, call: &Call<'_>) -> Option<Vec<Value>> {
    match handler {
        Handler::Curl => network::with_config(scene, call),
        Handler::Kill => processes::without_signal(call.words),
        Handler::Slashes => special::with_dashes(call.words),
        _ => None,
    }
}

/// More tags for all of its effects.
pub(super) fn tags(
    handler: Handler,
    scene: &Scene<'_>,
    call: &Call<'_>,
    parsed: &Parsed,
) -> Vec<Tag> {
    match handler {
        Handler::Copy | Handler::Sync => {
            let tag = own::merges(call.words, &scene.know.own.program);
            tag.into_iter().collect()
        }
        Handler::Git => git::tags(parsed),
        Handler::Awk | Handler::Cut | Handler::Grep | Handler::Sed => {
            reads::tags(handler, parsed).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// What happens before the table is asked. With an output, the table is not asked at all.
pub(super) fn before(
    handler: Handler,
    scene: &mut Scene<'_>,
    run: Run<'_>,
) -> Fueled<Option<Value>> {
    let Run {
        call,
        parsed,
        actor,
        ..
    } = run;
    match handler {
        Handler::ApplyPatch => special::apply_patch(scene, call, actor).map(Some),
        Handler::Find => find::run(scene, call, actor).map(Some),
        Handler::Fd => find::fd(scene, call, actor).map(|()| None),
        Handler::Env => special::env(scene, run).map(Some),
        Handler::Socat => transfer::socat(scene, call, actor).map(Some),
        Handler::Tmux => special::commands_of_tmux(scene, call),
        Handler::AppleScript | Handler::Gdb | Handler::Lldb | Handler::Terminal => {
            own::takes_over(handler, scene, run).map(|()| None)
        }
        Handler::Attach | Handler::Dbus | Handler::KeyCodes | Handler::Keys => {
            own::takes_over(handler, scene, run)?;
            special::wrapped(scene, call, actor).map(|_| None)
        }
        Handler::Wrapper => special::wrapped(scene, call, actor).map(|_| None),
        Handler::Editor | Handler::Emacs => own::edits(handler, scene, run).map(|()| None),
        Handler::Vim => {
            own::edits(handler, scene, run)?;
            vim::run(scene, call, actor).map(|()| None)
        }
        Handler::Jq => reads::named_files(scene, call, actor).map(|()| None),
        Handler::Cloud => cloud::values(scene, run).map(|()| None),
        Handler::Curl | Handler::Forge => {
            forwards::notes(scene, run);
            requests::requests(scene, run).map(|()| None)
        }
        Handler::Forwards => {
            forwards::notes(scene, run);
            Ok(None)
        }
        Handler::Mongo => sql::mongo(scene, run).map(|()| None),
        Handler::Image => images::runs(scene, parsed, actor).map(|()| None),
        Handler::Redis => sql::redis(scene, run).map(|()| None),
        Handler::Make => folder::shell_of_make(scene, parsed, actor).map(|()| None),
        Handler::Chart => images::chart(scene, parsed, actor).map(|()| None),
        Handler::GoRun => packages::modules(scene, parsed, actor).map(|()| None),
        Handler::Serves => folder::serves(scene, parsed, actor).map(|()| None),
        Handler::GitConfig => git::config_command(scene, parsed, actor).map(|()| None),
        Handler::NpmConfig => keys::package_settings(scene, parsed, actor).map(|()| None),
        Handler::PutLines => transfer::put_lines(scene, run).map(|()| None),
        _ => Ok(None),
    }
}

/// What the program takes from its standard input.
pub(super) fn input(handlers: &[Handler], stdin: &Value) -> Value {
    if handlers.contains(&Handler::Crontab) {
        values::schedule_lines(stdin)
    } else {
        stdin.clone()
    }
}

/// What happens when all arguments are known.
pub(super) fn after(
    handler: Handler,
    scene: &mut Scene<'_>,
    run: Run<'_>,
    gathered: &Gathered,
) -> Fueled {
    let Run { parsed, actor, .. } = run;
    match handler {
        Handler::Ansible => keys::ansible(scene, run),
        Handler::Aria2 | Handler::Axel | Handler::Curl | Handler::Wget => {
            network::downloads(handler, scene, parsed, &gathered.urls);
            Ok(())
        }
        Handler::Clones => {
            git::clones(scene, parsed, &gathered.urls);
            Ok(())
        }
        Handler::Git => {
            git::clones(scene, parsed, &gathered.urls);
            git::submodules(scene, actor, parsed, &gathered.urls)?;
            work_tree::acts(scene, parsed, actor)?;
            work_tree::stages(scene, parsed, actor)?;
            git::destinations(scene, parsed, actor)?;
            git::revisions(scene, parsed, actor)
        }
        Handler::Grep | Handler::Search => reads::searches_here(scene, run),
        Handler::NpmSet => packages::scripts(scene, parsed, actor),
        Handler::Unpack => {
            network::unpacks(scene, parsed, &gathered.input);
            let shows = [Tag::List, Tag::Create]
                .iter()
                .any(|t| parsed.tags.contains(t))
                || parsed.given(&["-O", "--to-stdout", "-k", "--keep-old-files"]);
            let archive = run.call.stdin.unwrap_or(&gathered.input);
            if !shows && branches::unpacks_old(scene, archive) {
                scene.emit(actor.does(Kind::Vcs).tagged(Tag::Discards))?;
            }
            folder::unpacks_over(scene, parsed, actor)
        }
        _ => Ok(()),
    }
}

/// What the program leaves behind, and what it prints.
pub(super) fn finish(
    handler: Handler,
    scene: &mut Scene<'_>,
    run: Run<'_>,
    output: Value,
) -> Value {
    match handler {
        Handler::Copy | Handler::Link | Handler::Mount | Handler::Move => {
            special::links(handler, scene, run.parsed);
            output
        }
        Handler::Git => {
            refs::follow(scene, run.parsed);
            let branch = refs::shows(scene, run.parsed);
            branch.unwrap_or_else(|| branches::shows(scene, run.parsed, output))
        }
        Handler::Jq => reads::printed_by_jq(run.parsed, output),
        Handler::Release => {
            network::release_files(scene, run.parsed);
            output
        }
        Handler::Ls => reads::listing(scene, run.parsed).unwrap_or(output),
        Handler::Awk
        | Handler::Cut
        | Handler::Filter
        | Handler::Grep
        | Handler::Ports
        | Handler::Processes
        | Handler::ProcessesByName
        | Handler::Search
        | Handler::Sed => processes::about(handler, run.call, output),
        _ => output,
    }
}
