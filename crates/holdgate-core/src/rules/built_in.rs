//! The rules that come with Holdgate: all files under `rules/`.

macro_rules! files {
    ($($name:literal,)*) => {
        /// Each file's name and text.
        pub(super) const FILES: &[(&str, &str)] = &[$((
            concat!("rules/", $name),
            include_str!(concat!("../../../../rules/", $name)),
        ),)*];
    };
}

files! {
    "destructive.yaml",
    "exfiltration.yaml",
    "execution.yaml",
    "credentials.yaml",
    "privilege.yaml",
    "persistence.yaml",
    "evasion.yaml",
    "containers.yaml",
    "processes.yaml",
    "system.yaml",
    "packages.yaml",
    "vcs.yaml",
    "self.yaml",
}
