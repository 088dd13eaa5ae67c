//! Generated parts in a text that people write.

use super::Section;

const START: &str = "<!-- generated: ";
const START_END: &str = " -->";
const END: &str = "<!-- end of generated -->";

/// Puts the sections into their places in `old`; those that have none follow at the end, under
/// their headings.
pub(super) fn merge(old: Option<&str>, sections: &[Section]) -> Result<String, String> {
    let mut rest = old.unwrap_or("# Evaluation\n");
    let mut text = String::new();
    let mut placed = Vec::new();
    while let Some((before, after)) = rest.split_once(START) {
        let line = 1 + text.matches('\n').count() + before.matches('\n').count();
        let (name, after) = after
            .split_once(START_END)
            .ok_or_else(|| format!("line {line}: `{START}` is not closed"))?;
        let (_, after) = after
            .split_once(END)
            .ok_or_else(|| format!("line {line}: the part `{name}` has no `{END}`"))?;
        let section = sections.iter().find(|section| section.name == name);
        let section = section.ok_or_else(|| format!("line {line}: there is no part `{name}`"))?;
        text.push_str(before);
        text.push_str(&block(section));
        placed.push(name);
        rest = after;
    }
    text.push_str(rest);
    for section in sections.iter().filter(|s| !placed.contains(&s.name)) {
        text.push_str(&format!("\n## {}\n\n{}\n", section.heading, block(section)));
    }
    Ok(text)
}

fn block(section: &Section) -> String {
    let text = section.text.trim_end();
    format!("{START}{}{START_END}\n{text}\n{END}", section.name)
}

/// The first line in which two texts differ, with both forms of it.
pub(super) fn first_difference(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let (mut old, mut new) = (old.lines(), new.lines());
    let mut line = 0;
    loop {
        line += 1;
        match (old.next(), new.next()) {
            (None, None) => return Some(format!("{line}: the ends differ")),
            (a, b) if a == b => {}
            (a, b) => {
                let text = |line: Option<&str>| line.unwrap_or("(nothing)").to_owned();
                return Some(format!(
                    "{line}: is\n  {}\nand must be\n  {}",
                    text(a),
                    text(b)
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &'static str, text: &str) -> Section {
        Section {
            name,
            heading: "Heading",
            text: text.to_owned(),
        }
    }

    #[test]
    fn what_people_wrote_stays_where_it_is() {
        let old =
            "# A\n\nby hand\n\n<!-- generated: one -->\nold\n<!-- end of generated -->\n\nmore\n";
        let new = merge(Some(old), &[section("one", "new\n"), section("two", "x")]).unwrap();
        let expected = "# A\n\nby hand\n\n<!-- generated: one -->\nnew\n<!-- end of generated -->\n\nmore\n\n## Heading\n\n<!-- generated: two -->\nx\n<!-- end of generated -->\n";
        assert_eq!(new, expected);
        let sections = [section("one", "new"), section("two", "x")];
        assert_eq!(merge(Some(&new), &sections).unwrap(), new);
        assert_eq!(first_difference(&new, &new), None);
        let difference = first_difference(old, &new).unwrap();
        assert!(
            difference.starts_with("6: is\n  old\nand must be\n  new"),
            "{difference}"
        );
    }

    #[test]
    fn parts_that_cannot_be_filled_are_named() {
        let broken = merge(Some("a\n<!-- generated: one -->\n"), &[section("one", "")]);
        assert_eq!(
            broken.unwrap_err(),
            "line 2: the part `one` has no `<!-- end of generated -->`"
        );
        let unknown = merge(
            Some("<!-- generated: x -->\n<!-- end of generated -->"),
            &[],
        );
        assert_eq!(unknown.unwrap_err(), "line 1: there is no part `x`");
    }
}
