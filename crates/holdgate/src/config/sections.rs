//! The sections of the file: every setting with its type, how it is written, and its default.

use super::bridge::BridgeSettings;
use super::live::Origin;
use super::ready::{AskJudge, ClassifierMode, Config, Operator, OtherUpstreams, Unreadable};
use super::spillage::{Labels, ProjectEntry, SpillageSettings};
use super::values::{
    Address, AskJudgeWord, ClassifierWord, Count, DialectWord, Folder, Folders, ModelName,
    OnBlockWord, OperatorWord, ProfileWord, ProviderWord, Span, SpeaksWord, TellWord,
    TextActionsWord, UnreadableWord, UpstreamUrl,
};
use super::{ConfigError, DEFAULT_PORT, LIMITS};
use holdgate_core::rules::Profile;
use holdgate_core::{
    CallLimits, Canaries, GuardSettings, JudgeLimits, OnBlock, RateLimits, Tell, TextActions,
    TrajectoryMode,
};
use hyper::Uri;
use serde::Deserialize;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Clients that were seen to check a call against its schema before they run it, and to report the
/// error to the model: Claude Code, opencode and Codex.
const CONTINUE_CLIENTS: &[&str] = &["claude-cli/", "opencode/", "codex", "GeminiCLI"];

/// How a setting is written: in a form of its own, or as its type is.
macro_rules! form {
    ($type:ty as $form:ty) => {
        $form
    };
    ($type:ty) => {
        $type
    };
}

/// A section as written: every setting optional, unknown ones errors. With `=>`, also the section
/// as it is used; the default of a setting may use those above it.
macro_rules! section {
    ($file:ident { $($field:ident: $type:ty),* $(,)? }) => {
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, expecting = "a section of settings")]
        pub(super) struct $file {
            $(pub(super) $field: Option<$type>,)*
        }

        impl $file {
            /// Takes from `over` what it sets.
            fn overlay(&mut self, over: $file) {
                $(if over.$field.is_some() { self.$field = over.$field; })*
            }
        }
    };
    ($file:ident => $(#[$about:meta])* $vis:vis $name:ident {
        $($(#[$what:meta])* $field:ident: $type:ty $(as $form:ty)? = $default:expr,)*
    }) => {
        section!($file { $($field: form!($type $(as $form)?)),* });

        $(#[$about])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            $($(#[$what])* $vis $field: $type,)*
        }

        impl $file {
            /// Fills in the defaults.
            fn settle(self) -> $name {
                $(let $field: $type = self.$field.map_or_else(|| $default, Into::into);)*
                $name { $($field),* }
            }
        }
    };
}

section!(ProxyFile =>
    /// The door's own settings.
    pub ProxySettings {
        /// Where to listen.
        listen: SocketAddr as Address = ([127, 0, 0, 1], DEFAULT_PORT).into(),
        /// Threads that carry connections.
        workers: usize as Count<1, 256> = cores().min(4),
        /// Whose text is judged too, because that client acts from text.
        text_actions: TextActions as TextActionsWord = TextActions::Off,
        /// Names besides those of loopback under which it is reached.
        hosts: Vec<String> = Vec::new(),
        /// Bytes that requests, streams, connections and sessions keep together.
        memory_budget: usize as Count<{ 8 << 20 }, { usize::MAX >> 1 }> = 1 << 30,
        /// Connections at once.
        max_connections: usize as Count<1, 1_000_000> = 2048,
        /// The same from one address. Whoever comes from elsewhere finds some left.
        max_connections_per_peer: usize as Count<1, 1_000_000> = max_connections.div_ceil(2),
        /// Bytes of a request.
        max_request_bytes: usize = 64 << 20,
        /// Bytes of a response that is not streamed.
        max_response_bytes: usize = 64 << 20,
        /// To reach the upstream.
        connect_timeout: Duration as Span = Duration::from_secs(10),
        /// Until its answer begins.
        response_timeout: Duration as Span = Duration::from_mins(10),
        /// Between two pieces of its answer.
        idle_timeout: Duration as Span = Duration::from_mins(5),
        /// For a client to send or take a piece.
        client_timeout: Duration as Span = Duration::from_mins(2),
        /// For open streams, once told to stop.
        shutdown_grace: Duration as Span = Duration::from_mins(5),
    }
);
section!(UpstreamFile {
    anthropic: UpstreamUrl,
    openai: UpstreamUrl,
    ollama: UpstreamUrl,
    gemini: UpstreamUrl,
    speaks: SpeaksWord,
    tool_dialect: DialectWord,
});
section!(GuardFile =>
    /// How calls are held and judged.
    GuardSection {
        on_block: OnBlock as OnBlockWord = OnBlock::Continue,
        tell: Tell as TellWord = Tell::All,
        continue_clients: Vec<String> =
            CONTINUE_CLIENTS.iter().copied().map(str::to_owned).collect(),
        hold_all: bool = false,
        keep_alive: Duration as Span = Duration::from_secs(10),
        inert_blocks: Vec<String> = Vec::new(),
        judge_timeout: Duration as Span = LIMITS.deadline,
        max_call_bytes: usize = LIMITS.call.max_bytes,
        // Reading is recursive, so the depth has a ceiling.
        max_call_depth: usize as Count<1, 120> = LIMITS.call.max_depth,
        max_event_bytes: usize = 8 << 20,
        max_held_bytes: usize = 64 << 20,
        max_calls: usize = 256,
    }
);
section!(GateFile =>
    /// The gate's limits, and what kind of machine the agent works on.
    GateSection {
        profile: Profile as ProfileWord = Profile::default(),
        calls_per_minute: usize as Count<0, 4096> = 60,
        identical_in_a_row: u32 = 5,
    }
);
section!(ClassifierFile =>
    /// The classifier.
    #[derive(Copy)]
    pub ClassifierSettings {
        /// What it may do.
        mode: ClassifierMode as ClassifierWord = ClassifierMode::On,
        /// Whether the proxy learns from the ledger every night.
        nightly: bool = true,
        /// The hour at which it does, in UTC.
        hour: usize as Count<0, 23> = 3,
    }
);
section!(InjectionFile =>
    /// What is done about orders in what tools return.
    #[derive(Copy)]
    pub InjectionSettings {
        /// Whether such results are marked as data in requests.
        mark: bool = true,
        /// What becomes of a request whose messages cannot be read.
        unreadable: Unreadable as UnreadableWord = Unreadable::Refuse,
    }
);
section!(RulesFile =>
    /// The operator's rules.
    pub RulesSettings {
        /// The folders, the one whose rules come first before the others.
        dirs: Vec<PathBuf> as Folders = Vec::new(),
        /// Whether projects may have rules of their own.
        project_files: bool = true,
        /// How often rules and settings are looked at for changes.
        check_every: Duration as Span = Duration::from_millis(500),
    }
);
section!(AskFile =>
    /// Whom to ask.
    #[derive(Copy)]
    pub AskSettings {
        /// Whether somebody is there.
        operator: Operator as OperatorWord = Operator::Auto,
        /// How long a person has to answer.
        timeout: Duration as Span = Duration::from_mins(5),
        /// Whether the judge is asked first.
        judge: AskJudge as AskJudgeWord = AskJudge::Off,
    }
);
section!(ProjectFile { dir: Folder });
section!(SessionsFile =>
    /// The sessions that are remembered.
    #[derive(Copy)]
    pub SessionSettings {
        /// How many.
        max: usize as Count<1, 1_000_000> = 10_000,
        /// How long an idle one is.
        max_idle: Duration as Span = Duration::from_hours(24),
    }
);
section!(LedgerFile =>
    /// The ledger's settings.
    #[derive(Copy)]
    pub LedgerSettings {
        /// Bytes of a file before the next one begins.
        max_bytes: u64 = 64 << 20,
        /// Bytes of all files together before the oldest are deleted; 0 keeps them all.
        keep_bytes: u64 = 1 << 30,
        /// Bytes of a call's arguments that are kept.
        input_bytes: usize = 4096,
        /// Wait for the disk at every record.
        sync: bool = false,
    }
);
section!(SpillageFile {
    labels: Labels,
    projects: Vec<ProjectEntry>,
});
section!(TrajectoryFile =>
    /// What is done about sequences of calls.
    #[derive(Copy)]
    pub TrajectorySettings {
        /// Whether sequences are judged, only recorded, or left alone.
        mode: TrajectoryMode = TrajectoryMode::On,
        /// Whether the sequences of a project are learned from.
        learn: bool = true,
        /// Whether it is recorded when an agent leaves its task.
        drift: bool = true,
    }
);
section!(CanariesFile {
    paths: Folders,
    values: Vec<String>,
});
section!(JudgeFile {
    provider: ProviderWord,
    model: ModelName,
    base_url: UpstreamUrl,
    api_key_env: String,
    // Known so that its value is not repeated in an error.
    api_key: toml::Value,
    timeout: Span,
    budget_per_hour: Count<0, 100_000>,
    freeze: bool,
    cache: Count<0, 10_000>,
    cache_for: Span,
    breaker_failures: Count<1, 1_000>,
    breaker_pause: Span,
});

macro_rules! file {
    ($($section:ident: $type:ident,)*) => {
        /// The sections of the file, which begin the names of variables.
        pub(super) const SECTIONS: &[&str] = &[$(stringify!($section)),*];

        /// `holdgate.toml` as written.
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(super) struct ConfigFile {
            $($section: $type,)*
        }

        impl ConfigFile {
            pub(super) fn overlay(&mut self, over: ConfigFile) {
                $(self.$section.overlay(over.$section);)*
            }
        }
    };
}

file! {
    proxy: ProxyFile,
    upstream: UpstreamFile,
    guard: GuardFile,
    gate: GateFile,
    classifier: ClassifierFile,
    injection: InjectionFile,
    rules: RulesFile,
    ask: AskFile,
    project: ProjectFile,
    sessions: SessionsFile,
    ledger: LedgerFile,
    judge: JudgeFile,
    spillage: SpillageFile,
    trajectory: TrajectoryFile,
    canaries: CanariesFile,
}

impl CanariesFile {
    fn settle(self) -> Result<Canaries, ConfigError> {
        let paths: Vec<PathBuf> = self.paths.map(Into::into).unwrap_or_default();
        let paths = paths.iter().map(|path| path.display().to_string());
        Canaries::new(paths.collect(), &self.values.unwrap_or_default()).map_err(|number| {
            ConfigError(format!(
                "canaries.values: value {number} cannot be told from other text, write at least 16 \
                 letters and digits drawn by lot, as `holdgate canary` prints them"
            ))
        })
    }
}

impl ConfigFile {
    /// Takes out which projects have which label. They refer to the text of the file.
    pub(super) fn take_spillage(&mut self) -> SpillageFile {
        std::mem::take(&mut self.spillage)
    }

    /// Where requests of `OpenAI`'s protocols go, if that is written.
    pub(super) fn named_openai(&self) -> Option<Uri> {
        self.upstream.openai.clone().map(|url| url.0)
    }

    /// Fills in the defaults.
    pub(super) fn settle(self, state_dir: PathBuf) -> Result<Config, ConfigError> {
        let (ask, guard, gate) = (self.ask.settle(), self.guard.settle(), self.gate.settle());
        let vendor = |url: Option<UpstreamUrl>, usual| {
            url.map_or_else(|| Uri::from_static(usual), |url| url.0)
        };
        let proxy = self.proxy.settle();
        let text_actions = proxy.text_actions;
        Ok(Config {
            file: None,
            ignored: Vec::new(),
            state_dir,
            config_place: None,
            pin_file: None,
            home: None,
            proxy,
            upstream: vendor(self.upstream.anthropic, "https://api.anthropic.com"),
            other_upstreams: Some(OtherUpstreams {
                openai: vendor(self.upstream.openai, "https://api.openai.com"),
                ollama: vendor(self.upstream.ollama, "http://127.0.0.1:11434"),
                gemini: vendor(
                    self.upstream.gemini,
                    "https://generativelanguage.googleapis.com",
                ),
            }),
            bridge: BridgeSettings {
                speaks: self.upstream.speaks.map(|speaks| speaks.0),
                dialect: self
                    .upstream
                    .tool_dialect
                    .map(|dialect| dialect.0)
                    .unwrap_or_default(),
            },
            continue_clients: guard.continue_clients,
            guard: GuardSettings {
                on_block: guard.on_block,
                tell: guard.tell,
                hold_all: guard.hold_all,
                keep_alive: guard.keep_alive,
                ask: (ask.operator != Operator::Never).then_some(ask.timeout),
                inert_blocks: guard.inert_blocks.into(),
                text_actions,
                max_event_bytes: guard.max_event_bytes,
                max_held_bytes: guard.max_held_bytes,
                max_calls: guard.max_calls,
            },
            judge: JudgeLimits {
                call: CallLimits {
                    max_bytes: guard.max_call_bytes,
                    max_depth: guard.max_call_depth,
                },
                fuel: LIMITS.fuel,
                deadline: guard.judge_timeout,
            },
            rates: RateLimits {
                calls_per_minute: gate.calls_per_minute,
                identical_in_a_row: gate.identical_in_a_row,
            },
            ask,
            classifier: self.classifier.settle(),
            injection: self.injection.settle(),
            profile: gate.profile,
            rules: self.rules.settle(),
            expert_header: false,
            project: self.project.dir.map(|dir| dir.0),
            sessions: self.sessions.settle(),
            ledger: self.ledger.settle(),
            output_judge: self.judge.settle()?,
            spillage: SpillageSettings::default(),
            trajectory: self.trajectory.settle(),
            canaries: Arc::new(self.canaries.settle()?),
            origin: Origin::default(),
        })
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
