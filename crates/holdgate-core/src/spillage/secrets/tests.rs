use super::*;
use crate::spillage::examine as values;
use crate::spillage::examine;
use crate::verdict::Verdict;
use proptest::prelude::*;

/// Draws characters by a linear congruential generator: keys that are valid in form and open nothing.
struct Lot(u64);

impl Lot {
    fn draw(&mut self, alphabet: &str, len: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        let mut one = || {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            letters[usize::try_from(self.0 >> 33).unwrap() % letters.len()]
        };
        (0..len).map(|_| one()).collect()
    }
}

const ALL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const CAPS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn blocked(text: &str, path: Option<&str>) -> Vec<&'static str> {
    let spills = examine(text, path).into_iter();
    spills
        .filter(|spill| spill.verdict == Verdict::Block)
        .map(|spill| spill.rule)
        .collect()
}

/// A table of CRC-32 by bits, not the library that the code uses.
fn crc32(text: &str) -> u32 {
    !text.bytes().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & 0u32.wrapping_sub(sum & 1))
        })
    })
}

fn github_token(lot: &mut Lot) -> String {
    let digits: Vec<char> = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        .chars()
        .collect();
    let random = lot.draw(ALL, 30);
    let mut sum = crc32(&random);
    let mut end = Vec::new();
    for _ in 0..6 {
        end.push(digits[sum as usize % 62]);
        sum /= 62;
    }
    format!("ghp_{random}{}", end.iter().rev().collect::<String>())
}

/// An expression that cannot be made would find nothing.
#[test]
fn every_expression_can_be_made() {
    let scanner = scan::scanner().unwrap();
    assert_eq!(scanner.broken(), [""; 0]);
}

#[test]
fn tokens_are_known_by_their_forms() {
    let lot = &mut Lot(14);
    let cases = [
        ("github-token", github_token(lot)),
        (
            "github-token",
            format!("github_pat_{}_{}", lot.draw(ALL, 22), lot.draw(ALL, 59)),
        ),
        ("gitlab-token", format!("glpat-{}", lot.draw(ALL, 20))),
        ("aws-access-key", format!("AKIA2{}", lot.draw(CAPS, 15))),
        (
            "azure-client-secret",
            format!("a1B8Q~{}", lot.draw(ALL, 34)),
        ),
        (
            "slack-token",
            format!(
                "xoxb-{}-{}-{}",
                lot.draw("0123456789", 12),
                lot.draw("0123456789", 12),
                lot.draw(ALL, 24)
            ),
        ),
        ("stripe-key", format!("sk_live_{}", lot.draw(ALL, 24))),
        ("npm-token", format!("npm_{}", lot.draw(ALL, 36))),
        (
            "pypi-token",
            format!("pypi-AgEIcHlwaS5vcmc{}", lot.draw(ALL, 80)),
        ),
        ("openai-key", format!("sk-proj-{}", lot.draw(ALL, 120))),
        (
            "anthropic-key",
            format!("sk-ant-api03-{}AA", lot.draw(ALL, 93)),
        ),
        ("huggingface-token", format!("hf_{}", lot.draw(ALL, 34))),
        (
            "telegram-token",
            format!("{}:AA{}", lot.draw("123456789", 10), lot.draw(ALL, 33)),
        ),
        (
            "sendgrid-key",
            format!("SG.{}.{}", lot.draw(ALL, 22), lot.draw(ALL, 43)),
        ),
        (
            "digitalocean-token",
            format!("dop_v1_{}", lot.draw(HEX, 64)),
        ),
        ("databricks-token", format!("dapi{}", lot.draw(HEX, 32))),
    ];
    for (rule, token) in cases {
        for text in [
            token.clone(),
            format!("the key is {token}."),
            format!("x\\n{token}\\ny"),
            format!("a=1&t%3D{token}&b"),
        ] {
            let spills = examine(&text, None);
            assert_eq!(blocked(&text, None), [rule], "{text}");
            assert_eq!(text.get(spills[0].range.clone()), Some(token.as_str()));
        }
        // One letter more is another thing, or a longer token.
        let longer = examine(&format!("z{token}"), None);
        assert!(longer.iter().all(|spill| spill.rule == rule), "{token}");
    }
}

#[test]
fn a_checksum_makes_it_sure_even_in_a_test() {
    let token = github_token(&mut Lot(7));
    let path = Some("tests/fixtures/login.json");
    assert_eq!(blocked(&token, path), ["github-token"]);
    let mut wrong = token.clone();
    wrong.replace_range(
        10..11,
        if token.get(10..11) == Some("a") {
            "b"
        } else {
            "a"
        },
    );
    assert!(blocked(&wrong, path).is_empty(), "only asked about");
    assert_eq!(blocked(&wrong, Some("src/main.rs")), ["github-token"]);
}

#[test]
fn a_token_goes_with_the_hosts_that_issued_it() {
    let text = format!("GITHUB_TOKEN={}", github_token(&mut Lot(3)));
    let spills = examine(&text, Some(".env"));
    assert!(spills[0].issuers.contains(&"github.com"));
    let text = format!("DD_API_KEY={}", Lot(4).draw(HEX, 32));
    let spills = examine(&text, None);
    assert_eq!(
        (spills[0].rule, spills[0].issuers[0]),
        ("datadog-key", "datadoghq.com")
    );
}

#[test]
fn logins_are_known_by_where_they_stand() {
    for text in [
        "postgres://app:Kx9vLm2qTz8@db.corp.acme.io:5432/app",
        "curl -u deploy:Kx9vLm2qTz8 https://ci.acme.io/job",
        "curl -X POST https://api.acme.io \\\n  -u deploy:Kx9vLm2qTz8",
        "curl -H 'Authorization: Bearer Kx9vLm2qTz8aPw4e' https://api.acme.io",
        "Authorization: Basic YWRtaW46S3g5dkxtMnFUejg=",
        "machine git.acme.io login dev password Kx9vLm2qTz8",
        "Server=db.acme.io;Database=app;User Id=sa;Password=Kx9vLm2qTz8;",
        "aws_secret_access_key = w9QmZr7Lk2Vx5Np8Tc1Hy4Bd6Fg3Js0Ae+Wu/Ti2",
        "{\"auths\":{\"r.acme.io\":{\"auth\":\"YWRtaW46S3g5dkxtMnFUejg=\"}}}",
        "apiVersion: v1\nkind: Secret\ndata:\n  password: S3g5dkxtMnFUejg=\n",
    ] {
        assert!(!blocked(text, None).is_empty(), "{text}");
    }
}

/// A name before a key that browsers get to see, or before the JWT of every document, says nothing.
#[test]
fn a_form_knows_better_than_the_name_before_it() {
    let lot = &mut Lot(9);
    let key = format!("AIza{}", lot.draw(ALL, 35));
    assert_eq!(
        blocked(&format!("GEMINI_API_KEY={key}"), None),
        ["google-api-key"]
    );
    let web = format!("apiKey: \"{key}\",\nauthDomain: \"shop.firebaseapp.com\"");
    assert!(blocked(&web, None).is_empty());
    let claims = "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0";
    let jwt = format!("eyJhbGciOiJIUzI1NiJ9.{claims}.{}", lot.draw(ALL, 43));
    assert!(blocked(&format!("token = \"{jwt}\""), None).is_empty());
    assert_eq!(values(&format!("token = \"{jwt}\""), None).len(), 1);
}

#[test]
fn a_password_in_a_sentence_is_found() {
    let found = blocked("FYI the root password of db3 is Kx9vLm2qTz8. Bye", None);
    assert_eq!(found, ["told-secret"]);
    for text in [
        "the password is required since version 2024",
        "the token limit was raised to 128000 tokens",
        "the api key is read from config.api_key_v2",
    ] {
        assert!(blocked(text, None).is_empty(), "{text}");
    }
}

#[test]
fn what_is_no_secret_is_let_out() {
    for text in [
        "postgres://user:password@localhost:5432/app",
        "postgres://app:$DB_PASSWORD@db.acme.io/app",
        "curl -u user:pass https://example.com",
        "curl -H \"Authorization: Bearer $TOKEN\" https://api.acme.io",
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "STRIPE_KEY=sk_test_your_key_here_please_1",
        "api_key = os.environ['OPENAI_API_KEY']",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "integrity sha512-q8Zr5Lw2Xk9Vn4Tb7Yc1Hm6Pd3FsA+b/C0q8Zr5Lw2Xk9Vn4Tb7Yc1Hm6Pd3FsAbC0w==",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "password: z.string().min(8).max(64)",
        "csrf-token=Mj2qykJO5rELyHgezQ69nzUX0i3OH67V7V4eUrLfpuyOuxmiW9rhROG",
        "-----BEGIN PUBLIC KEY-----\nMFkwccTLIxAOpEDAhF22GlAcIbea3tdZR5twdwAxq6sYTyavUT5Kb14BPxw5f6W3\n-----END PUBLIC KEY-----",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "apiVersion: v1\nkind: Secret\nstringData:\n  password: ${DB_PASSWORD}\n",
    ] {
        assert!(
            blocked(text, None).is_empty(),
            "{text}: {:?}",
            blocked(text, None)
        );
    }
}

#[test]
fn random_values_of_variables_are_followed() {
    let text = "# local\nAPP_NAME=shop\nexport SALT=\"q8Zr5Lw2Xk9Vn4Tb\"\nGIT_COMMIT=3f786850e387550fdab8\nMODE=debug\n";
    let found = values(text, Some("deploy/.env"));
    let shown: Vec<_> = found
        .iter()
        .map(|spill| text.get(spill.range.clone()).unwrap())
        .collect();
    assert_eq!(shown, ["q8Zr5Lw2Xk9Vn4Tb"]);
    // As agents' tools show a file.
    let text =
        "     1\u{2192}# local\n     2\u{2192}SALT=q8Zr5Lw2Xk9Vn4Tb\n     3\u{2192}MODE=debug\n";
    let found = values(text, Some("deploy/.env"));
    assert_eq!(found.len(), 1);
    assert_eq!(text.get(found[0].range.clone()), Some("q8Zr5Lw2Xk9Vn4Tb"));
    assert!(values("let salt = q8Zr5Lw2Xk9Vn4Tb;\nfn main() {}\n", None).is_empty());
}

#[test]
fn what_is_shown_of_a_secret_is_masked() {
    let token = github_token(&mut Lot(5));
    let text = format!("[remote]\nurl = x, second = {token} and more");
    let spills = examine(&text, None);
    assert_eq!(spills.len(), 1);
    let evidence = spills[0].finding(&text).evidence.unwrap();
    assert_eq!(*evidence, *"url = x, second = [masked]");
}

#[test]
fn large_hostile_texts_cost_no_more_than_they_are_long() {
    for part in [
        "eyJ-",
        "eyJhbGci.",
        "sk-",
        "ghp_",
        "key=",
        "://a:b@",
        "-----BEGIN PRIVATE KEY-----\n",
        "Q~",
        ":AA",
        "curl -u ",
        "Private-Lines: ",
        "\u{e9}AKIA",
    ] {
        let text = part.repeat((1 << 18) / part.len());
        let found = examine(&text, None);
        assert!(found.len() <= MAX_SECRETS + 1, "{part}");
    }
}

proptest! {
    #[test]
    fn examining_is_total_and_ranges_are_in_the_text(
        parts in proptest::collection::vec(
            prop_oneof![
                proptest::sample::select(vec![
                    "ghp_", "AKIA", "eyJ", "Q~", ":AA", "://", "@", "password=", "token: ", "\"auth\": \"", "Bearer ", "kind: Secret\n",
                    "curl -u ", "\n", "export A=", "é", "\u{1F511}", "-----BEGIN PRIVATE KEY-----", ":5432:", "datadog_key=", "%3D", "\\",
                ]).prop_map(str::to_owned),
                "[A-Za-z0-9+/=_.-]{0,48}",
                ".{0,8}",
            ],
            0..12,
        ),
        path in proptest::option::of("[a-z./]{0,20}"),
    ) {
        let text = parts.concat();
        for spill in examine(&text, path.as_deref()) {
            prop_assert!(text.get(spill.range.clone()).is_some_and(|value| !value.is_empty()));
        }
        let _ = values(&text, path.as_deref());
    }
}
