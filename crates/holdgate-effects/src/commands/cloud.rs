//! What a cloud's own program does, by the values that it is given: whatever the sub-command is called,
//! `0.0.0.0/0` lets everybody in, and an expiration without a prefix deletes everything.

use super::args::Parsed;
use super::units::Run;
use crate::effect::Kind;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Words of a command line that may be its sub-commands.
const MAX_VERBS: usize = 6;
/// Bytes of a document that are looked at.
const MAX_TEXT: usize = 32 << 10;

/// Sub-commands that change nothing, or close what was open.
const HARMLESS: [&str; 16] = [
    "describe", "list", "get", "show", "search", "ls", "wait", "validate", "download", "export",
    "revoke", "remove", "deny", "disable", "detach", "unset",
];
/// First words of such sub-commands: `describe-instances`, `remove-iam-policy-binding`.
const LOOKS: [&str; 11] = [
    "describe",
    "list",
    "get",
    "search",
    "lookup",
    "head",
    "revoke",
    "remove",
    "disassociate",
    "detach",
    "disable",
];
const DELETES: [&str; 6] = ["delete", "purge", "destroy", "terminate", "wipe", "rm"];
/// What comes back with the next run, or was read already.
const LIGHT: [&str; 6] = ["message", "tag", "tags", "label", "labels", "metadata"];
/// Texts, without blanks and quotes, that let everybody in.
const PUBLIC: [&str; 20] = [
    "allusers",
    "allauthenticatedusers",
    "public-read",
    "--publicly-accessible",
    "--allow-unauthenticated",
    "--values-to-addall",
    "add=[{group=all}]",
    "add:[{group:all}]",
    "--group-namesall",
    "--public-accessblob",
    "--public-accesscontainer",
    "--public-access=blob",
    "--public-access=container",
    "--allow-blob-public-accesstrue",
    "--public-access-typeobjectread",
    "blockpublicacls=false",
    "blockpublicacls:false",
    "--auth-typenone",
    "dev-urlenable",
    "0.0.0.0--end-ip-address255.255.255.255",
];
/// Everybody as the one that a policy speaks of.
const ANYBODY: [&str; 7] = [
    "principal:*",
    "principal:{aws:*",
    "principal:{aws:[*",
    "--principal*",
    "principal=*",
    "principals:[*",
    "--aws-account-id*",
];
/// Texts that leave nothing to go back to.
const NOTHING_KEPT: [&str; 10] = [
    // Rows that expire when they are made, or changed, are all deleted.
    "attributename=created",
    "attributename=updated",
    "--force-destroy",
    "--backup-retention-period0",
    "--backup-retention-period=0",
    "--retention-in-days0",
    "--retention-days0",
    "--retained-backups-count=0",
    "--no-backup-",
    "--no-deletion-protection",
];

/// Sub-commands and options that leave less of what is logged about an account.
const LOGS_LESS: [&str; 12] = [
    "put-event-selectors",
    "put-insight-selectors",
    "--no-is-multi-region-trail",
    "--no-include-global-service-events",
    "--no-enable-log-file-validation",
    "--no-is-organization-trail",
    "update-detector--no-enable",
    "--bucket-logging-status{}",
    "stop-configuration-recorder",
    "--logging-configuration{}",
    "--no-log-http",
    "--enable-logging=false",
];
/// Beginnings of names of machines that cost as much as a house within a month.
const COSTLY: [&str; 12] = [
    "p4d",
    "p5",
    "p6",
    "g6e.48",
    "trn",
    "u-",
    "x2",
    "a3-",
    "a4-",
    "a2-mega",
    "a2-ultra",
    "standard_nd",
];
/// What starts machines.
const STARTS: [&str; 9] = [
    "run-instances",
    "instancescreate",
    "request-spot-",
    "create-fleet",
    "set-desired-capacity",
    "auto-scaling-group",
    "node-poolscreate",
    "clustersresize",
    "vmcreate",
];
/// How many of them, as options and members of documents say it.
const NUMBERS: [&str; 7] = [
    "-count",
    "maxcount",
    "targetcapacity",
    "desired-capacity",
    "desiredcapacity",
    "--num-nodes",
    "--min-size",
];
/// What names the accounts that something is shared with.
const ACCOUNTS: [&str; 7] = [
    "--user-ids",
    "userid=",
    "userid:",
    "--values-to-add",
    "--aws-account-ids",
    "--account-ids",
    "--principals",
];
/// A day in seconds.
const DAY: u32 = 86_400;
/// More machines at once than a test needs.
const MANY: u32 = 10;

/// Notes what the values of a command do that its entry in the table may not say.
pub(super) fn values(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let words = run.call.words.get(1..).unwrap_or(&[]);
    let bytes: usize = words.iter().map(|word| word.text.len()).sum();
    scene.fuel.spend_on(4 * bytes)?;
    let mut tags = Vec::new();
    if deletes(run.parsed) && !opens_by_deleting(words) {
        tags.push(Tag::Delete);
    } else if !verbs(run.parsed, words).any(is_harmless) {
        tags.extend(by_values(&compact(scene, words)));
    }
    if tags.is_empty() {
        return Ok(());
    }
    let mut effect = run.actor.does(Kind::Remote);
    for tag in tags {
        effect = effect.tagged(tag);
    }
    scene.emit(effect.about(&Value::join(words, " ").text))
}

fn first_part(verb: &str) -> &str {
    verb.split(['-', ':']).next().unwrap_or("")
}

/// Whether a sub-command deletes, known or not.
fn deletes(parsed: &Parsed) -> bool {
    let operands = parsed.operands.iter().map(|word| word.text.as_str());
    let names = || {
        parsed
            .subs
            .iter()
            .map(String::as_str)
            .chain(operands.clone().take(3))
    };
    let deletes = |verb: &str| {
        let last = verb.rsplit('-').next().unwrap_or("");
        let last = verb.matches('-').count() == 1 && DELETES.contains(&last);
        last || DELETES.contains(&first_part(verb)) || verb.starts_with("batch-delete")
    };
    let is_light = |verb: &str| verb.split('-').any(|word| LIGHT.contains(&word));
    names().skip(1).take(MAX_VERBS).any(deletes) && !names().any(is_light)
}

/// The sub-commands: from the first of them to the first option behind it. What follows may be the value
/// of an option, which says nothing about the command.
fn verbs<'w>(parsed: &Parsed, words: &'w [Value]) -> impl Iterator<Item = &'w str> {
    let first = parsed.subs.first().cloned();
    let texts = words.iter().map(|word| word.text.as_str());
    let from = texts.skip_while(move |word| first.as_ref().is_some_and(|sub| sub != word));
    from.take_while(|word| !word.starts_with('-'))
        .take(MAX_VERBS)
}

fn is_harmless(verb: &str) -> bool {
    HARMLESS.contains(&verb) || verb.contains('-') && LOOKS.contains(&first_part(verb))
}

/// What blocks the public is deleted.
fn opens_by_deleting(words: &[Value]) -> bool {
    words
        .iter()
        .any(|word| word.text == "delete-public-access-block")
}

/// All words, with what is known of files that they name, in lower case without blanks and quotes.
pub(super) fn compact(scene: &Scene<'_>, words: &[Value]) -> String {
    let mut out = String::new();
    let mut push = |text: &str| {
        let kept = text
            .chars()
            .filter(|c| !(c.is_whitespace() || "\"'\\".contains(*c)));
        out.extend(kept.take(MAX_TEXT).map(|c| c.to_ascii_lowercase()));
    };
    for word in words {
        push(&word.text);
        let file = word.text.rsplit_once("file://").map(|(_, path)| path);
        let is_document = word.text.rsplit('.').next() == Some("json");
        let file = file.or_else(|| is_document.then_some(&word.text));
        if let Some(path) = file {
            let path = word.map(path.rsplit('=').next().unwrap_or(path));
            push(&scene.content(&path).text);
        }
    }
    out
}

fn by_values(text: &str) -> Vec<Tag> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let mut tags = Vec::new();
    let no = ["--no-publicly-accessible", "--no-allow-unauthenticated"];
    let policy = has(&ANYBODY) && (!text.contains("effect:deny") || text.contains("effect:allow"));
    if has(&PUBLIC) && !has(&no) || policy || text.contains("delete-public-access-block") {
        tags.push(Tag::Public);
    }
    let any = [
        "source-address-prefixes*",
        "source-address-prefixesinternet",
    ];
    let ends = |word: &str| text.split(word).nth(1).map(address_at);
    let range = match (ends("start-ip-address"), ends("end-ip-address")) {
        (Some(first), Some(last)) => crate::host::spans(first, last),
        _ => false,
    };
    if (range || has(&any) || crate::host::everywhere(text).next().is_some())
        && !is_way_out(text)
        && !is_web(text)
    {
        tags.push(Tag::Public);
    }
    let expires = text.contains("lifecycle")
        && has(&["expiration:{", "action:{type:delete", "expiration={"])
        && !has(&["prefix:a", "tag:{", "key:"])
        && !has_prefix(text);
    // Seconds after which a table of `BigQuery` goes away.
    let mut soon = text.split("expiration").skip(1).filter_map(number_at);
    let expires = expires || soon.any(|seconds| (1..DAY).contains(&seconds));
    if expires || has(&NOTHING_KEPT) {
        tags.push(Tag::Delete);
    }
    if has(&LOGS_LESS) {
        tags.push(Tag::SecurityOff);
    }
    if has(&STARTS) && (is_costly(text) || count(text) >= MANY) {
        tags.push(Tag::Payment);
    }
    if is_shared(text) {
        tags.push(Tag::User);
    }
    tags
}

/// Whether a machine of a costly kind is asked for: `--instance-type p5`, `"InstanceType": "p5"`.
fn is_costly(text: &str) -> bool {
    let mut kinds = text
        .split("type")
        .skip(1)
        .chain(text.split("--size").skip(1));
    kinds.any(|kind| {
        let kind = kind.trim_start_matches(['=', ':', '[']);
        COSTLY.iter().any(|costly| kind.starts_with(costly))
    })
}

/// How many machines are asked for.
fn count(text: &str) -> u32 {
    let numbers = NUMBERS.iter().flat_map(|name| text.split(name).skip(1));
    numbers.filter_map(number_at).max().unwrap_or(0)
}

/// The address that an option has.
fn address_at(text: &str) -> &str {
    let text = text.trim_start_matches(['=', ':']);
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'));
    text.get(..end.unwrap_or(text.len())).unwrap_or("")
}

/// The number that an option or a member has.
fn number_at(text: &str) -> Option<u32> {
    let text = text.trim_start_matches(['=', ':']);
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.get(..end.unwrap_or(text.len()))?.parse().ok()
}

/// Whether another account gets something: a number of twelve digits where accounts are named.
fn is_shared(text: &str) -> bool {
    let gives = ["permission", "attribute", "share"];
    if !gives.iter().any(|word| text.contains(word)) {
        return false;
    }
    let mut named = ACCOUNTS.iter().flat_map(|name| text.split(name).skip(1));
    named.any(|rest| {
        let rest = rest.trim_start_matches(['=', ':', '[']);
        rest.bytes().take_while(u8::is_ascii_digit).count() == 12
    })
}

/// Whether a rule speaks of some objects only.
fn has_prefix(text: &str) -> bool {
    let mut after = text.split("prefix").skip(1);
    after.any(|rest| {
        let rest = rest.trim_start_matches([':', '=', '[']);
        rest.starts_with(|c: char| c.is_alphanumeric())
    })
}

/// Whether it is about what this side may reach: a route, a rule for what goes out.
fn is_way_out(text: &str) -> bool {
    let marks = [
        "-egress",
        "directionegress",
        "direction=egress",
        "directionout",
        "direction=out",
        "create-route",
        "replace-route",
        "routescreate",
        "routecreate",
        "destination-ips",
    ];
    marks.iter().any(|mark| text.contains(mark))
}

/// Whether only the ports of the web are opened.
fn is_web(text: &str) -> bool {
    let doors = ["security-group", "firewall", "nsg", "balancer"];
    let all = ["protocol-1", "protocol=-1", "protocol:-1", "protocolall"];
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if !has(&doors) || has(&all) {
        return false;
    }
    let named = ["port", "tcp:", "--rules="];
    let web = ["80", "443"];
    let numbers = |part: &str| {
        let end = part
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(part.len());
        part.get(..end).unwrap_or("").to_owned()
    };
    let mut found = false;
    for name in named {
        for part in text.split(name).skip(1) {
            let part = part.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '*');
            let number = numbers(part);
            if number.is_empty() {
                continue;
            }
            if !web.contains(&number.as_str()) {
                return false;
            }
            found = true;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_tell_what_is_opened_and_deleted() {
        let public = |text: &str| by_values(text).contains(&Tag::Public);
        assert!(public("--cidr0.0.0.0/0--port22"));
        assert!(!public(
            "authorize-security-group-ingress--cidr0.0.0.0/0--port443"
        ));
        assert!(public(
            "sqlpatch--authorized-networks0.0.0.0/0--labelsport443"
        ));
        assert!(!public("create-route--destination-cidr-block0.0.0.0/0"));
        assert!(public("{statement:[{effect:allow,principal:*}]}"));
        assert!(!public("{statement:[{effect:deny,principal:*}]}"));
        assert!(!public("--no-publicly-accessible"));
        let deletes = |text: &str| by_values(text).contains(&Tag::Delete);
        assert!(deletes(
            "put-bucket-lifecycle{rules:[{filter:{},expiration:{days:1}}]}"
        ));
        assert!(!deletes(
            "put-bucket-lifecycle{rules:[{prefix:logs/,expiration:{days:30}}]}"
        ));
        assert!(deletes("--backup-retention-period0"));
        let costs = |text: &str| by_values(text).contains(&Tag::Payment);
        assert!(costs("ec2create-fleet{launch:{instancetype:p5.48xlarge}}"));
        assert!(costs("set-desired-capacity--desired-capacity400"));
        assert!(!costs("run-instances--instance-typet3.micro--count2"));
        assert!(!costs("describe--instance-typep5.48xlarge"));
        let shares = |text: &str| by_values(text).contains(&Tag::User);
        assert!(shares(
            "modify-image-attribute--launch-permissionadd=[{userid=123456789012}]"
        ));
        assert!(!shares("modify-image-attribute--image-idami-123456789012"));
    }
}
