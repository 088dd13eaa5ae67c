//! Calls that a person allows once, ahead of time: a file for each in the state folder. Whichever such
//! call comes first takes it away, and only whoever has taken it away passes.

use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::{Finding, LayerName, Tickets, ToolCall};
use holdgate_effects::json::{Json, LoneSurrogates};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The folder in the state folder.
const NAME: &str = "once";
/// How long such a call is waited for, if nothing else is said.
pub(crate) const LASTS: Duration = Duration::from_hours(24);
/// Files that are looked at, and bytes of one.
const MAX_FILES: usize = 256;
const MAX_BYTES: u64 = 1 << 20;

/// One call that passes one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// The incident at which it was refused.
    pub(crate) id: String,
    pub(crate) tool: String,
    /// The arguments, in their one compact form.
    pub(crate) input: String,
    /// The rules that refused it.
    pub(crate) rules: Vec<String>,
    /// The project's folder; `None` for all.
    pub(crate) project: Option<String>,
    pub(crate) until: SystemTime,
}

/// The tickets in a state folder.
#[derive(Debug)]
pub(crate) struct Once {
    dir: PathBuf,
}

impl Once {
    pub(crate) fn of(state_dir: &Path) -> Arc<Once> {
        Arc::new(Once {
            dir: state_dir.join(NAME),
        })
    }

    /// From now on, the call passes one time.
    pub(crate) fn allow(&self, ticket: &Ticket) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.dir)?;
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = ticket.id.chars().map(plain).collect();
        let new = self.dir.join(format!("{name}.new"));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options
            .open(&new)?
            .write_all(ticket.to_json().to_string().as_bytes())?;
        std::fs::rename(&new, self.dir.join(format!("{name}.json")))
    }

    fn take_at(
        &self,
        call: (&str, &str),
        rules: &[&str],
        project: Option<&str>,
        now: SystemTime,
    ) -> Option<Ticket> {
        // Most of the time there is no such folder.
        let files = std::fs::read_dir(&self.dir).ok()?.take(MAX_FILES);
        let paths = files.filter_map(|file| Some(file.ok()?.path()));
        let mut paths = paths.filter(|path| path.extension().is_some_and(|e| e == "json"));
        paths.find_map(|path| {
            let ticket = read(&path)?;
            if ticket.until <= now {
                // Whoever removes it first has.
                let _ = std::fs::remove_file(&path);
                return None;
            }
            let covers = |rule: &&str| ticket.rules.iter().any(|known| known == rule);
            let fits = (ticket.tool.as_str(), ticket.input.as_str()) == call
                && rules.iter().all(covers)
                && (ticket.project.is_none() || ticket.project.as_deref() == project);
            // Only one of several can remove it.
            (fits && std::fs::remove_file(&path).is_ok()).then_some(ticket)
        })
    }
}

fn read(path: &Path) -> Option<Ticket> {
    let mut text = String::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let json = Json::read(text.as_bytes(), 8, LoneSurrogates::Refuse).ok()?;
    Ticket::from_json(&json)
}

impl Tickets for Once {
    fn take(&self, call: &ToolCall, rules: &[&str], project: Option<&str>) -> Option<Finding> {
        let call = (call.name.as_str(), call.text.as_str());
        let ticket = self.take_at(call, rules, project, SystemTime::now())?;
        // What protects Holdgate itself has no exceptions, whoever has written the file.
        let built_in = RuleSet::built_in(Profile::default()).ok()?;
        if rules.iter().any(|rule| built_in.protects_holdgate(rule)) {
            return None;
        }
        let reason = format!(
            "a person has allowed this call one time (incident {})",
            ticket.id
        );
        Some(Finding::audit(LayerName::Operator, "allowed-once", reason))
    }
}

impl Ticket {
    fn to_json(&self) -> Json<'static> {
        let until = self.until.duration_since(UNIX_EPOCH).unwrap_or_default();
        let rules = self.rules.iter().map(|rule| rule.clone().into());
        let mut json = Json::object([
            ("id", self.id.clone().into()),
            ("tool", self.tool.clone().into()),
            ("input", self.input.clone().into()),
            ("rules", Json::Array(rules.collect())),
            ("until", until.as_secs().into()),
        ]);
        if let Some(project) = &self.project {
            json.set("project", project.clone().into());
        }
        json
    }

    fn from_json(json: &Json<'_>) -> Option<Ticket> {
        let text = |key: &str| Some(json.get_str(key)?.to_owned());
        let rules = json.get("rules").and_then(Json::as_array)?;
        let rules: Option<Vec<String>> = rules
            .iter()
            .map(|rule| Some(rule.as_str()?.to_owned()))
            .collect();
        let until = Duration::from_secs(json.get("until").and_then(Json::as_u64)?);
        Some(Ticket {
            id: text("id")?,
            tool: text("tool")?,
            input: text("input")?,
            rules: rules.filter(|rules| !rules.is_empty())?,
            project: text("project"),
            until: UNIX_EPOCH.checked_add(until)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_passes_one_time_and_no_other_does() {
        let dir = tempfile::tempdir().unwrap();
        let once = Once::of(dir.path());
        let now = UNIX_EPOCH + Duration::from_hours(1);
        let call = ("Bash", r#"{"command":"git push -f"}"#);
        let ticket = Ticket {
            id: "7f-1".into(),
            tool: call.0.into(),
            input: call.1.into(),
            rules: vec!["history-rewrite".into()],
            project: Some("/work/shop".into()),
            until: now + Duration::from_secs(1),
        };
        let rules = ["history-rewrite"];
        let here = Some("/work/shop");
        assert_eq!(once.take_at(call, &rules, here, now), None);
        once.allow(&ticket).unwrap();
        let other = ("Bash", r#"{"command":"git push -f x"}"#);
        assert_eq!(once.take_at(other, &rules, here, now), None);
        assert_eq!(once.take_at(("sh", call.1), &rules, here, now), None);
        assert_eq!(once.take_at(call, &rules, Some("/work"), now), None);
        assert_eq!(once.take_at(call, &rules, None, now), None);
        let more = ["history-rewrite", "another"];
        assert_eq!(once.take_at(call, &more, here, now), None);
        assert_eq!(
            once.take_at(call, &rules, here, now),
            Some(ticket.clone()),
            "once"
        );
        assert_eq!(once.take_at(call, &rules, here, now), None, "and not twice");
        once.allow(&ticket).unwrap();
        assert_eq!(once.take_at(call, &rules, here, ticket.until), None);
        assert_eq!(once.take_at(call, &rules, here, now), None, "it was over");
    }
}
