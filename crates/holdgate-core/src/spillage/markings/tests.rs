mod generated;
mod quiet;

use super::examine;
use crate::verdict::Verdict;

fn strictest(text: &str, path: Option<&str>) -> Verdict {
    let spills = examine(text, path);
    spills
        .iter()
        .map(|spill| spill.verdict)
        .max()
        .unwrap_or(Verdict::Allow)
}

#[test]
fn tokens_can_be_read() {
    assert!(super::tokens::are_read());
}

#[test]
fn the_evidence_is_the_marking() {
    let text = "minutes of the meeting\n\n(S//NF) The convoy leaves at dawn.\n";
    let spills = examine(text, None);
    let shown: Vec<&str> = spills
        .iter()
        .map(|spill| text.get(spill.range.clone()).unwrap())
        .collect();
    assert_eq!(shown, ["(S//NF)"]);
    let hidden = "x\nTOP SEC\u{200b}RET//NOFORN annex\ny";
    let spills = examine(hidden, None);
    assert_eq!(
        hidden.get(spills[0].range.clone()),
        Some("TOP SEC\u{200b}RET//NOFORN annex")
    );
}

#[test]
fn a_banner_far_inside_a_long_line_is_found() {
    let filler = "word ".repeat(30_000);
    let text = format!("{filler}| TOP SECRET//SI//NOFORN | {filler}");
    assert_eq!(strictest(&text, None), Verdict::Block);
    let wide = format!(
        "{}\u{e9} | TOP SECRET//SI//NOFORN | {filler}",
        "é ".repeat(9_000)
    );
    assert_eq!(strictest(&wide, None), Verdict::Block);
}

#[test]
fn a_file_of_tests_is_asked_about_and_a_document_beside_it_is_not() {
    let call = "banner = \"SECRET//NOFORN\"\n";
    assert_eq!(strictest(call, Some("tests/test_banner.py")), Verdict::Ask);
    let comment = "# SECRET//NOFORN\nLIMIT = 3\n";
    assert_eq!(strictest(comment, Some("plan.py")), Verdict::Block);
    let document = "SECRET//ORCON/NOFORN\n\nThe site has two gates.\n\nSECRET//ORCON/NOFORN\n";
    assert_eq!(
        strictest(document, Some("tests/fixtures/site.txt")),
        Verdict::Block
    );
}

#[test]
fn what_was_released_is_asked_about() {
    let text = "DECLASSIFIED 2011 by the archive\n\nSECRET//NOFORN\n\nThe meeting was short.\n";
    assert_eq!(strictest(text, None), Verdict::Ask);
    let public = "UNCLASSIFIED//APPROVED FOR PUBLIC RELEASE\n";
    assert_eq!(strictest(public, None), Verdict::Allow);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(text in "(\\PC|[ \n/()]|SECRET|//|NOFORN|S E C|&#47;|<b>|\\(S//NF\\)|REL TO |SEC=|ITAR){0,80}") {
        for spill in examine(&text, Some("notes.md")) {
            proptest::prop_assert!(text.get(spill.range).is_some());
        }
    }
}
