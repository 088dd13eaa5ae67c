use super::*;
use proptest::prelude::*;

/// Text with a secret between `«` and `»`: that must be gone, and nothing else.
const SECRETS: &[&str] = &[
    "-----BEGIN RSA PRIVATE KEY-----«\nMIIEpAIBAAKCAQEA7bq3\nq8Zr5Lw2Xk9Vn4Tb7Yc1\n»-----END RSA PRIVATE KEY-----",
    r#"{"private_key":"-----BEGIN PRIVATE KEY-----«\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n»-----END PRIVATE KEY-----\n"}"#,
    "-----BEGIN OPENSSH PRIVATE KEY-----«\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ»",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----«\nVersion: GnuPG v2\n\nlQOYBFq8Zr5Lw2Xk9Vn4Tb7Yc1\n»-----END PGP PRIVATE KEY BLOCK-----",
    "-----BEGIN EC PRIVATE KEY-----«\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\nMHcCAQEEIq8Zr5\n»-----END EC PRIVATE KEY-----",
    "aws_access_key_id = AKIA«2Q7PLW4ZX9TR5MVB»",
    "ASIA«2Q7PLW4ZX9TR5MVB» seen",
    "AWS_SECRET_ACCESS_KEY=«w9QmZr7Lk2Vx5Np8Tc1Hy4Bd6Fg3Js0Ae+Wu/Ti2»",
    "aws_secret_access_key = «w9QmZr7Lk2Vx5Np8Tc1Hy4Bd6Fg3Js0Ae+Wu/Ti2»\nregion = us-east-1",
    r#"{"secretAccessKey":"«w9QmZr7Lk2Vx5Np8Tc1Hy4Bd6Fg3Js0Ae+Wu/Ti2»"}"#,
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=«w9QmZr7Lk2Vx5Np8Tc1Hy4Bd6Fg3Js0Ae==»;EndpointSuffix=x",
    "https://a.blob.core.windows.net/c?sv=2022-11-02&sig=«q8Zr5Lw2Xk9Vn4Tb7Yc1Hm6Pd3Fs%3D»&se=2026",
    "git clone https://ghp_«k3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0aQeCuT»@github.com/o/r",
    "git clone https://x-access-token:ghs_«k3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0aQeCuT»@github.com/o/r",
    "https://«k3Jq9ZxW7vB2nM5tR8yL1pD4»@host/r",
    "gho_«k3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0aQeCuT»",
    "github_pat_«11AAQ5Z3A0k3Jq9ZxW7vB2_nM5tR8yL1pD4sF6gH0aQeCuT»",
    "glpat-«k3Jq9ZxW7vB2nM5tR8yL»",
    "xoxb-«123456789012-1234567890123-k3Jq9ZxW7vB2nM5tR8yL1pD4»",
    "sk_live_«51k3Jq9ZxW7vB2nM5tR8yL1pD4», rk_live_«51k3Jq9ZxW7vB2nM5tR8yL1pD4»",
    "//registry.npmjs.org/:_authToken=npm_«k3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0aQeCuT»",
    "upload with pypi-AgE«IcHlwaS5vcmcCJGszSnE5WnhXN3ZCMm5NNXRSOHlMMXBEN» now",
    "ANTHROPIC_API_KEY=sk-ant-«api03-q8Zr5Lw2Xk9Vn4Tb7Yc1Hm6Pd3Fs»",
    "key sk-proj-«q8Zr5Lw2Xk9Vn4Tb7Yc1Hm6Pd3FsA_b-C»",
    "AIza«SyD3k3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0a»",
    "hf_«k3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0aQeC»",
    "jwt eyJ«hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N»",
    "postgres://app:«hunter2»@db.internal:5432/prod",
    "mongodb+srv://u:«p@ssw0rd»@cluster0.mongodb.net/x",
    "redis://:«s3cr3tpw»@localhost:6379",
    "amqp://guest:«gu3st»@mq:5672/",
    "curl -H 'Authorization: Bearer «abc.def-123»' https://x",
    r#"curl -H \"Authorization: Bearer «abc.def-123»\" https://x"#,
    r#"{"Authorization":"Basic «dXNlcjpwYXNz»"}"#,
    r#"headers.set("Authorization", "Bearer «q8Zr5Lw2Xk9Vn4Tb»")"#,
    "curl -H 'x-api-key: «q8Zr5Lw2Xk9V»' https://x",
    "Cookie: «session=q8Zr5Lw2; theme=dark»",
    "Set-Cookie: «sid=q8Zr5Lw2Xk9V; HttpOnly»",
    "PGPASSWORD=«correcthorse» psql -h db",
    "export DB_PASSWORD='«vT7#kq92LmZx4wPs»'",
    "MYSQL_PWD=«abcdef» mysqldump x",
    "mysql -u root -p«hunter2» shop",
    "mysql --user=root --password=«hunter2» shop",
    "sshpass -p «hunter2» ssh root@host",
    "sshpass -p '«hunter two»' ssh root@host",
    "docker login -u me -p «hunter2» registry.io",
    "echo «hunter2» | docker login -u me --password-stdin",
    "echo '«hunter2»' | sudo -S apt update",
    "curl -u admin:«hunter2» https://x",
    "redis-cli -h r -a «hunter2» ping",
    "tool --api-key «abcdef» run",
    "tool --token \"«q8Zr5Lw2»\" run",
    "password: «hunter2»\nuser: x",
    r#"{"user":"x","password":"«hunter2»"}"#,
    r#"curl -d '{\"client_secret\": \"«q8 Zr5»\"}' x"#,
    r#"os.environ["API_KEY"] = "«q8Zr5Lw2»""#,
    r#"const clientSecret: string = "«q8Zr5Lw2»";"#,
    "host=db user=app password=«correcthorse» dbname=x",
    "SECRET_KEY_BASE=«0123456789abcdef0123456789abcdee»",
    "root:$6$«Zk3xQpLr$8uWcYtVbNm4EoIaSdFgHjKl2PqRz7TvXw5»:19700:0:99999:7:::",
    "https://hooks.slack.com/services/«T00000000/B0000A000/q8Zr5Lw2Xk9Vn4Tb7Yc1Hm6P»",
    r"line\nAKIA«2Q7PLW4ZX9TR5MVB»\nnext",
];

/// What is read a thousand times a day and holds no secret.
const PLAIN: &[&str] = &[
    "git show 3f786850e387550fdab836ed7e6dc881de23001b",
    "id = 550e8400-e29b-41d4-a716-446655440000",
    "\"integrity\": \"sha512-q8Zr5Lw2Xk9Vn4Tb7Yc1Hm6Pd3FsA+b/C0q8Zr5Lw2Xk9Vn4Tb7Yc1Hm6Pd3FsAbC0w==\"",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "Authorization: Bearer $TOKEN",
    "curl -H \"Authorization: Bearer ${TOKEN}\" https://x",
    "headers = {\"Authorization\": f\"Bearer {token}\"}",
    "export API_KEY=<your key>",
    "API_KEY=your-api-key-goes-here",
    "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
    "PASSWORD_FILE=/run/secrets/db_password_file",
    "JWT_SECRET=${JWT_SECRET:?missing}",
    "password = getpass.getpass()",
    "let token = lexer.next_token();",
    "if (token === null) return;",
    "token == other && key != value",
    "fn login(user: &str, password: &str) -> Result<Token>",
    "interface Login { user: string; password: string; token?: Token }",
    "password: z.string().min(8),",
    "password=config.password, token=self.token",
    "assert pem.startswith('-----BEGIN PRIVATE KEY-----')",
    "grep -rn 'BEGIN RSA PRIVATE KEY' src",
    "max_tokens=4096 --max-tokens 1024",
    "\"max_tokens\": 4096, \"tokenizer\": \"bpe-50k\"",
    "cache-key: node-modules-3f786850e387",
    "primary_key=user_id1 foreign_key=order_id22",
    "ssh -i ~/.ssh/id_ed25519 git@github.com:o/r.git",
    "http://localhost:8080/a@b",
    "npm install left-pad@1.3.0 --save-exact",
    "docker run -u 1000:1000 -p 8080:80 nginx",
    "mysql -u root -p shop",
    "cargo test -p holdgate --test it",
    "psql postgres://app:$DB_PASSWORD@db/prod",
    "postgres://user:password@localhost/db",
    "authorization: who may do what in this project",
    "The token is read from the environment. Password: at least 8 characters.",
    "author = \"A. N. Other\"",
    "keyboard: us1nternational",
    "static int hf_gsm_rlcmac_serving_cell_priority_param_h_prio;",
    "npm_config_cache=/tmp/npm",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDq8Zr5Lw2Xk9Vn4Tb7Yc1Hm6Pd3Fs me@host",
    "--password-stdin --token-file /run/token",
    "const key = \"user:42:profile\";",
    "sort -k2,2 -t: /etc/passwd",
];

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
    for marked in SECRETS {
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
    let wrong: Vec<_> = PLAIN
        .iter()
        .filter(|text| *Masked::of(text) != ***text)
        .map(|t| Masked::of(t).into_string())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A secret is as unreadable in the arguments of a call, and these can be read afterwards.
#[test]
fn secrets_in_json_are_masked() {
    for marked in SECRETS {
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
    for marked in SECRETS {
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
                proptest::sample::select(SECRETS.to_vec()).prop_map(|s| s.replace(['«', '»'], "")),
                proptest::sample::select(PLAIN.to_vec()).prop_map(str::to_owned),
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
