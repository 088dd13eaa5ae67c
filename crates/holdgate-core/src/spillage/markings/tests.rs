use super::examine;
use crate::verdict::Verdict;

fn blocked(text: &str) -> bool {
    examine(text, None)
        .iter()
        .any(|spill| spill.verdict == Verdict::Block)
}

#[test]
fn tokens_can_be_read() {
    assert!(super::tokens::are_read());
}

#[test]
fn a_banner_is_found() {
    assert!(blocked("SECRET//NOFORN"));
}
