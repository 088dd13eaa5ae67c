//! What was typed before a command: lines that it continues, and the folder that it runs in.

use super::command::SeenCommand;
use std::borrow::Cow;

/// Lines of one command, and its bytes.
const MAX_LINES: usize = 12;
const MAX_OPEN: usize = 4 << 10;
/// Bytes of a folder's name, and of a command that is remembered.
const MAX_FOLDER: usize = 256;
const MAX_TRACED: usize = 1 << 10;

/// How a line ends whose command goes on in the next one.
const GOES_ON: [&str; 3] = ["\\", "|", "&&"];
/// Folders of the system. What a command deletes or changes there is nobody's build.
const SYSTEM: [&str; 16] = [
    "", "/home", "/Users", "/root", "/etc", "/usr", "/usr/bin", "/usr/lib", "/var", "/var/lib",
    "/boot", "/bin", "/lib", "/opt", "/mnt", "/media",
];
/// Programs that bring code from elsewhere, and those that run what they read.
const FETCHES: [&str; 3] = ["curl", "wget", "base64"];
const READS_CODE: [&str; 8] = [
    "sh", "bash", "zsh", "dash", "python", "python3", "perl", "ruby",
];

/// What a terminal or a trace showed before.
#[derive(Clone, Debug, Default)]
pub(super) struct Typed {
    /// The lines of a command that has not ended, as one, and how many they are.
    open: Option<(String, usize)>,
    /// A line that fetches something: the next one may run it.
    fetched: Option<String>,
    /// Where the last `cd` went, as far as that is known.
    folder: Option<String>,
    /// The last command of a trace.
    traced: String,
}

impl Typed {
    /// Whether the next line belongs to a command.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some() || self.fetched.is_some()
    }

    /// A line that is no command: what was typed before it has ended.
    pub(super) fn leave(&mut self) {
        self.open = None;
        self.fetched = None;
    }

    /// The line, with those that it continues.
    pub(super) fn joined<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        let more = line.trim_start();
        let fetched = self.fetched.take().filter(|_| more.starts_with("| "));
        let fetched = fetched.map(|line| (line, 0));
        let Some((open, lines)) = self.open.take().or(fetched) else {
            return self.opened(Cow::Borrowed(line), 0);
        };
        let more = more.strip_prefix("> ").unwrap_or(more);
        if more.is_empty() || more.starts_with("$ ") || open.len() + more.len() > MAX_OPEN {
            return self.opened(Cow::Borrowed(line), 0);
        }
        self.opened(Cow::Owned(format!("{open} {more}")), lines)
    }

    /// Remembers a line that goes on.
    fn opened<'a>(&mut self, line: Cow<'a, str>, lines: usize) -> Cow<'a, str> {
        let end = line.trim_end();
        if lines < MAX_LINES && end.len() < MAX_OPEN && GOES_ON.iter().any(|e| end.ends_with(e)) {
            let open = end.strip_suffix('\\').unwrap_or(end).trim_end();
            self.open = Some((open.to_owned(), lines + 1));
        } else if end.len() < MAX_OPEN && FETCHES.iter().any(|program| end.contains(program)) {
            self.fetched = Some(end.to_owned());
        }
        line
    }

    /// The command where it runs, and behind what it reads from.
    pub(super) fn placed(&mut self, command: &str, is_trace: bool) -> SeenCommand {
        if let Some(folder) = command.strip_prefix("cd ") {
            self.enter(folder.trim());
        }
        let fetched = is_trace && reads_code(command) && starts_with_any(&self.traced, &FETCHES);
        let mut text = if fetched {
            format!("{} | {command}", self.traced)
        } else {
            command.to_owned()
        };
        if is_trace && command.len() <= MAX_TRACED {
            command.clone_into(&mut self.traced);
        }
        if let Some(folder) = self.system_folder().filter(|_| !command.starts_with("cd ")) {
            text = format!("cd {folder}/ && {text}");
        }
        SeenCommand::typed(&text)
    }

    fn enter(&mut self, folder: &str) {
        let folder = folder.trim_matches(['"', '\'']);
        let is_name = |c: char| c.is_alphanumeric() || "/~._-$".contains(c);
        let is_known = !folder.is_empty() && folder.chars().all(is_name);
        let end = folder.trim_end_matches('/');
        let whole = match &self.folder {
            _ if folder.starts_with(['/', '~', '$']) => Some(end.to_owned()),
            Some(before) => Some(format!("{before}/{end}")),
            None => None,
        };
        self.folder = whole.filter(|whole| is_known && whole.len() <= MAX_FOLDER);
    }

    /// The folder, if it is the user's home or one of the system.
    fn system_folder(&self) -> Option<&str> {
        let folder = self.folder.as_deref()?;
        let of_user = ["/home/", "/Users/"].iter().any(|homes| {
            let name = folder.strip_prefix(homes);
            name.is_some_and(|name| !name.contains('/'))
        });
        let is_system = matches!(folder, "~" | "$HOME") || of_user || SYSTEM.contains(&folder);
        is_system.then_some(folder)
    }
}

fn starts_with_any(command: &str, programs: &[&str]) -> bool {
    let mut words = command.split_whitespace();
    words.next().is_some_and(|word| programs.contains(&word))
}

/// Whether a command runs what it is given to read.
fn reads_code(command: &str) -> bool {
    let command = command.strip_prefix("sudo ").unwrap_or(command);
    let mut words = command.split_whitespace();
    words.next().is_some_and(|word| READS_CODE.contains(&word))
        && words.next().is_none_or(|word| matches!(word, "-" | "-s"))
}
