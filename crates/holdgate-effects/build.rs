//! Compiles the tables that are written in YAML: see `src/table.rs`.

#![expect(
    clippy::disallowed_methods,
    reason = "the crate does no I/O, its build script does"
)]

#[path = "src/table/write.rs"]
mod write;

use std::path::Path;

const TABLES: [&str; 11] = [
    "paths.yaml",
    "hosts.yaml",
    "commands.yaml",
    "printed.yaml",
    "publishers.yaml",
    "tools.yaml",
    "setters.yaml",
    "verbs.yaml",
    "code/doors.yaml",
    "files.yaml",
    "code/functions.yaml",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/table/write.rs");
    let out = std::env::var("OUT_DIR")?;
    for name in TABLES {
        let path = Path::new("src").join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        let yaml = std::fs::read_to_string(&path)?;
        let table = write::compile(&yaml).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.file_stem().unwrap_or_default();
        std::fs::write(Path::new(&out).join(name), table)?;
    }
    Ok(())
}
