//! Settings, ready to use.

use super::bridge::BridgeSettings;
use super::judge::JudgeSettings;
use super::live::Origin;
use super::sections::{
    AskSettings, ClassifierSettings, InjectionSettings, LedgerSettings, ProxySettings,
    RulesSettings, SessionSettings, TrajectorySettings,
};
use super::spillage::SpillageSettings;
use holdgate_core::rules::Profile;
use holdgate_core::{
    Canaries, Dialect, GuardSettings, JudgeLimits, RateLimits, TextActions, Vendor,
};
use holdgate_effects::worded;
use hyper::Uri;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// Where the requests to other providers than Anthropic go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherUpstreams {
    /// Those of `OpenAI`'s protocols.
    pub openai: Uri,
    /// Those of Ollama's own.
    pub ollama: Uri,
    /// Those of Gemini's.
    pub gemini: Uri,
}

/// Ready settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file that they come from, if there is one.
    pub file: Option<PathBuf>,
    /// Variables that look like settings and are none. Other systems make some, so they are no
    /// error.
    pub ignored: Vec<String>,
    /// Where ledger and models live.
    pub state_dir: PathBuf,
    /// Where settings live: the file that was named, else the usual folder.
    pub config_place: Option<PathBuf>,
    /// Where the operator's PIN is kept: in the usual folder, whatever file was named.
    pub pin_file: Option<PathBuf>,
    /// The user's home.
    pub home: Option<String>,
    /// The door.
    pub proxy: ProxySettings,
    /// Where requests go: to Anthropic, or all of them with `--upstream`.
    pub upstream: Uri,
    /// Where requests to other providers go; `None` if all go to `upstream`.
    pub other_upstreams: Option<OtherUpstreams>,
    /// What the upstream speaks.
    pub bridge: BridgeSettings,
    /// How responses are guarded.
    pub guard: GuardSettings,
    /// The clients that go on after a call that fails, by the start of their `User-Agent`.
    pub continue_clients: Vec<String>,
    /// The bounds on a judgement.
    pub judge: JudgeLimits,
    /// The gate's limits.
    pub rates: RateLimits,
    /// Whom to ask, and for how long.
    pub ask: AskSettings,
    /// The classifier.
    pub classifier: ClassifierSettings,
    /// What is done about orders in what tools return.
    pub injection: InjectionSettings,
    /// What kind of machine the agent works on.
    pub profile: Profile,
    /// Where the operator's rules are, and how often they are looked at.
    pub rules: RulesSettings,
    /// Whether a request may lift the gate by its header.
    pub expert_header: bool,
    /// The project's folder, if it is not to be taken from the requests.
    pub project: Option<PathBuf>,
    /// How many sessions are remembered, and for how long.
    pub sessions: SessionSettings,
    /// The ledger.
    pub ledger: LedgerSettings,
    /// The model that is asked about an agent's output.
    pub output_judge: JudgeSettings,
    /// Which projects have which label.
    pub spillage: SpillageSettings,
    /// What is done about sequences of calls.
    pub trajectory: TrajectorySettings,
    /// Files and values that no work needs.
    pub canaries: Arc<Canaries>,
    /// What all this was read from, to read it again.
    pub(super) origin: Origin,
}

worded! {
    /// Whether the judge is asked about a call before a person is.
    pub enum AskJudge as "value" {
        Off = "off": "Only a person is asked.",
        First = "first": "What the judge finds safe passes; about everything else a person is asked.",
    }
}

worded! {
    /// Whether somebody is there to answer.
    pub enum Operator as "value" {
        Auto = "auto": "If a terminal shows questions, or `holdgate approve` waits for them.",
        Always = "always": "Somebody will look: also if a PIN is set, with which questions can be answered later.",
        Never = "never": "Nobody is asked.",
    }
}

worded! {
    /// What the classifier may do.
    pub enum ClassifierMode as "value" {
        Off = "off": "Nothing: calls are not scored.",
        Audit = "audit": "Calls that stand out are recorded.",
        On = "on": "It may also ask, and block what it is certain of.",
    }
}

worded! {
    /// What becomes of a request in which results cannot be examined.
    pub enum Unreadable as "value" {
        Refuse = "refuse": "The request is refused.",
        Pass = "pass": "The request is forwarded as it came, and recorded.",
    }
}

impl Config {
    /// Where requests to this provider go.
    pub fn upstream_of(&self, vendor: Vendor) -> &Uri {
        match (vendor, &self.other_upstreams) {
            (Vendor::OpenAi, Some(others)) => &others.openai,
            (Vendor::Ollama, Some(others)) => &others.ollama,
            (Vendor::Gemini, Some(others)) => &others.gemini,
            (Vendor::Anthropic, _) | (_, None) => &self.upstream,
        }
    }
}

/// What the command line says; it goes over file and environment.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--state-dir`
    pub state_dir: Option<PathBuf>,
    /// `--listen`
    pub listen: Option<SocketAddr>,
    /// `--upstream`
    pub upstream: Option<String>,
    /// `--upstream-speaks`
    pub speaks: Option<String>,
    /// `--tool-dialect`
    pub dialect: Option<Dialect>,
    /// `--text-actions`
    pub text_actions: Option<TextActions>,
}

impl Flags {
    /// A proxy on a free port of this machine, before `upstream` on this machine.
    pub fn local(state_dir: impl Into<PathBuf>, upstream: SocketAddr) -> Flags {
        Flags {
            state_dir: Some(state_dir.into()),
            listen: Some(([127, 0, 0, 1], 0).into()),
            upstream: Some(format!("http://{upstream}")),
            ..Flags::default()
        }
    }
}
