//! `holdgate ledger`: checks the ledger, and begins a sealed epoch.

use super::{Ledger, Seals, Seed, Verified, verify, verify_sealed};
use crate::args::LedgerCommand;
use crate::config::Config;
use crate::log;
use anyhow::Context as _;
use holdgate_effects::json::Json;
use std::fs::OpenOptions;
use std::io::{Read as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Bytes of a file with a seed.
const MAX_SEED: u64 = 4096;

/// Does what the command says.
pub fn run(command: &LedgerCommand, config: &Config, out: &mut impl Write) -> anyhow::Result<()> {
    match command {
        LedgerCommand::Verify { json, seed, .. } => {
            let seed = seed.as_deref().map(read_seed).transpose()?;
            let verified = match &seed {
                Some(seed) => verify_sealed(&config.state_dir, seed)?,
                None => verify(&config.state_dir)?,
            };
            if *json {
                writeln!(out, "{}", to_json(&verified))?;
            } else {
                writeln!(out, "{}", to_text(&verified))?;
            }
        }
        LedgerCommand::Seal {
            seed_file: Some(file),
            ..
        } => {
            let first = seal_to(file, config)?;
            let file = file.display();
            writeln!(
                out,
                "records starting with {first} are sealed; the seed is in {file}"
            )?;
            keep_it_away();
        }
        LedgerCommand::Seal {
            seed_file: None, ..
        } => {
            let seed = Ledger::open(&config.state_dir, config.ledger)?.seal()?;
            writeln!(out, "{seed}")?;
            log::info(&format!(
                "records starting with {} are sealed, and this is their seed. It is shown only \
                 once.",
                seed.first
            ));
            keep_it_away();
        }
    }
    Ok(())
}

fn keep_it_away() {
    log::info(
        "Keep it where nobody who can write the ledger can read it: on another machine, or on \
         paper. Use it with `holdgate ledger verify --seed FILE`.",
    );
}

fn read_seed(path: &Path) -> anyhow::Result<Seed> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().take(MAX_SEED).read_to_string(&mut text)?;
    } else {
        let file = std::fs::File::open(path)
            .with_context(|| format!("cannot read the seed in {}", path.display()))?;
        file.take(MAX_SEED).read_to_string(&mut text)?;
    }
    let seed = text.parse().map_err(anyhow::Error::msg);
    seed.with_context(|| format!("{}", path.display()))
}

/// Seals, with the seed in a new file that is not beside the ledger.
fn seal_to(path: &PathBuf, config: &Config) -> anyhow::Result<u64> {
    let ledger = Ledger::open(&config.state_dir, config.ledger)?;
    let folder = std::path::absolute(path)?;
    let folder = folder.parent().unwrap_or(Path::new("/")).to_owned();
    let real = std::fs::canonicalize(&folder).with_context(|| format!("{}", folder.display()))?;
    if real.starts_with(std::fs::canonicalize(&config.state_dir)?) {
        anyhow::bail!(
            "{} is in the state folder, where anyone who can change the ledger could read the \
             seed; choose another folder",
            path.display()
        );
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options
        .open(path)
        .with_context(|| format!("{} already exists and is not overwritten", path.display()))?;
    let seed = ledger.seal().inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })?;
    writeln!(file, "{seed}")?;
    file.sync_all()?;
    Ok(seed.first)
}

fn to_text(verified: &Verified) -> String {
    let (first, last) = verified.range.unwrap_or_default();
    let chain = format!(
        "the ledger is intact: {} records in {} files, numbers {first} to {last}, last hash {}",
        verified.records, verified.files, verified.hash
    );
    let seals = match &verified.seals {
        Seals::None => "not sealed: the owner of the files could have rewritten them".to_owned(),
        Seals::NotChecked => {
            "not checked against a seed: the owner of the files could have rewritten them; run \
             `holdgate ledger seal` to be able to prove later records"
                .to_owned()
        }
        Seals::Checked {
            first,
            last,
            deleted_to,
            later,
        } => {
            let mut text = format!("sealed: records {first} to {last} are unchanged");
            if let Some(to) = deleted_to {
                text.push_str(&format!(
                    "; records up to {to} were deleted to save space (ledger.keep_bytes)"
                ));
            }
            if *later > 0 {
                text.push_str(&format!(
                    "; the epoch of this seed ends there, so the {later} later records were \
                     not checked"
                ));
            }
            text
        }
    };
    format!("{chain}\n{seals}")
}

fn to_json(verified: &Verified) -> Json<'static> {
    let (first, last) = verified.range.unwrap_or_default();
    let files = u64::try_from(verified.files).unwrap_or_default();
    let seals = match &verified.seals {
        Seals::None => Json::object([("state", "none".into())]),
        Seals::NotChecked => Json::object([("state", "not-checked".into())]),
        Seals::Checked {
            first,
            last,
            deleted_to,
            later,
        } => Json::object([
            ("state", "checked".into()),
            ("first", (*first).into()),
            ("last", (*last).into()),
            ("deleted_to", deleted_to.map_or(Json::Null, Json::from)),
            ("later", (*later).into()),
        ]),
    };
    Json::object([
        ("records", verified.records.into()),
        ("files", files.into()),
        ("first", first.into()),
        ("last", last.into()),
        ("hash", verified.hash.clone().into()),
        ("seals", seals),
    ])
}
