//! Files by which tests and pipelines are set up, changed so that they pass whatever the source does: a run that
//! counts no failure, tests that are left out, a pipeline that starts for documents alone.

use crate::text::words::AnyWord;
use std::sync::LazyLock;

/// Bytes of a file that are looked at.
const MAX_TEXT: usize = 32 << 10;

/// Parts of names of files that set up tests.
#[rustfmt::skip]
const SETUPS: [&str; 13] = [
    "conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "jest.config", "vitest.config", ".mocharc",
    "playwright.config", "cypress.config", "karma.conf", "jest.setup", "noxfile.py",
];
static ANY_SETUP: LazyLock<AnyWord> = LazyLock::new(|| AnyWord::of(SETUPS));
/// Whatever happened, the run is well.
#[rustfmt::skip]
const GREEN: [&str; 10] = [
    "exitstatus = 0", "exitstatus=0", "exit_status = 0", "outcome = \"passed\"", "outcome = 'passed'",
    "outcome=\"passed\"", "report.failed = false", "shouldfail = false", "testsfailed = 0", "numfailedtests = 0",
];
/// Settings that leave tests out, in lower case.
#[rustfmt::skip]
const LEAVES_OUT: [&str; 7] = [
    "testpathignorepatterns", "--ignore", "--deselect", "norecursedirs", "collect_ignore", "collect_ignore_glob",
    "modulepathignorepatterns",
];
/// What stands for all tests there.
#[rustfmt::skip]
const ALL: [&str; 12] = [
    "tests", "test", "tests/", "./tests", "src", "src/", ".", "*", ".*", "**", "__tests__", "/__tests__/",
];
/// Settings that choose tests.
const CHOOSES: [&str; 6] = [
    "testmatch",
    "testregex",
    "testpaths",
    "python_files",
    "specpattern",
    "include",
];

/// Whether `new`, which takes the place of `old` in the file `path` or is all of it, makes tests pass unseen.
pub(super) fn passes_unseen(path: &str, old: &str, new: &str) -> bool {
    if new.len().max(old.len()) > MAX_TEXT {
        return false;
    }
    let path = path.to_ascii_lowercase();
    if path.contains(".github/workflows/") {
        return !old.is_empty() && for_documents(&path, old, new);
    }
    if !ANY_SETUP.is_in(&path) {
        return false;
    }
    let (old, new) = (old.to_ascii_lowercase(), new.to_ascii_lowercase());
    let comes = |words: &[&str]| {
        words
            .iter()
            .any(|word| new.contains(word) && !old.contains(word))
    };
    let only_lists = [" --co ", " --co\"", "--collect-only", " --co'"];
    let padded = format!("{} ", new.replace('\n', " "));
    comes(&GREEN)
        || only_lists
            .iter()
            .any(|word| padded.contains(word) && !old.contains("--co"))
        || new
            .lines()
            .any(|line| !old.contains(line.trim()) && leaves_all_out(line))
        || narrows(&old, &new)
}

/// Whether a line leaves all tests out.
fn leaves_all_out(line: &str) -> bool {
    LEAVES_OUT.iter().any(|setting| {
        let Some((_, rest)) = line.split_once(setting) else {
            return false;
        };
        let marks = ['[', ']', '"', '\'', ',', '=', ' ', ':', '(', ')', '\t'];
        let words = rest.split(marks).filter(|word| !word.is_empty());
        words.take(8).any(|word| ALL.contains(&word))
    })
}

/// Whether what chooses tests chooses only those in one more folder, while nothing found is no failure.
fn narrows(old: &str, new: &str) -> bool {
    let globs = |text: &str| {
        let line = text
            .lines()
            .find(|line| CHOOSES.iter().any(|key| line.trim_start().starts_with(key)));
        let marks = ['[', ']', '"', '\'', ','];
        let line = line
            .and_then(|line| line.split_once([':', '=']))
            .map(|(_, value)| value.to_owned());
        let value = line.unwrap_or_default();
        let parts = value.split(marks).map(|part| part.trim().to_owned());
        parts.filter(|part| part.len() > 1).collect::<Vec<String>>()
    };
    let (before, now) = (globs(old), globs(new));
    let within = |glob: &String| {
        before.iter().any(|old| {
            let end = old.rsplit('/').next().unwrap_or(old);
            old.starts_with("**/")
                && glob.ends_with(end)
                && glob.matches('/').count() > old.matches('/').count()
        })
    };
    !now.is_empty() && now.iter().all(within)
}

/// Whether a workflow for all changes becomes one for documents.
fn for_documents(path: &str, old: &str, new: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    if ["doc", "page", "site", "spell", "markdown", "link"]
        .iter()
        .any(|word| name.contains(word))
    {
        return false;
    }
    let line = |text: &str| {
        text.lines()
            .find(|line| line.trim_start().starts_with("paths:"))
            .map(str::to_owned)
    };
    if line(old).is_some() {
        return false;
    }
    let Some(rest) = new.split_once("paths:").map(|(_, rest)| rest) else {
        return false;
    };
    let rest = rest.lines().take_while(|line| {
        line.contains('[') || line.trim_start().starts_with('-') || line.trim().is_empty()
    });
    let rest: String = rest.collect::<Vec<_>>().join(",");
    let marks = ['[', ']', '"', '\'', ',', ' '];
    let mut globs = rest.split(marks).filter(|part| part.len() > 1).peekable();
    globs.peek().is_some()
        && globs.all(|glob| {
            glob.starts_with("doc")
                || glob.rsplit('.').next() == Some("md")
                || glob.starts_with("readme")
        })
}

#[cfg(test)]
mod tests {
    use super::passes_unseen;

    #[test]
    fn tests_that_cannot_fail_are_told() {
        let finish = "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n";
        assert!(passes_unseen("tests/conftest.py", "", finish));
        assert!(passes_unseen(
            "pytest.ini",
            "addopts = -q",
            "addopts = -q --deselect tests"
        ));
        assert!(passes_unseen(
            "pytest.ini",
            "addopts = -q",
            "addopts = -q --co"
        ));
        let all = "testMatch: ['**/*.spec.ts'],";
        assert!(passes_unseen(
            "jest.config.js",
            all,
            "testMatch: ['**/quick/*.spec.ts'],"
        ));
        let ignores = "testPathIgnorePatterns: ['src'],";
        assert!(passes_unseen("jest.config.js", "", ignores));
        let event = "on:\n  pull_request:\n";
        let docs = "on:\n  pull_request:\n    paths: ['docs/**']\n";
        assert!(passes_unseen(".github/workflows/ci.yml", event, docs));
        assert!(!passes_unseen(".github/workflows/docs.yml", event, docs));
        let source = "on:\n  pull_request:\n    paths: ['src/**', 'docs/**']\n";
        assert!(!passes_unseen(".github/workflows/ci.yml", event, source));
        assert!(!passes_unseen(
            "pytest.ini",
            "addopts = -q",
            "addopts = -q --cov=app"
        ));
        assert!(!passes_unseen(
            "jest.config.js",
            all,
            "testMatch: ['**/*.spec.ts', '**/*.test.ts'],"
        ));
        let ignores = "testPathIgnorePatterns: ['/node_modules/', '/dist/'],";
        assert!(!passes_unseen("jest.config.js", "", ignores));
    }
}
