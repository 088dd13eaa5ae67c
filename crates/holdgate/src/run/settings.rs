//! The settings files of an agent: what in them sends its requests past the proxy, before it starts
//! and while it runs.

use super::agents::{Agent, Detour, Format, Place, SettingsFile, Whose};
use super::started::Started;
use holdgate_core::json::shorten;
use rustix::fs::OFlags;
use serde_json::Value as Json;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Bytes of a settings file.
const MAX_BYTES: u64 = 1 << 20;
/// Files of a folder, and folders from the working folder up to the root of its repository.
const MAX_FILES: usize = 64;
const MAX_DEPTH: usize = 64;
/// Settings of one file, and bytes of the names on the way to one.
const MAX_PAIRS: usize = 20_000;
const MAX_PATH: usize = 512;

/// Where the agent works, and for whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Here {
    pub(super) root: PathBuf,
    pub(super) home: Option<PathBuf>,
    pub(super) folder: Option<PathBuf>,
}

/// Something in the settings that concerns the way of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The file; `None` for the environment and the command line.
    pub(super) file: Option<PathBuf>,
    pub(super) whose: Whose,
    pub(super) name: String,
    pub(super) value: String,
    pub(super) leads: Leads,
}

/// Where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// Past the proxy, to this provider.
    Past(String),
    /// To another address, over which the proxy's goes, unless the file is a managed one.
    Elsewhere,
}

impl Found {
    /// Whether what the agent is given does not help against it.
    pub(super) fn goes_over_us(&self) -> bool {
        self.whose == Whose::Managed
    }

    pub(super) fn place(&self) -> String {
        match &self.file {
            Some(file) => file.display().to_string(),
            None => "the environment or the command line".to_owned(),
        }
    }

    /// As a phrase: what is set, where, and where it leads.
    pub(super) fn phrase(&self) -> String {
        let to = match &self.leads {
            Leads::Past(to) => to.clone(),
            Leads::Elsewhere => format!("`{}`", shorten(&self.value, 200)),
        };
        format!("`{}` in {} sends requests to {to}", self.name, self.place())
    }
}

/// What the environment, the command line and the settings files say about the way of requests.
pub(super) fn look(
    started: &Started<'_>,
    here: &Here,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<Found> {
    let agent = started.agent;
    let mut found = Vec::new();
    let outside = |detour: &Detour, value: Option<String>| {
        let value = value.filter(|value| detour.value.takes(value))?;
        Some(Found {
            file: None,
            whose: Whose::User,
            name: detour.name.to_owned(),
            value,
            leads: Leads::Past(detour.to.to_owned()),
        })
    };
    for detour in agent.variables {
        let value = started.assigned(detour.name);
        found.extend(outside(detour, value.or_else(|| variable(detour.name))));
    }
    for detour in agent.arguments {
        found.extend(outside(detour, started.argument(detour.name)));
    }
    for (file, path) in paths(agent, here, variable) {
        found.extend(in_file(agent, file, &path));
    }
    found
}

/// All settings files of an agent that there may be.
fn paths(
    agent: &'static Agent,
    here: &Here,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<(&'static SettingsFile, PathBuf)> {
    let mut paths = Vec::new();
    for file in agent.files {
        let folders = match file.place {
            Place::Root => vec![here.root.clone()],
            Place::Home => here.home.iter().cloned().collect(),
            Place::Named(name, usual) => {
                let named = variable(name).filter(|dir| !dir.is_empty());
                let usual = || here.home.as_ref().map(|home| home.join(usual));
                named
                    .map(PathBuf::from)
                    .or_else(usual)
                    .into_iter()
                    .collect()
            }
            Place::Project => here.folder.as_deref().map(project).unwrap_or_default(),
        };
        for folder in folders {
            let path = folder.join(file.path);
            if file.format == Format::JsonFolder {
                let listed = std::fs::read_dir(&path).into_iter().flatten().flatten();
                let inside = listed.take(MAX_FILES).map(|entry| entry.path());
                let json = |path: &PathBuf| path.extension().is_some_and(|e| e == "json");
                paths.extend(inside.filter(json).map(|path| (file, path)));
            } else {
                paths.push((file, path));
            }
        }
    }
    paths
}

/// The folder itself, and the root of the repository that it is in.
fn project(folder: &Path) -> Vec<PathBuf> {
    let above = folder.ancestors().take(MAX_DEPTH);
    let root = above.clone().find(|folder| folder.join(".git").exists());
    let root = root.filter(|root| *root != folder).map(Path::to_owned);
    [folder.to_owned()].into_iter().chain(root).collect()
}

fn in_file(agent: &Agent, file: &SettingsFile, path: &Path) -> Vec<Found> {
    let found = |name: &str, value: &str, leads: Leads| Found {
        file: Some(path.to_owned()),
        whose: file.whose,
        name: name.to_owned(),
        value: value.to_owned(),
        leads,
    };
    let pairs = match read(path).and_then(|text| text.map(|t| pairs(file.format, &t)).transpose()) {
        Ok(Some(pairs)) => pairs,
        // What goes over us and cannot be read may lead anywhere.
        Err(why) if file.whose == Whose::Managed => {
            let leads = Leads::Past(format!("nobody knows where: {why}"));
            return vec![found("(unreadable)", &why, leads)];
        }
        Ok(None) | Err(_) => return Vec::new(),
    };
    let mut all = Vec::new();
    for (name, value) in &pairs {
        let variable = file.variables.and_then(|before| name.strip_prefix(before));
        let variables = agent.variables.iter().filter(|d| variable == Some(d.name));
        let keys = agent.keys.iter().filter(|d| fits(d.name, name));
        let detours = variables.chain(keys).filter(|d| d.value.takes(value));
        all.extend(detours.map(|d| found(name, value, Leads::Past(d.to.to_owned()))));
        let is_address = variable == Some(agent.address) || fits(agent.address, name);
        if is_address && !value.is_empty() {
            all.push(found(name, value, Leads::Elsewhere));
        }
    }
    all
}

/// A plain file, as far as it may be read; `None` if there is none.
fn read(path: &Path) -> Result<Option<String>, String> {
    // Opening must not wait, as it would for a pipe.
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default();
    let opened = File::options().read(true).custom_flags(flags).open(path);
    let Ok(file) = opened else {
        // The agent cannot read it either.
        return Ok(None);
    };
    if !file.metadata().is_ok_and(|data| data.is_file()) {
        return Ok(None);
    }
    let mut text = Vec::new();
    let read = file.take(MAX_BYTES + 1).read_to_end(&mut text);
    read.map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_BYTES {
        return Err("it has more than 1 MiB".to_owned());
    }
    let text = String::from_utf8_lossy(&text);
    Ok(Some(text.trim_start_matches('\u{feff}').to_owned()))
}

/// All settings of a file, each with its path of names between dots.
fn pairs(format: Format, text: &str) -> Result<Vec<(String, String)>, String> {
    let value: Json = match format {
        Format::Json | Format::JsonFolder => json(text)?,
        Format::Toml => {
            let table: toml::Table = text.parse().map_err(|_| "it is not valid TOML")?;
            serde_json::to_value(table).map_err(|error| error.to_string())?
        }
        Format::Yaml => serde_saphyr::from_str(text).map_err(|_| "it is not valid YAML")?,
    };
    let mut pairs = Vec::new();
    flatten(&value, &mut String::new(), &mut pairs);
    Ok(pairs)
}

/// JSON, also with comments.
pub(super) fn json(text: &str) -> Result<Json, String> {
    if text.trim().is_empty() {
        return Ok(Json::Null);
    }
    let read = serde_json::from_str(text).or_else(|_| serde_json::from_str(&uncommented(text)));
    read.map_err(|_| "it is not valid JSON".to_owned())
}

fn flatten(value: &Json, path: &mut String, pairs: &mut Vec<(String, String)>) {
    if pairs.len() >= MAX_PAIRS || path.len() > MAX_PATH {
        return;
    }
    let text = match value {
        Json::Object(members) => {
            for (name, member) in members {
                let length = path.len();
                if length > 0 {
                    path.push('.');
                }
                path.push_str(name);
                flatten(member, path, pairs);
                path.truncate(length);
            }
            return;
        }
        Json::Null | Json::Array(_) => return,
        Json::String(text) => text.clone(),
        Json::Bool(_) | Json::Number(_) => value.to_string(),
    };
    pairs.push((path.clone(), text));
}

/// Without comments and without commas before a bracket, as many programs read JSON.
fn uncommented(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut in_string = false;
    while let Some(c) = chars.next() {
        match (in_string, c, chars.peek()) {
            (true, '\\', _) => {
                out.push(c);
                out.extend(chars.next());
                continue;
            }
            (_, '"', _) => in_string = !in_string,
            (false, '/', Some('/')) => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
                continue;
            }
            (false, '/', Some('*')) => {
                let mut last = ' ';
                chars.next();
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                continue;
            }
            (false, ']' | '}', _) => {
                let length = out.trim_end().trim_end_matches(',').len();
                out.truncate(length);
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

/// Whether a name is the one that a pattern stands for.
fn fits(pattern: &str, name: &str) -> bool {
    let (mut parts, mut names) = (pattern.split('.'), name.split('.'));
    loop {
        match (parts.next(), names.next()) {
            (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(part), Some(name)) if part == name => {}
            _ => return false,
        }
    }
}

/// Follows the files while the agent runs.
pub(super) struct Watch {
    agent: &'static Agent,
    here: Here,
    known: Vec<Found>,
    stamps: Vec<(PathBuf, Option<Stamp>)>,
}

type Stamp = (u64, u64, u64, i64, i64);

impl Watch {
    /// From now on; what was `known` is not told again.
    pub(super) fn new(agent: &'static Agent, here: Here, known: Vec<Found>) -> Watch {
        Watch {
            agent,
            here,
            known,
            stamps: Vec::new(),
        }
    }

    /// What has come to be in the files since the last look.
    pub(super) fn look(&mut self) -> Vec<Found> {
        let variable = |name: &str| std::env::var(name).ok();
        let paths = paths(self.agent, &self.here, &variable);
        let stamped = |(_, path): &(_, PathBuf)| (path.clone(), stamp(path));
        let stamps: Vec<_> = paths.iter().map(stamped).collect();
        if stamps == self.stamps {
            return Vec::new();
        }
        self.stamps = stamps;
        let found = paths
            .iter()
            .flat_map(|(file, path)| in_file(self.agent, file, path));
        let mut news: Vec<Found> = found.filter(|found| !self.known.contains(found)).collect();
        if self.known.len() < MAX_FILES {
            self.known.extend(news.iter().cloned());
        } else {
            // Who changes the same setting over and over was told of often enough.
            news.retain(Found::goes_over_us);
        }
        news
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = std::fs::metadata(path).ok()?;
    Some((
        data.dev(),
        data.ino(),
        data.len(),
        data.mtime(),
        data.mtime_nsec(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn check(command: &str, files: &[(&str, &str)], expected: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        let here = Here {
            root: dir.path().join("root"),
            home: Some(dir.path().join("home")),
            folder: Some(dir.path().join("work")),
        };
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        let started = Started::of(&words).unwrap();
        let found = look(&started, &here, &|_| None);
        let told = found.iter().map(|found| {
            let how = match &found.leads {
                Leads::Past(to) => format!("past: {to}"),
                Leads::Elsewhere => found.value.clone(),
            };
            format!("{:?} {} {how}", found.whose, found.name)
        });
        assert_eq!(told.collect::<Vec<_>>(), expected, "{command} {files:?}");
    }

    #[test]
    fn what_leads_past_the_proxy_is_found_in_every_file() {
        let address = r#"{"env":{"ANTHROPIC_BASE_URL":"http://x"}}"#;
        let bedrock = r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}"#;
        for path in [
            "work/.claude/settings.json",
            "work/.claude/settings.local.json",
        ] {
            check(
                "claude",
                &[(path, address)],
                &["Project env.ANTHROPIC_BASE_URL http://x"],
            );
            check(
                "claude",
                &[(path, bedrock)],
                &["Project env.CLAUDE_CODE_USE_BEDROCK past: Amazon Bedrock"],
            );
        }
        check(
            "claude",
            &[("home/.claude/settings.json", address)],
            &["User env.ANTHROPIC_BASE_URL http://x"],
        );
        let managed = "root/etc/claude-code/managed-settings.d/10-x.json";
        check(
            "claude",
            &[(managed, address)],
            &["Managed env.ANTHROPIC_BASE_URL http://x"],
        );
        check(
            "claude",
            &[(managed, "{")],
            &["Managed (unreadable) past: nobody knows where: it is not valid JSON"],
        );
        check(
            "env CLAUDE_CODE_USE_VERTEX=1 claude",
            &[],
            &["User CLAUDE_CODE_USE_VERTEX past: Google Vertex AI"],
        );
    }

    #[test]
    fn what_leads_nowhere_else_is_not_found() {
        let off =
            r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"0","ANTHROPIC_BASE_URL":""},"model":"opus"}"#;
        check("claude", &[("work/.claude/settings.json", off)], &[]);
        check("claude", &[("work/.claude/settings.json", "{")], &[]);
        check("claude", &[], &[]);
        check(
            "codex exec",
            &[(
                "work/.claude/settings.json",
                r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}"#,
            )],
            &[],
        );
        let key = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#;
        check("gemini", &[("home/.gemini/settings.json", key)], &[]);
        check(
            "aider",
            &[("work/.aider.conf.yml", "model: anthropic/claude-opus\n")],
            &[],
        );
    }

    #[test]
    fn the_other_agents() {
        let login =
            "{ // comment\n\"security\": {\"auth\": {\"selectedType\": \"oauth-personal\",},}}";
        let google = "past: Google's login or Vertex AI";
        check(
            "gemini",
            &[("home/.gemini/settings.json", login)],
            &[&format!("User security.auth.selectedType {google}")],
        );
        check(
            "codex --oss",
            &[],
            &["User --oss past: a model on this machine"],
        );
        let managed = "root/etc/codex/managed_config.toml";
        check(
            "codex",
            &[(managed, "model_provider = \"x\"")],
            &["Managed model_provider x"],
        );
        let conf = "model: bedrock/claude\nopenai-api-base: http://x\n";
        check(
            "aider",
            &[("work/.aider.conf.yml", conf)],
            &[
                "Project model past: another provider",
                "Project openai-api-base http://x",
            ],
        );
        let provider = r#"{"provider":{"anthropic":{"options":{"baseURL":"http://x"}}}}"#;
        check(
            "opencode",
            &[("work/opencode.json", provider)],
            &["Project provider.anthropic.options.baseURL http://x"],
        );
    }

    #[test]
    fn a_change_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let here = Here {
            root: dir.path().to_owned(),
            home: None,
            folder: Some(dir.path().to_owned()),
        };
        let words = [OsString::from("claude")];
        let agent = Started::of(&words).unwrap().agent;
        let mut watch = Watch::new(agent, here, Vec::new());
        assert!(watch.look().is_empty());
        std::fs::create_dir(dir.path().join(".claude")).unwrap();
        let file = dir.path().join(".claude/settings.json");
        std::fs::write(&file, r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}"#).unwrap();
        assert_eq!(watch.look().len(), 1);
        assert!(watch.look().is_empty());
        std::fs::write(&file, r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"},"x":1}"#).unwrap();
        assert!(watch.look().is_empty());
    }

    #[test]
    fn a_pipe_or_a_huge_file_keeps_nobody_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert_eq!(read(&pipe), Ok(None));
        let huge = dir.path().join("huge");
        std::fs::write(&huge, vec![b' '; 2 << 20]).unwrap();
        assert!(read(&huge).is_err());
        assert_eq!(read(&dir.path().join("none")), Ok(None));
    }
}
