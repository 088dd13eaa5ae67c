//! Statements that give somebody rights in an application, or open rows to everybody.

/// Tables of those who may do more than others.
const ADMINS: [&str; 8] = [
    "admins",
    "admin_users",
    "administrators",
    "superusers",
    "super_admins",
    "user_roles",
    "role_assignments",
    "admin_accounts",
];

/// `create policy p on t using (true)`: every row for everybody. Many are meant to be read by all.
pub(super) fn opens_rows(words: &[&str]) -> bool {
    let follows = |pair: [&str; 2]| words.windows(2).any(|two| two == pair);
    words.starts_with(&["create", "policy"])
        && (follows(["using", "true"]) || follows(["check", "true"]))
        && !words.contains(&"service_role")
        && !follows(["for", "select"])
}

/// `insert into admins …`
pub(super) fn makes_admin(words: &[&str]) -> bool {
    let ["insert", "into", names @ ..] = words else {
        return false;
    };
    // The first may be a schema.
    let mut names = names.iter().take(2);
    names.any(|name| ADMINS.contains(name))
}

/// `set role = 'admin'`, `is_superuser = true`.
pub(super) fn gives(text: &str) -> bool {
    let lower: String = text
        .to_ascii_lowercase()
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    let strong = [
        "role='admin'",
        "role='superadmin'",
        "role='owner'",
        "role='super_admin'",
        "is_admin=true",
        "is_admin=1",
        "is_superuser=true",
        "is_superuser=1",
        "admin=true",
        "rolsuper=true",
        "is_staff=true",
    ];
    // In what is set, not in what is searched for.
    let set = lower.split("set").skip(1).any(|rest| {
        let set = rest.split("where").next().unwrap_or_default();
        strong.iter().any(|word| set.contains(word))
    });
    lower.contains("update") && set
}
