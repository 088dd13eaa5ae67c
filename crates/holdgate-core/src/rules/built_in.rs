//! The rules that come with Holdgate: all files under `rules/`. Those of the gate's files that only
//! ask or audit belong to the policy: see `layer_of` in `compile.rs`.

use super::{RuleFile, RuleLayer, Tier};

macro_rules! files {
    ($($layer:ident: $($name:literal)*;)*) => {
        /// All files.
        pub(super) const FILES: &[RuleFile<'static>] = &[$($(RuleFile {
            name: concat!("rules/", $name),
            text: include_str!(concat!("../../../../rules/", $name)),
            tier: Tier::BuiltIn,
            layer: RuleLayer::$layer,
        },)*)*];
    };
}

files! {
    Gate:
        "destructive.yaml"
        "exfiltration.yaml"
        "execution.yaml"
        "credentials.yaml"
        "privilege.yaml"
        "persistence.yaml"
        "evasion.yaml"
        "containers.yaml"
        "processes.yaml"
        "system.yaml"
        "packages.yaml"
        "vcs.yaml"
        "written.yaml"
        "self.yaml";
    Policy:
        "policy-files.yaml"
        "policy-shell.yaml"
        "policy-network.yaml"
        "policy-credentials.yaml";
}
