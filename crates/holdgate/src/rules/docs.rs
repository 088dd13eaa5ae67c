//! The reference of all rules, in Markdown.

use holdgate_core::rules::{Expect, Profile, Rule, RuleSet, Stage};

const HEAD: &str = "\
# The built-in rules

Written by `holdgate rules docs`; the rules themselves stand in `rules/`. How to write some:
[rules-language.md](rules-language.md).

The verdict is that of the profile `workstation`, unless another is named. DENY blocks, ASK waits
for a person (and blocks where nobody answers), AUDIT lets pass and marks for review,
REQUIRE blocks until what it asks for was done, ALLOW is off.
";

/// The whole page.
pub(super) fn reference(set: &RuleSet) -> String {
    let mut page = HEAD.to_owned();
    let mut categories: Vec<&str> = Vec::new();
    for rule in set.rules() {
        if !categories.contains(&rule.category.as_str()) {
            categories.push(&rule.category);
        }
    }
    for category in categories {
        page.push_str(&format!("\n## {category}\n"));
        for rule in set.rules().filter(|r| r.category == category) {
            entry(rule, &mut page);
        }
    }
    page
}

fn entry(rule: &Rule, page: &mut String) {
    let usual = rule.word(Profile::Workstation);
    page.push_str(&format!("\n### {}\n\n**{usual}**", rule.id));
    for profile in [Profile::Container, Profile::Strict] {
        let word = rule.word(profile);
        if word != usual {
            page.push_str(&format!(", {word} in `{}`", profile.word()));
        }
    }
    if rule.stage == Stage::Trial {
        page.push_str(", on trial (only audits)");
    }
    page.push_str(&format!(": {}.", rule.because));
    if let Some(instead) = &rule.instead {
        page.push_str(&format!(" Instead: {instead}."));
    }
    if !rule.owasp.is_empty() {
        page.push_str(&format!(" OWASP {}.", rule.owasp.join(", ")));
    }
    page.push_str(&format!("\n\n```yaml\n{}\n```\n\n", rule.condition()));
    for (title, expect) in [("Fires on", Expect::Fire), ("Passes", Expect::Allow)] {
        page.push_str(&format!("{title}:\n\n"));
        for example in rule.examples.iter().filter(|e| e.expect == expect) {
            page.push_str(&format!("- {}\n", code(&example.text())));
        }
        page.push('\n');
    }
    page.pop();
}

/// A text as inline code, whatever backticks it has; line breaks as `⏎`.
fn code(text: &str) -> String {
    let text = text.replace('\n', " ⏎ ");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{gap}{text}{gap}{fence}")
}
