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
    /// Variables, of the environment or of a settings file, that send requests elsewhere.
    pub(crate) variables: &'static [Detour],
    /// Settings that do.
    pub(crate) keys: &'static [Detour],
    /// Arguments that do.
    pub(crate) arguments: &'static [Detour],
    /// The variable or setting that names its address; the proxy's address goes over it.
    pub(crate) address: &'static str,
    /// First arguments of a start that asks no model.
    pub(crate) idle: &'static [&'static str],
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

/// A settings file.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    pub(crate) place: Place,
    pub(crate) path: &'static str,
    pub(crate) format: Format,
    pub(crate) whose: Whose,
    /// What stands before the names of variables in it; `None` if it holds none.
    pub(crate) variables: Prefix,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    /// All `*.json` files of a folder.
    JsonFolder,
    Toml,
    Yaml,
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

const fn on(name: &'static str, to: &'static str) -> Detour {
    Detour {
        name,
        value: Value::On,
        to,
    }
}

const fn any(name: &'static str, to: &'static str) -> Detour {
    Detour {
        name,
        value: Value::Any,
        to,
    }
}

type Prefix = Option<&'static str>;

const fn managed(path: &'static str, format: Format, variables: Prefix) -> SettingsFile {
    SettingsFile {
        place: Place::Root,
        path,
        format,
        whose: Whose::Managed,
        variables,
    }
}

const fn user(place: Place, path: &'static str, format: Format, variables: Prefix) -> SettingsFile {
    SettingsFile {
        place,
        path,
        format,
        whose: Whose::User,
        variables,
    }
}

const fn project(path: &'static str, format: Format, variables: Prefix) -> SettingsFile {
    SettingsFile {
        place: Place::Project,
        path,
        format,
        whose: Whose::Project,
        variables,
    }
}

const CLAUDE_DIR: Place = Place::Named("CLAUDE_CONFIG_DIR", ".claude");
const ENV: Prefix = Some("env.");

static CLAUDE: Agent = Agent {
    name: "Claude Code",
    programs: &["claude", "claude-code"],
    takes: Takes::ClaudeSettings,
    files: &[
        managed("etc/claude-code/managed-settings.json", Format::Json, ENV),
        managed(
            "etc/claude-code/managed-settings.d",
            Format::JsonFolder,
            ENV,
        ),
        // What an organisation's server sent last.
        SettingsFile {
            place: CLAUDE_DIR,
            path: "remote-settings.json",
            format: Format::Json,
            whose: Whose::Managed,
            variables: ENV,
        },
        user(Place::Home, ".claude.json", Format::Json, ENV),
        user(CLAUDE_DIR, "settings.json", Format::Json, ENV),
        project(".claude/settings.json", Format::Json, ENV),
        project(".claude/settings.local.json", Format::Json, ENV),
    ],
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
    idle: &[
        "--version",
        "-v",
        "--help",
        "-h",
        "mcp",
        "plugin",
        "config",
        "auth",
        "setup-token",
        "doctor",
        "update",
        "install",
    ],
};

static CODEX: Agent = Agent {
    name: "Codex",
    programs: &["codex"],
    takes: Takes::CodexOverrides,
    files: &[
        managed("etc/codex/managed_config.toml", Format::Toml, None),
        user(
            Place::Named("CODEX_HOME", ".codex"),
            "config.toml",
            Format::Toml,
            None,
        ),
        project(".codex/config.toml", Format::Toml, None),
    ],
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
    idle: &[
        "--version",
        "-V",
        "--help",
        "-h",
        "login",
        "logout",
        "mcp",
        "completion",
        "features",
        "help",
    ],
};

static OPENCODE: Agent = Agent {
    name: "opencode",
    programs: &["opencode", "opencode-ai"],
    takes: Takes::OpencodeContent,
    files: &[
        managed("etc/opencode/opencode.json", Format::Json, None),
        managed("etc/opencode/opencode.jsonc", Format::Json, None),
        user(
            Place::Named("XDG_CONFIG_HOME", ".config"),
            "opencode/opencode.json",
            Format::Json,
            None,
        ),
        project("opencode.json", Format::Json, None),
    ],
    variables: &[],
    keys: &[],
    arguments: &[Detour {
        name: "--model",
        value: Value::OtherProvider(&["anthropic", "openai", "google"]),
        to: "another provider",
    }],
    address: "provider.*.options.baseURL",
    idle: &[
        "--version",
        "-v",
        "--help",
        "-h",
        "auth",
        "models",
        "mcp",
        "upgrade",
        "uninstall",
        "session",
        "export",
        "stats",
    ],
};

const GOOGLE_LOGINS: Value = Value::OneOf(&[
    "oauth-personal",
    "vertex-ai",
    "cloud-shell",
    "compute-default-credentials",
]);

const fn google(name: &'static str) -> Detour {
    Detour {
        name,
        value: GOOGLE_LOGINS,
        to: "Google's login or Vertex AI",
    }
}

static GEMINI: Agent = Agent {
    name: "Gemini CLI",
    programs: &["gemini", "gemini-cli"],
    takes: Takes::Variables,
    files: &[
        managed("etc/gemini-cli/settings.json", Format::Json, None),
        user(Place::Home, ".gemini/settings.json", Format::Json, None),
        project(".gemini/settings.json", Format::Json, None),
    ],
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
    idle: &["--version", "-v", "--help", "-h", "mcp", "extensions"],
};

const AIDER_PROVIDERS: Value = Value::OtherProvider(&["anthropic", "openai", "gemini"]);

const fn model(name: &'static str) -> Detour {
    Detour {
        name,
        value: AIDER_PROVIDERS,
        to: "another provider",
    }
}

static AIDER: Agent = Agent {
    name: "aider",
    programs: &["aider", "aider-chat"],
    takes: Takes::AiderFlags,
    files: &[
        user(Place::Home, ".aider.conf.yml", Format::Yaml, None),
        project(".aider.conf.yml", Format::Yaml, None),
    ],
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
    idle: &["--version", "--help", "-h", "--list-models", "--models"],
};

pub(crate) static AGENTS: [&Agent; 5] = [&CLAUDE, &CODEX, &OPENCODE, &GEMINI, &AIDER];
