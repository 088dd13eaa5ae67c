//! What takes a service of production away from its users, and who is let into a cluster by a map of accounts.

use super::{ALMIGHTY, Found, texts, words};
use crate::json::Json;
use crate::tag::Tag;

/// Kinds of objects that run something.
const RUNS: [&str; 5] = [
    "Deployment",
    "StatefulSet",
    "ReplicaSet",
    "Rollout",
    "HorizontalPodAutoscaler",
];

/// Looks at one object of a manifest.
pub(super) fn object(node: &Json<'_>, found: &mut Found) {
    accounts(node, found);
    let Some(kind) = node.get_str("kind") else {
        return;
    };
    let (Some(spec), Some(about)) = (node.get("spec"), node.get("metadata")) else {
        return;
    };
    let named = |key: &str| about.get_str(key).map(words).unwrap_or_default();
    let production = |key: &str| {
        let is = |word: &String| matches!(word.as_str(), "prod" | "production" | "live");
        named(key).iter().any(is)
    };
    if !production("namespace") && !production("name") {
        return;
    }
    let name = about.get_str("name").unwrap_or("");
    let count = |key: &str| match spec.get(key) {
        Some(Json::String(text) | Json::Number(text)) => Some(text.trim() == "0"),
        _ => None,
    };
    let none = count("replicas") == Some(true) || count("maxReplicas") == Some(true);
    if RUNS.contains(&kind) && none {
        found.push((Tag::Delete, format!("{kind} {name}: nothing of it runs")));
    }
    if kind == "NetworkPolicy" && is_empty(spec.get("podSelector")) {
        let rules = |key: &str| spec.get(key).and_then(Json::as_array);
        let none = |key: &str| rules(key).is_none_or(<[_]>::is_empty);
        let any = |key: &str| {
            rules(key)
                .unwrap_or_default()
                .iter()
                .any(|rule| is_empty(Some(rule)))
        };
        // One that denies by its name has others beside it that allow.
        let denies = named("name").iter().any(|w| w == "deny" || w == "default");
        let both = texts(spec.get("policyTypes")).len() > 1;
        if none("ingress") && none("egress") && both && !denies {
            let text = format!("NetworkPolicy {name}: nothing reaches anything");
            found.push((Tag::Delete, text));
        }
        if any("ingress") {
            let text = format!("NetworkPolicy {name}: everything reaches everything");
            found.push((Tag::Public, text));
        }
    }
}

/// `mapUsers` and `mapRoles` of a cluster: an account of the cloud that may do everything there.
fn accounts(node: &Json<'_>, found: &mut Found) {
    let who = ["userarn", "rolearn", "username"]
        .iter()
        .find_map(|key| node.get_str(key));
    let groups = texts(node.get("groups"));
    if let Some(who) = who.filter(|_| groups.iter().any(|group| ALMIGHTY.contains(group))) {
        found.push((
            Tag::Elevate,
            format!("{who} may do everything in the cluster"),
        ));
    }
}

fn is_empty(value: Option<&Json<'_>>) -> bool {
    value.is_some_and(|value| value.as_object().is_some_and(<[_]>::is_empty))
}
