use super::*;
use holdgate_core::{
    Context, HeldCall, History, JudgeLimits, Judgement, Projects, SharedProjects, Verdict,
};
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use std::time::Duration;

const ENGINE: &str = "\
fn settle(order: &Order, book: &mut Book) -> Settlement {
    let spread = book.best_ask() - book.best_bid();
    let haircut = spread * order.risk_weight().max(FLOOR);
    if order.quantity() > book.depth_at(order.price()) {
        return Settlement::partial(book.depth_at(order.price()), haircut);
    }
    Settlement::full(order.quantity(), haircut)
}
fn unwind(positions: &mut Vec<Position>, limit: Notional) -> Notional {
    positions.sort_by_key(|position| position.exposure().abs());
    let mut released = Notional::ZERO;
    while let Some(position) = positions.pop_if(|_| released < limit) {
        released += position.close_at(position.venue().mid_price());
    }
    released.min(limit)
}
";

struct Machine {
    dir: tempfile::TempDir,
    settings: SpillageSettings,
    reader: Reader,
    known: Arc<SharedProjects>,
}

impl Machine {
    fn new() -> Machine {
        let dir = tempfile::tempdir().unwrap();
        let project = |name: &str, label| {
            let path = dir.path().canonicalize().unwrap().join(name);
            std::fs::create_dir(&path).unwrap();
            LabelledFolder { path, label }
        };
        let projects = vec![project("open", 0), project("closed", 1)];
        Machine {
            settings: SpillageSettings {
                labels: ["public", "inner", "secret"].map(str::to_owned).to_vec(),
                projects,
            },
            dir,
            reader: Reader::new(),
            known: Arc::default(),
        }
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads what has changed.
    fn look(&mut self) -> bool {
        let read = self.reader.read(&self.settings);
        let has_changed = read.is_some();
        if let Some(read) = read {
            self.known.set(read);
        }
        has_changed
    }

    /// Judges a text that is written into the open project.
    fn writing(&self, text: &str) -> Judgement {
        let limits = JudgeLimits {
            deadline: Duration::from_mins(1),
            ..crate::config::LIMITS
        };
        let layer = Box::new(Projects::new(self.known.clone()));
        let stack = crate::judging::stack_of(vec![layer], limits).unwrap();
        let open = self.settings.projects[0].path.join("new.rs");
        let path = open.to_str().unwrap().to_owned();
        let input = Json::object([
            ("file_path", path.into()),
            ("content", text.to_owned().into()),
        ]);
        let call: HeldCall = crate::judging::call("Write", &input);
        let project = self.settings.projects[0].path.to_str().unwrap();
        let mut session = crate::judging::session(World::lexical(project));
        let history = History::default();
        stack.judge(call, &mut session, &Context::new(&history, Duration::ZERO))
    }
}

#[test]
fn files_are_read_when_they_are_new_or_changed() {
    let mut machine = Machine::new();
    machine.put("closed/src/engine.rs", "fn main() {}");
    assert!(machine.look());
    assert!(!machine.look(), "nothing has changed");
    assert_eq!(machine.writing(ENGINE).verdict(), Verdict::Allow);

    machine.put("closed/src/engine.rs", ENGINE);
    assert!(machine.look());
    let judgement = machine.writing(ENGINE);
    assert_eq!(judgement.verdict(), Verdict::Ask);
    let reason = &judgement.findings()[0].reason;
    assert!(reason.contains("closed/src/engine.rs"), "{reason}");
    assert!(
        reason.contains("`inner`") && reason.contains("`public`"),
        "{reason}"
    );

    std::fs::remove_file(machine.dir.path().join("closed/src/engine.rs")).unwrap();
    assert!(machine.look());
    assert_eq!(machine.writing(ENGINE).verdict(), Verdict::Allow);
}

#[test]
fn what_the_open_project_has_already_may_be_written_there() {
    let mut machine = Machine::new();
    machine.put("closed/engine.rs", ENGINE);
    machine.put("open/engine.rs", ENGINE);
    machine.look();
    assert_eq!(machine.writing(ENGINE).verdict(), Verdict::Allow);
}

#[test]
fn folders_of_others_data_and_long_files_are_left_out() {
    let mut machine = Machine::new();
    machine.put("closed/node_modules/x/index.js", ENGINE);
    machine.put("closed/.git/x", ENGINE);
    machine.put("closed/image.png", [&[0; 10], ENGINE.as_bytes()].concat());
    machine.put("closed/long.txt", [ENGINE, &" ".repeat(300 << 10)].concat());
    std::os::unix::fs::symlink("/", machine.dir.path().join("closed/root")).unwrap();
    machine.look();
    assert_eq!(machine.writing(ENGINE).verdict(), Verdict::Allow);
    let closed = &machine.reader.folders[&machine.settings.projects[1].path];
    assert_eq!(closed.left_out, "1 files above 256 KiB");
}

#[test]
fn a_label_can_be_taken_away() {
    let mut machine = Machine::new();
    machine.put("closed/engine.rs", ENGINE);
    machine.look();
    assert_eq!(machine.writing(ENGINE).verdict(), Verdict::Ask);
    machine.settings.projects[1].label = 2;
    assert!(machine.look());
    assert_eq!(machine.writing(ENGINE).verdict(), Verdict::Block);
    machine.settings.projects.pop();
    assert!(machine.look());
    assert_eq!(machine.writing(ENGINE).verdict(), Verdict::Allow);
}
