//! Sentences of the public rules for markings, made from tables of their own. Nearly all must be
//! found, wherever a marking may stand and however it is disguised.

mod lines;

use super::strictest;
use crate::verdict::Verdict;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

const SENTENCES: usize = 4000;

fn one(words: &'static [&'static str]) -> BoxedStrategy<String> {
    select(words).prop_map(str::to_owned).boxed()
}

/// Some of `words`, in their order, with `between` between them.
fn some(words: &'static [&'static str], between: &'static str) -> BoxedStrategy<String> {
    let most = words.len().min(3);
    subsequence(words, 1..=most)
        .prop_map(move |words| words.join(between))
        .boxed()
}

fn maybe(block: BoxedStrategy<String>) -> BoxedStrategy<String> {
    prop_oneof![2 => Just(String::new()), 1 => block].boxed()
}

fn join(blocks: Vec<String>) -> String {
    let filled: Vec<String> = blocks
        .into_iter()
        .filter(|block| !block.is_empty())
        .collect();
    filled.join("//")
}

fn released() -> BoxedStrategy<String> {
    let others = [
        "AUS", "CAN", "DEU", "FRA", "GBR", "JPN", "KOR", "NZL", "POL",
    ];
    subsequence(others.to_vec(), 1..=4)
        .prop_map(|codes| format!("REL TO USA, {}", codes.join(", ")))
        .boxed()
}

fn sci() -> BoxedStrategy<String> {
    one(&[
        "SI",
        "TK",
        "HCS-P",
        "HCS-O",
        "SI/TK",
        "SI-G ABCD/TK",
        "HCS-P JJJ/SI/TK",
        "RSV-XYZ",
        "SI-ABC DEFG",
        "TK-BLFH",
    ])
}

fn sap() -> BoxedStrategy<String> {
    one(&[
        "SAR-BP",
        "SAR-BUTTERED POPCORN",
        "SPECIAL ACCESS REQUIRED-BUTTERED POPCORN",
        "SAR-BP/GB/TC",
    ])
}

fn aea() -> BoxedStrategy<String> {
    one(&[
        "RD",
        "RD-CNWDI",
        "RD-SIGMA 14 20",
        "FRD",
        "FRD-SIGMA 14",
        "TFNI",
        "DOD UCNI",
    ])
}

fn dissemination() -> BoxedStrategy<String> {
    let words = some(
        &[
            "ORCON",
            "ORCON-USGOV",
            "IMCON",
            "NOFORN",
            "PROPIN",
            "RELIDO",
            "FISA",
            "DEA SENSITIVE",
            "RSEN",
        ],
        "/",
    );
    prop_oneof![3 => words, 2 => released(), 1 => Just("DISPLAY ONLY IRQ".to_owned())].boxed()
}

fn us() -> BoxedStrategy<String> {
    let level = one(&["TOP SECRET", "SECRET", "CONFIDENTIAL"]);
    let fgi = one(&["FGI", "FGI GBR", "FGI CAN DEU NATO"]);
    let others = one(&["LIMDIS", "EXDIS", "NODIS", "LES", "SSI", "SBU NOFORN"]);
    let last = prop_oneof![4 => dissemination(), 1 => others];
    (
        level,
        maybe(sci()),
        maybe(sap()),
        maybe(aea()),
        maybe(fgi),
        last,
    )
        .prop_map(|(level, sci, sap, aea, fgi, last)| join(vec![level, sci, sap, aea, fgi, last]))
        .boxed()
}

fn foreign() -> BoxedStrategy<String> {
    let owned = (
        one(&["GBR", "DEU", "CAN", "ISR"]),
        one(&["SECRET", "TOP SECRET", "CONFIDENTIAL", "RESTRICTED"]),
        maybe(released()),
    )
        .prop_map(|(code, level, rel)| join(vec![format!("//{code} {level}"), rel]));
    let joint = (one(&["SECRET", "TOP SECRET"]), released())
        .prop_map(|(level, rel)| format!("//JOINT {level} CAN GBR USA//{rel}"));
    let alliance = one(&[
        "COSMIC TOP SECRET",
        "NATO SECRET",
        "NATO CONFIDENTIAL",
        "NATO RESTRICTED",
        "COSMIC TOP SECRET ATOMAL",
        "NATO SECRET//ATOMAL",
        "COSMIC TOP SECRET//BOHEMIA",
        "SECRET UE/EU SECRET",
        "RESTREINT UE/EU RESTRICTED",
        "CONFIDENTIEL UE/EU CONFIDENTIAL",
        "TR\u{c8}S SECRET UE/EU TOP SECRET",
    ]);
    prop_oneof![owned, joint, alliance].boxed()
}

fn national() -> BoxedStrategy<String> {
    one(&[
        "OFFICIAL-SENSITIVE",
        "OFFICIAL-SENSITIVE COMMERCIAL",
        "SECRET - UK EYES ONLY",
        "TOP SECRET STRAP2",
        "UK SECRET",
        "SECRET//AUSTEO",
        "PROTECTED//CABINET",
        "OFFICIAL: Sensitive",
        "OFFICIAL: Sensitive//Personal-Privacy",
        "TOP SECRET//AGAO",
        "PROTECTED B",
        "PROTECTED C",
        "CONFIDENTIAL//CEO",
        "SECRET//CANADIAN EYES ONLY",
        "PROT\u{c9}G\u{c9} B",
        "VS-NUR F\u{dc}R DEN DIENSTGEBRAUCH",
        "VS-NfD",
        "VS-VERTRAULICH",
        "STRENG GEHEIM",
        "DIFFUSION RESTREINTE",
        "TR\u{c8}S SECRET",
        "SECRET D\u{c9}FENSE",
        "DIFUSI\u{d3}N LIMITADA",
        "SEGRETISSIMO",
        "\u{15a}CI\u{15a}LE TAJNE",
        "TLP:RED",
        "TLP:AMBER+STRICT",
    ])
}

fn cui() -> BoxedStrategy<String> {
    let head = one(&["CUI", "CONTROLLED"]);
    let categories = some(
        &[
            "SP-CTI", "SP-EXPT", "SP-PRVCY", "CTI", "PRVCY", "PROPIN", "NNPI", "LEI", "HLTH", "TAX",
        ],
        "/",
    );
    let limits = prop_oneof![
        some(&["NOFORN", "FED ONLY", "FEDCON", "NOCON", "DL ONLY"], "/"),
        released()
    ]
    .boxed();
    let short = one(&[
        "UNCLASSIFIED//FOUO",
        "U//FOUO",
        "UNCLASSIFIED//FOR OFFICIAL USE ONLY",
        "UNCLASSIFIED//LES",
        "UNCLASSIFIED//SBU",
    ]);
    let long = (head, categories, maybe(limits))
        .prop_map(|(head, categories, limits)| join(vec![head, categories, limits]));
    prop_oneof![4 => long, 1 => short].boxed()
}

fn portion() -> BoxedStrategy<String> {
    let last = prop_oneof![
        one(&[
            "NF",
            "OC/NF",
            "REL",
            "RELIDO",
            "FGI GBR//NF",
            "PR",
            "LES",
            "DSEN"
        ]),
        released()
    ];
    let us = (
        one(&["TS", "S", "C"]),
        maybe(one(&[
            "SI",
            "TK",
            "SI/TK",
            "HCS-P",
            "SI-G ABCD",
            "SAR-BP",
            "RD",
        ])),
        last,
    )
        .prop_map(|(level, sci, last)| format!("({})", join(vec![level, sci, last])));
    let others = one(&[
        "(U//FOUO)",
        "(CUI)",
        "(CUI//PRVCY)",
        "(CUI//SP-CTI//NF)",
        "(//GBR S)",
        "(//NATO S)",
        "(//CTS)",
        "(TS-SI-NF)",
        "(S/NF)",
    ]);
    prop_oneof![3 => us, 1 => others].boxed()
}

/// Banners where banners stand.
fn framed(banner: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let frame = select(vec![
        "{}",
        "{}\n\nWeekly report of the site.\n\n{}",
        "# {}\nlimit = 3",
        "// {}\nint x;",
        "/* {} */",
        "**{}**",
        "> {}",
        "<p>{}</p>",
        "<b>{}</b>",
        "--- {} ---",
        "[{}]",
        "Classification: {}",
        "CLASSIFICATION: {}",
        "Subject: {}",
        "{\"marking\":\"{}\",\"body\":\"range table\"}",
        "Page 3 of 9 | {}",
        "banner: \"{}\"",
        "2026-03-01 INFO classification={}",
        "notes/plan.md:1:{}",
        "{} - annex to the report",
        "<!-- {} -->",
        "report body\nwith two lines\n{}",
    ]);
    (banner, frame)
        .prop_map(|(banner, frame)| frame.replace("{}", &banner))
        .boxed()
}

/// The same as somebody hides it.
fn disguised(text: BoxedStrategy<String>) -> BoxedStrategy<String> {
    (text, 0..9u8)
        .prop_map(|(text, how)| match how {
            0 => text.replace(' ', "\u{a0}"),
            1 => text
                .chars()
                .map(|c| {
                    if c.is_ascii_graphic() {
                        char::from_u32(c as u32 + 0xfee0).unwrap()
                    } else {
                        c
                    }
                })
                .collect(),
            2 => text
                .replace("RET", "\u{200b}RET")
                .replace("OF", "O\u{200d}F")
                .replace("UI", "U\u{2060}I"),
            3 => text.replace('/', "&#47;").replace(' ', "&nbsp;"),
            4 => text.replace('E', "\u{415}").replace('O', "\u{41e}"),
            5 => text.replace("//", " // "),
            6 => text.replace("//", "**//**"),
            _ => text,
        })
        .boxed()
}

fn paragraph() -> BoxedStrategy<String> {
    let frame = select(vec![
        "{} The unit has moved to the north gate.",
        "3. {} The unit has moved.",
        "- {} The unit has moved north.",
        "Title: {} Plan of the site",
        "a. {} The unit has moved.",
    ]);
    (portion(), frame)
        .prop_map(|(mark, frame)| frame.replace("{}", &mark))
        .boxed()
}

fn paragraphs() -> BoxedStrategy<String> {
    let level = || one(&["(S)", "(TS)", "(C)"]);
    (level(), level())
        .prop_map(|(a, b)| format!("1. (U) Purpose of this note is known.\n\n2. {a} The unit has moved to the gate.\n\n3. {b} The team stays two days.\n"))
        .boxed()
}

#[test]
fn nearly_all_sentences_of_the_rules_are_found() {
    let families = prop_oneof![
        6 => disguised(framed(us())),
        2 => framed(foreign()),
        3 => framed(national()),
        4 => disguised(framed(cui())),
        4 => paragraph(),
        1 => paragraphs(),
        2 => lines::blocks(),
        2 => lines::statements(),
        2 => lines::mails(),
    ];
    let mut runner = TestRunner::deterministic();
    let mut missed = Vec::new();
    for _ in 0..SENTENCES {
        let text = families.new_tree(&mut runner).unwrap().current();
        if strictest(&text, None) < Verdict::Block {
            missed.push(text);
        }
    }
    assert!(
        missed.len() * 100 <= SENTENCES,
        "{} missed: {missed:#?}",
        missed.len()
    );
}
