//! The control words of the blocks behind a level. All are upper case and without accents, as
//! [`super::fold`] leaves them.

/// What may follow a control word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing.
    None,
    /// Compartments: `-G ABCD EFGH`.
    Compartments,
    /// A program's name: `-BUTTER POPCORN`.
    Name,
    /// Countries: `USA, GBR`.
    Countries,
    /// Numbers: `-SIGMA 14 20`.
    Numbers,
    /// Any words up to the next block: `EXCLUSIVE FOR` and a person.
    Anything,
}

/// A control word of a block behind a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    pub(super) word: &'static str,
    pub(super) tail: Tail,
    /// Used for nothing else, so it counts without `//` before it, and alone at a line's start.
    pub(super) strong: bool,
}

const fn strong(word: &'static str, tail: Tail) -> Control {
    Control {
        word,
        tail,
        strong: true,
    }
}

const fn weak(word: &'static str, tail: Tail) -> Control {
    Control {
        word,
        tail,
        strong: false,
    }
}

/// Sensitive compartmented information, special access programs, atomic energy, foreign government
/// information, dissemination, other agencies, allied caveats. A longer word stands before its
/// beginning.
pub(super) const CONTROLS: &[Control] = &[
    // Compartments.
    weak("HCS", Tail::Compartments),
    weak("HUMINT CONTROL SYSTEM", Tail::None),
    weak("SI", Tail::Compartments),
    weak("SPECIAL INTELLIGENCE", Tail::None),
    weak("COMINT", Tail::Compartments),
    weak("GAMMA", Tail::None),
    weak("TK", Tail::Compartments),
    weak("TALENT KEYHOLE", Tail::None),
    weak("KDK", Tail::Compartments),
    weak("KLONDIKE", Tail::Compartments),
    weak("KLM", Tail::Compartments),
    weak("RSV", Tail::Compartments),
    weak("RESERVE", Tail::Compartments),
    weak("ENDSEAL", Tail::Compartments),
    weak("BUR", Tail::Compartments),
    strong("UMBRA", Tail::None),
    weak("SPOKE", Tail::None),
    weak("MORAY", Tail::None),
    // Special access programs.
    strong("SAR-", Tail::Name),
    strong("SPECIAL ACCESS REQUIRED", Tail::Name),
    weak("SAP", Tail::Name),
    strong("HVSACO", Tail::None),
    weak("WAIVED", Tail::None),
    weak("BOHEMIA", Tail::None),
    weak("BALK", Tail::None),
    weak("ATOMAL", Tail::None),
    // Atomic energy.
    weak("RD", Tail::Numbers),
    weak("RESTRICTED DATA", Tail::Numbers),
    weak("FRD", Tail::Numbers),
    weak("FORMERLY RESTRICTED DATA", Tail::Numbers),
    strong("CNWDI", Tail::None),
    weak("TFNI", Tail::None),
    strong("DOD UCNI", Tail::None),
    strong("DOE UCNI", Tail::None),
    weak("DCNI", Tail::None),
    weak("UCNI", Tail::None),
    strong("NNPI", Tail::None),
    // Foreign government information.
    weak("FGI", Tail::Countries),
    weak("JOINT", Tail::Countries),
    // Dissemination.
    strong("ORCON", Tail::Compartments),
    strong("ORIGINATOR CONTROLLED", Tail::None),
    weak("OC", Tail::Compartments),
    weak("IMCON", Tail::None),
    weak("CONTROLLED IMAGERY", Tail::None),
    weak("IMC", Tail::None),
    strong("NOFORN", Tail::None),
    strong("NOT RELEASABLE TO FOREIGN NATIONALS", Tail::None),
    strong("NO FOREIGN DISSEMINATION", Tail::None),
    strong("NO FOREIGN", Tail::None),
    weak("NF", Tail::None),
    weak("PROPIN", Tail::None),
    weak("CAUTION-PROPRIETARY INFORMATION INVOLVED", Tail::None),
    weak("PR", Tail::None),
    strong("REL TO ", Tail::Countries),
    strong("RELEASABLE TO ", Tail::Countries),
    strong("REL FVEY", Tail::None),
    strong("REL USA", Tail::Countries),
    weak("REL ", Tail::Countries),
    weak("REL", Tail::None),
    strong("RELIDO", Tail::None),
    strong("DISPLAY ONLY ", Tail::Countries),
    weak("RSEN", Tail::None),
    weak("RISK SENSITIVE", Tail::None),
    weak("RS", Tail::None),
    strong("FOUO", Tail::None),
    strong("FOR OFFICIAL USE ONLY", Tail::None),
    strong("OFFICIAL USE ONLY", Tail::None),
    weak("OUO", Tail::None),
    weak("FISA", Tail::None),
    weak("RAWFISA", Tail::None),
    weak("DSEN", Tail::None),
    strong("DEA SENSITIVE", Tail::None),
    strong("WNINTEL", Tail::None),
    strong("NOCONTRACT", Tail::None),
    strong("EYES ONLY", Tail::None),
    weak("EYES", Tail::Countries),
    strong("FIVE EYES ONLY", Tail::None),
    strong("FVEY", Tail::None),
    // Other agencies.
    strong("LIMDIS", Tail::None),
    weak("LIMITED DISTRIBUTION", Tail::None),
    weak("DS", Tail::None),
    strong("EXDIS", Tail::None),
    weak("XD", Tail::None),
    strong("NODIS", Tail::None),
    weak("ND", Tail::None),
    weak("SBU-NF", Tail::None),
    weak("SBU NOFORN", Tail::None),
    weak("SBU", Tail::None),
    weak("LES-NF", Tail::None),
    weak("LES NOFORN", Tail::None),
    weak("LES", Tail::None),
    strong("LAW ENFORCEMENT SENSITIVE", Tail::None),
    strong("SENSITIVE BUT UNCLASSIFIED", Tail::None),
    strong("SENSITIVE SECURITY INFORMATION", Tail::None),
    weak("SSI", Tail::None),
    weak("CUI", Tail::None),
    strong("ACCM", Tail::Name),
    weak("SPECAT", Tail::None),
    // Exemptions and dates of old banners.
    weak("25X", Tail::Numbers),
    weak("50X", Tail::Numbers),
    weak("MR", Tail::None),
    // Limits of controlled unclassified information.
    strong("FEDCON", Tail::None),
    strong("FED ONLY", Tail::None),
    strong("NOCON", Tail::None),
    strong("DL ONLY", Tail::None),
    weak("ATTORNEY-CLIENT", Tail::None),
    weak("ATTORNEY-WP", Tail::None),
    weak("DELIBERATIVE", Tail::None),
    // Australia, New Zealand.
    strong("AUSTEO", Tail::None),
    strong("AGAO", Tail::None),
    strong("NZEO", Tail::None),
    weak("CABINET", Tail::None),
    weak("NATIONAL-CABINET", Tail::None),
    weak("NATIONAL CABINET", Tail::None),
    weak("EXCLUSIVE FOR", Tail::Anything),
    weak("EXCLUSIVE-FOR", Tail::Anything),
    weak("DELICATE SOURCE", Tail::None),
    weak("DELICATE-SOURCE", Tail::None),
    weak("CODEWORD", Tail::None),
    weak("PERSONAL-PRIVACY", Tail::None),
    weak("PERSONAL PRIVACY", Tail::None),
    weak("LEGAL-PRIVILEGE", Tail::None),
    weak("LEGAL PRIVILEGE", Tail::None),
    weak("LEGISLATIVE-SECRECY", Tail::None),
    weak("LEGISLATIVE SECRECY", Tail::None),
    // United Kingdom.
    strong("UK EYES ONLY", Tail::None),
    strong("US EYES ONLY", Tail::None),
    strong("UKEO", Tail::None),
    strong("STRAP", Tail::Numbers),
    weak("ATOMIC", Tail::None),
    weak("LOCSEN", Tail::None),
    weak("COMMERCIAL", Tail::None),
    weak("PERSONAL", Tail::None),
    weak("MARKET", Tail::None),
    weak("HR", Tail::None),
    // Canada.
    strong("CANADIAN EYES ONLY", Tail::None),
    strong("CANUS", Tail::None),
    strong("CANUKUS", Tail::None),
    strong("AUSCANNZUKUS", Tail::Countries),
    weak("CEO", Tail::None),
    // France.
    strong("SPECIAL FRANCE", Tail::None),
];
