//! The agents that are known, as data: how each is started, where its settings are, and what in them
//! sends its requests past the proxy. How each is given the proxy's address is in `run/environment.rs`.

/// The variable that points most agents at the proxy.
pub(crate) const ADDRESS: &str = "ANTHROPIC_BASE_URL";
/// Variables that decide where agents send their requests.
#[rustfmt::skip]
pub(crate) const ROUTES: [&str; 14] = [
    ADDRESS, "ANTHROPIC_API_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
    "CODEX_BASE_URL", "CODE_ASSIST_ENDPOINT", "GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_VERTEX_BASE_URL", "OPENAI_API_BASE", "OPENAI_BASE_URL",
];

/// What people call agents, by the start of their `User-Agent`.
const USER_AGENTS: [(&str, &str); 4] = [
    ("claude-cli", "Claude Code"),
    ("codex", "Codex"),
    ("opencode", "opencode"),
    ("GeminiCLI", "Gemini CLI"),
];

/// The agent that sends this `User-Agent`, if it is a known one.
pub(crate) fn agent_name(user_agent: &str) -> Option<&'static str> {
    let known = USER_AGENTS.iter();
    let mut known = known.filter(|(start, _)| user_agent.starts_with(start));
    known.next().map(|(_, name)| *name)
}

/// An agent.
#[derive(Debug)]
pub(crate) struct Agent {
    /// What people call it.
    pub(crate) name: &'static str,
    /// The programs and packages that start it.
    pub(crate) programs: &'static [&'static str],
    /// How it is given an address that no settings file of a repository overrides.
    pub(crate) takes: Takes,
    /// Where its settings are.
    pub(crate) files: &'static [SettingsFile],
    /// What stands before the names of variables in these; `None` if they hold none.
    pub(crate) prefix: Option<&'static str>,
    /// Variables, of the environment or of a settings file, that send requests elsewhere.
    pub(crate) variables: &'static [Detour],
    /// Settings that do.
    pub(crate) keys: &'static [Detour],
    /// Arguments that do.
    pub(crate) arguments: &'static [Detour],
    /// The variable or setting that names its address; the proxy's address goes over it.
    pub(crate) address: &'static str,
    /// First arguments of a start that asks no model, separated by spaces.
    pub(crate) idle: &'static str,
}

/// How an agent is given the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// `--settings`, which goes over the settings of user and project.
    ClaudeSettings,
    /// `-c`, which goes over all files but the managed one.
    CodexOverrides,
    /// `OPENCODE_CONFIG_CONTENT`, which goes over all files but the managed ones.
    OpencodeContent,
    /// `--set-env`, which is carried out after all files are read.
    AiderFlags,
    /// Variables, which its `.env` files do not override.
    Variables,
}

/// A settings file. Its name says its format; of a folder `*.d`, all `*.json` files are read.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    pub(crate) place: Place,
    pub(crate) path: &'static str,
    pub(crate) whose: Whose,
}

/// Where a path begins.
#[derive(Debug)]
pub(crate) enum Place {
    Root,
    Home,
    /// The folder that a variable names, else this one in the user's home.
    Named(&'static str, &'static str),
    /// The working folder, and the root of its repository.
    Project,
}

/// Who writes a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The administrator: it goes over what we give.
    Managed,
    User,
    /// Whoever wrote the repository.
    Project,
}

/// Something that sends requests past the proxy.
#[derive(Debug)]
pub(crate) struct Detour {
    /// The name; `*` stands for any one part between dots.
    pub(crate) name: &'static str,
    pub(crate) value: Value,
    /// Where requests go.
    pub(crate) to: &'static str,
}

/// Values that do.
#[derive(Debug)]
pub(crate) enum Value {
    /// Any but an empty one.
    Any,
    /// Any but an empty one, `0`, `false`, `no` and `off`.
    On,
    OneOf(&'static [&'static str]),
    /// A model `provider/name` of another provider than these.
    OtherProvider(&'static [&'static str]),
}

impl Value {
    pub(crate) fn takes(&self, value: &str) -> bool {
        let value = value.trim();
        match self {
            Value::Any => !value.is_empty(),
            Value::On => {
                let off = ["", "0", "false", "no", "off"];
                !off.contains(&value.to_ascii_lowercase().as_str())
            }
            Value::OneOf(values) => values.contains(&value),
            Value::OtherProvider(known) => value
                .split_once('/')
                .is_some_and(|(provider, _)| !known.contains(&provider)),
        }
    }
}

const fn detour(name: &'static str, value: Value, to: &'static str) -> Detour {
    Detour { name, value, to }
}

const fn on(name: &'static str, to: &'static str) -> Detour {
    detour(name, Value::On, to)
}

const fn any(name: &'static str, to: &'static str) -> Detour {
    detour(name, Value::Any, to)
}

const fn file(whose: Whose, place: Place, path: &'static str) -> SettingsFile {
    SettingsFile { place, path, whose }
}

/// A path from the root.
const fn managed(path: &'static str) -> SettingsFile {
    file(Whose::Managed, Place::Root, path)
}

const fn user(place: Place, path: &'static str) -> SettingsFile {
    file(Whose::User, place, path)
}

const fn project(path: &'static str) -> SettingsFile {
    file(Whose::Project, Place::Project, path)
}

const CLAUDE_DIR: Place = Place::Named("CLAUDE_CONFIG_DIR", ".claude");

static CLAUDE: Agent = Agent {
    name: "Claude Code",
    programs: &["claude", "claude-code"],
    takes: Takes::ClaudeSettings,
    files: &[
        managed("etc/claude-code/managed-settings.json"),
        managed("etc/claude-code/managed-settings.d"),
        // What an organisation's server sent last.
        file(Whose::Managed, CLAUDE_DIR, "remote-settings.json"),
        user(Place::Home, ".claude.json"),
        user(CLAUDE_DIR, "settings.json"),
        project(".claude/settings.json"),
        project(".claude/settings.local.json"),
    ],
    prefix: Some("env."),
    variables: &[
        on("CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"),
        on("CLAUDE_CODE_USE_MANTLE", "Amazon Bedrock"),
        on("CLAUDE_CODE_USE_ANTHROPIC_AWS", "Claude on AWS"),
        on("CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"),
        on("CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"),
        any("ANTHROPIC_UNIX_SOCKET", "a socket"),
    ],
    keys: &[],
    arguments: &[],
    address: "ANTHROPIC_BASE_URL",
    idle: "--version -v --help -h mcp plugin config auth setup-token doctor update install",
};

static CODEX: Agent = Agent {
    name: "Codex",
    programs: &["codex"],
    takes: Takes::CodexOverrides,
    files: &[
        managed("etc/codex/managed_config.toml"),
        user(Place::Named("CODEX_HOME", ".codex"), "config.toml"),
        project(".codex/config.toml"),
    ],
    prefix: None,
    variables: &[],
    keys: &[],
    arguments: &[
        on("--oss", "a model on this machine"),
        any("--local-provider", "a model on this machine"),
        any("--config model_provider", "another provider"),
        any("-c model_provider", "another provider"),
        any("--config profiles", "another provider"),
        any("-c profiles", "another provider"),
    ],
    address: "model_provider",
    idle: "--version -V --help -h login logout mcp completion features help",
};

static OPENCODE: Agent = Agent {
    name: "opencode",
    programs: &["opencode", "opencode-ai"],
    takes: Takes::OpencodeContent,
    files: &[
        managed("etc/opencode/opencode.json"),
        managed("etc/opencode/opencode.jsonc"),
        user(
            Place::Named("XDG_CONFIG_HOME", ".config"),
            "opencode/opencode.json",
        ),
        project("opencode.json"),
    ],
    prefix: None,
    variables: &[],
    keys: &[],
    arguments: &[detour(
        "--model",
        Value::OtherProvider(&["anthropic", "openai", "google"]),
        "another provider",
    )],
    address: "provider.*.options.baseURL",
    idle: "--version -v --help -h auth models mcp upgrade uninstall session export stats",
};

const GOOGLE_LOGINS: Value = Value::OneOf(&[
    "oauth-personal",
    "vertex-ai",
    "cloud-shell",
    "compute-default-credentials",
]);

const fn google(name: &'static str) -> Detour {
    detour(name, GOOGLE_LOGINS, "Google's login or Vertex AI")
}

static GEMINI: Agent = Agent {
    name: "Gemini CLI",
    programs: &["gemini", "gemini-cli"],
    takes: Takes::Variables,
    files: &[
        managed("etc/gemini-cli/settings.json"),
        user(Place::Home, ".gemini/settings.json"),
        project(".gemini/settings.json"),
    ],
    prefix: None,
    variables: &[
        on("GOOGLE_GENAI_USE_VERTEXAI", "Google Vertex AI"),
        on("GOOGLE_GENAI_USE_GCA", "Gemini Code Assist"),
    ],
    keys: &[
        google("security.auth.selectedType"),
        google("security.auth.enforcedType"),
        google("selectedAuthType"),
    ],
    arguments: &[],
    address: "GOOGLE_GEMINI_BASE_URL",
    idle: "--version -v --help -h mcp extensions",
};

const AIDER_PROVIDERS: Value = Value::OtherProvider(&["anthropic", "openai", "gemini"]);

const fn model(name: &'static str) -> Detour {
    detour(name, AIDER_PROVIDERS, "another provider")
}

static AIDER: Agent = Agent {
    name: "aider",
    programs: &["aider", "aider-chat"],
    takes: Takes::AiderFlags,
    files: &[
        user(Place::Home, ".aider.conf.yml"),
        project(".aider.conf.yml"),
    ],
    prefix: None,
    variables: &[
        model("AIDER_MODEL"),
        model("AIDER_WEAK_MODEL"),
        model("AIDER_EDITOR_MODEL"),
    ],
    keys: &[model("model"), model("weak-model"), model("editor-model")],
    arguments: &[
        model("--model"),
        model("--weak-model"),
        model("--editor-model"),
    ],
    address: "openai-api-base",
    idle: "--version --help -h --list-models --models",
};

pub(crate) static AGENTS: [&Agent; 5] = [&CLAUDE, &CODEX, &OPENCODE, &GEMINI, &AIDER];
