//! What is read can be written, and means the same when it is read again.
#![no_main]

use holdgate_effects::json::{Json, LoneSurrogates};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(json) = Json::read(bytes, 64, LoneSurrogates::Refuse) {
        let text = json.text();
        assert_eq!(
            Json::read(text.as_bytes(), 64, LoneSurrogates::Refuse).as_ref(),
            Ok(&json)
        );
        assert_eq!(json.clone().into_owned(), json);
    }
    let _ = Json::read(bytes, 64, LoneSurrogates::Replace);
});
