//! Data that nothing keeps: settings of databases, and rules by which what is stored expires.

use super::{At, Found, is_off};
use crate::json::Json;
use crate::tag::Tag;
use std::borrow::Cow;

/// Data that neither a backup nor a lock keeps: one alone is usual where things are tried.
pub(super) fn data(members: &[(Cow<'_, str>, Json<'_>)], found: &mut Found) {
    let value = |name: &str| {
        let is_it = |(key, _): &&(Cow<'_, str>, Json<'_>)| {
            key.chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|c| c.to_ascii_lowercase())
                .eq(name.chars())
        };
        members.iter().find(is_it).map(|(_, value)| value)
    };
    let unlocked = value("deletionprotection").is_some_and(is_off);
    let zero = |value: &Json<'_>| matches!(value, Json::Number(number) if number == "0");
    if unlocked && value("backupretentionperiod").is_some_and(zero) {
        let text = "neither backups nor a lock keep the data".to_owned();
        found.push((Tag::SecurityOff, text));
    }
}

/// Fewer days than this keep nothing that somebody may want back.
const SOON: u32 = 7;

/// A rule by which all objects of a bucket go away within days: neither a prefix nor a filter names some.
pub(super) fn expiring(node: &Json<'_>, at: At<'_>, found: &mut Found) {
    // `aws_s3_bucket_lifecycle_configuration`, `lifecycle_rule`, `LifecycleConfiguration`, `AWS::S3::Bucket`
    let near = |name: &str| name.contains("ifecycle");
    if !near(at.resource)
        && !near(at.key)
        && !at.resource.contains("bucket")
        && !at.resource.contains("Bucket")
    {
        return;
    }
    let number = |node: Option<&Json<'_>>, name: &str| {
        let node = node?;
        let node = node.as_array().and_then(<[_]>::first).unwrap_or(node);
        let value = node.get(name)?;
        let text = value.as_str().map_or_else(|| value.text(), str::to_owned);
        text.parse::<u32>().ok()
    };
    let deletes = node
        .get("action")
        .is_some_and(|action| action.text().contains("Delete"));
    let by_age = number(node.get("condition"), "age").filter(|_| deletes);
    let by_days = number(node.get("expiration"), "days");
    let days = by_days
        .or(number(Some(node), "ExpirationInDays"))
        .or(by_age);
    let text = |name: &str| node.get(name).map(Json::text).unwrap_or_default();
    let narrows = |name: &&str| {
        // Of a filter that is empty only the name of its member is left.
        text(name)
            .replace("prefix", "")
            .contains(char::is_alphanumeric)
    };
    let narrow = ["prefix", "filter", "Prefix", "TagFilters", "tags"];
    let chosen = ["matches_", "num_newer_versions", "with_state"];
    let condition = text("condition");
    if days.is_some_and(|days| days < SOON)
        && !narrow.iter().any(narrows)
        && !chosen.iter().any(|word| condition.contains(word))
    {
        let text = "everything in the bucket expires within days".to_owned();
        found.push((Tag::Delete, text));
    }
}
