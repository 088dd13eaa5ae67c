//! Words around markings, and words of notices. Each list is split at `|`.

/// Keys whose value is a marking, by a part of their name.
pub(super) const STRICT_KEYS: &str = "\
    classif|marking|banner|caveat|portion|protective|einstufung|handling";

/// Keys whose value may be one.
pub(super) const KEYS: &str = "\
    subject|header|footer|sensitiv|security|dissem|distribution|title|betreff|notice|warning|\
    eyes|releas|tlp";

/// Words that say that a marking is an example.
pub(super) const EXAMPLES: &str = "\
    example|e.g.|such as|for instance|training|template|placeholder|sample|illustrat|fictional|\
    fictitious|notional|would read|looks like|dummy";

/// Words of texts that explain what a marking is.
pub(super) const DEFINITIONS: &str = "\
    mean|what does|stands for|abbreviat|acronym|syntax|grammar|regex|banner line|portion mark|\
    marking|glossary|is used|are used|refers to|denotes|defined|definition|legacy|replaced|\
    replaces|deprecated|label|user interface|how to|what is|the term|keyword|valid values|\
    wikipedia|enum|lowest|highest|caveat|levels";

/// Words of sentences that speak of a marking, where it is not the marking of the sentence.
pub(super) const TALK: &str = "\
    i.e.|would |pars|support |fix|reject|returns|assert|expect|test|if the document|should be|\
    must be|can be|may be|could be|supports|format|policy|documents marked|marked as|\
    been marked|when a|when the|called|one of|slide marked|handling of|approved for|accept|\
    conflict|valid|invalid|error|duplicate|mutually|training|module|function|field|value";

/// Words that turn a phrase at the start of a line into the subject of a sentence.
pub(super) const VERBS: &str = "\
    is|are|was|were|mean|means|stands|refers|denotes|has|have|can|may|must|should|and|or|vs|\
    versus|does|do|replaced|requires|allows|level|levels|markings|marking|documents|label|\
    labels|clearance|clearances|systems|networks|requirements|compliance|program|programs|\
    designation|designations|classification|classifications|to|in|of|for|the|which|that|would|\
    will|needs|applies|workloads|by|as";

/// Notices that markings are not real.
pub(super) const TRAINING: &str = "\
    training purposes|for training only|illustration purposes|illustrative purposes|\
    illustration only|example purposes|markings are for|markings shown|markings in this|\
    fictitious|sample document|demonstration purposes|for demonstration only|\
    not actually classified|not real|dummy data|notional data";

/// Terms of texts about markings.
pub(super) const TERMS: &str = "\
    portion mark|banner line|banner mark|classification marking|marking system|security marking|\
    protective marking|marking library|capco|32 cfr 2002|cui registry|cui program|13526|\
    derivative classif|distribution statements|marking guide|marking standard|\
    traffic light protocol|classification levels|classification level|\
    government security classifications|pspf|dissemination controls|security policy framework|\
    parser|regex|classification guide|levels of classification|export control regulations";

/// Starts of lines that say that a text is public.
pub(super) const RELEASED: &str = "\
    declassified|approved for public release|approved for release|cleared for public release|\
    cleared for open publication|released under foia|distribution statement a|\
    unclassified//approved for public";

/// Folders of tests and of their data.
pub(super) const TEST_PARTS: &str = "\
    test|tests|testing|spec|specs|fixture|fixtures|__tests__|testdata|test-data|test_data|mock|\
    mocks|__mocks__|snapshots|__snapshots__|examples";

/// Endings of source files.
pub(super) const SOURCE: &str = "\
    rs|py|js|mjs|cjs|ts|tsx|jsx|go|java|kt|scala|c|h|cc|cpp|hpp|cs|rb|php|swift|m|lua|pl|pm|sh|\
    css|scss|sql|r|jl|ex|exs|erl|hs|ml|vue|svelte|dart|groovy|proto|xsd|sch";

/// Laws and lists.
pub(super) const REGIMES: &str = "\
    itar|arms export control act|international traffic in arms|usml|munitions list|eccn|\
    export administration|22 cfr 12|22 cfr part 12|15 cfr 7|2021/821|428/2009|22 u.s.c. 2751|\
    22, u.s.c|u.s. law|non-u.s. persons|the ear|(ear)|non-us persons|foreign persons|\
    u.s. persons only|us persons only|export license|export licence";

/// Words by which a notice says that what it stands on is controlled.
pub(super) const CLAIMS: &str = "\
    contains technical data|technical data whose export|technical data, the export|\
    export is restricted|export of which is restricted|itar controlled|itar-controlled|\
    itar data|itar technical data|itar restricted|itar-restricted|controlled technical data|\
    controlled technical information|contains information subject to|contains itar|\
    export controlled information|export-controlled information|export controlled data|\
    export-controlled data|export controlled technical|export-controlled technical|\
    export controlled technology|export-controlled technology|export controlled document|\
    is a deemed export|constitutes a deemed export|contains export controlled|\
    contains export-controlled|export controlled -|export controlled:|export control warning|\
    export warning|export-restricted data|export restricted data|u.s. export controlled|\
    technical data controlled|information is controlled under|data is controlled under|\
    document is controlled|drawing is controlled|is subject to the itar|is subject to itar|\
    document is subject to the international traffic|\
    information is subject to the international traffic|technical data subject to|itar warning|\
    itar notice|contains information controlled|contains data controlled";

/// Words that go with the number of an item.
pub(super) const ITEM_CLAIMS: &str = "\
    export control|do not transfer|do not export|not be exported|license required|\
    licence required|export authori|export licen|controlled|warning|dual-use|dual use|\
    restricted|no transfer|not be transferred|not be released";

/// Words of licences, of notices about public software, and of texts about the law.
pub(super) const OTHERWISE: &str = "\
    license exception|licence exception|publicly available|740.13|740.17|742.15|ear99|\
    no licence|no license|not subject to|open source|open-source|bureau of industry and|\
    you may not|you agree|you shall|you represent|you are responsible|licensee|end user license|\
    end-user license|comply with|complies with|apache software|what is itar|does your|\
    contact us|your team|your organi|may also be|wikipedia|applicable law|our compliance|\
    learn more|guide to|for example|training course|you must|you will not|not itar|\
    does not contain|no itar|no technical data|no export|webinar";

/// Levels of an Australian mail that limit who may read it.
pub(super) const MAIL_LEVELS: &str = "\
    TOP-SECRET|TOP SECRET|SECRET|CONFIDENTIAL|RESTRICTED|HIGHLY-PROTECTED|PROTECTED|\
    OFFICIAL:SENSITIVE|OFFICIAL: SENSITIVE|OFFICIAL-SENSITIVE|X-IN-CONFIDENCE|IN-CONFIDENCE|\
    CABINET-IN-CONFIDENCE|SENSITIVE|FOR-OFFICIAL-USE-ONLY";

/// Categories of controlled unclassified information, as the public registry abbreviates them.
pub(super) const CATEGORIES: &str = "\
    AG|AIV|APP|ASYL|BARG|BATT|BSA|BUDG|CEII|CENS|CHEM|CHLD|CHRI|COMPT|CONREG|CPI|CRIT|CTI|CVI|\
    DCRIT|DCNI|DNA|EMGT|EXPT|EXPTR|FGI|FINC|FISA|FISAB|FISAO|FNC|FSEC|FTI|FUND|GENETIC|GEO|GRND|\
    HISTP|HLTH|ID|IGI|IIA|IIR|INF|INFO|INT|INTEL|INTL|INV|INVT|ISVI|ITAR|JURY|JUV|LCOMM|LDNA|\
    LEI|LFNC|LIDN|LITG|LMI|LNSL|LOM|LPROT|LREP|LSCRN|LVIC|MERG|MFC|MHC|MIL|MISS|MSI|NNPI|NPSC|\
    NSEC|NUC|OPSEC|PCII|PERS|PII|POST|PRE|PRIIG|PRIOR|PRIVILEGE|PROCURE|PROPIN|PROT|PRVCY|PSEC|\
    PSI|PTA|RAIL|RTW|RWRD|SAFE|SAMI|SECR|SGI|SHED|SIT|SRI|SSEL|SSI|STAT|STUD|SURV|TAX|TSCA|UCNI|\
    UNNPI|USCEN|VISA|WATER|WDT|WHSTL|WIT";

/// The words of a list.
pub(super) fn words(list: &'static str) -> impl Iterator<Item = &'static str> + Clone {
    list.split('|')
}
