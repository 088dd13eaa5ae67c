//! Files and hosts that statements reach.

use super::{OWN_USERS, SECRETS};
use crate::effect::Actor;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Quoted parts of one text that may be paths.
const MAX_QUOTED: usize = 256;

/// Files that the statements read and write.
pub(super) fn files(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let quoted: Vec<&str> = value.text.split('\'').collect();
    for pair in quoted.chunks_exact(2).take(MAX_QUOTED) {
        let [before, path] = pair else { continue };
        let before = before
            .trim_end()
            .trim_end_matches('(')
            .trim_end()
            .to_ascii_lowercase();
        let name_at = before
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .map_or(0, |at| at + 1);
        let name = before.get(name_at..).unwrap_or("");
        let copies = before.contains("copy ");
        let reads = READERS.contains(&name) || copies && name == "from" || name == "infile";
        let writes =
            WRITERS.contains(&name) || copies && name == "to" || before.ends_with("vacuum into");
        let path = value.map(*path);
        if reads {
            scene.read(actor, &path)?;
        }
        if writes {
            let data = Value::unknown(Origins::OUTPUT);
            scene.write(actor, &path, &data, false)?;
        }
        if name == "attach" || name == "database" && before.contains("attach") {
            scene.touches(actor, &path)?;
        }
    }
    // `lo_export(oid, 'x')`, `writefile('x', …)` with another argument before.
    for part in value.text.split("lo_export").skip(1).take(4) {
        if let Some(path) = exported_to(part) {
            let data = Value::unknown(Origins::OUTPUT);
            scene.write(actor, &value.map(path), &data, false)?;
        }
    }
    let lines = value.text.lines().map(str::trim_start);
    for line in lines {
        let rest = [".read ", ".import ", "\\i ", "\\ir ", "source "]
            .iter()
            .find_map(|p| line.strip_prefix(p));
        if let Some(path) = rest.and_then(|rest| rest.split_whitespace().next()) {
            scene.read(actor, &value.map(path))?;
        }
    }
    Ok(())
}

/// The last text between the brackets that stand here.
fn exported_to(call: &str) -> Option<&str> {
    let mut depth = 0_u32;
    let mut end = call.len();
    for (at, byte) in call.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth <= 1 => {
                end = at;
                break;
            }
            b')' => depth -= 1,
            _ => {}
        }
    }
    call.get(..end)?.rsplit('\'').nth(1)
}

const READERS: [&str; 11] = [
    "readfile",
    "load_file",
    "pg_read_file",
    "pg_read_binary_file",
    "pg_ls_dir",
    "lo_import",
    "read_text",
    "read_blob",
    "read_csv",
    "read_csv_auto",
    "read_parquet",
];
const WRITERS: [&str; 4] = ["outfile", "dumpfile", "writefile", "lo_export"];

/// Hosts that the statements speak to: what they send is what the database holds.
pub(super) fn hosts(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let ends = |c: char| c.is_whitespace() || "'\"),;".contains(c);
    let mut data = Value::unknown(Origins::OUTPUT);
    let lower = value.text.to_ascii_lowercase();
    if SECRETS
        .iter()
        .chain(&OWN_USERS)
        .any(|word| lower.contains(word))
    {
        data = data.marked(Origins::SECRET);
    }
    // `host 'x'`, `source_host='x'`, `remote('x:9000', …)`, `to 's3://bucket'`
    let mut before = "";
    let mut count = 0;
    let cuts = |c: char| ends(c) || "(=".contains(c);
    for word in value
        .text
        .split(cuts)
        .filter(|word| !word.is_empty())
        .take(4096)
    {
        let last = std::mem::replace(&mut before, word);
        let last = last.rsplit([':', '.']).next().unwrap_or("");
        let is_name = HOSTS.iter().any(|name| last.eq_ignore_ascii_case(name));
        let leaves = LEAVES.iter().any(|name| last.eq_ignore_ascii_case(name));
        let bucket = BUCKETS.iter().any(|scheme| word.starts_with(scheme));
        if bucket && !leaves || count >= MAX_REACHED {
            continue;
        }
        let by_port = word.split_once(':').is_some_and(|(name, port)| {
            name.contains('.') && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
        });
        let address = value.map(word);
        if !(word.contains("://") || is_name && word.contains('.') || by_port) {
            if last.eq_ignore_ascii_case("create_s3_uri") {
                count += 1;
                scene.send(&actor.and(Tag::Transfer), &address, &data)?;
            }
            continue;
        }
        count += 1;
        let host = scene.know.hosts.host(&address);
        let outside = bucket || scene.know.hosts.is_unheard_of(&host);
        let actor = if outside {
            &actor.and(Tag::Transfer)
        } else {
            actor
        };
        scene.send(actor, &address, &data)?;
    }
    Ok(())
}

/// Hosts of one text that are noted.
const MAX_REACHED: usize = 8;
/// Names before the host of another server.
#[rustfmt::skip]
const HOSTS: [&str; 14] = [
    "host", "hostaddr", "source_host", "master_host", "server", "datasrc", "data_source", "endpoint",
    "bootstrap_servers", "sp_addlinkedserver", "remote", "remotesecure", "mysql", "postgresql",
];
/// Words behind which what a database holds leaves for a store.
const LEAVES: [&str; 7] = ["to", "into", "s3", "url", "location", "uri", "outfile"];
const BUCKETS: [&str; 8] = [
    "s3://", "gs://", "gcs://", "azure://", "wasb://", "abfss://", "r2://", "oss://",
];
