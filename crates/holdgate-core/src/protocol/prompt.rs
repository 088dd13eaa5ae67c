//! What clients say about themselves in their system prompts.

use holdgate_effects::json::Json;

/// How clients name their working folder.
const LABELS: &[&str] = &[
    "Primary working directory: ",
    "Working directory: ",
    "Current working directory: ",
    "Current Working Directory: ",
];

/// The working folder, which agents name in their system prompt. What users and tools say is
/// ignored: the project decides what may be deleted.
pub(super) fn working_dir(system: &Json<'_>) -> Option<String> {
    let mut texts: Vec<&str> = system.as_str().into_iter().collect();
    let blocks = system.as_array().unwrap_or(&[]);
    texts.extend(blocks.iter().filter_map(|b| b.get_str("text")));
    // The first one counts: later lines contain text from the repository, such as commit messages.
    let mut lines = texts.iter().flat_map(|text| text.lines());
    lines.find_map(|line| {
        let line = line.trim_start_matches([' ', '-', '*']);
        let rest = LABELS.iter().find_map(|label| line.strip_prefix(label))?;
        let dir = rest.trim().trim_matches('`');
        dir.starts_with('/').then(|| dir.to_owned())
    })
}
