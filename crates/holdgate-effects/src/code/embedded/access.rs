//! Who is let in, as policies, roles and rules of firewalls say it: Terraform, `CloudFormation`, documents
//! of IAM, manifests of Kubernetes. A piece of such a file says it as well as the whole.

mod kept;
mod network;
mod stopped;

use super::Reader;
use crate::effect::{Actor, Kind};
use crate::json::{Json, LoneSurrogates};
use crate::scene::Fueled;
use crate::tag::Tag;

/// Rights that stand deeper than this are nobody's.
const MAX_DEPTH: usize = 32;
/// Rights of one file that are told.
const MAX_FOUND: usize = 8;
/// A document within a document is not longer than this.
const MAX_DOCUMENT: usize = 64 << 10;

/// Who is nobody in particular.
const ANYBODY: [&str; 8] = [
    "allUsers",
    "allAuthenticatedUsers",
    "system:anonymous",
    "system:unauthenticated",
    "system:authenticated",
    "system:serviceaccounts",
    "user:allUsers",
    "*",
];
/// Roles and policies with which one can do everything, or give oneself the right to.
const ALMIGHTY: [&str; 13] = [
    "policy/AdministratorAccess",
    "policy/IAMFullAccess",
    "roles/owner",
    "roles/iam.securityAdmin",
    "roles/resourcemanager.organizationAdmin",
    "roles/iam.organizationRoleAdmin",
    "roles/iam.serviceAccountTokenCreator",
    "User Access Administrator",
    // Owner, User Access Administrator and Role Based Access Control Administrator of Azure.
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
    "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9",
    "f58310d9-a9f6-439a-9e8d-f62e7b41a168",
    "cluster-admin",
    "system:masters",
];
/// Words of settings that protect, and of what such settings belong to.
const PROTECTIONS: [&str; 15] = [
    "logging",
    "log",
    "logs",
    "audit",
    "trail",
    "cloudtrail",
    "encryption",
    "encrypted",
    "versioning",
    "rotation",
    "mfa",
    "waf",
    "guardduty",
    "detector",
    "validation",
];
/// Names that only say whether something is on.
const SWITCHES: [&str; 5] = ["enable", "enabled", "status", "state", "is"];

/// Where in a document the walk is.
#[derive(Clone, Copy)]
struct At<'k> {
    /// What the nearest resource is.
    resource: &'k str,
    /// The key under which this node stands.
    key: &'k str,
    /// It is about what goes out.
    outgoing: bool,
    depth: usize,
}

type Found = Vec<(Tag, String)>;

impl Reader<'_, '_, '_> {
    /// What a document lets others do.
    pub(super) fn access(&mut self, tree: &Json<'_>) -> Fueled {
        let mut found = Found::new();
        let start = At {
            resource: "",
            key: "",
            outgoing: false,
            depth: 0,
        };
        grants(tree, start, &mut found);
        // It is said plainly, also where commands are only guessed at.
        let marks = std::mem::take(&mut self.scene.marks);
        let mut done = Ok(());
        for (tag, text) in found {
            let actor = Actor::new("access", &crate::json::shorten(&text, 200));
            let effect = actor.does(Kind::Remote).tagged(tag).about(&text);
            done = done.and_then(|()| self.scene.emit(effect));
        }
        self.scene.marks = marks;
        done
    }
}

fn grants(node: &Json<'_>, at: At<'_>, found: &mut Found) {
    if at.depth > MAX_DEPTH || found.len() >= MAX_FOUND {
        return;
    }
    match node {
        Json::Object(members) => {
            let labels = node.get_str(super::parse::LABELS);
            let resource = labels.or_else(|| node.get_str("Type").filter(|t| t.contains("::")));
            let way = node.get_str("type").or_else(|| node.get_str("direction"));
            let out = way.is_some_and(|way| ["egress", "outbound"].contains(&lower(way).as_str()));
            let at = At {
                resource: resource.unwrap_or(at.resource),
                outgoing: at.outgoing || out,
                ..at
            };
            statement(node, found);
            vault(node, found);
            cluster(node, found);
            stopped::object(node, found);
            kept::data(members, found);
            kept::expiring(node, at, found);
            if !at.outgoing {
                network::rule(node, at, found);
            }
            for (name, value) in members {
                setting(name, value, at, found);
                let under = At {
                    key: name,
                    outgoing: at.outgoing || lower(name).contains("egress"),
                    depth: at.depth + 1,
                    ..at
                };
                grants(value, under, found);
            }
        }
        Json::Array(items) => {
            let depth = at.depth + 1;
            for item in items {
                grants(item, At { depth, ..at }, found);
            }
        }
        // A policy as a text: `policy = <<EOF`.
        Json::String(text) if text.len() < MAX_DOCUMENT && text.contains("Statement") => {
            let text = text.trim();
            let read = Json::read(text.as_bytes(), MAX_DEPTH, LoneSurrogates::Replace);
            if let Ok(document) = read {
                let depth = at.depth + 1;
                grants(&document, At { depth, ..at }, found);
            }
        }
        // A patch of a role: `patch: |`; a map of accounts: `mapUsers: |`.
        Json::String(text)
            if text.len() < MAX_DOCUMENT
                && (text.contains("roleRef") || text.contains("system:masters")) =>
        {
            let depth = at.depth + 1;
            for document in super::parse::yaml(text).documents {
                grants(&document, At { depth, ..at }, found);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// A statement of a policy: who may do what.
fn statement(node: &Json<'_>, found: &mut Found) {
    let get = |names: [&str; 2]| names.iter().find_map(|name| node.get(name));
    let actions = texts(get(["Action", "actions"]));
    let effect = get(["Effect", "effect"]).and_then(Json::as_str);
    let principals = get(["Principal", "principals"]);
    let resources = texts(get(["Resource", "resources"]));
    // In Terraform's own form nothing else is needed to allow.
    let is_one = effect == Some("Allow")
        || effect.is_none() && node.get("actions").is_some() && !resources.is_empty();
    if !is_one {
        return;
    }
    let mut who = Vec::new();
    gather(principals, 0, &mut who);
    let shown = || format!("{} may {}", who.join(", "), actions.join(", "));
    let conditional = get(["Condition", "condition"]).is_some();
    let federated = principals.is_some_and(|p| p.get("Federated").is_some());
    let is_wide = |action: &&str| *action == "*" || action.ends_with(":*") || *action == "*:*";
    let assumes = |action: &&str| action.starts_with("sts:Assume");
    if !conditional && (who.contains(&"*") || federated) {
        found.push((Tag::Public, shown()));
    } else if !conditional
        && who.iter().any(|who| is_account(who))
        && actions.iter().any(|a| is_wide(a) || assumes(a))
    {
        found.push((Tag::Elevate, shown()));
    }
    let rules = |action: &&str| matches!(*action, "*" | "*:*");
    let gives = |action: &&str| {
        let giving = [
            "Attach",
            "CreateAccessKey",
            "CreatePolicyVersion",
            "UpdateAssumeRole",
        ];
        let puts = action.starts_with("iam:Put") && action.ends_with("Policy");
        let iam = action.strip_prefix("iam:").unwrap_or("");
        matches!(*action, "iam:*" | "organizations:*" | "sts:*")
            || puts
            || giving.iter().any(|start| iam.starts_with(start))
    };
    let all = resources.contains(&"*");
    if principals.is_none() && all && actions.iter().any(|action| rules(action) || gives(action)) {
        found.push((Tag::Elevate, format!("may {}", actions.join(", "))));
    }
}

/// A rule of Vault: every path, or those by which rights are given.
fn vault(node: &Json<'_>, found: &mut Found) {
    let capabilities = texts(node.get("capabilities"));
    let Some(path) = node.get_str(super::parse::LABELS) else {
        return;
    };
    let changes = |what: &&str| matches!(*what, "sudo" | "create" | "update" | "delete" | "root");
    let wide = [
        "*",
        "+/*",
        "sys/*",
        "auth/*",
        "sys/policies/*",
        "identity/*",
    ];
    if wide.contains(&path) && capabilities.iter().any(changes) {
        let text = format!("{path}: {}", capabilities.join(", "));
        found.push((Tag::Elevate, text));
    }
}

/// Whether a principal is an account of AWS that is named by its number.
fn is_account(who: &str) -> bool {
    let number = who.split("::").nth(1).unwrap_or(who);
    let number = number.split(':').next().unwrap_or("");
    number.len() == 12 && number.bytes().all(|b| b.is_ascii_digit())
}

/// Roles of a cluster, and to whom they are given.
fn cluster(node: &Json<'_>, found: &mut Found) {
    let patched = node.get_str("path").is_some_and(|p| p.contains("roleRef"));
    if let Some(role) = node.get_str("value").filter(|r| ALMIGHTY.contains(r))
        && patched
    {
        found.push((Tag::Elevate, format!("a patch gives the role {role}")));
    }
    let Some(kind) = node.get_str("kind") else {
        return;
    };
    let items = |value: Option<&'_ Json<'_>>| value.and_then(Json::as_array).map_or(0, <[_]>::len);
    if kind.ends_with("RoleBinding") && items(node.get("subjects")) > 0 {
        let role = node.get("roleRef").and_then(|role| role.get_str("name"));
        let mut who = Vec::new();
        gather(node.get("subjects"), 0, &mut who);
        if role.is_some_and(|role| ALMIGHTY.contains(&role)) {
            found.push((Tag::Elevate, format!("cluster-admin: {}", who.join(", "))));
        } else if who.iter().any(|who| ANYBODY.contains(who)) {
            found.push((Tag::Public, format!("a role: {}", who.join(", "))));
        }
    }
    if kind.ends_with("WebhookConfiguration") {
        for hook in node.get("webhooks").and_then(Json::as_array).unwrap_or(&[]) {
            let url = hook.get("clientConfig").and_then(|c| c.get_str("url"));
            if let Some(url) = url.filter(|url| !is_own_address(url)) {
                found.push((Tag::Elevate, format!("{url} decides about every object")));
            }
        }
    }
    if kind == "Service" && network::is_open_service(node) {
        let name = node.get("metadata").and_then(|m| m.get_str("name"));
        let text = format!(
            "the service {} is open to every address",
            name.unwrap_or("")
        );
        found.push((Tag::Public, text));
    }
    if matches!(kind, "ClusterRole" | "Role") {
        // Whoever has the common role gets these rights too, and nobody binds anything.
        let labels = node.get("metadata").and_then(|m| m.get("labels"));
        let labels = labels.and_then(Json::as_object).unwrap_or_default();
        let joins = labels
            .iter()
            .any(|(name, value)| name.contains("/aggregate-to-") && is_on(value));
        for rule in node.get("rules").and_then(Json::as_array).unwrap_or(&[]) {
            let verbs = texts(rule.get("verbs"));
            let resources = texts(rule.get("resources"));
            let all = verbs.contains(&"*") && resources.contains(&"*");
            let rises = ["escalate", "bind", "impersonate"];
            let secret = |name: &&str| matches!(*name, "secrets" | "*" | "pods/exec");
            let shares = joins && resources.iter().any(secret);
            if all || shares || verbs.iter().any(|verb| rises.contains(verb)) {
                let text = format!("{} on {}", verbs.join(", "), resources.join(", "));
                found.push((Tag::Elevate, text));
            }
        }
    }
}

/// Whether an address is of this machine or of the cluster.
fn is_own_address(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or(url);
    let host = host.split(['/', ':']).next().unwrap_or("");
    let ends = [".svc", ".local", ".internal", "localhost", "127.0.0.1"];
    ends.iter().any(|end| host.ends_with(end)) || host.starts_with("10.") || host.contains('{')
}

/// A setting by its name and value.
fn setting(name: &str, value: &Json<'_>, at: At<'_>, found: &mut Found) {
    let plain = lower(name).replace(['_', '-'], "");
    let values = texts(Some(value));
    let is = |all: &[&str]| values.iter().any(|value| all.contains(value));
    let (on, off) = (is_on(value), is_off(value));
    let public = match plain.as_str() {
        "blockpublicacls" | "blockpublicpolicy" | "ignorepublicacls" | "restrictpublicbuckets" => {
            off
        }
        "publiclyaccessible" | "allowblobpublicaccess" | "allownesteditemstobepublic" => on,
        "acl" | "accesscontrol" | "cannedacl" => is(&[
            "public-read",
            "public-read-write",
            "authenticated-read",
            "PublicRead",
            "PublicReadWrite",
        ]),
        "containeraccesstype" => is(&["blob", "container"]),
        "member" | "members" => values
            .iter()
            .any(|who| ANYBODY.contains(who) && *who != "*"),
        _ => false,
    };
    if public {
        found.push((Tag::Public, format!("{name} = {}", values.join(", "))));
    }
    let role = matches!(
        plain.as_str(),
        "role"
            | "policyarn"
            | "policyarns"
            | "managedpolicyarns"
            | "roledefinitionname"
            | "roledefinitionid"
    );
    let almighty = |value: &&str| {
        // An expression of a template: `[resourceId('…', '8e3a…')]`
        let value = value.trim_end_matches([')', ']', '\'']);
        ALMIGHTY.iter().any(|all| value.ends_with(all))
    };
    let owner = plain == "roledefinitionname" && is(&["Owner"]);
    if role && (owner || values.iter().any(almighty)) {
        found.push((Tag::Elevate, format!("{name} = {}", values.join(", "))));
    }
    let joins = ["membership", "collaborator", "member", "team"];
    let of_people = joins.iter().any(|word| at.resource.contains(word));
    if of_people && matches!(plain.as_str(), "role" | "permission") && is(&["admin", "owner"]) {
        found.push((Tag::Elevate, format!("{}: {name} = admin", at.resource)));
    }
    if at.resource.is_empty() || !off {
        return;
    }
    let words = words(name);
    let bare = words.iter().all(|word| SWITCHES.contains(&word.as_str()));
    let protects = |words: &[String]| words.iter().any(|w| PROTECTIONS.contains(&w.as_str()));
    let of_protection =
        bare && (protects(&self::words(at.key)) || protects(&self::words(at.resource)));
    if protects(&words) || of_protection || plain == "httptokens" {
        let text = format!("{} {}: {name} is off", at.resource, at.key);
        found.push((Tag::SecurityOff, text));
    }
}

fn is_on(value: &Json<'_>) -> bool {
    matches!(value, Json::Bool(true)) || matches!(value.as_str(), Some("true" | "True"))
}

fn is_off(value: &Json<'_>) -> bool {
    let words = [
        "false",
        "False",
        "Suspended",
        "Disabled",
        "DISABLED",
        "OFF",
        "optional",
    ];
    matches!(value, Json::Bool(false)) || value.as_str().is_some_and(|text| words.contains(&text))
}

/// The texts of a value that is one, or a list of them.
fn texts<'j>(value: Option<&'j Json<'_>>) -> Vec<&'j str> {
    match value {
        Some(Json::String(text)) => vec![text],
        Some(Json::Array(items)) => items.iter().filter_map(Json::as_str).take(64).collect(),
        _ => Vec::new(),
    }
}

/// All texts in a value.
fn gather<'j>(value: Option<&'j Json<'_>>, depth: usize, found: &mut Vec<&'j str>) {
    if depth > 4 || found.len() > 64 {
        return;
    }
    match value {
        Some(Json::String(text)) => found.push(text),
        Some(Json::Array(items)) => {
            for item in items {
                gather(Some(item), depth + 1, found);
            }
        }
        Some(Json::Object(members)) => {
            for (_, value) in members {
                gather(Some(value), depth + 1, found);
            }
        }
        _ => {}
    }
}

/// The words of `enable_logging`, `LogFileValidation`, `aws_cloudtrail main`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars().take(128) {
        let part = c.is_ascii_alphanumeric();
        if (!part || small && c.is_ascii_uppercase()) && words.last().is_some_and(|w| !w.is_empty())
        {
            words.push(String::new());
        }
        small = c.is_ascii_lowercase();
        if let Some(word) = words.last_mut().filter(|_| part) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn lower(text: &str) -> String {
    text.to_ascii_lowercase()
}
