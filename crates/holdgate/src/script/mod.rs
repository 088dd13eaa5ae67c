//! A scripted model: answers in the Anthropic Messages format what `scenarios.json` says.
//!
//! For the demo and for tests, honest answers as well as every way in which a stream can be odd,
//! broken or hostile. Commands that a client runs write to `marker.txt`, so the file's lines tell
//! what ran, whatever logs say.

mod answer;
mod guarded;
mod model;
mod server;
#[cfg(test)]
mod tests;

pub use guarded::guard_lines;
pub use model::{Step, StreamOptions, Turn, message, names, scenario, stream};
pub use server::{Options, ScriptedModel};

use std::path::Path;

/// Writes the streams of all scenarios as seeds for the fuzzer, whose first two bytes are flags
/// and the size of chunks.
pub fn dump(dir: &Path) -> std::io::Result<()> {
    for name in names() {
        for (number, turn) in scenario(name).unwrap_or_default().iter().enumerate() {
            let mut bytes = vec![0, 64];
            for step in stream(turn, "m", 1, &StreamOptions::default()) {
                if let Step::Send(frame) = step {
                    bytes.extend_from_slice(&frame);
                }
            }
            std::fs::write(dir.join(format!("{name}-{number}")), bytes)?;
        }
    }
    Ok(())
}
