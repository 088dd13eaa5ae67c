//! Which calls the provider runs itself, because the request asks it to.

use holdgate_effects::json::Json;
use std::collections::HashSet;

/// Kinds of tool that run at the provider, by the start of their type, and the names under which
/// their calls come besides the tool's own. Other typed tools, such as `bash_20250124`, run at the
/// client.
const SERVER_TOOLS: &[(&str, &[&str])] = &[
    ("web_search_", &[]),
    ("web_fetch_", &[]),
    (
        "code_execution_",
        &["bash_code_execution", "text_editor_code_execution"],
    ),
    ("tool_search_tool_", &["tool_search"]),
    ("advisor_", &[]),
];

/// What a request lets the provider run. A call of anything else is the client's, whatever its
/// block says: some clients run it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderTools {
    tools: HashSet<String>,
    servers: HashSet<String>,
}

impl ProviderTools {
    /// Takes in the request's `tools`.
    pub(super) fn declare_tools(&mut self, tools: &[Json<'_>]) {
        for tool in tools {
            let text = |key| tool.get(key).and_then(Json::as_str);
            let Some((kind, name)) = text("type").zip(text("name")) else {
                continue;
            };
            let known = |(start, _): &&(&str, _)| kind.starts_with(start);
            if let Some((_, names)) = SERVER_TOOLS.iter().find(known) {
                let names = names.iter().copied().chain([name]);
                self.tools.extend(names.map(str::to_owned));
            }
        }
    }

    /// Takes in the request's `mcp_servers`.
    pub(super) fn declare_servers(&mut self, servers: &[Json<'_>]) {
        let names = servers
            .iter()
            .filter_map(|server| server.get("name")?.as_str());
        self.servers.extend(names.map(str::to_owned));
    }

    /// Whether the provider ran the call of this block.
    pub fn ran(&self, block: &Json<'_>) -> bool {
        let text = |key| block.get(key).and_then(Json::as_str);
        match text("type") {
            Some("server_tool_use") => text("name").is_some_and(|name| self.tools.contains(name)),
            Some("mcp_tool_use") => {
                text("server_name").is_some_and(|name| self.servers.contains(name))
            }
            _ => false,
        }
    }
}
