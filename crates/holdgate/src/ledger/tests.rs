use super::files::CURRENT;
use super::seal::KEY_FILE;
use super::*;
use holdgate_core::Record;
use proptest::prelude::*;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

pub(super) const SETTINGS: LedgerSettings = LedgerSettings {
    max_bytes: 1 << 20,
    keep_bytes: 0,
    input_bytes: 100,
    sync: false,
};

pub(super) fn open(dir: &Path) -> Ledger {
    Ledger::open(dir, SETTINGS).unwrap()
}

pub(super) fn record(n: u32) -> Record {
    Record::of_response(format!("r-{n}"), "s".into(), "stream-protocol", "a reason")
}

pub(super) fn write(dir: &Path, count: u32) {
    let ledger = open(dir);
    for n in 0..count {
        ledger.append(&record(n)).unwrap();
    }
}

pub(super) fn current(dir: &Path) -> PathBuf {
    dir.join(CURRENT)
}

#[test]
fn the_chain_goes_on_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 3);
    write(dir.path(), 2);
    let verified = verify(dir.path()).unwrap();
    assert_eq!((verified.records, verified.range), (5, Some((1, 5))));
}

#[test]
fn the_chain_goes_on_over_rotated_files() {
    let dir = tempfile::tempdir().unwrap();
    let settings = LedgerSettings {
        max_bytes: 1000,
        ..SETTINGS
    };
    for _ in 0..2 {
        let ledger = Ledger::open(dir.path(), settings).unwrap();
        for n in 0..50 {
            ledger.append(&record(n)).unwrap();
        }
    }
    let verified = verify(dir.path()).unwrap();
    assert_eq!(verified.records, 100);
    assert!(verified.files > 10, "{}", verified.files);
}

#[test]
fn several_writers_share_one_chain() {
    let dir = tempfile::tempdir().unwrap();
    let path = Arc::new(dir.path().to_owned());
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || write(&path, 50))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(verify(dir.path()).unwrap().records, 200);
}

#[test]
fn records_that_vanish_under_a_running_process_are_missed() {
    let cut = |text: &str| -> String { text.split_inclusive('\n').take(2).collect() };
    let empty = |_: &str| String::new();
    for change in [&cut as &dyn Fn(&str) -> String, &empty] {
        let dir = tempfile::tempdir().unwrap();
        let ledger = open(dir.path());
        (0..5).for_each(|n| ledger.append(&record(n)).unwrap());
        let text = std::fs::read_to_string(current(dir.path())).unwrap();
        std::fs::write(current(dir.path()), change(&text)).unwrap();
        ledger.append(&record(6)).unwrap();
        let text = std::fs::read_to_string(current(dir.path())).unwrap();
        assert!(text.contains("rollback-found"), "{text}");
        // The first records may have been archived, so a later start is not a break by itself.
        assert!(change("x\ny\n").is_empty() || verify(dir.path()).is_err());
    }
}

#[test]
fn files_are_for_the_user_only() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    write(&state, 1);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&state), mode(&current(&state))), (0o700, 0o600));
}

#[test]
fn a_ledger_whose_last_line_is_foreign_is_not_written_to() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1);
    let mut file = OpenOptions::new()
        .append(true)
        .open(current(dir.path()))
        .unwrap();
    file.write_all(b"hello\n").unwrap();
    let error = Ledger::open(dir.path(), SETTINGS).unwrap_err();
    assert!(
        error.to_string().contains("the last line is not a record"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// `kill -9` can leave any prefix of the last line.
    #[test]
    fn a_torn_line_is_set_aside_and_reported(cut in 1usize..200) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), 2);
        let key = std::fs::read(dir.path().join(KEY_FILE)).unwrap();
        write(dir.path(), 1);
        std::fs::write(dir.path().join(KEY_FILE), key).unwrap();
        let whole = std::fs::read(current(dir.path())).unwrap();
        let last = whole[..whole.len() - 1].iter().rposition(|&b| b == b'\n').unwrap() + 1;
        let keep = (last + cut).min(whole.len() - 1);
        std::fs::write(current(dir.path()), &whole[..keep]).unwrap();
        prop_assert!(verify(dir.path()).is_err());

        let ledger = open(dir.path());
        let mut files = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        let torn = files.find(|path| path.to_str().unwrap().contains("ledger-torn-")).unwrap();
        prop_assert_eq!(std::fs::read(torn).unwrap(), &whole[last..keep]);
        ledger.append(&record(9)).unwrap();
        // Two whole records, the note of the repair, and the new one.
        prop_assert_eq!(verify(dir.path()).unwrap().records, 4);
    }

    #[test]
    fn any_change_is_found(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), 4);
        let mut bytes = std::fs::read(current(dir.path())).unwrap();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != to);
        bytes[at] = to;
        std::fs::write(current(dir.path()), &bytes).unwrap();
        prop_assert!(verify(dir.path()).is_err());
    }

    #[test]
    fn a_missing_record_is_found(line in 1usize..3) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), 4);
        let text = std::fs::read_to_string(current(dir.path())).unwrap();
        let kept: String = text.split_inclusive('\n').enumerate().filter(|(n, _)| *n != line).map(|(_, l)| l).collect();
        std::fs::write(current(dir.path()), kept).unwrap();
        prop_assert!(verify(dir.path()).is_err());
    }
}
