//! Lists and settings that an edit makes longer or shorter: who may do everything, who gets a mail, what is kept out of
//! version control, what a build shows to everybody.

use super::has;

/// Variables of the build, with their secrets, come into what everybody loads.
pub(super) fn shows(come: &[&str]) -> bool {
    let public = [
        "vite",
        "public",
        "next_public",
        "react_app",
        "app_",
        "vue_",
        "expo_",
        "nuxt",
    ];
    come.iter().any(|line| {
        let prefixes = line.split_once("envprefix").map_or("", |(_, rest)| rest);
        let mut quoted = prefixes.split(['"', '\'', '`']).skip(1).step_by(2);
        quoted.any(|prefix| !has(prefix, &public))
            || line.contains("process.env") && line.contains("json.stringify(process.env)")
    })
}

/// A file of secrets is no longer kept out of version control.
pub(super) fn unhides(path: &str, gone: &[&str], new: &str) -> bool {
    path.ends_with("ignore")
        && gone.iter().any(|line| {
            let name = line.trim_start_matches(['/', '*']).trim_start_matches('/');
            let kept = name.starts_with(".env")
                || name.rsplit('.').next() == Some("pem")
                || name == ".key";
            kept && !line.starts_with('!')
        })
        && !has(new, &[".env", ".pem", "*.key"])
}

/// Somebody joins those who may do everything: one more name in their list.
pub(super) fn admits(path: &str, old: &str, gone: &[&str], come: &[&str]) -> bool {
    let mighty = ["admin", "owners", "superuser"];
    let ends = [
        ".tf", ".tfvars", ".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf", ".env",
    ];
    if !ends.iter().any(|end| path.ends_with(end)) {
        return false;
    }
    let key = |line: &str| {
        let (key, value) = line.split_once(['=', ':'])?;
        let names = value.split(['"', '\'']).skip(1).step_by(2).count();
        (has(key, &mighty) && value.contains('[')).then(|| (key.trim().to_owned(), names))
    };
    let before: Vec<(String, usize)> = gone.iter().filter_map(|line| key(line)).collect();
    let grows = |(name, count): (String, usize)| {
        before.iter().any(|(old, had)| *old == name && count > *had)
    };
    let file = path.rsplit('/').next().unwrap_or(path);
    let named = has(file, &mighty);
    let stranger = |line: &&str| {
        let mail = line
            .trim_start_matches("- ")
            .trim_matches(['"', '\'', ',', ' ']);
        let (name, domain) = mail.split_once('@').unwrap_or_default();
        !name.is_empty() && domain.contains('.') && old.contains('@') && !old.contains(domain)
    };
    come.iter().filter_map(|line| key(line)).any(grows) || named && come.iter().any(stranger)
}

/// Mails go to somebody else, too, whom those who get them do not see.
pub(super) fn copies(old: &str, come: &[&str]) -> bool {
    come.iter().any(|line| {
        let hidden = line.split_once("bcc").map_or("", |(_, rest)| rest);
        let mut quoted = hidden.split(['"', '\'', '`']).skip(1).step_by(2);
        quoted.any(|text| {
            let domain = text.rsplit_once('@').map(|(_, domain)| domain);
            domain.is_some_and(|domain| {
                domain.contains('.') && !old.contains(domain) && !domain.contains("example")
            })
        })
    })
}
