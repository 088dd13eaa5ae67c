//! Membership: whether a call of a service puts somebody into a group, a role or a project, or names the group of
//! those who may do everything.

use super::fields::Leaf;
use super::name::Name;
use super::{Role, Roles};
use crate::knowledge::tools::words;

/// Words that give a part in something whatever it is.
const GIVES: [&str; 5] = ["assign", "grant", "promote", "enroll", "enrol"];
/// Words that change something.
#[rustfmt::skip]
const CHANGES: [&str; 12] = [
    "add", "set", "put", "update", "upsert", "patch", "modify", "attach", "invite", "join", "create", "edit",
];
/// What somebody becomes a part of.
#[rustfmt::skip]
const GROUPS: [&str; 10] = [
    "group", "groups", "membership", "memberships", "members", "member", "role", "roles", "usergroup", "rolebinding",
];
const GROUP_KEYS: [&str; 10] = [
    "group",
    "groupid",
    "groups",
    "groupname",
    "role",
    "roleid",
    "roles",
    "rolename",
    "permissionset",
    "policyarn",
];
/// Who it is.
#[rustfmt::skip]
const WHO: [&str; 15] = [
    "user", "userid", "username", "users", "userids", "email", "login", "principal", "principalid", "member",
    "memberid", "memberuid", "subject", "accountid", "identity",
];
/// Lists of those who take part.
#[rustfmt::skip]
const LISTS: [&str; 9] = [
    "memberids", "memberuid", "memberuids", "adminids", "ownerids", "admins", "owners", "uniquemember", "useridstoadd",
];
/// What has such a list: a task has one of those who work on it.
#[rustfmt::skip]
const HAS_LISTS: [&str; 10] = [
    "project", "team", "org", "organization", "group", "workspace", "entry", "space", "folder", "repository",
];
/// Those who may do everything.
#[rustfmt::skip]
const MIGHTY: [&str; 9] = [
    "admin", "admins", "administrator", "administrators", "superuser", "superadmin", "owner", "owners", "masters",
];
/// Arguments that say what somebody may do.
#[rustfmt::skip]
const RANKS: [&str; 14] = [
    "role", "roles", "roleid", "rolename", "group", "groups", "groupid", "groupname", "permission", "permissions",
    "accesslevel", "privilege", "dn", "membership",
];

/// Whether somebody gets a part in something, by the name of a tool, the names of its arguments and its texts.
pub(super) fn joins(name: &Name, keys: &[String], all: &[Leaf<'_>]) -> bool {
    let own = |words: &[&str]| name.own.iter().any(|word| words.contains(&word.as_str()));
    let keyed = |words: &[&str]| keys.iter().any(|key| words.contains(&key.as_str()));
    let changes = own(&CHANGES) || own(&GIVES);
    own(&GIVES) && (own(&GROUPS) || keyed(&GROUP_KEYS)) && keyed(&WHO)
        || own(&CHANGES) && !own(&["create"]) && own(&GROUPS) && keyed(&WHO)
        || own(&CHANGES) && own(&HAS_LISTS) && keyed(&LISTS)
        || changes && all.iter().any(is_mighty)
}

/// Whether a short text names those who may do everything, as what somebody becomes.
fn is_mighty(leaf: &Leaf<'_>) -> bool {
    let prose = Roles::of(&[Role::Prose, Role::Prompt, Role::Query, Role::Code]);
    let key = words(leaf.key).concat();
    leaf.text.len() < 60
        && !leaf.roles.any(prose)
        && RANKS.contains(&key.as_str())
        && words(leaf.text)
            .iter()
            .any(|word| MIGHTY.contains(&word.as_str()) || word.ends_with("admins"))
}
