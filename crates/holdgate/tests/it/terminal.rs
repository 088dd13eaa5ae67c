//! A process at a terminal of its own.

use crate::setup::eventually;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

/// The end of a question: its last key.
pub(crate) const KEYS: &str = " more";
pub(crate) const HOLDGATE: &str = env!("CARGO_BIN_EXE_holdgate");

/// A process at a terminal of its own, and what stands there.
pub(crate) struct Terminal {
    pub(crate) child: Child,
    pub(crate) keys: File,
    screen: Arc<Mutex<String>>,
    reader: std::thread::JoinHandle<()>,
}

impl Terminal {
    pub(crate) fn run(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let slave = File::from(ioctl_tiocgptpeer(&master, flags).unwrap());
        // A session of its own, whose terminal this is, as a shell in a window has.
        let child = clean(&mut Command::new("setsid"))
            // Who runs these tests may have signals ignored; a window has not.
            .args(["--ctty", "--wait", "env", "--default-signal", program])
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(slave.try_clone().unwrap())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave)
            .spawn()
            .unwrap();
        let mut master = File::from(master);
        let screen = Arc::new(Mutex::new(String::new()));
        let (keys, shown) = (master.try_clone().unwrap(), screen.clone());
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = master.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..read]);
                shown.lock().unwrap().push_str(&text);
            }
        });
        Terminal {
            child,
            keys,
            screen,
            reader,
        }
    }

    pub(crate) fn screen(&self) -> String {
        self.screen.lock().unwrap().clone()
    }

    pub(crate) async fn shows(&self, text: &str) {
        eventually(text, || self.screen().contains(text)).await;
    }

    /// Types a line once something stands there.
    pub(crate) async fn types(&mut self, after: &str, line: &str) {
        self.shows(after).await;
        self.press(&format!("{line}\n"));
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) async fn ends(&mut self) -> (bool, String) {
        let mut status = None;
        eventually("the end of a command", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        })
        .await;
        // All that it wrote has come when nobody has the terminal any more. What it has left behind
        // may keep it.
        for _ in 0..100 {
            if self.reader.is_finished() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        (status.is_some_and(|s| s.success()), self.screen())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whoever runs these tests may be an agent.
pub(crate) fn clean(command: &mut Command) -> &mut Command {
    let path = std::env::var("PATH").unwrap_or_default();
    // A debug build on a busy machine must not be too slow to ask.
    let slow = ("HOLDGATE_GUARD_JUDGE_TIMEOUT", "20s");
    command
        .env_clear()
        .env("PATH", path)
        .env("TERM", "dumb")
        .env(slow.0, slow.1)
}

/// The same, without a terminal, whether or not these tests run at one.
pub(crate) fn detached(program: &str) -> Command {
    let mut command = Command::new("setsid");
    clean(&mut command).arg(program);
    command
}
