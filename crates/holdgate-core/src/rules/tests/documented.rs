//! The rules in docs/rules-language.md.

use super::*;

const PAGE: &str = include_str!("../../../../../docs/rules-language.md");

/// The blocks of the page that are whole files.
fn files() -> Vec<&'static str> {
    let blocks = PAGE.split("```yaml\n").skip(1);
    let blocks = blocks.filter_map(|rest| Some(rest.split_once("\n```")?.0));
    let is_file = |block: &&str| block.contains("- id:") || block.contains("\nrules:");
    blocks.filter(is_file).collect()
}

#[test]
fn every_rule_on_the_page_holds_on_its_examples() {
    let know = Knowledge::built_in().unwrap();
    let files = files();
    assert!(files.len() > 4, "{files:?}");
    for text in files {
        let file = RuleFile::operator("docs/rules-language.md", text);
        if let Err(errors) = RuleSet::load(Profile::Workstation, &[file], &know) {
            panic!("{errors}");
        }
    }
}
