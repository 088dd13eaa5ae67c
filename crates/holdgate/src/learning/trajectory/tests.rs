use super::*;
use holdgate_core::{Outcome, Step};

fn history(steps: usize, outcome: Outcome) -> History {
    let mut history = History::default();
    for _ in 0..steps {
        history.push(Arc::new(Step::new("call", "Bash", outcome, Vec::new())));
    }
    history
}

#[test]
fn only_clean_sessions_teach_and_only_when_they_have_ended() {
    let dir = tempfile::tempdir().unwrap();
    let learned = Trajectories::new(dir.path(), Arc::default());
    let done = history(4, Outcome::Done);
    let sessions = |learned: &Trajectories| learned.file("/p").load().unwrap().sessions();
    learned.note("one", "/p", &done, true, Duration::ZERO);
    assert_eq!(sessions(&learned), 0, "it goes on");
    learned.note("two", "/p", &done, false, IDLE);
    learned.note("three", "/p", &history(4, Outcome::Refused), true, IDLE);
    learned.note("four", "/p", &history(1, Outcome::Done), true, IDLE);
    assert_eq!(sessions(&learned), 0);
    learned.note("five", "/p", &done, true, IDLE + Duration::from_secs(1));
    assert_eq!(sessions(&learned), 1, "the first has ended");
    learned.end();
    assert_eq!(
        sessions(&learned),
        2,
        "disturbed and short ones do not count"
    );
    assert_eq!(learned.models.get("/p").unwrap().sessions(), 2);
    let again = Trajectories::new(dir.path(), Arc::default());
    again.note("six", "/p", &done, true, Duration::ZERO);
    assert_eq!(again.models.get("/p").unwrap().sessions(), 2);
}

#[test]
fn a_damaged_file_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let learned = Trajectories::new(dir.path(), Arc::default());
    let file = learned.file("/p");
    file.save(&Model::default()).unwrap();
    let mut bytes = fs::read(&file.0).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file.0, bytes).unwrap();
    assert!(file.load().is_err());
    learned.note(
        "one",
        "/p",
        &history(4, Outcome::Done),
        true,
        Duration::ZERO,
    );
    assert_eq!(learned.models.get("/p").unwrap().sessions(), 0);
}

#[test]
fn snapshots_are_kept_and_rolled_back_to() {
    let dir = tempfile::tempdir().unwrap();
    let file = Trajectories::new(dir.path(), Arc::default()).file("/home/dev/project");
    let mut model = Model::default();
    assert!(file.roll_back().is_err());
    for _ in 0..(5 * SNAPSHOT_EVERY) {
        model.learn(&[Action::Push], base());
        file.save(&model).unwrap();
    }
    assert_eq!(file.load().unwrap().sessions(), 100);
    for sessions in [99, 79, 59] {
        assert_eq!(file.roll_back().unwrap(), sessions);
        assert_eq!(file.load().unwrap().sessions(), sessions);
    }
    assert!(file.roll_back().is_err());
}
