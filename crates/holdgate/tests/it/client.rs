//! What came through, in short. The client that assembles calls is the one that `eval` uses.

pub(crate) use holdgate::eval::client::{Assembled, all_calls, calls};
pub(crate) use holdgate::eval::readers::{events, fold_keys};

/// A response in short: blocks with their numbers, stop reason, errors.
pub(crate) fn summary(response: &[u8]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for event in events(response) {
        let index = &event["index"];
        match event["type"].as_str().unwrap_or_default() {
            "content_block_start" => {
                let block = &event["content_block"];
                let name = block["name"]
                    .as_str()
                    .map(|n| format!(" {n}"))
                    .unwrap_or_default();
                lines.push(format!(
                    "{index} {}{name}: ",
                    block["type"].as_str().unwrap_or("?")
                ));
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let said = ["text", "partial_json", "thinking"]
                    .iter()
                    .find_map(|key| delta[key].as_str());
                let line = lines
                    .iter_mut()
                    .rfind(|l| l.starts_with(&format!("{index} ")));
                line.expect("a delta has a block")
                    .push_str(said.unwrap_or_default());
            }
            "message_delta" => lines.push(format!(
                "stop {}",
                event["delta"]["stop_reason"].as_str().unwrap_or("-")
            )),
            "error" => lines.push(format!(
                "error {}",
                event["error"]["message"].as_str().unwrap_or("-")
            )),
            _ => {}
        }
    }
    lines
        .iter()
        .map(|line| {
            line.lines()
                .next()
                .unwrap_or_default()
                .trim_end()
                .to_owned()
        })
        .collect()
}
