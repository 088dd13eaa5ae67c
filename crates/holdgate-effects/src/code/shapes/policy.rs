//! Files that say who must agree to a change and what checks look at: emptied, or with an exception for
//! everything.

use super::access;
use super::scan::has_any;
use crate::effect::Effect;
use crate::tag::Tag;
use crate::text::words::AnyWord;
use std::sync::LazyLock;

/// A longer file of this kind is another one.
const MAX_FILE: usize = 64 << 10;

/// Parts of names of files that hold rules of checks and reviews.
#[rustfmt::skip]
const CHECKERS: [&str; 34] = [
    "gitleaks", "trufflehog", "semgrep", "snyk", "trivy", "bandit", "checkov", "tfsec", "mergify", "kodiak",
    "bulldozer", "policy", "policies", "allowlist", "whitelist", "allow-list", "allow_list", "detect-secrets",
    "secrets.baseline", "codeql", "sonar", "dependabot", "renovate", "branch-protection", "branch_protection",
    "ruleset", "settings.y", "grype", "kics", "osv-scanner", "deny.toml", "audit-ci", "nuclei", "casbin",
];

static ANY_CHECKER: LazyLock<AnyWord> = LazyLock::new(|| AnyWord::of(CHECKERS));

pub(super) fn run(path: &str, content: &str, found: &mut Vec<Effect>) {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    if content.len() > MAX_FILE {
        return;
    }
    if name == "codeowners" {
        owners(content, found);
        return;
    }
    let lower = path.to_ascii_lowercase();
    let is_of_engine = matches!(name.rsplit('.').next(), Some("rego" | "cedar"));
    let checker = ANY_CHECKER.is_in(&name);
    let settings =
        lower.contains("/.github/") || lower.starts_with(".github/") || checker || is_of_engine;
    let documents = [".md", ".mdx", ".txt", ".rst", ".html"];
    if !settings || documents.iter().any(|end| name.ends_with(end)) {
        return;
    }
    if let Some(setting) = unprotected(content) {
        found.push(access(Tag::SecurityOff, setting));
        return;
    }
    for line in content.lines().take(2000) {
        let plain = line.trim();
        if plain.starts_with(['#', ';']) || plain.starts_with("//") {
            continue;
        }
        if checker && exempts_all(plain, &name) {
            found.push(access(Tag::SecurityOff, line));
            return;
        }
    }
    if checker && has_any(&name, &["mergify", "kodiak", "bulldozer"]) {
        agrees_alone(content, found);
    }
    if is_of_engine || has_any(&name, &["policy", "policies"]) {
        allows_all(content, found);
    }
}

/// Whether a line of owners names nobody who must agree.
fn owners(content: &str, found: &mut Vec<Effect>) {
    let mut live = content
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let owned = |line: &str| {
        line.split_whitespace()
            .skip(1)
            .any(|owner| owner.contains('@'))
    };
    let unowned = |line: &str| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("*" | "/" | "**" | "/*"))
            && !owned(line)
            && words.next().is_none_or(|next| next.starts_with('#'))
    };
    if !live.clone().any(owned) || live.any(unowned) {
        found.push(access(
            Tag::SecurityOff,
            "nobody owns the code: reviews of owners are not needed",
        ));
    }
}

/// A setting of a protected branch that protects nothing.
fn unprotected(content: &str) -> Option<&'static str> {
    const PROTECTS: [&str; 10] = [
        "protection",
        "required_pull_request_reviews",
        "required_status_checks",
        "branch_protection",
        "enforce_admins",
        "require_code_owner_reviews",
        "require_code_owner_review",
        "enable_vulnerability_alerts",
        "secret_scanning",
        "required_signatures",
    ];
    const COUNTS: [&str; 3] = [
        "required_approving_review_count",
        "required_approvals",
        "required_approving_reviews",
    ];
    const OPENS: [&str; 2] = ["allow_force_pushes", "allow_deletions"];
    let live = content
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let plain = |c: &char| !matches!(c, ' ' | '\t' | '"' | '\'');
    let dense: String = live
        .flat_map(|line| line.chars().filter(plain).chain(['\n']))
        .collect();
    let dense = dense.to_ascii_lowercase();
    let is = |key: &str, values: &[&str]| {
        dense.match_indices(key).any(|(at, _)| {
            let before = dense.get(..at).and_then(|t| t.chars().next_back());
            let own = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let value = dense
                .get(at + key.len()..)
                .unwrap_or("")
                .strip_prefix([':', '=']);
            let value = value
                .unwrap_or("")
                .split(['\n', ',', '}', ';'])
                .next()
                .unwrap_or("");
            own && values.contains(&value)
        })
    };
    let off = ["null", "false", "~", "[]", "off", "no", "none"];
    let found = PROTECTS.into_iter().find(|key| is(key, &off));
    let found = found.or_else(|| COUNTS.into_iter().find(|key| is(key, &["0"])));
    found.or_else(|| OPENS.into_iter().find(|key| is(key, &["true", "yes"])))
}

/// An exception for everything: `paths = ['''.*''']`, `ignore: ["**"]`.
fn exempts_all(line: &str, name: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let all = |value: &str| {
        let value = value
            .trim()
            .trim_matches(['"', '\'', '`', '[', ']', ' ', ',', '/', '^', '$', '(', ')']);
        matches!(
            value,
            "*" | "**" | ".*" | ".+" | "**/*" | "*.*" | "." | "*/**" | "(?s).*" | "[\\s\\s]*"
        )
    };
    let keys = [
        "path",
        "file",
        "ignore",
        "exclude",
        "skip",
        "allow",
        "regex",
        "stopword",
        "match",
        "pattern",
        "glob",
        "dir",
        "target",
        "whitelist",
    ];
    let ignores = ["ignore", "allowlist", "whitelist", "exclude"];
    if let Some((key, value)) = lower.split_once(['=', ':']) {
        let many = value.split(',').any(all) && !value.trim().is_empty();
        // What is included widely is checked widely.
        return has_any(key, &keys)
            && many
            && !has_any(key, &["include", "on:", "branch", "permission"])
            && (has_any(key, &ignores)
                || has_any(
                    name,
                    &[
                        "gitleaks",
                        "trufflehog",
                        "allow",
                        "ignore",
                        "whitelist",
                        "baseline",
                    ],
                ));
    }
    // One entry of a list.
    let entry = lower.trim_start_matches(['-', ' ']);
    let listed = has_any(
        name,
        &[
            "ignore",
            "allowlist",
            "whitelist",
            "allow-list",
            "allow_list",
            "gitleaks",
        ],
    );
    // `g, *, admin`
    let everybody = entry.starts_with("g, *,")
        || entry.starts_with("g,*,")
        || entry.starts_with("p, *, *")
        || entry.starts_with("p,*,*");
    listed && !entry.is_empty() && all(entry) || everybody
}

/// Rules that approve or merge whatever comes.
fn agrees_alone(content: &str, found: &mut Vec<Effect>) {
    let dense: String = content.chars().filter(|c| !c.is_whitespace()).collect();
    let lower = dense.to_ascii_lowercase();
    let acts = has_any(&lower, &["merge:", "[merge]", "approve", "queue:"]);
    if acts
        && has_any(
            &lower,
            &[
                "conditions:[]",
                "conditions:actions",
                "automerge_label=\"\"",
                "require_automerge_label=false",
            ],
        )
    {
        found.push(access(
            Tag::SecurityOff,
            "every pull request is approved or merged without a condition",
        ));
    }
}

/// `default allow := true`
fn allows_all(content: &str, found: &mut Vec<Effect>) {
    for line in content.lines() {
        let dense: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        let plain = matches!(
            dense.as_str(),
            "defaultallow=true"
                | "defaultallow:=true"
                | "allow=true"
                | "allow:=true"
                | "permit(principal,action,resource);"
                | "allow{true}"
        );
        if plain {
            found.push(access(Tag::SecurityOff, line));
            return;
        }
    }
}
