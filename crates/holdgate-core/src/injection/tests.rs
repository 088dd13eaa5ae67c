use super::*;

#[test]
fn table_can_be_read() {
    assert!(lexicon().is_some());
}
