//! No byte is lost or invented, however the stream is cut; the first byte chooses the cut.
#![no_main]

use bytes::Bytes;
use holdgate_core::sse::{Decoder, Piece, fields};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((size, bytes)) = bytes.split_first() else {
        return;
    };
    let mut decoder = Decoder::new(1 << 16);
    let mut seen = Vec::new();
    for chunk in bytes.chunks(usize::from(*size) + 1) {
        let mut chunk = Bytes::copy_from_slice(chunk);
        loop {
            match decoder.next(&mut chunk) {
                Ok(Some(Piece::Frame(frame))) => {
                    let _ = fields(&frame, seen.is_empty());
                    seen.extend_from_slice(&frame);
                }
                Ok(Some(Piece::Tail(tail))) => seen.extend_from_slice(&tail),
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
    assert!(bytes.starts_with(&seen));
    assert_eq!(bytes.len() - seen.len(), decoder.kept());
});
