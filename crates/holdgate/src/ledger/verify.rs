//! A check of the whole ledger, line by line.

use super::{GENESIS, files, hash};
use holdgate_core::json::{Json, LoneSurrogates};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// What a check of the whole ledger found.
#[derive(Debug)]
pub struct Verified {
    /// Records.
    pub records: u64,
    /// Files.
    pub files: usize,
    /// The numbers of the first and last record.
    pub range: Option<(u64, u64)>,
    /// The last hash.
    pub hash: String,
}

/// Checks every line of the ledger in `dir`; the error says where it breaks.
pub fn verify(dir: &Path) -> anyhow::Result<Verified> {
    use anyhow::{Context as _, bail};
    let files = files(dir).with_context(|| format!("{}", dir.display()))?;
    let mut verified = Verified {
        records: 0,
        files: files.len(),
        range: None,
        hash: GENESIS.to_owned(),
    };
    for path in &files {
        let mut reader = BufReader::new(File::open(path)?);
        let mut line = String::new();
        for number in 1.. {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                break;
            }
            let at = format!("{}:{number}", path.display());
            let Some(text) = line.strip_suffix('\n') else {
                bail!("{at}: the last line is torn; it is repaired when holdgate next writes");
            };
            let json = Json::read(text.as_bytes(), 128, LoneSurrogates::Refuse)
                .with_context(|| format!("{at}: not a record"))?;
            let field = |key: &str| json.get(key).and_then(Json::as_str).unwrap_or_default();
            let seq = json.get("seq").and_then(Json::as_u64).unwrap_or_default();
            let body = text.strip_suffix(&format!(",\"hash\":\"{}\"}}", field("hash")));
            let Some(body) = body.map(|body| format!("{body}}}")) else {
                bail!("{at}: record {seq} has no hash at its end");
            };
            if hash(&body) != field("hash") {
                bail!("{at}: record {seq} was changed");
            }
            match verified.range {
                // Older files may have been archived elsewhere: the chain starts where it starts.
                None if seq == 1 && field("prev") != GENESIS => {
                    bail!("{at}: record 1 does not begin the chain");
                }
                None => verified.range = Some((seq, seq)),
                Some((first, last)) => {
                    if field("prev") != verified.hash || seq != last + 1 {
                        bail!("{at}: record {seq} does not follow record {last}");
                    }
                    verified.range = Some((first, seq));
                }
            }
            field("hash").clone_into(&mut verified.hash);
            verified.records += 1;
        }
    }
    Ok(verified)
}
