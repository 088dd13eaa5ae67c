//! A question as a person sees it, whatever draws it, and as it goes over the socket.

use super::allow::{self, Limits};
use super::code::Code;
use holdgate_core::{Masked, Question, Subject};
use holdgate_effects::json::{Json, LoneSurrogates, shorten};
use holdgate_effects::worded;
use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Characters of a call's arguments that are listed.
const INPUT_SHOWN: usize = 2000;
/// Bytes of arguments that are read to find the command in them.
const MAX_READ: usize = 256 << 10;
/// Characters of a command that a question keeps: so many before the dangerous part, and so many
/// from there on.
const BEFORE_MARK: usize = 2_000;
const FROM_MARK: usize = 6_000;
/// Bytes that stand around a command without being one.
const MAX_DEPTH: usize = 8;
/// Arguments that are commands.
const COMMANDS: [&str; 5] = ["command", "cmd", "script", "code", "input"];

worded! {
    /// What a question is about.
    pub enum About as "subject" {
        Call = "call": "A call that waits.",
        Output = "output": "What an agent has printed: it is frozen, and a no ends it.",
        Expert = "expert": "Somebody wants to lift the gate.",
    }
}

/// A question as a person sees it. All texts are masked; control characters are still in them.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The incident.
    pub id: String,
    /// What it is about.
    pub about: About,
    /// Whose call it is.
    pub session: String,
    /// The agent's name, if it is known.
    pub agent: Option<String>,
    /// Where the agent works, if that is known.
    pub folder: Option<String>,
    /// The tool.
    pub tool: String,
    /// The beginning of the arguments.
    pub input: String,
    /// What is asked about as it was written: a command, or all arguments.
    pub command: String,
    /// The dangerous part of it, in bytes, if it stands there as it was found.
    pub mark: Option<Range<usize>>,
    /// Rule, layer, reason, what matched, and a safer way, of each finding.
    pub findings: Vec<[String; 5]>,
    /// What the call would do, in a line for each effect.
    pub effects: Vec<String>,
    /// The last calls before it, oldest first.
    pub before: Vec<String>,
    /// The rule that would let the same pass from now on, or why there is none.
    pub rule: Result<String, String>,
    /// The project for which that rule holds; `None` for all.
    pub project: Option<String>,
    /// When it is too late.
    pub deadline: Instant,
    /// What answers it elsewhere; only where the question is shown by its own process.
    pub(crate) code: Option<Code>,
}

impl Shown {
    /// Something that is not a call, with one finding: its rule, layer and reason.
    pub(crate) fn other(
        about: About,
        (id, session): (String, String),
        (tool, text): (String, String),
        [rule, layer, reason]: [String; 3],
        deadline: Instant,
    ) -> Shown {
        Shown {
            id,
            about,
            session,
            agent: None,
            folder: None,
            tool,
            input: text.clone(),
            command: text,
            mark: None,
            findings: vec![[rule, layer, reason, String::new(), String::new()]],
            effects: Vec::new(),
            before: Vec::new(),
            rule: Err(String::new()),
            project: None,
            deadline,
            code: None,
        }
    }

    pub(super) fn of(question: &Question, left: Duration) -> Shown {
        let record = &question.record;
        let (tool, input) = match &record.subject {
            Subject::Call { tool, input, .. } => (tool.as_deref(), input.as_deref()),
            // Nobody is asked about results.
            Subject::Response | Subject::Result { .. } => (None, None),
        };
        let text = |text: &str| Masked::start(text, 400).into_string();
        let findings = record.findings.iter();
        let findings = findings.filter(|f| !f.verdict.lets_pass()).map(|f| {
            let evidence = f.evidence.as_deref().unwrap_or_default();
            [
                text(&f.rule),
                text(f.layer.word()),
                text(&f.reason),
                text(evidence),
                text(f.instead.as_deref().unwrap_or_default()),
            ]
        });
        let findings: Vec<[String; 5]> = findings.collect();
        let evidence = findings.first().map_or("", |finding| finding[3].as_str());
        let (command, mark) = written(input.map_or("", |input| input.as_str()), evidence);
        let refused = record.refused.as_ref();
        // Where the client does not say where it works, a place is only assumed.
        let refused_in = refused.filter(|_| question.folder.is_some());
        let project = refused_in.and_then(|refused| refused.project.clone());
        let effects = refused.map_or(&[][..], |refused| refused.effects());
        let limits = Limits {
            project: project.clone(),
            until: None,
        };
        Shown {
            id: record.id.clone(),
            about: About::Call,
            session: text(&record.session),
            agent: question.agent.as_deref().map(text),
            folder: question.folder.as_deref().map(text),
            tool: text(tool.unwrap_or("?")),
            input: input.map_or(String::new(), |input| {
                Masked::json_start(input, INPUT_SHOWN).into_string()
            }),
            command,
            mark,
            findings,
            effects: effects.iter().map(effect_line).collect(),
            before: question.before.iter().map(|step| text(step)).collect(),
            rule: match &question.allowances {
                Ok(allowances) => Ok(allow::rules(&record.id, allowances, &limits)),
                Err(reason) => Err(format!("{reason}; answer once or session")),
            },
            project,
            deadline: Instant::now() + left,
            code: None,
        }
    }

    /// Where and until when the rule of this question holds.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            project: self.project.clone(),
            until: None,
        }
    }

    /// For `holdgate approve`, without the code.
    pub fn to_json(&self) -> Json<'static> {
        let finding = |texts: &[String; 5]| {
            let members = FINDING.iter().zip(texts);
            let member =
                |(key, text): (&&'static str, &String)| (Cow::Borrowed(*key), text.clone().into());
            Json::Object(members.map(member).collect())
        };
        let list = |texts: &[String]| {
            let texts = texts.iter().map(|text| text.clone().into());
            Json::Array(texts.collect())
        };
        let left = self.deadline.saturating_duration_since(Instant::now());
        let mut json = Json::object([
            ("id", self.id.clone().into()),
            ("about", self.about.word().into()),
            ("session", self.session.clone().into()),
            ("tool", self.tool.clone().into()),
            ("input", self.input.clone().into()),
            ("command", self.command.clone().into()),
            (
                "findings",
                Json::Array(self.findings.iter().map(finding).collect()),
            ),
            ("effects", list(&self.effects)),
            ("before", list(&self.before)),
            ("seconds_left", left.as_secs().into()),
        ]);
        for (key, text) in [
            ("agent", &self.agent),
            ("folder", &self.folder),
            ("project", &self.project),
        ] {
            if let Some(text) = text {
                json.set(key, text.clone().into());
            }
        }
        if let Some(mark) = &self.mark {
            let ends = [mark.start, mark.end].map(|end| Json::from(end as u64));
            json.set("mark", Json::Array(ends.to_vec()));
        }
        match &self.rule {
            Ok(yaml) => json.set("allow", yaml.clone().into()),
            Err(reason) => json.set("no_rule", reason.clone().into()),
        }
        json
    }

    /// Back from [`to_json`](Self::to_json).
    pub fn from_json(json: &Json<'_>) -> Shown {
        let optional = |json: &Json<'_>, key: &str| Some(json.get_str(key)?.to_owned());
        let text = |json: &Json<'_>, key: &str| optional(json, key).unwrap_or_default();
        let list = |key: &str| json.get(key).and_then(Json::as_array).unwrap_or_default();
        let texts = |key: &str| {
            let texts = list(key).iter().filter_map(Json::as_str);
            texts.map(str::to_owned).collect()
        };
        let finding = |json: &Json<'_>| FINDING.map(|key| text(json, key));
        let seconds = json.get("seconds_left").and_then(Json::as_u64);
        let command = text(json, "command");
        let end = |at: usize| usize::try_from(list("mark").get(at)?.as_u64()?).ok();
        let mark = end(0).zip(end(1)).map(|(start, end)| start..end);
        Shown {
            id: text(json, "id"),
            about: About::from_word(&text(json, "about")).unwrap_or(About::Call),
            session: text(json, "session"),
            agent: optional(json, "agent"),
            folder: optional(json, "folder"),
            tool: text(json, "tool"),
            input: text(json, "input"),
            mark: mark.filter(|mark| command.get(mark.clone()).is_some()),
            command,
            findings: list("findings").iter().map(finding).collect(),
            effects: texts("effects"),
            before: texts("before"),
            rule: match json.get("allow") {
                Some(_) => Ok(text(json, "allow")),
                None => Err(text(json, "no_rule")),
            },
            project: optional(json, "project"),
            deadline: Instant::now() + Duration::from_secs(seconds.unwrap_or(0).min(1 << 25)),
            code: None,
        }
    }
}

/// The members of a finding.
const FINDING: [&str; 5] = ["rule", "layer", "reason", "evidence", "instead"];

/// The argument that says what the call does, or all arguments, and where `evidence` is in it.
fn written(input: &str, evidence: &str) -> (String, Option<Range<usize>>) {
    if input.len() > MAX_READ {
        return around(
            &Masked::json_start(input, BEFORE_MARK + FROM_MARK),
            evidence,
        );
    }
    let masked = Masked::json_text(input);
    let Ok(json) = Json::read(masked.as_bytes(), 64, LoneSurrogates::Replace) else {
        return around(&masked, evidence);
    };
    let mut texts = Vec::new();
    strings(&json, "", 0, &mut texts);
    let says = |(_, text): &&(String, &str)| place(text, evidence).is_some();
    let is_command = |(key, _): &&(String, &str)| COMMANDS.contains(&key.as_str());
    let commands = || texts.iter().filter(is_command);
    // Of an argument vector, the last word is the longest: `["bash", "-lc", "make"]`.
    let found = commands()
        .find(says)
        .or_else(|| texts.iter().find(says))
        .or_else(|| commands().next_back());
    match found {
        Some((_, text)) => around(text, evidence),
        None => around(&masked, evidence),
    }
}

/// All strings, with the names of the members that they are in.
fn strings<'j>(json: &'j Json<'_>, key: &str, depth: usize, texts: &mut Vec<(String, &'j str)>) {
    if depth > MAX_DEPTH {
        return;
    }
    match json {
        Json::String(text) => texts.push((key.to_owned(), text)),
        Json::Array(list) => list.iter().for_each(|j| strings(j, key, depth + 1, texts)),
        Json::Object(members) => {
            for (key, json) in members {
                strings(json, key, depth + 1, texts);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// As much of a text as a question keeps, and the place of `evidence` in it.
fn around(text: &str, evidence: &str) -> (String, Option<Range<usize>>) {
    let mark = place(text, evidence);
    let start = mark.as_ref().map_or(0, |mark| mark.start);
    let from = text.ceil_char_boundary(start.saturating_sub(BEFORE_MARK));
    let to = text.floor_char_boundary((start + FROM_MARK).min(text.len()));
    let mut kept = String::new();
    if from > 0 {
        kept.push('…');
    }
    let shift = |at: usize| at.min(to) - from + kept.len();
    let mark = mark.map(|mark| shift(mark.start)..shift(mark.end));
    kept.push_str(text.get(from..to).unwrap_or_default());
    if to < text.len() {
        kept.push('…');
    }
    (kept, mark)
}

/// Where the evidence is: to the letter, or with other spaces between its words.
fn place(text: &str, evidence: &str) -> Option<Range<usize>> {
    let evidence = evidence.trim().trim_end_matches('…');
    if evidence.is_empty() {
        return None;
    }
    if let Some(start) = text.find(evidence) {
        return Some(start..start + evidence.len());
    }
    let wanted: Vec<&str> = evidence.split_whitespace().collect();
    let at = |word: &str| word.as_ptr().addr() - text.as_ptr().addr();
    let words: Vec<&str> = text.split_whitespace().collect();
    let found = words.windows(wanted.len()).find(|words| *words == wanted)?;
    let (first, last) = (found.first()?, found.last()?);
    Some(at(first)..at(last) + last.len())
}

/// An effect in a line, as `holdgate check` shows it.
pub(crate) fn effect_line(effect: &Json<'_>) -> String {
    let text = |key: &str| shorten(effect.get_str(key).unwrap_or_default(), 400);
    let words = |key: &str| {
        let list = effect.get(key).and_then(Json::as_array).unwrap_or_default();
        let words: Vec<&str> = list.iter().filter_map(Json::as_str).collect();
        words.join(", ")
    };
    let mut line = format!("{:<16} {}", text("effect"), text("program"));
    for (key, class) in [("path", words("path_class")), ("host", text("host_class"))] {
        if effect.get(key).is_some() {
            line.push_str(&format!("  {} ({class})", text(key)));
        }
    }
    for (words, before, after) in [(words("tags"), "  [", "]"), (words("from"), "  from ", "")] {
        if !words.is_empty() {
            line.push_str(&format!("{before}{words}{after}"));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dangerous_part_is_found_in_what_was_written() {
        #[track_caller]
        fn check(input: &str, evidence: &str, shown: &str) {
            let (text, mark) = written(input, evidence);
            let marked = match mark {
                Some(mark) => {
                    let (start, rest) = text.split_at(mark.start);
                    let (danger, end) = rest.split_at(mark.len());
                    format!("{start}«{danger}»{end}")
                }
                None => text,
            };
            assert_eq!(marked, shown);
        }
        let push = r#"{"description":"pushes","command":"make && git  push -f"}"#;
        check(push, "git push -f", "make && «git  push -f»");
        check(push, "git push", "make && «git  push» -f");
        check(push, "rm", "make && git  push -f");
        check(
            r#"{"command":["bash","-lc","git push -f"],"workdir":"/w"}"#,
            "git push -f",
            "«git push -f»",
        );
        check(
            r#"{"command":["bash","-lc","git push -f"]}"#,
            "x",
            "git push -f",
        );
        let write = r#"{"file_path":"/etc/x","content":"a"}"#;
        check(write, "Write", write);
        check(write, "", write);
        check("{", "x", r#""{""#);
        let long = format!("{} git push -f {}", "a ".repeat(5000), "b".repeat(9000));
        let input = Json::object([("command", long.into())]).to_string();
        let (text, mark) = written(&input, "git push -f");
        assert_eq!(text.get(mark.unwrap()), Some("git push -f"));
        assert!(text.starts_with('…') && text.ends_with('…') && text.len() < 9000);
    }
}
