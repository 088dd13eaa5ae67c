//! Destruction that waits: behind a day that stands in the source, or for one machine or user.

use super::find::places;
use super::scan::{Text, around, has_any};
use crate::effect::{Actor, Effect, Kind};
use crate::tag::Tag;

/// Lines and bytes before a deletion in which its condition stands.
const LINES: usize = 12;
const BYTES: usize = 900;
/// Deletions of one file that are looked at.
const MAX_MENTIONS: usize = 64;

#[rustfmt::skip]
const DESTROYS: [&str; 57] = [
    "deletemany", "delete_many", "delete_all", "deleteall", "destroy_all", "destroyall", "drop table",
    "drop database", "drop schema", "drop collection", "truncate", "delete from", "rmtree", "rmsync", "rm_rf",
    "rm_r(", "rmdir", "unlink", "removeall", "remove_dir_all", "dropdatabase", "drop_database", "drop_all", "dropall",
    "drop()", ".drop(", "flushall", "flushdb", "deleterecursively", "rm -r", "fs.rm", "removedir", "deletedir",
    "deletedirectory", "removedirectory", "remove-item", "shred", "mkfs", "wipe", "destroy(", ".delete()",
    "os.remove", "file.delete", "files.delete", "remove_tree", "removetree", "recursive: true", "recursive=true",
    "drop_table", "droptable", "erase(", "delete_objects", "deletebucket", "delete_bucket", "deleteobjects",
    "directory.delete", "recursive)",
];

/// Words for changes of many rows at once: they destroy what they set to nothing.
#[rustfmt::skip]
const EMPTIES: [&str; 12] = [
    "updatemany(", "update_many(", "update_all(", "updateall(", ".update(", "update ", "$unset", "bulkwrite(",
    "bulk_update(", "bulkupdate(", "executeupdate(", "update_columns(",
];

pub(super) fn run(text: &Text<'_>, found: &mut Vec<Effect>) {
    let mentions = DESTROYS.iter().map(|word| (word, true));
    let mentions = mentions.chain(EMPTIES.iter().map(|word| (word, false)));
    let mentions = mentions
        .flat_map(|(word, destroys)| places(&text.low, word).map(move |at| (at, destroys)))
        .take(MAX_MENTIONS);
    for (at, destroys) in mentions {
        let line = text.line(at);
        if !text.is_new(line) || !destroys && !empties(around(&text.low, at, 0, 3, 300)) {
            continue;
        }
        let before = around(&text.low, at, LINES, 0, BYTES);
        let mut lines: Vec<&str> = before.lines().collect();
        // What stands behind the deletion in its line is what it chooses.
        if let Some(last) = lines.last_mut() {
            let offset = text
                .low
                .get(..at)
                .and_then(|t| t.rfind('\n'))
                .map_or(at, |from| at - from - 1);
            // `delete_all if Time.now > …`
            let behind = last.get(offset.min(last.len())..).unwrap_or("");
            if !behind.contains(" if ") && !behind.contains(" unless ") {
                *last = last.get(..offset.min(last.len())).unwrap_or(last);
            }
        }
        let waits = |line: &&str| {
            is_condition(line)
                && (is_fixed_day(line, before)
                    || is_for_machine(line, before)
                    || is_for_person(line))
        };
        if lines.iter().any(waits) {
            let shown = crate::json::shorten(line.trim(), 200);
            let actor = Actor::new("delayed", &shown);
            found.push(actor.does(Kind::System).tagged(Tag::Destroy).about(&shown));
            return;
        }
    }
}

/// Whether a change of rows leaves nothing in them.
fn empties(text: &str) -> bool {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let values = ["none", "null", "nil", "''", "\"\"", "undefined"];
    dense.contains("$unset")
        || values.iter().any(|value| {
            dense.match_indices(value).any(|(at, _)| {
                dense.get(..at).is_some_and(|before| {
                    before.ends_with([':', '=', '>']) && !before.ends_with("==")
                })
            })
        })
}

/// Whether a line asks whether somebody is still there.
fn is_for_person(line: &str) -> bool {
    super::scan::quoted(line).iter().any(|(_, text)| {
        text.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && host.contains('.') && !text.contains([' ', '/'])
        })
    }) && has_any(
        line,
        &[
            "find", "exist", "get", "where", "count", "active", "include", "any", " in ", "first",
        ],
    )
}

fn is_condition(line: &str) -> bool {
    let words = [
        "if", "unless", "when", "while", "case", "elif", "elsif", "guard", "&&", "?", "cond",
        "and", "then", "[[", "where",
    ];
    words.iter().any(|word| {
        if word.starts_with(char::is_alphabetic) {
            super::scan::has_word(line, word)
        } else {
            line.contains(word)
        }
    })
}

/// Whether a line compares the time with a day that stands in it.
fn is_fixed_day(line: &str, before: &str) -> bool {
    let clock = [
        "date.now",
        "new date",
        "datetime",
        "time.now",
        "time()",
        "time(",
        "now()",
        "now(",
        "getfullyear",
        "localdate",
        "instant",
        "strftime",
        "date(",
        "sysdate",
        "current_date",
        "current_timestamp",
        "utcnow",
        "systemtime",
        "getdate",
        "date +",
        "get-date",
        "today",
        "calendar",
        "temporal.",
        "clock",
        "moment",
        "dayjs",
        "utc_now",
        "::now",
    ];
    let compares = [
        "<", ">", "-gt", "-ge", "-lt", "-le", "after", "before", "==", "compare", "since", "until",
        "diff",
    ];
    let holds = |text: &str| has_any(text, &clock);
    // A name that holds the time was given it a few lines above.
    let by_name = || {
        before.lines().any(|l| {
            holds(l)
                && l.split_once('=').is_some_and(|(name, _)| {
                    let name = name
                        .trim_end_matches([':', ' '])
                        .rsplit([' ', '\t'])
                        .next()
                        .unwrap_or("");
                    !name.is_empty() && super::scan::has_word(line, name)
                })
        })
    };
    has_any(line, &compares) && has_day(line, before) && (holds(line) || by_name())
}

/// Whether a line has a day: `1798761600`, `'2027-01-01'`, `2027, 1, 1`, or a name that was given one.
fn has_day(line: &str, before: &str) -> bool {
    const DAYS: [&str; 9] = [
        "ordinal",
        "864e5",
        "8.64e7",
        "86400",
        "epochday",
        "julian",
        "jd(",
        "days_since",
        "dayssince",
    ];
    let counts_days = has_any(before, &DAYS) || has_any(line, &DAYS);
    let written = |line: &str| {
        let bytes = line.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let digits = bytes.get(at..).map_or(0, |rest| {
                rest.iter()
                    .take_while(|b| b.is_ascii_digit() || **b == b'_')
                    .count()
            });
            if digits == 0 {
                at += 1;
                continue;
            }
            let alone = at
                .checked_sub(1)
                .and_then(|at| bytes.get(at))
                .is_none_or(|b| !b.is_ascii_alphanumeric());
            let number: String = line.get(at..at + digits).unwrap_or("").replace('_', "");
            let stamp = matches!(number.len(), 10 | 13) && number.starts_with(['1', '2']);
            let dense = number.len() == 8 && number.starts_with("20");
            // Days, since the year one or since 1970.
            let counted = counts_days
                && number.parse::<u32>().is_ok_and(|days| {
                    (18_000..30_000).contains(&days) || (735_000..748_000).contains(&days)
                });
            let year = number.len() == 4
                && number.starts_with("20")
                && !line
                    .get(at + digits..)
                    .unwrap_or("")
                    .starts_with(|c: char| c.is_alphanumeric());
            if alone && (stamp || dense || year || counted) {
                return true;
            }
            at += digits;
        }
        false
    };
    written(line)
        || before.lines().any(|l| {
            written(l)
                && l.split_once('=').is_some_and(|(name, _)| {
                    let name = name
                        .trim_end_matches([':', ' '])
                        .rsplit([' ', '\t', '.'])
                        .next()
                        .unwrap_or("");
                    name.len() > 2
                        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
                        && super::scan::has_word(line, name)
                })
        })
}

/// Whether a line asks for one machine or user by name.
fn is_for_machine(line: &str, before: &str) -> bool {
    let machine = [
        "hostname",
        "getuser",
        "username",
        "userinfo",
        "whoami",
        "computername",
        "machinename",
        "getlogin",
        "nodename",
        "os.uname",
        "logname",
        "$user",
        "env.user",
        "user_name",
    ];
    let compares = [
        "==",
        ".equals(",
        ".includes(",
        ".contains(",
        "startswith",
        "starts_with",
        "endswith",
        "ends_with",
        " = ",
        "=~",
        "-eq",
        " in ",
        "match",
        "prefix",
        "suffix",
        "-like",
    ];
    let named = |line: &str| line.contains(['"', '\'', '/']);
    let by_name = || {
        before.lines().any(|l| {
            has_any(l, &machine)
                && l.split_once('=').is_some_and(|(name, _)| {
                    let name = name
                        .trim_end_matches([':', ' '])
                        .rsplit([' ', '\t'])
                        .next()
                        .unwrap_or("");
                    !name.is_empty() && super::scan::has_word(line, name)
                })
        })
    };
    let of_machine = [
        "hostname",
        "getuser",
        "userinfo",
        "whoami",
        "computername",
        "machinename",
        "getlogin",
        "nodename",
        "os.uname",
        "logname",
    ];
    has_any(line, &compares)
        && named(line)
        && (has_any(line, &of_machine) || has_any(before, &of_machine) && by_name())
}
