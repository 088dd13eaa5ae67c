//! What the file says about a secret in it: a key in a test is mostly made up, a value in `.env` is
//! mostly real. Nothing here reads a disk: the caller hands over the path.
//! A label in the project, as in `.gitattributes`, would be a word of the agent: it says nothing here.

use crate::verdict::Verdict;

/// What kind of file a text is from, as far as secrets are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A file that is there to hold secrets: `.env`, `credentials`, `id_ed25519`.
    Secrets,
    /// Any other file, and texts that are from no file.
    Ordinary,
    /// Documents and translations.
    Document,
    /// Tests, fixtures, examples, and the code of others.
    Example,
    /// Lock files, sums, and what a program wrote without line ends: full of random letters.
    Digests,
}

/// How a secret is known, from the surest to the least sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// Its checksum is right.
    Checked,
    /// It has the form of one service's tokens.
    Exact,
    /// It stands where only a password stands: in a login, in a header.
    Login,
    /// A name says what it is, and it looks drawn by lot.
    Named,
    /// It may be one.
    Weak,
}

/// What is done about a secret that is known so, in such a file.
pub(super) fn verdict(evidence: Evidence, standing: Standing) -> Verdict {
    let by_evidence = match evidence {
        Evidence::Checked => [Verdict::Block; 5],
        Evidence::Exact => [
            Verdict::Block,
            Verdict::Block,
            Verdict::Block,
            Verdict::Ask,
            Verdict::Block,
        ],
        Evidence::Login | Evidence::Named => [
            Verdict::Block,
            Verdict::Block,
            Verdict::Ask,
            Verdict::Audit,
            Verdict::Audit,
        ],
        Evidence::Weak => [
            Verdict::Ask,
            Verdict::Audit,
            Verdict::Audit,
            Verdict::Audit,
            Verdict::Audit,
        ],
    };
    let [secrets, ordinary, document, example, digests] = by_evidence;
    match standing {
        Standing::Secrets => secrets,
        Standing::Ordinary => ordinary,
        Standing::Document => document,
        Standing::Example => example,
        Standing::Digests => digests,
    }
}

/// Names of folders, in lower case.
#[rustfmt::skip]
const EXAMPLE_FOLDERS: &[&str] = &[
    "test", "tests", "__tests__", "testdata", "test-data", "test_data", "testing", "testutil", "spec", "specs",
    "fixture", "fixtures", "__fixtures__", "mock", "mocks", "__mocks__", "stub", "stubs", "cassettes",
    "snapshots", "__snapshots__", "e2e", "example", "examples", "sample", "samples", "demo", "demos", "bench", "benches", "benchmarks",
    "vendor", "vendored", "third_party", "third-party", "node_modules", "site-packages", "dist-packages",
];
#[rustfmt::skip]
const DOCUMENT_FOLDERS: &[&str] = &[
    "doc", "docs", "documentation", "man", "manual", "locale", "locales", "i18n", "l10n", "translations", "lang",
];
/// How the names of examples end, or what stands between their points.
#[rustfmt::skip]
const EXAMPLE_PARTS: &[&str] = &[
    "example", "sample", "template", "tmpl", "tpl", "dist", "defaults", "test", "tests", "spec", "fixture", "mock", "snap",
];
#[rustfmt::skip]
const DIGEST_NAMES: &[&str] = &[
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "cargo.lock", "poetry.lock",
    "uv.lock", "pdm.lock", "pipfile.lock", "composer.lock", "gemfile.lock", "go.sum", "mix.lock", "flake.lock",
    "podfile.lock", "packages.lock.json", "bun.lock", "deno.lock", "pubspec.lock", "package.resolved", ".terraform.lock.hcl",
    "known_hosts", ".secrets.baseline",
];
const DIGEST_ENDS: &[&str] = &[
    ".min.js", ".min.css", ".map", ".sha256", ".sha512", ".sha1", ".md5", ".sum", ".svg", ".lock",
];
#[rustfmt::skip]
const SECRET_NAMES: &[&str] = &[
    "credentials", "credentials.json", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials",
    ".dockercfg", "kubeconfig", "shadow", ".htpasswd", ".my.cnf", "wp-config.php", "master.key", "secrets",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "config.json.enc", "application_default_credentials.json",
];
const SECRET_ENDS: &[&str] = &[
    ".env",
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".ppk",
    ".jks",
    ".keystore",
    ".tfvars",
    ".tfstate",
    ".kdbx",
    ".ovpn",
];

/// What kind of file `path` is, by its name and its folders.
pub fn standing(path: &str) -> Standing {
    let path = path.replace('\\', "/").to_lowercase();
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let folders: Vec<&str> = parts.collect();
    let is_in = |list: &[&str]| folders.iter().any(|folder| list.contains(folder));
    let ends = |list: &[&str]| list.iter().any(|end| name.ends_with(end));
    if DIGEST_NAMES.contains(&name) || ends(DIGEST_ENDS) {
        Standing::Digests
    } else if is_example(name) || is_in(EXAMPLE_FOLDERS) {
        Standing::Example
    } else if SECRET_NAMES.contains(&name)
        || ends(SECRET_ENDS)
        || name.starts_with(".env")
        || name.starts_with("secrets.")
    {
        Standing::Secrets
    } else if is_in(DOCUMENT_FOLDERS) || ends(&[".po", ".pot", ".xliff"]) {
        Standing::Document
    } else {
        Standing::Ordinary
    }
}

/// `.env.example`, `test_login.py`, `login_test.go`, `login.spec.ts`.
fn is_example(name: &str) -> bool {
    let stem = name
        .trim_start_matches('.')
        .split('.')
        .next()
        .unwrap_or_default();
    let mut inner = name.split('.').skip(1);
    inner.any(|part| EXAMPLE_PARTS.contains(&part))
        || stem.starts_with("test_")
        || [
            "_test", "_tests", "_spec", "-example", "_example", "-sample", "_sample",
        ]
        .iter()
        .any(|end| stem.ends_with(end))
        || matches!(
            stem,
            "conftest" | "tests" | "test" | "testdata" | "fixtures" | "example"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_what_its_keys_are() {
        let is = |path, expected| assert_eq!(standing(path), expected, "{path}");
        is("/home/dev/app/.env", Standing::Secrets);
        is(".env.production", Standing::Secrets);
        is("deploy/prod.tfvars", Standing::Secrets);
        is("/home/dev/.ssh/id_ed25519", Standing::Secrets);
        is(".env.example", Standing::Example);
        is("config/settings.sample.yaml", Standing::Example);
        is("src/login.test.ts", Standing::Example);
        is("tests/fixtures/key.pem", Standing::Example);
        is("pkg/auth/token_test.go", Standing::Example);
        is("C:\\app\\Tests\\Key.pem", Standing::Example);
        is("web/package-lock.json", Standing::Digests);
        is("static/app.min.js", Standing::Digests);
        is("docs/setup.md", Standing::Document);
        is("README.md", Standing::Ordinary);
        is("src/latest.rs", Standing::Ordinary);
        is("contest/main.py", Standing::Ordinary);
    }
}
