//! What the seals show, what they cannot, and who may own the files.

use super::seal::KEY_FILE;
use super::tests::{SETTINGS, current, open, record, write};
use super::*;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt as _;

/// A ledger with a seed and so many records after it began.
fn sealed(dir: &Path, records: u32) -> Seed {
    let ledger = open(dir);
    ledger.append(&record(0)).unwrap();
    let seed = ledger.seal().unwrap();
    for n in 0..records {
        ledger.append(&record(n)).unwrap();
    }
    seed
}

fn lines(dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(current(dir)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Writes the lines with numbers and a chain that fit, as an attacker would: only the seals are as
/// they were.
fn rewrite(dir: &Path, lines: &[String]) {
    let mut prev = GENESIS.to_owned();
    let mut text = String::new();
    for (n, line) in lines.iter().enumerate() {
        let (body, _) = line.rsplit_once(",\"hash\":").unwrap();
        let (start, rest) = body.split_once("\"prev\":\"").unwrap();
        let (_, members) = start.split_once(',').unwrap();
        let body = format!(
            "{{\"seq\":{},{members}\"prev\":\"{prev}{}}}",
            n + 1,
            rest.split_at(64).1
        );
        prev = hash(&body);
        let open = body.strip_suffix('}').unwrap();
        text.push_str(&format!("{open},\"hash\":\"{prev}\"}}\n"));
    }
    std::fs::write(current(dir), text).unwrap();
}

#[track_caller]
fn assert_found(dir: &Path, seed: &Seed, what: &str) {
    let error = verify_sealed(dir, seed).unwrap_err();
    assert!(format!("{error:#}").contains(what), "{error:#}");
}

#[test]
fn a_sealed_ledger_is_proved_by_its_seed() {
    let dir = tempfile::tempdir().unwrap();
    let seed = sealed(dir.path(), 5);
    assert_eq!(verify(dir.path()).unwrap().seals, Seals::NotChecked);
    // As it is printed and read again.
    let seed: Seed = seed.to_string().parse().unwrap();
    let checked = |deleted_to, later| Seals::Checked {
        first: 3,
        last: 8,
        deleted_to,
        later,
    };
    let verified = verify_sealed(dir.path(), &seed).unwrap();
    assert_eq!(verified.seals, checked(None, 0));
    // Another epoch: the first one ends whole.
    let next = open(dir.path()).seal().unwrap();
    write(dir.path(), 2);
    let Seals::Checked { last, later, .. } = verify_sealed(dir.path(), &seed).unwrap().seals else {
        panic!("checked");
    };
    assert_eq!((last, later), (9, 3));
    assert!(verify_sealed(dir.path(), &next).is_ok());
    let other = Seed {
        first: 3,
        key: next.key.clone(),
    };
    assert_found(dir.path(), &other, "record 3 and the chain were changed");
}

#[test]
fn a_record_that_is_changed_and_rehashed_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let seed = sealed(dir.path(), 5);
    let mut changed = lines(dir.path());
    rewrite(dir.path(), &changed);
    assert!(
        verify_sealed(dir.path(), &seed).is_ok(),
        "the forger does it right"
    );
    changed[5] = changed[5].replace("a reason", "another reason");
    rewrite(dir.path(), &changed);
    assert!(verify(dir.path()).is_ok(), "the chain alone cannot show it");
    assert_found(dir.path(), &seed, "record 6 and the chain were changed");
}

#[test]
fn a_record_that_is_taken_out_is_found() {
    for at in 2..7 {
        let dir = tempfile::tempdir().unwrap();
        let seed = sealed(dir.path(), 5);
        let mut kept = lines(dir.path());
        kept.remove(at);
        rewrite(dir.path(), &kept);
        assert!(verify_sealed(dir.path(), &seed).is_err(), "{at}");
    }
}

#[test]
fn records_that_are_cut_off_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let seed = sealed(dir.path(), 5);
    let key = dir.path().join(KEY_FILE);
    let kept = lines(dir.path());
    rewrite(dir.path(), &kept[..6]);
    let error = verify(dir.path()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("records 7 to 8 are missing at the end"),
        "{error}"
    );
    // The key that would belong there is gone: neither another one nor none will do.
    let text = std::fs::read_to_string(&key).unwrap();
    let forged = text.replace(&format!("{:020}", 9), &format!("{:020}", 7));
    assert_ne!(forged, text);
    std::fs::write(&key, forged).unwrap();
    assert!(verify(dir.path()).is_ok(), "only the seed can tell");
    assert_found(dir.path(), &seed, "ledger.key was changed");
    std::fs::remove_file(&key).unwrap();
    assert_found(dir.path(), &seed, "records may be missing at the end");
    // Nor does it help to let the ledger go on.
    write(dir.path(), 1);
    let text = lines(dir.path()).join("\n");
    assert!(text.contains("seal-key-missing"), "{text}");
    assert!(verify(dir.path()).is_ok());
    assert_found(dir.path(), &seed, "ends after record 6");
}

#[test]
fn a_ledger_that_was_cut_off_before_it_is_opened_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let seed = sealed(dir.path(), 5);
    let kept = lines(dir.path());
    rewrite(dir.path(), &kept[..6]);
    write(dir.path(), 1);
    let text = lines(dir.path()).join("\n");
    assert!(text.contains("records 7 to 8 are missing"), "{text}");
    assert!(verify(dir.path()).is_err());
    assert_found(dir.path(), &seed, "records 7 to 8 were removed");
    // What comes after it can be proved by itself.
    let next = open(dir.path()).seal().unwrap();
    write(dir.path(), 2);
    assert!(verify_sealed(dir.path(), &next).is_ok());
    assert_found(dir.path(), &seed, "records 7 to 8 were removed");
}

/// A crash comes after the record and before the next key, or in the middle of the record.
#[test]
fn a_crash_between_record_and_key_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let seed = sealed(dir.path(), 2);
    let key = dir.path().join(KEY_FILE);
    let before = std::fs::read(&key).unwrap();
    write(dir.path(), 1);
    std::fs::write(&key, &before).unwrap();
    assert!(
        verify_sealed(dir.path(), &seed).is_ok(),
        "the key is one behind"
    );
    write(dir.path(), 1);
    assert!(verify_sealed(dir.path(), &seed).is_ok());

    let before = std::fs::read(&key).unwrap();
    let whole = std::fs::read(current(dir.path())).unwrap();
    write(dir.path(), 1);
    let torn = std::fs::read(current(dir.path())).unwrap();
    std::fs::write(current(dir.path()), &torn[..whole.len() + 30]).unwrap();
    std::fs::write(&key, &before).unwrap();
    write(dir.path(), 1);
    assert!(verify_sealed(dir.path(), &seed).is_ok());
}

#[test]
fn an_old_key_is_nowhere_in_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let seed = sealed(dir.path(), 3);
    let text = std::fs::read_to_string(dir.path().join(KEY_FILE)).unwrap();
    let mut key = seed.key.clone();
    for _ in 0..4 {
        assert!(!text.contains(&hex(&key_bytes(&key))), "{text}");
        key = key.next();
    }
    assert!(text.contains(&hex(&key_bytes(&key))), "{text}");
}

fn key_bytes(key: &seal::Key) -> Vec<u8> {
    let seed = Seed {
        first: 1,
        key: key.clone(),
    }
    .to_string();
    let digits = seed.rsplit_once(':').unwrap().1.as_bytes().to_vec();
    let pairs = digits.chunks(2);
    pairs
        .map(|p| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn a_ledger_without_seals_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let (mut prev, mut text) = (GENESIS.to_owned(), String::new());
    for seq in 1..4 {
        let body = format!("{{\"seq\":{seq},\"verdict\":\"allow\",\"prev\":\"{prev}\"}}");
        prev = hash(&body);
        let open = body.strip_suffix('}').unwrap();
        text.push_str(&format!("{open},\"hash\":\"{prev}\"}}\n"));
    }
    std::fs::write(current(dir.path()), text).unwrap();
    assert_eq!(verify(dir.path()).unwrap().seals, Seals::None);
    let seed = sealed(dir.path(), 2);
    assert_eq!(verify(dir.path()).unwrap().records, 8);
    assert!(verify_sealed(dir.path(), &seed).is_ok());
    // Once sealed, always sealed.
    let all = lines(dir.path());
    let bare = all[3].split_once(",\"epoch\"").unwrap().0.to_owned() + ",\"hash\":\"\"}";
    rewrite(dir.path(), &[&all[..4], &[bare], &all[5..]].concat());
    let error = verify(dir.path()).unwrap_err();
    assert!(
        format!("{error:#}").contains("record 5 is not sealed"),
        "{error:#}"
    );
}

#[test]
fn several_writers_and_rotation_share_one_epoch() {
    let dir = tempfile::tempdir().unwrap();
    let seed = open(dir.path()).seal().unwrap();
    let settings = LedgerSettings {
        max_bytes: 3000,
        ..SETTINGS
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let ledger = Ledger::open(dir.path(), settings).unwrap();
                (0..30).for_each(|n| ledger.append(&record(n)).unwrap());
            });
        }
    });
    let verified = verify_sealed(dir.path(), &seed).unwrap();
    assert_eq!(verified.records, 121);
    assert!(verified.files > 5, "{}", verified.files);
}

#[test]
fn the_oldest_files_go_and_a_record_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let seed = open(dir.path()).seal().unwrap();
    let settings = LedgerSettings {
        max_bytes: 3000,
        keep_bytes: 15_000,
        ..SETTINGS
    };
    let ledger = Ledger::open(dir.path(), settings).unwrap();
    (0..200).for_each(|n| ledger.append(&record(n)).unwrap());
    let sizes = files(dir.path())
        .unwrap()
        .into_iter()
        .map(|path| path.metadata().unwrap().len());
    let total: u64 = sizes.sum();
    assert!((8_000..17_000).contains(&total), "{total}");
    let verified = verify_sealed(dir.path(), &seed).unwrap();
    let Seals::Checked {
        first, deleted_to, ..
    } = verified.seals
    else {
        panic!("checked");
    };
    assert!(
        first > 100 && deleted_to == Some(first - 1),
        "{first} {deleted_to:?}"
    );
    // What somebody else deletes, no record tells of.
    std::fs::remove_file(&files(dir.path()).unwrap()[0]).unwrap();
    assert!(verify(dir.path()).is_ok());
    assert_found(
        dir.path(),
        &seed,
        "no sealed record says that they were deleted",
    );
}

#[track_caller]
fn assert_refused(dir: &Path, what: &str) {
    let error = Ledger::open(dir, SETTINGS).unwrap_err().to_string();
    assert!(
        error.contains(what) && error.contains("--state-dir"),
        "{error}"
    );
}

#[test]
fn a_folder_that_others_can_write_to_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (above, state) = (dir.path().join("above"), dir.path().join("above/state"));
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write(&state, 1);
    mode(&state, 0o777);
    assert_refused(&state, "is writable by others (mode 0777); run `chmod go-w");
    mode(&state, 0o1777);
    assert_refused(&state, "is writable by others");
    mode(&state, 0o755);
    write(&state, 1);
    mode(&above, 0o777);
    assert_refused(&state, "above is writable by others");
    mode(&above, 0o1777);
    write(&state, 1);
    mode(&current(&state), 0o622);
    assert_refused(&state, "ledger.jsonl is writable by others");
}

#[test]
fn only_regular_files_that_are_no_links_are_opened() {
    for name in ["ledger.jsonl", KEY_FILE] {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), 1);
        let (file, other) = (dir.path().join(name), dir.path().join("other"));
        std::fs::rename(&file, &other).unwrap();
        std::os::unix::fs::symlink(&other, &file).unwrap();
        let error = Ledger::open(dir.path(), SETTINGS).unwrap_err().to_string();
        assert!(
            error.contains("is a symbolic link, which is not followed"),
            "{error}"
        );
        std::fs::remove_file(&file).unwrap();
        rustix::fs::mkfifoat(
            rustix::fs::CWD,
            &file,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        )
        .unwrap();
        assert_refused(dir.path(), "is not a regular file");
    }
}

#[test]
fn what_belongs_to_somebody_else_is_refused() {
    // Only root can give files away.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    write(&state, 1);
    std::os::unix::fs::chown(&state, Some(12345), None).unwrap();
    assert_refused(&state, "belongs to user 12345");
    std::os::unix::fs::chown(&state, Some(0), None).unwrap();
    std::os::unix::fs::chown(current(&state), Some(12345), None).unwrap();
    assert_refused(&state, "belongs to user 12345");
    assert!(verify(&state).is_ok(), "whoever may read it can check it");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// Whatever is changed in a record, with the chain made to fit.
    #[test]
    fn any_change_to_a_sealed_record_is_found(line in 2usize..7, at in any::<prop::sample::Index>(), to in b'a'..=b'z') {
        let dir = tempfile::tempdir().unwrap();
        let seed = sealed(dir.path(), 5);
        let mut changed = lines(dir.path());
        let (body, _) = changed[line].rsplit_once(",\"prev\"").unwrap();
        let start = body.find(',').unwrap() + 1;
        let at = start + at.index(body.len() - start);
        let mut bytes = changed[line].clone().into_bytes();
        prop_assume!(bytes[at] != to);
        bytes[at] = to;
        changed[line] = String::from_utf8(bytes).unwrap();
        rewrite(dir.path(), &changed);
        prop_assert!(verify_sealed(dir.path(), &seed).is_err());
    }
}
