//! Answers in the formats of the clients.

use crate::args::HookAgent;
use holdgate_effects::json::{Json, LoneSurrogates};

/// The exit code with which every client refuses the call.
const REFUSE: u8 = 2;

/// What is said about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Nothing speaks against it. The client's own permissions still count.
    Pass,
    /// The client's user decides, who reads this.
    Ask(String),
    /// It must not run; the model reads this.
    Deny(String),
}

/// What the hook prints, and how it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The exit code.
    pub code: u8,
    /// On standard output.
    pub out: String,
    /// On standard error.
    pub err: String,
}

impl Reply {
    /// Refuses in the way that all clients understand, whatever was asked.
    pub fn fault(why: &str) -> Reply {
        Reply {
            code: REFUSE,
            out: String::new(),
            err: format!(
                "[holdgate] The call was blocked and did not run: it could not be judged.\nWhy: \
                 {why}.\nTell the user if this happens again; `holdgate doctor` may say more.\n"
            ),
        }
    }

    pub(crate) fn of(agent: HookAgent, decision: &Decision) -> Reply {
        let json = match agent {
            HookAgent::ClaudeCode | HookAgent::Codex => pre_tool_use(decision),
            HookAgent::Gemini => decided(decision, None),
            HookAgent::Opencode => decided(decision, Some("allow")),
            HookAgent::Cursor => permission(decision),
        };
        Reply {
            code: 0,
            out: format!("{json}\n"),
            err: String::new(),
        }
    }

    /// As it goes over the socket.
    pub(crate) fn to_json(&self) -> Json<'_> {
        Json::object([
            ("code", u64::from(self.code).into()),
            ("out", self.out.as_str().into()),
            ("err", self.err.as_str().into()),
        ])
    }

    /// The same, read. `None` if it is not whole.
    pub(crate) fn read(bytes: &[u8]) -> Option<Reply> {
        let json = Json::read(bytes, 4, LoneSurrogates::Refuse).ok()?;
        Some(Reply {
            code: u8::try_from(json.get("code")?.as_u64()?).ok()?,
            out: json.get_str("out")?.to_owned(),
            err: json.get_str("err")?.to_owned(),
        })
    }
}

/// To say `allow` would go over the user's own permissions: an empty object leaves them in force.
fn pre_tool_use(decision: &Decision) -> Json<'static> {
    let (word, reason) = match decision {
        Decision::Pass => return Json::Object(Vec::new()),
        Decision::Ask(reason) => ("ask", reason),
        Decision::Deny(reason) => ("deny", reason),
    };
    let specific = Json::object([
        ("hookEventName", "PreToolUse".into()),
        ("permissionDecision", word.into()),
        ("permissionDecisionReason", reason.clone().into()),
    ]);
    Json::object([("hookSpecificOutput", specific)])
}

/// For clients that know no question.
fn decided(decision: &Decision, pass: Option<&'static str>) -> Json<'static> {
    match (decision, pass) {
        (Decision::Pass, None) => Json::Object(Vec::new()),
        (Decision::Pass, Some(word)) => Json::object([("decision", word.into())]),
        (Decision::Ask(reason) | Decision::Deny(reason), _) => Json::object([
            ("decision", "deny".into()),
            ("reason", reason.clone().into()),
        ]),
    }
}

/// Cursor's first versions read the names without underscores.
fn permission(decision: &Decision) -> Json<'static> {
    let (word, reason) = match decision {
        Decision::Pass => return Json::object([("permission", "allow".into())]),
        Decision::Ask(reason) => ("ask", reason),
        Decision::Deny(reason) => ("deny", reason),
    };
    Json::object([
        ("permission", word.into()),
        ("user_message", reason.clone().into()),
        ("agent_message", reason.clone().into()),
        ("userMessage", reason.clone().into()),
        ("agentMessage", reason.clone().into()),
    ])
}

/// What a client does after its hook has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It does not run the call.
    Deny,
    /// It asks its user.
    Ask,
    /// It goes on by its own permissions.
    Pass,
    /// Unknown. Some clients run the call.
    Unknown,
}

impl Meaning {
    /// As a verb.
    pub fn word(self) -> &'static str {
        match self {
            Meaning::Deny => "deny",
            Meaning::Ask => "ask about",
            Meaning::Pass => "pass",
            Meaning::Unknown => "answer about",
        }
    }
}

/// What `agent` makes of an exit code and an output.
pub fn meaning(agent: HookAgent, code: i32, out: &str) -> Meaning {
    if code == i32::from(REFUSE) {
        return Meaning::Deny;
    }
    let json = Json::read(out.trim().as_bytes(), 8, LoneSurrogates::Refuse);
    let (0, Ok(json)) = (code, json) else {
        return Meaning::Unknown;
    };
    let word = match agent {
        HookAgent::ClaudeCode | HookAgent::Codex => json
            .get("hookSpecificOutput")
            .and_then(|specific| specific.get_str("permissionDecision")),
        HookAgent::Gemini | HookAgent::Opencode => json.get_str("decision"),
        HookAgent::Cursor => json.get_str("permission"),
    };
    match (word, agent) {
        (Some("deny"), _) => Meaning::Deny,
        (Some("ask"), HookAgent::ClaudeCode | HookAgent::Cursor) => Meaning::Ask,
        (Some("allow"), HookAgent::Opencode | HookAgent::Cursor) => Meaning::Pass,
        (None, HookAgent::ClaudeCode | HookAgent::Codex | HookAgent::Gemini)
            if json.as_object().is_some_and(<[_]>::is_empty) =>
        {
            Meaning::Pass
        }
        (_, _) => Meaning::Unknown,
    }
}

/// What `agent` hands to its hook before it runs a command.
pub fn probe(agent: HookAgent, command: &str) -> String {
    let (event, tool) = match agent {
        HookAgent::ClaudeCode | HookAgent::Codex => ("PreToolUse", "Bash"),
        HookAgent::Gemini => ("BeforeTool", "run_shell_command"),
        HookAgent::Cursor => ("beforeShellExecution", "Shell"),
        HookAgent::Opencode => ("tool.execute.before", "bash"),
    };
    let input = Json::object([("command", command.to_owned().into())]);
    let mut json = Json::object([
        ("session_id", "holdgate-doctor".into()),
        ("hook_event_name", event.into()),
        ("permission_mode", "bypassPermissions".into()),
        ("tool_name", tool.into()),
        ("tool_input", input),
        ("tool_use_id", "holdgate-doctor".into()),
    ]);
    if agent == HookAgent::Cursor {
        json.set("command", command.to_owned().into());
    }
    json.text()
}
