use super::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

const PORT: u16 = 8787;
const UID: u32 = 1000;
/// `holdgate approve`, its shell, the terminal, the first process.
const PEER: u32 = 40;
const SHELL: u32 = 30;
const TERMINAL: u32 = 20;

/// A machine on which a person answers at a terminal and an agent (10) is connected to the proxy.
struct Machine(TempDir);

impl Machine {
    fn new() -> Machine {
        let machine = Machine(tempfile::tempdir().unwrap());
        let root = machine.0.path();
        std::fs::write(root.join("holdgate"), "").unwrap();
        std::fs::write(root.join("other"), "").unwrap();
        std::fs::create_dir_all(root.join("self/net")).unwrap();
        symlink(root.join("holdgate"), root.join("self/exe")).unwrap();
        let tcp = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
            0: 0100007F:2253 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 111 1\n   \
            1: 0100007F:9C40 0100007F:2253 01 00000000:00000000 00:00000000 00000000  1000        0 222 1\n";
        machine.write("self/net/tcp", tcp);
        machine.process(1, 0, "1 1 0 -1");
        machine.process(10, 1, "10 5 34816 10");
        machine.open(10, 222);
        machine.process(TERMINAL, 1, "20 20 0 -1");
        machine.process(SHELL, TERMINAL, "30 30 34817 40");
        machine.process(PEER, SHELL, "40 30 34817 40");
        machine
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A process with its parent and, as one text, group, session, terminal and foreground.
    fn process(&self, pid: u32, parent: u32, rest: &str) {
        self.write(
            &format!("{pid}/stat"),
            &format!("{pid} (a) b) S {parent} {rest} 0"),
        );
        self.write(&format!("{pid}/environ"), "HOME=/home/me\0TERM=xterm\0");
        std::fs::create_dir_all(self.0.path().join(format!("{pid}/fd"))).unwrap();
        let exe = self.0.path().join(format!("{pid}/exe"));
        let _ = std::fs::remove_file(&exe);
        symlink(self.0.path().join("holdgate"), exe).unwrap();
    }

    fn open(&self, pid: u32, socket: u32) {
        let fd = self.0.path().join(format!("{pid}/fd/{socket}"));
        symlink(format!("socket:[{socket}]"), fd).unwrap();
    }

    fn hide(&self, pid: u32) {
        std::fs::remove_dir_all(self.0.path().join(format!("{pid}/fd"))).unwrap();
        std::fs::remove_file(self.0.path().join(format!("{pid}/environ"))).unwrap();
    }

    fn check(&self) -> Result<(), String> {
        Processes::at(self.0.path()).check(PEER, UID, UID, PORT)
    }

    #[track_caller]
    fn check_refused(&self, why: &str) {
        assert_eq!(self.check().unwrap_err(), why);
    }
}

#[test]
fn a_person_at_a_terminal_may_answer() {
    assert_eq!(Machine::new().check(), Ok(()));
}

#[test]
fn who_is_not_the_operator_may_not() {
    let machine = Machine::new();
    let processes = Processes::at(machine.0.path());
    let other = processes.check(PEER, UID + 1, UID, PORT);
    assert_eq!(other.unwrap_err(), "it belongs to another user");
    let gone = processes.check(999, UID, UID, PORT).unwrap_err();
    assert_eq!(gone, "it is not the same program as the proxy");

    let exe = machine.0.path().join("40/exe");
    std::fs::remove_file(&exe).unwrap();
    symlink(machine.0.path().join("other"), exe).unwrap();
    machine.check_refused("it is not the same program as the proxy");
}

#[test]
fn what_runs_without_a_terminal_or_behind_one_may_not() {
    let machine = Machine::new();
    machine.process(PEER, SHELL, "40 30 0 -1");
    machine.check_refused("it has no terminal");
    machine.process(PEER, SHELL, "40 30 34817 30");
    machine.check_refused("it is not in the foreground of its terminal");
    machine.process(PEER, 1, "40 30 34817 40");
    machine.check_refused("it was not started by the shell of its terminal");
    machine.process(1, PEER, "1 1 0 -1");
    machine.check_refused("it has too many ancestor processes");
}

#[test]
fn what_a_client_of_the_proxy_started_may_not() {
    // A terminal of its own does not help: script(1) below the agent.
    let machine = Machine::new();
    machine.process(TERMINAL, 10, "20 20 0 -1");
    machine.check_refused("its ancestor process 10 is a client of the proxy");

    let machine = Machine::new();
    machine.open(SHELL, 222);
    machine.check_refused("its ancestor process 30 is a client of the proxy");
}

#[test]
fn an_agents_environment_gives_it_away() {
    #[track_caller]
    fn check(pid: u32, variable: &str, refused: bool) {
        let machine = Machine::new();
        machine.write(&format!("{pid}/environ"), &format!("A=b\0{variable}\0"));
        let name = variable.split('=').next().unwrap_or_default();
        if refused {
            machine.check_refused(&format!("process {pid} has {name} set, as an agent does"));
        } else {
            assert_eq!(machine.check(), Ok(()), "{variable}");
        }
    }
    check(PEER, "CLAUDECODE=1", true);
    check(SHELL, "CLAUDECODE=1", true);
    check(SHELL, "HOLDGATE_RUN=run-1", true);
    check(TERMINAL, "CLAUDE_CODE_ENTRYPOINT=cli", true);
    check(PEER, "ANTHROPIC_BASE_URL=http://127.0.0.1:8787/s/x", true);
    check(SHELL, "OPENAI_BASE_URL=http://localhost:8787", true);
    check(PEER, "ANTHROPIC_BASE_URL=http://127.0.0.1:87870", false);
    check(PEER, "ANTHROPIC_BASE_URL=https://api.anthropic.com", false);
    check(PEER, "LD_PRELOAD=/tmp/x.so", true);
    check(TERMINAL, "LD_PRELOAD=/usr/lib/libjemalloc.so", false);
}

#[test]
fn what_cannot_be_looked_at_is_refused() {
    let machine = Machine::new();
    machine.hide(SHELL);
    machine.check_refused("process 30 cannot be inspected");

    // What runs the terminal may be hidden, as long as it cannot be the client.
    let machine = Machine::new();
    machine.hide(TERMINAL);
    assert_eq!(machine.check(), Ok(()));
    machine.hide(10);
    machine.check_refused("the client process of the proxy cannot be determined");

    let machine = Machine::new();
    std::fs::remove_file(machine.0.path().join("self/net/tcp")).unwrap();
    machine.check_refused("the proxy's clients cannot be inspected");
    machine.write("40/stat", "40 (holdgate) S");
    machine.check_refused("process 40 cannot be inspected");
}
