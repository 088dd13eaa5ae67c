//! Clicks in a browser, by what stands on the button.

use super::name::Name;
use crate::json::Json;
use crate::tag::Tag;

/// Words of tools that click.
const CLICKS: [&str; 4] = ["click", "tap", "press", "doubleclick"];
/// Arguments that say on what.
const SHOWN: [&str; 6] = ["element", "text", "label", "name", "description", "target"];
/// Words that delete, and things of which more than one person has something.
const DELETES: [&str; 6] = ["delete", "remove", "destroy", "terminate", "erase", "close"];
#[rustfmt::skip]
const THINGS: [&str; 18] = [
    "project", "account", "repository", "organization", "organisation", "workspace", "database", "cluster", "bucket",
    "domain", "instance", "site", "production", "permanently", "forever", "everything", "tenant", "subscription",
];
/// What a button says with which somebody pays.
#[rustfmt::skip]
const PAYS: [&str; 14] = [
    "place order", "place your order", "pay now", "pay and", "and pay", "buy now", "confirm purchase",
    "complete purchase", "confirm payment", "submit payment", "confirm transfer", "send money", "complete order",
    "start subscription",
];
/// Longer texts describe a page.
const MAX_TEXT: usize = 200;

/// What a click does that cannot be taken back.
pub(super) fn tag(name: &Name, input: &Json<'_>) -> Option<Tag> {
    if !name.own.iter().any(|word| CLICKS.contains(&word.as_str())) {
        return None;
    }
    let shown = SHOWN.iter().find_map(|key| input.get_str(key))?;
    if shown.len() > MAX_TEXT {
        return None;
    }
    let lower = shown.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let joined = format!(" {} ", words.join(" "));
    let pays = |phrase: &str| joined.contains(&format!(" {phrase} "));
    // `Cancel`, and tabs that only lead to the button.
    if has(&["cancel", "back", "tab", "link", "menu"]) {
        None
    } else if has(&DELETES) && has(&THINGS) {
        Some(Tag::Delete)
    } else {
        PAYS.iter()
            .any(|phrase| pays(phrase))
            .then_some(Tag::Payment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_tell_what_a_click_does() {
        let tag = |element: &str| {
            let name = Name {
                own: vec!["browser".to_owned(), "click".to_owned()],
                server: vec!["playwright".to_owned()],
            };
            let input = Json::object([("element", element.into())]);
            tag(&name, &input)
        };
        assert_eq!(
            tag("'Delete this project' confirm button"),
            Some(Tag::Delete)
        );
        assert_eq!(tag("Place order and pay 49.00"), Some(Tag::Payment));
        assert_eq!(tag("Delete account tab"), None);
        assert_eq!(tag("Remove item from list"), None);
        assert_eq!(tag("Cancel: do not delete the project"), None);
        assert_eq!(tag("Show payload"), None);
    }
}
