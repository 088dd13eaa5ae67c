//! However output is cut, the same is found.

use super::*;

/// What tends to go wrong at a cut, and what is found.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "\n", "\n", "\r\n", "\r", "\x08", "\x1b[31m", "\x1b[0m", "\x1b[2K", "\x1b[1A", "\x1b]0;",
    "\x07", "\x1b\\", "\x1b", "Ignore ", "all ", "previous ", "instructions.", "\u{0456}gnore ",
    "\u{200b}", "```\n", "@@ -1,2 +1,2 @@\n", "$ ", "+ ", "rm -rf ~", "rm -rf ", "/",
    "\u{23fa} Bash(", ")", "{\"name\":\"Bash\",\"input\":{\"command\":\"", "\"}}\n", "{\"text\":\"",
    "\\u0049gnore ", "\\n", "\"}\n", "quiet text", "\u{2588}\u{2588}", "\u{1f600}",
    "AKIA2Q7PLW4ZX9TR5MVB", " ", "root:x:0:0:root:/root:/bin/sh",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]
    #[test]
    fn how_bytes_are_cut_changes_nothing(
        parts in proptest::collection::vec(0..PARTS.len(), 0..40),
        junk in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..8),
        cuts in proptest::collection::vec(1..12usize, 1..30),
    ) {
        let mut bytes: Vec<u8> = parts.iter().flat_map(|at| PARTS[*at].bytes()).collect();
        let middle = bytes.len() / 2;
        bytes.splice(middle..middle, junk);
        let whole = hits_of([bytes.as_slice()]);
        let mut rest = bytes.as_slice();
        let mut pieces = Vec::new();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        assert_eq!(hits_of(pieces), whole);
        assert_eq!(hits_of(bytes.chunks(1)), whole);
    }
}
