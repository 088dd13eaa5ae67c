use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;

/// What must be masked, and what must not.
#[derive(serde::Deserialize)]
struct Texts {
    secrets: Vec<String>,
    plain: Vec<String>,
}

static TEXTS: LazyLock<Texts> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("tests.yaml")).unwrap());

fn split(marked: &str) -> (String, Vec<String>, String) {
    let plain = marked.replace(['«', '»'], "");
    let mut secrets = Vec::new();
    let mut expected = String::new();
    let mut rest = marked;
    while let Some((before, after)) = rest.split_once('«') {
        let (secret, after) = after.split_once('»').unwrap();
        secrets.push(secret.to_owned());
        expected.push_str(before);
        expected.push_str(MASK);
        rest = after;
    }
    (plain, secrets, expected + rest)
}

#[test]
fn secrets_are_masked_and_the_rest_stays() {
    let mut wrong = Vec::new();
    for marked in &TEXTS.secrets {
        let (plain, _, expected) = split(marked);
        let masked = Masked::of(&plain);
        if *masked != expected {
            wrong.push(format!("{plain}\n  {masked}\n  {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_no_secret_stays() {
    let wrong: Vec<_> = TEXTS
        .plain
        .iter()
        .filter(|text| *Masked::of(text) != ***text)
        .map(|t| Masked::of(t).into_string())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A secret is as unreadable in the arguments of a call, and these can be read afterwards.
#[test]
fn secrets_in_json_are_masked() {
    for marked in &TEXTS.secrets {
        let (plain, secrets, _) = split(marked);
        let call = Json::object([("command", plain.as_str().into()), ("timeout", 5u64.into())]);
        let masked = Masked::json_text(&call.text());
        assert!(
            Json::read(masked.as_bytes(), 128, LoneSurrogates::Refuse).is_ok(),
            "{masked}"
        );
        for secret in secrets {
            let escaped = Json::from(secret.clone()).text();
            assert!(!masked.contains(escaped.trim_matches('"')), "{masked}");
            assert!(!masked.contains(&secret), "{masked}");
        }
    }
}

#[test]
fn the_key_says_what_a_value_is() {
    let check = |text: &str, expected: &str| assert_eq!(&*Masked::json_text(text), expected);
    check(
        r#"{"password":"correct horse","a":1}"#,
        r#"{"password":"correct horse","a":1}"#,
    );
    check(r#"{"password":"horse"}"#, r#"{"password":"[masked]"}"#);
    check(r#"{"password":123456}"#, r#"{"password":"[masked]"}"#);
    check(
        r#"{"token":"ident","key":"Enter","max_tokens":9}"#,
        r#"{"token":"ident","key":"Enter","max_tokens":9}"#,
    );
    check(
        r#"{"env":[{"name":"DB_PASSWORD","value":"horse"}]}"#,
        r#"{"env":[{"name":"DB_PASSWORD","value":"[masked]"}]}"#,
    );
    check(
        r#"["tool","--password","horse","-v"]"#,
        r#"["tool","--password","[masked]","-v"]"#,
    );
    check(
        r#"{"headers":{"Authorization":"Bearer horse1"}}"#,
        r#"{"headers":{"Authorization":"Bearer [masked]"}}"#,
    );
    // No key comes twice.
    let [a, b] = ["q", "r"].map(|c| format!("ghp_{c}3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0aQeCuT"));
    check(
        &format!(r#"{{"{a}":1,"{b}":2}}"#),
        r#"{"ghp_[masked]":1,"ghp_[masked] 1":2}"#,
    );
    check(
        "not json ghp_k3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0aQeCuT",
        r#""not json ghp_[masked]""#,
    );
}

/// However a text is cut, no part of a secret that is longer than a few characters is left.
#[test]
fn a_cut_leaves_no_half_of_a_secret() {
    for marked in &TEXTS.secrets {
        let (plain, secrets, _) = split(marked);
        let text = format!("{} {plain} {}", "word ".repeat(20), "more ".repeat(4000));
        for most in (100..200).step_by(9) {
            let start = Masked::start(&text, most);
            let end = Masked::end(&format!("{plain} {}", "x ".repeat(50)), most);
            for secret in &secrets {
                let half: String = secret.chars().take(6).collect();
                assert!(!start.contains(&half), "{start}");
                assert!(!end.contains(secret), "{end}");
            }
        }
    }
}

/// A window full of secrets shrinks; what its end cuts must not show.
#[test]
fn a_window_that_shrinks_shows_no_cut_secret() {
    let token = "postgres://app:q8Zr5Lw2Xk9Vn4Tb7Yc1Hm6Pd3Fs@db ";
    let start = Masked::start(&token.repeat(1000), 400);
    assert!(!start.contains("q8Zr"), "{start}");
}

#[test]
fn a_secret_right_behind_another_is_masked_too() {
    let text = "npm_k3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0aQeCuTASIA2Q7PLW4ZX9TR5MVB seen";
    assert_eq!(*Masked::of(text), *"npm_[masked]ASIA[masked] seen");
}

#[test]
fn large_hostile_texts_cost_no_more_than_they_are_long() {
    let large = |text: &str| text.repeat((1 << 18) / text.len());
    for text in [
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n",
        "-----BEGIN PRIVATE KEY-----",
        "password=",
        "password=\"",
        "a://b:c",
        "a://b:c@",
        "curl ",
        "mysql -p",
        "echo a | ",
        "token: ",
        "eyJ",
        "key",
        "key=\\\"",
        "Authorization: ",
    ] {
        let text = large(text);
        assert!(Masked::of(&text).len() <= 2 * text.len());
    }
}

proptest! {
    #[test]
    fn masking_is_total_and_idempotent(
        parts in proptest::collection::vec(
            prop_oneof![
                proptest::sample::select(TEXTS.secrets.clone()).prop_map(|s| s.replace(['«', '»'], "")),
                proptest::sample::select(TEXTS.plain.clone()),
                proptest::sample::select(vec!["password=", "\"", "'", "\\", "[masked]", "@", "://", ":", " ", "\n", "token: ", "-p ", "Bearer ", "=", "é"]).prop_map(str::to_owned),
                ".{0,8}",
            ],
            0..6,
        ),
        most in 0usize..300,
    ) {
        let text = parts.concat();
        let once = Masked::of(&text);
        let twice = Masked::of(&once);
        prop_assert_eq!(&twice, &once, "{}", text);
        let _ = (Masked::start(&text, most), Masked::end(&text, most), Masked::json_text(&text));
    }
}
