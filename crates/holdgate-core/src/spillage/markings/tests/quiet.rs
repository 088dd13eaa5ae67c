//! Texts that have the words of markings and are none.

use super::strictest;
use crate::verdict::Verdict;

const QUIET: &[&str] = &[
    "(C) 2024 Example Ltd.",
    "kind: Secret\nmetadata:\n  name: db\n",
    "SECRET_KEY = load()",
    "int token; // SECRET",
    "let unit = \"m\"; // SECRET // SI units",
    "https://example.com//secret//rel/notes",
    "1. (S) Small\n2. (M) Medium\n3. (L) Large\n",
    "(A) a first choice here\n(B) a second choice here\n(C) a third choice here\n",
    "CUI stands for character user interface.",
    "OFFICIAL documentation of the project",
    "PROTECTED A resource needs a token.",
    "The Distribution Statement B text is explained in the guide.",
    "ECCN 5D002 software, publicly available, eligible under License Exception TSU.",
    "You may not export the software in violation of the Export Administration Regulations or ITAR.",
    "DISTRIBUTION STATEMENT A. Approved for public release.",
    "UNCLASSIFIED",
    "SEC=OFFICIAL",
    "TLP:CLEAR\nThis report is public.",
    "Levels: TLP:CLEAR, TLP:GREEN, TLP:AMBER, TLP:RED",
];

#[test]
fn words_without_structure_are_quiet() {
    for text in QUIET {
        assert!(strictest(text, None) < Verdict::Ask, "{text}");
    }
}

#[test]
fn a_text_about_markings_does_not_block() {
    for text in [
        "A banner line such as SECRET//NOFORN stands at the top.",
        "Use `TOP SECRET//SI//NOFORN` for the portion mark `(TS//SI//NF)`.",
        "For example:\n\nSECRET//REL TO USA, GBR\n\nis a valid banner.",
        "FOUO is a legacy marking that CUI replaced.",
        "assert parse(\"SECRET//NOFORN\").level == 3",
        "| marking | meaning | since |\n| NATO SECRET | serious damage | 1949 |\n",
        "Markings in this deck are for training purposes only.\nSECRET//NOFORN\n",
    ] {
        assert!(strictest(text, None) < Verdict::Block, "{text}");
    }
}
