//! A scripted model: answers what `scenarios.json` says, in the Anthropic Messages format, as `OpenAI`
//! Chat Completions, as Ollama or as Gemini, by the path of the request.
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
pub use model::{
    Step, StreamOptions, Turn, chat_message, chat_stream, gemini_list, gemini_message,
    gemini_stream, message, names, ollama_message, ollama_stream, scenario, stream,
};
pub use server::{Options, ScriptedModel};

use std::path::Path;

/// Writes the streams of all scenarios as seeds for the fuzzer, whose first two bytes are flags
/// and the size of chunks.
pub fn dump(dir: &Path) -> std::io::Result<()> {
    for name in names() {
        for (number, turn) in scenario(name).unwrap_or_default().iter().enumerate() {
            let options = StreamOptions::default();
            // The flags say which protocol it is.
            let streams = [
                (0, stream(turn, "m", 1, &options)),
                (4, chat_stream(turn, "m", 1, &options)),
                (8, ollama_stream(turn, "m", 1)),
                (16, gemini_stream(turn, "m", 1, &options)),
            ];
            for (flags, steps) in streams {
                let mut bytes = vec![flags, 64];
                for step in steps {
                    if let Step::Send(frame) = step {
                        bytes.extend_from_slice(&frame);
                    }
                }
                std::fs::write(dir.join(format!("{name}-{number}-{flags}")), bytes)?;
            }
        }
    }
    Ok(())
}
