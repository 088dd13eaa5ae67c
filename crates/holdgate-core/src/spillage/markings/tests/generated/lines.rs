//! Markings that are lines with a form of their own.

use super::{maybe, one};
use proptest::prelude::*;
use proptest::sample::select;

pub(super) fn blocks() -> BoxedStrategy<String> {
    let by = one(&[
        "Classified By: J. Doe, Director",
        "CLASSIFIED BY: 1234567",
        "Classified by: A. Smith",
    ]);
    let from = one(&[
        "Derived From: SCG-14 dated 20240101",
        "DERIVED FROM: Multiple Sources",
        "Reason: 1.4(c)",
    ]);
    let on = one(&[
        "Declassify On: 20491231",
        "DECLASSIFY ON: 25X1",
        "Declassify On: 50X1-HUM",
    ]);
    let authority = (by, from, on, select(vec!["\n", "\r\n", "  "]))
        .prop_map(|(by, from, on, gap)| [by, from, on].join(gap));
    let cui = (
        one(&["Controlled by: OUSD(I&S)", "Controlled By: DCMA"]),
        one(&["CUI Category: CTI", "CUI Category(ies): PRVCY"]),
        one(&[
            "Distribution/Dissemination Control: FEDCON",
            "Limited Dissemination Control: NOFORN",
        ]),
        one(&["POC: J. Doe, 555-0100", "POC: doe@example.com"]),
    )
        .prop_map(|(a, b, c, d)| format!("{a}\n{b}\n{c}\n{d}"));
    prop_oneof![authority, cui].boxed()
}

pub(super) fn statements() -> BoxedStrategy<String> {
    let to = one(&[
        "U.S. Government agencies only",
        "U.S. Government agencies and their contractors",
        "the Department of Defense and U.S. DoD contractors only",
        "DoD components only",
    ]);
    let limited = (one(&["B", "C", "D", "E"]), to, one(&["DISTRIBUTION STATEMENT", "Distribution Statement"]), one(&[". ", ": ", " - "]))
        .prop_map(|(letter, to, name, sign)| format!("{name} {letter}{sign}Distribution authorized to {to}; Critical Technology; 1 May 2024."));
    let export = one(&[
        "WARNING - This document contains technical data whose export is restricted by the Arms Export Control Act (Title 22, U.S.C., Sec 2751, et seq.).",
        "EXPORT CONTROLLED - this drawing is subject to ITAR, 22 CFR 120-130.",
        "This document contains ITAR controlled technical data.",
        "ECCN 9E610.a - export license required, do not transfer to foreign persons.",
        "USML Category IV(h): ITAR controlled technical data.",
        "DISTRIBUTION STATEMENT F. Further dissemination only as directed by the program office.",
    ]);
    prop_oneof![limited, export].boxed()
}

pub(super) fn mails() -> BoxedStrategy<String> {
    let level = one(&["OFFICIAL:Sensitive", "PROTECTED", "SECRET", "TOP-SECRET"]);
    let more = one(&[
        ", CAVEAT=SH:CABINET",
        ", CAVEAT=RI:AGAO",
        ", ACCESS=Legal-Privilege",
        ", EXPIRES=2030-10-01, DOWNTO=OFFICIAL",
        ", ORIGIN=a@example.gov.au",
    ]);
    let frame = select(vec![
        "[SEC={}]",
        "Subject: Meeting notes [SEC={}]",
        "X-Protective-Marking: VER=2024.1, NS=gov.au, SEC={}, ORIGIN=a@example.gov.au",
        "SEC={}",
    ]);
    (level, maybe(more), frame)
        .prop_map(|(level, more, frame)| frame.replace("{}", &format!("{level}{more}")))
        .boxed()
}
