//! How a stream is cut changes nothing in what its frames say; the first byte chooses the cut.
#![no_main]

use bytes::Bytes;
use holdgate_core::sse::{Decoder, fields};
use libfuzzer_sys::fuzz_target;

/// Names and data of all frames, and whether the stream could be read to its end.
fn read(bytes: &[u8], size: usize) -> (Vec<String>, bool) {
    let mut decoder = Decoder::new(1 << 16);
    let mut seen = Vec::new();
    for chunk in bytes.chunks(size) {
        let mut chunk = Bytes::copy_from_slice(chunk);
        loop {
            match decoder.next(&mut chunk) {
                Ok(Some(frame)) => seen.push(format!("{:?}", fields(&frame, seen.is_empty()))),
                Ok(None) => break,
                Err(_) => return (seen, false),
            }
        }
        assert!(decoder.kept() <= bytes.len());
    }
    (seen, true)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((size, bytes)) = bytes.split_first() else {
        return;
    };
    let cut = read(bytes, usize::from(*size) + 1);
    assert_eq!(cut, read(bytes, bytes.len().max(1)));
});
