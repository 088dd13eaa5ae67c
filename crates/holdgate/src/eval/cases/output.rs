//! What an agent printed, as a case writes it.

use super::Subject;
use holdgate_effects::decode::base64_exact;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct OutputLine {
    text: Option<String>,
    chunks: Option<Vec<String>>,
    chunks_b64: Option<Vec<String>>,
}

pub(super) fn read_output(line: OutputLine) -> Result<Subject, String> {
    let pieces = match (line.text, line.chunks, line.chunks_b64) {
        (Some(text), None, None) => vec![text.into_bytes()],
        (None, Some(chunks), None) => chunks.into_iter().map(String::into_bytes).collect(),
        (None, None, Some(chunks)) => chunks
            .iter()
            .map(|chunk| base64_exact(chunk).ok_or("`chunks_b64` is not base64"))
            .collect::<Result<Vec<_>, _>>()?,
        _ => return Err("`output` must have one of text, chunks, chunks_b64".to_owned()),
    };
    Ok(Subject::Output(pieces))
}
