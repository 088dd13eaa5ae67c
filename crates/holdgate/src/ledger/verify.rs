//! A check of the whole ledger, line by line.

use super::current::{DELETED_TO, ENDED, MISSING};
use super::files::{CURRENT, readable};
use super::seal::{KEY_FILE, Key, KeyFile, Sealing, Seed};
use super::{GENESIS, files, hash, take_lock};
use anyhow::{Context as _, bail};
use holdgate_effects::json::{Json, LoneSurrogates};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
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
    /// What the seals say.
    pub seals: Seals,
}

/// What the seals of the records say.
#[derive(Debug, PartialEq, Eq)]
pub enum Seals {
    /// No record has one.
    None,
    /// There is no seed to check them with.
    NotChecked,
    /// These records are as they were written, and none is missing.
    Checked {
        /// The first of them that is there.
        first: u64,
        /// The last of them.
        last: u64,
        /// Older ones of the epoch were deleted for their space, as a sealed record says.
        deleted_to: Option<u64>,
        /// Records of later epochs, of which the seed says nothing.
        later: u64,
    },
}

/// Checks every line of the ledger in `dir`; the error says where it breaks.
pub fn verify(dir: &Path) -> anyhow::Result<Verified> {
    check(dir, None)
}

/// The same, and the seals of the seed's epoch.
pub fn verify_sealed(dir: &Path, seed: &Seed) -> anyhow::Result<Verified> {
    check(dir, Some(seed))
}

fn check(dir: &Path, seed: Option<&Seed>) -> anyhow::Result<Verified> {
    // What is written meanwhile is not looked at: the key belongs to the records until now.
    let (files, current, sealing) = {
        let folder = File::open(dir).with_context(|| format!("{}", dir.display()))?;
        let _guard = take_lock(&folder)?;
        let current = match readable(&dir.join(CURRENT)) {
            Ok(file) => Some((file.metadata()?.len(), file)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error).with_context(|| dir.join(CURRENT).display().to_string());
            }
        };
        (files(dir)?, current, KeyFile::read(dir)?)
    };
    let mut check = Check::new(seed);
    let count = files.len();
    let mut current = current;
    for path in files {
        let taken = if path.ends_with(CURRENT) {
            current.take()
        } else {
            None
        };
        let (len, file) = match taken {
            Some(taken) => taken,
            None => (u64::MAX, readable(&path)?),
        };
        let mut reader = BufReader::new(file.take(len));
        let mut line = String::new();
        for number in 1.. {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                break;
            }
            let at = format!("{}:{number}", path.display());
            let Some(text) = line.strip_suffix('\n') else {
                bail!("{at}: the last line is incomplete; Holdgate repairs it when it next writes");
            };
            check.line(text).context(at)?;
        }
    }
    let seals = check.end(sealing.as_ref())?;
    Ok(Verified {
        records: check.records,
        files: count,
        range: check.range,
        hash: check.hash,
        seals,
    })
}

/// What was read so far.
struct Check<'s> {
    seed: Option<&'s Seed>,
    records: u64,
    range: Option<(u64, u64)>,
    hash: String,
    /// The epoch of the last record.
    epoch: Option<u64>,
    /// The key of this record of the seed's epoch.
    key: Option<(u64, Key)>,
    /// The first and last record whose seal was checked.
    sealed: Option<(u64, u64)>,
    /// The last of them ends its epoch.
    ended: bool,
    deleted_to: Option<u64>,
    later: u64,
    /// Records that are missing, and of which a record says so.
    gaps: Vec<(u64, u64)>,
}

impl<'s> Check<'s> {
    fn new(seed: Option<&'s Seed>) -> Check<'s> {
        Check {
            seed,
            records: 0,
            range: None,
            hash: GENESIS.to_owned(),
            epoch: None,
            key: seed.map(|seed| (seed.first, seed.key.clone())),
            sealed: None,
            ended: false,
            deleted_to: None,
            later: 0,
            gaps: Vec::new(),
        }
    }

    fn line(&mut self, text: &str) -> anyhow::Result<()> {
        let json =
            Json::read(text.as_bytes(), 128, LoneSurrogates::Refuse).context("not a record")?;
        let field = |key: &str| json.get(key).and_then(Json::as_str).unwrap_or_default();
        let number = |key: &str| json.get(key).and_then(Json::as_u64);
        let seq = number("seq").unwrap_or_default();
        let Some(sealed) = without(text, "hash", field("hash")) else {
            bail!("record {seq} has no hash at its end");
        };
        if hash(&sealed) != field("hash") {
            bail!("record {seq} was changed");
        }
        match self.range {
            // Older files may have been archived elsewhere: the chain starts where it starts.
            None if seq == 1 && field("prev") != GENESIS => {
                bail!("record 1 does not start the chain");
            }
            None => self.range = Some((seq, seq)),
            Some((first, last)) => {
                let told = field("subject") == "ledger" && field("action") == MISSING;
                if field("prev") != self.hash || seq <= last || (seq != last + 1 && !told) {
                    bail!("record {seq} does not follow record {last}");
                }
                if seq != last + 1 {
                    self.gaps.push((last + 1, seq - 1));
                }
                self.range = Some((first, seq));
            }
        }
        field("hash").clone_into(&mut self.hash);
        self.records += 1;
        match (self.epoch, number("epoch")) {
            (Some(_), None) => bail!("record {seq} is not sealed, but the previous one is"),
            (Some(before), Some(epoch)) if epoch != before && epoch != seq => {
                bail!(
                    "record {seq} belongs to another epoch than the previous one, but does not \
                     start one"
                );
            }
            (_, epoch) => self.epoch = epoch,
        }
        if self.epoch.is_some() {
            let Some(body) = without(&sealed, "seal", field("seal")) else {
                bail!("record {seq} has no seal at its end");
            };
            self.seal(seq, &body, field("seal"))?;
        }
        if self.seed.map(|seed| seed.first) == self.epoch && self.epoch.is_some() {
            self.ended = field("subject") == "ledger" && field("action") == ENDED;
            self.deleted_to = self.deleted_to.max(number(DELETED_TO));
        } else if self.sealed.is_some() {
            self.later += 1;
        }
        Ok(())
    }

    /// Checks a seal, if it is of the seed's epoch.
    fn seal(&mut self, seq: u64, body: &str, seal: &str) -> anyhow::Result<()> {
        let Some((first, (next, key))) = self.seed.map(|s| s.first).zip(self.key.as_mut()) else {
            return Ok(());
        };
        if self.epoch != Some(first) {
            return Ok(());
        }
        while *next < seq {
            *key = key.next();
            *next += 1;
        }
        if *next != seq || key.seal(body) != seal {
            bail!("record {seq} and the chain were changed: its seal does not match the seed");
        }
        self.sealed = Some((self.sealed.map_or(seq, |(first, _)| first), seq));
        Ok(())
    }

    fn end(&mut self, sealing: Option<&Sealing>) -> anyhow::Result<Seals> {
        let last = self.range.map_or(0, |(_, last)| last);
        if let Some(sealing) = sealing
            && sealing.next > last + 1
        {
            bail!(
                "records {} to {} are missing at the end: the key is for record {}",
                last + 1,
                sealing.next - 1,
                sealing.next
            );
        }
        let from = self.seed.map_or(0, |seed| seed.first);
        if let Some((first, last)) = self.gaps.iter().find(|gap| gap.1 >= from) {
            bail!(
                "records {first} to {last} were removed, or lost when the machine stopped, as \
                 record {} says; all others are intact. Start a new epoch with `holdgate \
                 ledger seal`, which can be checked separately",
                last + 1
            );
        }
        let Some(seed) = self.seed else {
            let sealed = self.epoch.is_some();
            return Ok(if sealed {
                Seals::NotChecked
            } else {
                Seals::None
            });
        };
        let Some((first, last)) = self.sealed else {
            bail!(
                "there is no record of the seed's epoch, which starts with record {}",
                seed.first
            );
        };
        if first > seed.first && self.deleted_to.is_none_or(|to| to < first - 1) {
            bail!(
                "records {} to {} are missing, and no sealed record says that they were \
                 deleted; if they are archived, check them together with these",
                seed.first,
                first - 1
            );
        }
        if !self.ended {
            self.check_key(seed, last, sealing)?;
        }
        Ok(Seals::Checked {
            first,
            last,
            deleted_to: (first > seed.first).then_some(first - 1),
            later: self.later,
        })
    }

    /// Without an end, the epoch goes on to the end of the ledger, and the key is its next one. An
    /// older key does not exist any more, so nobody can have put it back.
    fn check_key(
        &mut self,
        seed: &Seed,
        last: u64,
        sealing: Option<&Sealing>,
    ) -> anyhow::Result<()> {
        if self.later > 0 {
            bail!(
                "the seed's epoch ends after record {last}, and the operator did not start the \
                 epoch that follows; records in between may be missing"
            );
        }
        let Some(sealing) = sealing else {
            bail!("{KEY_FILE} is missing or cannot be used, so records may be missing at the end");
        };
        // A crash can leave the key of the last record.
        let (mut at, mut key) = (seed.first, seed.key.clone());
        while at < sealing.next {
            key = key.next();
            at += 1;
        }
        if sealing.first != seed.first || sealing.next < last || key != sealing.key {
            bail!(
                "{KEY_FILE} was changed: it is not the key that follows record {last}, so records may be missing at the end"
            );
        }
        Ok(())
    }
}

/// The object without its last member.
fn without(text: &str, key: &str, value: &str) -> Option<String> {
    let open = text.strip_suffix(&format!(",\"{key}\":\"{value}\"}}"))?;
    Some(format!("{open}}}"))
}
