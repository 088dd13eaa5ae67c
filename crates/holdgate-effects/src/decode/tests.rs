use super::*;
use flate2::Compression;
use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

#[test]
fn base64_is_read_as_the_most_permissive_decoder_reads_it() {
    let check = |text: &str, bytes: &[u8]| {
        assert_eq!(base64(text).as_deref(), Some(bytes), "{text}");
    };
    check("cm0gLXJmIH4=", b"rm -rf ~");
    check("cm0g\nLXJm IH4", b"rm -rf ~");
    check("_-8", &[0xff, 0xef]);
    // Python, PHP and Node skip what is not base64 and padding in the wrong place.
    check("cm0!gLX\u{fffc}JmIH4", b"rm -rf ~");
    check("=cm=0gLXJmIH4", b"rm -rf ~");
    // They drop a letter that is not even one byte.
    check("cm0gLXJmIH4xQ", b"rm -rf ~1");
    // `base64 -d` goes on after the padding.
    check("aWQ=cm0gLXJmIH4=", b"idrm -rf ~");
    check("aQ==cm0gLXJmIH4", b"irm -rf ~");
    for nothing in ["", "a", "=", "!?"] {
        assert_eq!(base64(nothing), None, "{nothing}");
    }
}

#[test]
fn exact_base64_has_nothing_else_in_it() {
    assert_eq!(base64_exact("aGVsbG8=").unwrap(), b"hello");
    assert_eq!(base64_exact("aGVs\nbG8").unwrap(), b"hello");
    assert_eq!(base64_exact("").unwrap(), b"");
    for wrong in ["a b", "aGVsbG8=aGVsbG8=", "a", "aGVs!bG8"] {
        assert_eq!(base64_exact(wrong), None, "{wrong}");
    }
}

#[test]
fn other_encodings_are_read() {
    let check = |text: &str, bytes: Option<&[u8]>| {
        assert_eq!(hex(text).as_deref(), bytes, "{text}");
    };
    for text in ["726d", "0x72 0x6d", "\\x72\\x6d", "72:6D", "72,6d", "726d2"] {
        check(text, Some(b"rm"));
    }
    check("rm", None);
    check("726d zz", None);
    check("7", None);
    assert_eq!(
        base32("OJWSALLSMYQH4===").as_deref(),
        Some(&b"rm -rf ~"[..])
    );
    assert_eq!(base32("1"), None);
    assert_eq!(rot13("ez -es"), "rm -rf");
    assert_eq!(percent("%72m%2"), "rm%2");
    assert_eq!(percent("%ff"), "\u{ff}");
    // Nothing that was decoded pretends to be unknown.
    assert_eq!(percent("%ef%bf%bc"), "\u{fffd}");
    assert_eq!(utf16(b"r\0m\0"), "rm");
    assert_eq!(utf16(b"r\0m\0x"), "rm");
}

fn read(mut reader: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn compressed_text_is_read_and_bounded() {
    let text = &b"rm -rf ~"[..];
    let gzip = read(GzEncoder::new(text, Compression::default()));
    let zlib = read(ZlibEncoder::new(text, Compression::default()));
    let raw = read(DeflateEncoder::new(text, Compression::default()));
    for packed in [&gzip, &zlib, &raw] {
        assert_eq!(inflate(packed).as_deref(), Some(text));
    }
    // Two files in a row, and one whose checksum is damaged: `zcat` prints both.
    let twice = [gzip.clone(), gzip.clone()].concat();
    assert_eq!(inflate(&twice).unwrap(), [text, text].concat());
    let mut damaged = gzip;
    let at = damaged.len() - 6;
    damaged[at] ^= 1;
    assert_eq!(inflate(&damaged).as_deref(), Some(text));
    assert_eq!(inflate(b"plain"), None);

    let bomb = vec![b'a'; MAX_DECODED * 4];
    let bomb = inflate(&read(GzEncoder::new(&bomb[..], Compression::default()))).unwrap();
    assert_eq!(bomb.len(), MAX_DECODED + 1);
    // What was left out is unknown.
    assert!(text_of(bomb).ends_with("aaa\u{fffc}"));
}

proptest! {
    #[test]
    fn decoders_take_anything(text in any::<String>(), bytes in any::<Vec<u8>>()) {
        let _ = (base64(&text), base64_exact(&text), base32(&text), hex(&text), percent(&text));
        let _ = (inflate(&bytes), utf16(&bytes));
        prop_assert_eq!(rot13(&rot13(&text)), text);
        prop_assert_eq!(bytes_of(&text_of(bytes.clone())).len() <= bytes.len(), true);
    }

    #[test]
    fn what_is_exact_is_read_alike(text in "[A-Za-z0-9+/_-]{2,40}") {
        if let Some(bytes) = base64_exact(&text) {
            prop_assert_eq!(base64(&text), Some(bytes));
        }
    }

    #[test]
    fn hex_is_undone(bytes in proptest::collection::vec(any::<u8>(), 1..50)) {
        let text: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        prop_assert_eq!(hex(&text), Some(bytes));
    }
}
