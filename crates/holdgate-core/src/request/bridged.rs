//! What a bridge needs to know about a request when its answer comes: the tools, and how the model
//! writes calls.

use holdgate_effects::json::Json;
use holdgate_effects::worded;
use std::collections::HashMap;

worded! {
    /// How the model behind a bridge writes its calls.
    #[derive(Default)]
    pub enum Dialect as "dialect" {
        #[default]
        Auto = "auto": "As members of the protocol, or as text in one of the forms below.",
        Native = "native": "As members of the protocol only.",
        Hermes = "hermes": "As text: JSON between `<tool_call>` and `</tool_call>`.",
        QwenXml = "qwen-xml": "As text: `<function=NAME>` with `<parameter=KEY>` in it.",
    }
}

impl Dialect {
    /// Whether calls are written as text only, and the server reads none.
    pub(crate) fn is_text_only(self) -> bool {
        match self {
            Dialect::Hermes | Dialect::QwenXml => true,
            Dialect::Auto | Dialect::Native => false,
        }
    }
}

/// What a request says to the bridge that carries it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bridged {
    /// How the model writes its calls.
    pub(crate) dialect: Dialect,
    /// The declared tools, by the name that the upstream knows.
    pub(crate) tools: HashMap<String, DeclaredTool>,
    /// Texts at which the model has to stop.
    pub(crate) stops: Vec<String>,
    /// Tells this request from the others of its conversation.
    pub(crate) turn: u32,
}

/// A tool that a request declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredTool {
    /// Its name at the client.
    pub(crate) name: String,
    /// The group of tools that it belongs to at the client.
    pub(crate) namespace: Option<String>,
    /// Whether its input is a plain text at the client, and a member `input` at the upstream.
    pub(crate) takes_text: bool,
    /// The schema of its arguments.
    pub(crate) schema: Json<'static>,
}

impl Bridged {
    /// The tool with this name at the upstream, if the request declares it.
    pub(crate) fn tool(&self, name: &str) -> Option<&DeclaredTool> {
        self.tools.get(name)
    }
}
