//! The words of markings, with their meanings. All are upper case and without accents, as
//! [`super::fold`] leaves them.

/// A family of markings. Its name is the rule's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    Us,
    Portion,
    Cui,
    Authority,
    CuiDesignation,
    Distribution,
    Export,
    Nato,
    Uk,
    Eu,
    Au,
    Ca,
    National,
    Tlp,
}

impl Family {
    /// The rule's name.
    pub(super) fn rule(self) -> &'static str {
        match self {
            Family::Us => "classification-banner",
            Family::Portion => "portion-mark",
            Family::Cui => "controlled-information",
            Family::Authority => "classification-authority",
            Family::CuiDesignation => "controlled-information-block",
            Family::Distribution => "distribution-statement",
            Family::Export => "export-control",
            Family::Nato => "nato-marking",
            Family::Uk => "uk-marking",
            Family::Eu => "eu-marking",
            Family::Au => "au-marking",
            Family::Ca => "ca-marking",
            Family::National => "national-marking",
            Family::Tlp => "traffic-light-protocol",
        }
    }

    /// What the text has, for the reason.
    pub(super) fn what(self) -> &'static str {
        match self {
            Family::Us => "a classification marking",
            Family::Portion => "classified portion marks",
            Family::Cui => "a marking of controlled unclassified information",
            Family::Authority => "a classification authority block",
            Family::CuiDesignation => "a designation block of controlled unclassified information",
            Family::Distribution => "a distribution statement that limits who may have it",
            Family::Export => "an export control warning",
            Family::Nato => "a NATO marking",
            Family::Uk => "a UK marking",
            Family::Eu => "an EU marking",
            Family::Au => "an Australian protective marking",
            Family::Ca => "a Canadian marking",
            Family::National => "a national classification marking",
            Family::Tlp => "a traffic light protocol label that limits who may have it",
        }
    }
}

/// A level with which a banner can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    TopSecret,
    Secret,
    Confidential,
    /// Of other countries, and of companies.
    Restricted,
    Protected,
    Official,
    Unclassified,
    /// Controlled unclassified information.
    Cui,
    /// `CONTROLLED`, the long form of `CUI`: a word of prose without a block behind it.
    Controlled,
}

pub(super) const LEVELS: &[(&str, Level)] = &[
    ("TOP SECRET", Level::TopSecret),
    ("TOP-SECRET", Level::TopSecret),
    ("TOPSECRET", Level::TopSecret),
    ("SECRET", Level::Secret),
    ("CONFIDENTIAL", Level::Confidential),
    ("RESTRICTED", Level::Restricted),
    ("PROTECTED", Level::Protected),
    ("OFFICIAL", Level::Official),
    ("UNCLASSIFIED", Level::Unclassified),
    ("CUI", Level::Cui),
    ("CONTROLLED", Level::Controlled),
];

/// Levels of portion marks and of short banners: `(TS//SI//NF)`, `S//NF`.
pub(super) const SHORT_LEVELS: &[(&str, Level)] = &[
    ("TS", Level::TopSecret),
    ("S", Level::Secret),
    ("C", Level::Confidential),
    ("R", Level::Restricted),
    ("U", Level::Unclassified),
    ("CUI", Level::Cui),
    ("CTS", Level::TopSecret),
    ("NS", Level::Secret),
    ("NC", Level::Confidential),
    ("NR", Level::Restricted),
];

/// How surely a phrase is a marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    /// Used for nothing else.
    Only,
    /// Also words of a sentence, unless it is a line of its own.
    Line,
    /// Also an ordinary word, like `SECRET` alone.
    Word,
    /// Also a company's stamp, like `CONFIDENTIAL` alone.
    Company,
}

/// Phrases that are a marking without any block behind them.
pub(super) const PHRASES: &[(&str, Family, Sense)] = &[
    ("COSMIC TOP SECRET", Family::Nato, Sense::Only),
    ("NATO SECRET", Family::Nato, Sense::Only),
    ("NATO CONFIDENTIAL", Family::Nato, Sense::Only),
    ("NATO RESTRICTED", Family::Nato, Sense::Only),
    ("NATO RESTREINT", Family::Nato, Sense::Only),
    ("FOCAL TOP SECRET", Family::Nato, Sense::Only),
    ("TRES SECRET UE", Family::Eu, Sense::Only),
    ("EU TOP SECRET", Family::Eu, Sense::Only),
    ("SECRET UE", Family::Eu, Sense::Only),
    ("EU SECRET", Family::Eu, Sense::Only),
    ("CONFIDENTIEL UE", Family::Eu, Sense::Only),
    ("EU CONFIDENTIAL", Family::Eu, Sense::Only),
    ("RESTREINT UE", Family::Eu, Sense::Only),
    ("EU RESTRICTED", Family::Eu, Sense::Only),
    ("R-UE/EU-R", Family::Eu, Sense::Only),
    ("C-UE/EU-C", Family::Eu, Sense::Only),
    ("S-UE/EU-S", Family::Eu, Sense::Only),
    ("TS-UE/EU-TS", Family::Eu, Sense::Only),
    ("OFFICIAL-SENSITIVE", Family::Uk, Sense::Only),
    ("OFFICIAL-SENSITIVE COMMERCIAL", Family::Uk, Sense::Only),
    ("OFFICIAL-SENSITIVE PERSONAL", Family::Uk, Sense::Only),
    ("OFFICIAL-SENSITIVE LOCSEN", Family::Uk, Sense::Only),
    ("OFFICIAL SENSITIVE", Family::Uk, Sense::Only),
    ("OFFICIAL - SENSITIVE", Family::Uk, Sense::Only),
    ("UK TOP SECRET", Family::Uk, Sense::Only),
    ("UK SECRET", Family::Uk, Sense::Only),
    ("UK CONFIDENTIAL", Family::Uk, Sense::Only),
    ("UK RESTRICTED", Family::Uk, Sense::Only),
    ("UK EYES ONLY", Family::Uk, Sense::Only),
    ("UK/US EYES ONLY", Family::Uk, Sense::Only),
    ("AUSTEO", Family::Au, Sense::Only),
    ("AGAO", Family::Au, Sense::Only),
    ("OFFICIAL:SENSITIVE", Family::Au, Sense::Only),
    ("OFFICIAL: SENSITIVE", Family::Au, Sense::Only),
    ("AUSTRALIAN EYES ONLY", Family::Au, Sense::Only),
    ("NZEO", Family::Au, Sense::Only),
    ("NEW ZEALAND EYES ONLY", Family::Au, Sense::Only),
    ("PROTECTED A", Family::Ca, Sense::Line),
    ("PROTECTED B", Family::Ca, Sense::Only),
    ("PROTECTED C", Family::Ca, Sense::Only),
    ("PROTECTED-A", Family::Ca, Sense::Only),
    ("PROTECTED-B", Family::Ca, Sense::Only),
    ("PROTECTED-C", Family::Ca, Sense::Only),
    ("PROTEGE A", Family::Ca, Sense::Only),
    ("PROTEGE B", Family::Ca, Sense::Only),
    ("PROTEGE C", Family::Ca, Sense::Only),
    ("CANADIAN EYES ONLY", Family::Ca, Sense::Only),
    (
        "VS-NUR FUR DEN DIENSTGEBRAUCH",
        Family::National,
        Sense::Only,
    ),
    (
        "VS - NUR FUR DEN DIENSTGEBRAUCH",
        Family::National,
        Sense::Only,
    ),
    ("NUR FUR DEN DIENSTGEBRAUCH", Family::National, Sense::Only),
    ("VS-NFD", Family::National, Sense::Only),
    ("VS-VERTRAULICH", Family::National, Sense::Only),
    ("STRENG GEHEIM", Family::National, Sense::Only),
    ("AMTLICH GEHEIMGEHALTEN", Family::National, Sense::Only),
    (
        "GEHEIM - AMTLICH GEHEIMGEHALTEN",
        Family::National,
        Sense::Only,
    ),
    ("GEHEIM", Family::National, Sense::Word),
    ("VERTRAULICH", Family::National, Sense::Company),
    ("CONFIDENTIEL", Family::National, Sense::Company),
    ("SECRETO", Family::National, Sense::Word),
    ("RESERVADO", Family::National, Sense::Company),
    ("CONFIDENCIAL", Family::National, Sense::Company),
    ("SEGRETO", Family::National, Sense::Word),
    ("RISERVATO", Family::National, Sense::Company),
    ("TAJNE", Family::National, Sense::Word),
    ("POUFNE", Family::National, Sense::Company),
    ("HEMLIG", Family::National, Sense::Word),
    ("HEMMELIG", Family::National, Sense::Word),
    ("SALAINEN", Family::National, Sense::Word),
    ("GIZLI", Family::National, Sense::Word),
    ("\u{7edd}\u{5bc6}\u{2605}", Family::National, Sense::Only),
    ("\u{673a}\u{5bc6}\u{2605}", Family::National, Sense::Only),
    ("\u{6975}\u{79d8}", Family::National, Sense::Line),
    ("DIFFUSION RESTREINTE", Family::National, Sense::Only),
    ("TRES SECRET", Family::National, Sense::Only),
    ("SECRET DEFENSE", Family::National, Sense::Only),
    ("CONFIDENTIEL DEFENSE", Family::National, Sense::Only),
    ("CONFIDENTIEL-DEFENSE", Family::National, Sense::Only),
    ("SECRET-DEFENSE", Family::National, Sense::Only),
    ("SPECIAL FRANCE", Family::National, Sense::Only),
    ("DIFUSION LIMITADA", Family::National, Sense::Only),
    ("SEGRETISSIMO", Family::National, Sense::Only),
    ("RISERVATISSIMO", Family::National, Sense::Only),
    (
        "DEPARTEMENTAAL VERTROUWELIJK",
        Family::National,
        Sense::Only,
    ),
    ("STG. ZEER GEHEIM", Family::National, Sense::Only),
    ("STG. GEHEIM", Family::National, Sense::Only),
    ("STG. CONFIDENTIEEL", Family::National, Sense::Only),
    ("SCISLE TAJNE", Family::National, Sense::Only),
    ("TIL TJENESTEBRUG", Family::National, Sense::Only),
    ("YDERST HEMMELIGT", Family::National, Sense::Only),
    ("STRENGT HEMMELIG", Family::National, Sense::Only),
    ("STRENGT FORTROLIG", Family::National, Sense::Only),
    ("KVALIFICERAT HEMLIG", Family::National, Sense::Only),
    ("ERITTAIN SALAINEN", Family::National, Sense::Only),
    ("HIZMETE OZEL", Family::National, Sense::Only),
    ("COK GIZLI", Family::National, Sense::Only),
    (
        "\u{421}\u{41e}\u{412}\u{415}\u{420}\u{428}\u{415}\u{41d}\u{41d}\u{41e} \u{421}\u{415}\u{41a}\u{420}\u{415}\u{422}\u{41d}\u{41e}",
        Family::National,
        Sense::Only,
    ),
    (
        "\u{414}\u{41b}\u{42f} \u{421}\u{41b}\u{423}\u{416}\u{415}\u{411}\u{41d}\u{41e}\u{413}\u{41e} \u{41f}\u{41e}\u{41b}\u{42c}\u{417}\u{41e}\u{412}\u{410}\u{41d}\u{418}\u{42f}",
        Family::National,
        Sense::Only,
    ),
    ("LAW ENFORCEMENT SENSITIVE", Family::Cui, Sense::Only),
    ("SENSITIVE BUT UNCLASSIFIED", Family::Cui, Sense::Only),
    ("FOR OFFICIAL USE ONLY", Family::Cui, Sense::Only),
    ("OFFICIAL USE ONLY", Family::Cui, Sense::Only),
    ("LIMITED OFFICIAL USE", Family::Cui, Sense::Only),
    (
        "CONTROLLED UNCLASSIFIED INFORMATION",
        Family::Cui,
        Sense::Only,
    ),
    ("SENSITIVE SECURITY INFORMATION", Family::Cui, Sense::Only),
    (
        "PROTECTED CRITICAL INFRASTRUCTURE INFORMATION",
        Family::Cui,
        Sense::Only,
    ),
    (
        "UNCLASSIFIED CONTROLLED NUCLEAR INFORMATION",
        Family::Cui,
        Sense::Only,
    ),
    (
        "NAVAL NUCLEAR PROPULSION INFORMATION",
        Family::Cui,
        Sense::Only,
    ),
    ("FOUO", Family::Cui, Sense::Only),
    ("NOFORN", Family::Us, Sense::Only),
    ("ORCON", Family::Us, Sense::Only),
    (
        "NOT RELEASABLE TO FOREIGN NATIONALS",
        Family::Us,
        Sense::Only,
    ),
    ("NO FOREIGN DISSEMINATION", Family::Us, Sense::Only),
    ("RELIDO", Family::Us, Sense::Only),
    ("WNINTEL", Family::Us, Sense::Only),
    ("EXDIS", Family::Us, Sense::Only),
    ("LIMDIS", Family::Us, Sense::Only),
    ("NODIS", Family::Us, Sense::Only),
    ("REL TO USA", Family::Us, Sense::Only),
    ("US EYES ONLY", Family::Us, Sense::Only),
    ("U.S. EYES ONLY", Family::Us, Sense::Only),
    ("FIVE EYES ONLY", Family::Us, Sense::Only),
    ("SPECIAL ACCESS REQUIRED", Family::Us, Sense::Only),
    ("FORMERLY RESTRICTED DATA", Family::Us, Sense::Only),
    (
        "CRITICAL NUCLEAR WEAPON DESIGN INFORMATION",
        Family::Us,
        Sense::Only,
    ),
    ("CNWDI", Family::Us, Sense::Only),
    ("TLP:RED", Family::Tlp, Sense::Only),
    ("TLP:AMBER+STRICT", Family::Tlp, Sense::Only),
    ("TLP:AMBER", Family::Tlp, Sense::Only),
    ("TLP: RED", Family::Tlp, Sense::Only),
    ("TLP: AMBER+STRICT", Family::Tlp, Sense::Only),
    ("TLP: AMBER", Family::Tlp, Sense::Only),
    ("TLP-RED", Family::Tlp, Sense::Only),
    ("TLP-AMBER", Family::Tlp, Sense::Only),
];
