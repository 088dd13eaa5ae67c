//! Compiles the tables and the rules that are written in YAML: see `src/compiled.rs`.

#![expect(
    clippy::disallowed_methods,
    reason = "the crate does no I/O, its build script does"
)]

#[path = "../holdgate-effects/src/table/write.rs"]
mod write;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

const TABLES: [&str; 5] = [
    "src/divergence/phrases.yaml",
    "src/divergence/words.yaml",
    "src/history/inserted.yaml",
    "src/injection/lexicon.yaml",
    "src/shown/hosting.yaml",
];
const RULES: [&str; 2] = ["rules", "rules/watch"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../holdgate-effects/src/table/write.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for path in TABLES.map(Path::new) {
        compile(path, &out.join(path.file_stem().unwrap_or_default()))?;
    }
    let root = fs::canonicalize("../..")?;
    let mut files = String::new();
    for folder in RULES {
        println!("cargo::rerun-if-changed=../../{folder}");
        let mut paths: Vec<PathBuf> = fs::read_dir(root.join(folder))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_, std::io::Error>>()?;
        paths.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
        paths.sort();
        for path in paths {
            let name = path.strip_prefix(&root)?.to_str().ok_or("a file's name")?;
            let compiled = out.join(name.replace('/', "-"));
            compile(&path, &compiled)?;
            let [path, compiled] = [&path, &compiled].map(|path| path.display().to_string());
            files.push_str(&format!(
                "({name:?}, include_str!({path:?}), Table(include_bytes!({compiled:?}))),\n"
            ));
        }
    }
    fs::write(out.join("files.rs"), format!("&[\n{files}]\n"))?;
    Ok(())
}

fn compile(path: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", path.display());
    let table = write::compile(&fs::read_to_string(path)?);
    fs::write(to, table.map_err(|e| format!("{}: {e}", path.display()))?)?;
    Ok(())
}
