//! Lines in a TOML file, between two comments that say whose they are.

use anyhow::Context as _;

const BEGIN: &str = "# Written by `holdgate setup`; `holdgate uninstall` removes it.\n";
const END: &str = "# End of what `holdgate setup` has written.\n";

/// The same text with these lines: settings at its start, where no table has begun, tables at its
/// end.
pub(super) fn add(text: &str, settings: &str, tables: &str) -> anyhow::Result<String> {
    let mut new = String::new();
    if !settings.is_empty() {
        new.push_str(&format!("{BEGIN}{settings}{END}"));
    }
    new.push_str(text);
    if !tables.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            new.push('\n');
        }
        new.push_str(&format!("{BEGIN}{tables}{END}"));
    }
    let read = new.parse::<toml::Table>();
    read.context("it cannot be added to: it has these settings already, or is not valid TOML")?;
    Ok(new)
}

/// The same text without such lines. `before` is what they were added to, if that is known: its last
/// line may have had no end.
pub(super) fn remove(text: &str, before: Option<&str>) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let Some((_, after)) = after.split_once(END) else {
            break;
        };
        kept.push_str(before);
        rest = after;
    }
    kept.push_str(rest);
    let had_no_end = before.is_some_and(|before| !before.is_empty() && !before.ends_with('\n'));
    if had_no_end && kept.len() < text.len() && kept.ends_with('\n') {
        kept.pop();
    }
    kept
}

/// A TOML string.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
