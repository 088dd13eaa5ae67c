//! Tables and rules that are part of the program, as the build script has compiled them.

use holdgate_effects::table::Table;

/// The compiled form of a table.
macro_rules! table {
    ($name:literal) => {
        holdgate_effects::table::Table(include_bytes!(concat!(env!("OUT_DIR"), "/", $name)))
    };
}
pub(crate) use table;

/// The files of rules and patterns: names, texts, compiled.
pub(crate) const FILES: &[(&str, &str, Table<'static>)] =
    include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The compiled form of a file, if it is one that is part of the program.
pub(crate) fn file(name: &str, text: &str) -> Option<Table<'static>> {
    let found = FILES.iter().find(|(n, t, _)| *n == name && *t == text);
    found.map(|(_, _, table)| *table)
}
