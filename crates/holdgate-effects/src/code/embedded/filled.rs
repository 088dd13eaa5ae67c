//! Variables in the paths of documents: what a shell, an engine of containers or an editor puts there.

use super::Reader;

/// How editors and containers for development name a variable of the machine.
const OF_MACHINE: [&str; 3] = ["localEnv:", "env:", "containerEnv:"];

impl Reader<'_, '_, '_> {
    /// A path with its variables as what they usually hold: `${HOME}/x`, `$HOME/x`, `${localEnv:HOME}/x`.
    /// `${NAME:-value}` is its value, if nobody knows the variable.
    pub(super) fn filled(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            if let Some(behind) = after.strip_prefix('$') {
                // A sign that means itself.
                out.push_str("$$");
                rest = behind;
                continue;
            }
            let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let braces = after.strip_prefix('{').and_then(|a| a.split_once('}'));
            let (inner, behind) = braces.unwrap_or_else(|| {
                let end = after.find(|c: char| !part(c)).unwrap_or(after.len());
                after.split_at(end)
            });
            if let Some(value) = self.usual(inner) {
                out.push_str(&value);
            } else {
                out.push('$');
                out.push_str(after.strip_suffix(behind).unwrap_or(""));
            }
            rest = behind;
        }
        out.push_str(rest);
        out
    }

    /// What stands for a variable by its name, with what may follow that: `HOME`, `DATA:-/srv`.
    fn usual(&self, inner: &str) -> Option<String> {
        let world = self.scene.world;
        let machine = OF_MACHINE.iter().find_map(|mark| inner.strip_prefix(mark));
        let name = machine.unwrap_or(inner);
        let end = name.find([':', '-', '?', '+']).unwrap_or(name.len());
        let (name, default) = name.split_at(end);
        let project = || world.project.clone().unwrap_or_else(|| world.cwd.clone());
        let known = match name {
            "userHome" | "USERPROFILE" => world.home.clone(),
            "workspaceFolder" | "localWorkspaceFolder" | "workspaceRoot" => project(),
            "HOME" | "PWD" | "USER" | "LOGNAME" | "TMPDIR" | "XDG_CONFIG_HOME"
            | "XDG_DATA_HOME" | "XDG_RUNTIME_DIR" => self.scene.usual_variable(name).text,
            _ => {
                let default = default.strip_prefix(':').unwrap_or(default);
                return default.strip_prefix('-').map(str::to_owned);
            }
        };
        Some(known)
    }
}
