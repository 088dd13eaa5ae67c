//! The narrow rules that an answer can write.

use crate::config::Config;
use crate::rulebook::{self, RuleText};
use anyhow::{Context as _, bail};
use holdgate_core::Allowance;
use holdgate_core::rules::{Example, Expect, Profile, Rule, RuleSet, Tier, try_examples};
use holdgate_effects::Knowledge;
use holdgate_effects::json::shorten;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Where they go.
#[derive(Debug)]
pub struct RulesFile {
    pub(crate) path: PathBuf,
    pub(super) know: Arc<Knowledge>,
}

/// Where and until when a rule that a person writes holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    /// The project's folder; `None` for all.
    pub(crate) project: Option<String>,
    /// `None` for ever.
    pub(crate) until: Option<SystemTime>,
}

/// One rule for each finding that asked or refused; `incident` makes their names unique.
pub(crate) fn rules(incident: &str, allowances: &[Allowance], limits: &Limits) -> String {
    let mut yaml = String::new();
    for (number, allowance) in allowances.iter().enumerate() {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let id: String = incident.to_lowercase().chars().map(plain).collect();
        let number = match number {
            0 => String::new(),
            more => format!("-{}", more + 1),
        };
        // The near miss: a little more is asked about again.
        let example = |more: &str| {
            let evidence = format!("{}{more}", allowance.evidence);
            match (&allowance.path, &limits.project) {
                (Some(path), _) if allowance.evidence == allowance.program => format!(
                    "{{ tool: {}, input: {{ file_path: {} }} }}",
                    quoted(&allowance.program),
                    quoted(&format!("{path}{more}"))
                ),
                // Examples are tried elsewhere, where a relative path means something else.
                (Some(path), Some(project)) if !evidence.contains(path) => {
                    quoted(&format!("cd {} && {evidence}", quoted(project)))
                }
                _ => quoted(&evidence),
            }
        };
        let (same, other) = (example(""), example("x"));
        yaml.push_str(&format!(
            "- id: approved-{id}{number}\n  do: ALLOW\n  only: [{}]\n",
            allowance.rule
        ));
        if let Some(project) = &limits.project {
            yaml.push_str(&format!("  project: {}\n", quoted(project)));
        }
        if let Some(until) = limits.until {
            let until = humantime::format_rfc3339_seconds(until);
            yaml.push_str(&format!("  until: {until}\n"));
        }
        yaml.push_str("  category: approved\n  when:\n");
        yaml.push_str(&format!("    program: [{}]\n", quoted(&allowance.program)));
        let evidence = format!("^{}$", regex_text(&allowance.evidence));
        yaml.push_str(&format!("    evidence: {}\n", quoted(&evidence)));
        yaml.push_str("    any:\n");
        for (kind, text) in &allowance.effects {
            let text = text.as_ref().map(|text| {
                let pattern = quoted(&format!("^{}$", regex_text(text)));
                format!(", text: {pattern}")
            });
            let text = text.unwrap_or_default();
            yaml.push_str(&format!("      - {{ effect: {kind}{text} }}\n"));
        }
        if let Some(path) = &allowance.path {
            yaml.push_str(&format!(
                "    path: {{ glob: [{}] }}\n",
                quoted(&glob(path))
            ));
        }
        yaml.push_str(&format!(
            "  because: a person approved it after `{}` matched\n  examples:\n    allow: [{same}]\n    ask: [{other}]\n",
            allowance.rule
        ));
    }
    yaml
}

/// In YAML's single quotes, or in double ones if it has what these cannot hold.
fn quoted(text: &str) -> String {
    if text.contains(|c: char| c.is_control()) {
        return holdgate_effects::json::Json::from(text.to_owned()).to_string();
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// The text as a regular expression that matches nothing else.
fn regex_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// The text as a glob that fits nothing else.
fn glob(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '*' | '?' | '[' | ']' | '{' | '}' => escaped.push_str(&format!("[{c}]")),
            c => escaped.push(c),
        }
    }
    escaped
}

impl RulesFile {
    /// In the last folder of the operator's rules, which is the user's own.
    pub(crate) fn of(config: &Config, know: Arc<Knowledge>) -> Option<RulesFile> {
        let path = config.rules.dirs.last()?.join("approved.yaml");
        Some(RulesFile { path, know })
    }

    /// Adds rules to the file, or says why they were not written.
    pub(crate) fn append(&self, yaml: &str, limits: &Limits) -> Result<(), String> {
        let added = append(&self.path, yaml, limits, &self.know);
        added.map_err(|e| format!("{}: {e:#}", self.path.display()))
    }
}

/// Adds rules to the file, which is created if there is none. Only valid rules are written, and
/// only such that no example of a built-in rule passes because of them: an error in this file would
/// prevent the next start, and a rule that is too wide would open a door.
fn append(file: &Path, yaml: &str, limits: &Limits, know: &Knowledge) -> anyhow::Result<()> {
    if let Some(dir) = file.parent() {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(dir)?;
    }
    // In one step: a concurrent reader gets either the old or the new rules.
    let mut text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            "# Exceptions that you have approved. Remove one to end it.\n".to_owned()
        }
        Err(error) => return Err(error.into()),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(yaml);
    let whole = RuleText {
        name: file.display().to_string(),
        text,
        tier: Tier::Operator,
    };
    let set = rulebook::set(Profile::default(), std::slice::from_ref(&whole), know)
        .context("the rule would not work and was not written")?;
    // Just before its end, or at any time.
    let now = limits.until.unwrap_or(SystemTime::UNIX_EPOCH) - Duration::from_secs(1);
    let set = set.used_in(limits.project.as_deref(), now);
    let built_in = |rule: &Rule| rule.tier == Tier::BuiltIn;
    let own = set.rules().filter(|rule| rule.tier == Tier::Operator);
    let own = own.flat_map(|rule| rule.examples.iter());
    let meant: Vec<String> = own
        .filter(|example| example.expect == Expect::Match)
        .map(Example::text)
        .collect();
    // What a person has approved may be an example, or a part of one.
    let is_meant = |text: &str| meant.iter().any(|meant| text.contains(meant));
    let alone = RuleSet::built_in(Profile::default())?;
    let before = try_examples(&alone, know, built_in);
    let now = try_examples(&set, know, built_in);
    let mut opened = before.iter().zip(now).filter_map(|(before, now)| {
        let is_new = before.error.is_none() && now.error.is_some();
        is_new.then_some(now)
    });
    if let Some(opened) = opened.find(|tried| !is_meant(&tried.text)) {
        bail!(
            "the rule would also allow `{}`, an example of `{}`, and was not written",
            shorten(&opened.text, 200),
            opened.rule
        );
    }
    let new = file.with_extension("yaml.new");
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(&new)?.write_all(whole.text.as_bytes())?;
    Ok(std::fs::rename(&new, file)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowance(program: &str, evidence: &str, path: Option<&str>) -> Allowance {
        Allowance {
            rule: "force-push".into(),
            program: program.into(),
            evidence: evidence.into(),
            effects: vec![("vcs", None), ("run", Some("push 'x'".into()))],
            path: path.map(str::to_owned),
        }
    }

    #[test]
    fn a_rule_fits_just_what_was_asked_about() {
        let asked = [
            allowance("git", "git push -f o'ne a.b*", None),
            allowance("Write", "Write", Some("/etc/a[1]")),
        ];
        assert_eq!(
            rules("7F-3-1", &asked, &Limits::default()),
            r"- id: approved-7f-3-1
  do: ALLOW
  only: [force-push]
  category: approved
  when:
    program: ['git']
    evidence: '^git push \-f o''ne a\.b\*$'
    any:
      - { effect: vcs }
      - { effect: run, text: '^push ''x''$' }
  because: a person approved it after `force-push` matched
  examples:
    allow: ['git push -f o''ne a.b*']
    ask: ['git push -f o''ne a.b*x']
- id: approved-7f-3-1-2
  do: ALLOW
  only: [force-push]
  category: approved
  when:
    program: ['Write']
    evidence: '^Write$'
    any:
      - { effect: vcs }
      - { effect: run, text: '^push ''x''$' }
    path: { glob: ['/etc/a[[]1[]]'] }
  because: a person approved it after `force-push` matched
  examples:
    allow: [{ tool: 'Write', input: { file_path: '/etc/a[1]' } }]
    ask: [{ tool: 'Write', input: { file_path: '/etc/a[1]x' } }]
"
        );
    }

    #[test]
    fn a_text_of_several_lines_cannot_leave_its_quotes() {
        let yaml = rules(
            "1",
            &[allowance("sh", "a\n- id: x\n  do: ALLOW", None)],
            &Limits::default(),
        );
        assert_eq!(yaml.matches("\n- id").count(), 0, "{yaml}");
        assert!(yaml.contains(r#""^a\n\\- id: x\n  do: ALLOW$""#), "{yaml}");
    }

    #[test]
    fn the_rules_can_be_read() {
        use holdgate_core::rules::{Profile, RuleFile, RuleLayer, RuleSet, Tier};
        let asked = [
            allowance("git", "git push -f o'ne a.b* \"#x\" {1} [2] ~ & | é", None),
            allowance("sh", "a\nb\tc", None),
            allowance("Write", "Write", Some("/etc/a[1]{b}*?'x")),
        ];
        let text = rules("7f-3-1", &asked, &Limits::default());
        let file = RuleFile {
            name: "approved.yaml",
            text: &text,
            tier: Tier::Operator,
            layer: RuleLayer::Policy,
        };
        if let Err(errors) = RuleSet::read(Profile::default(), &[file]) {
            panic!("{errors}\n{text}");
        }
    }

    #[test]
    fn rules_are_added_to_those_that_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("rules/approved.yaml");
        let know = Knowledge::built_in().unwrap();
        for id in ["1", "2"] {
            let mut push = allowance("git", "git push -f", None);
            push.rule = "history-rewrite".into();
            let limits = Limits::default();
            append(&file, &rules(id, &[push], &limits), &limits, &know).unwrap();
        }
        let before = std::fs::read_to_string(&file).unwrap();
        let other = rules(
            "3",
            &[allowance("git", "rm -rf /", None)],
            &Limits::default(),
        );
        assert!(
            append(&file, &other, &Limits::default(), &know).is_err(),
            "its example does not hold"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("# "), "{text}");
        assert_eq!(text.matches("- id: approved-").count(), 2, "{text}");
    }
}
