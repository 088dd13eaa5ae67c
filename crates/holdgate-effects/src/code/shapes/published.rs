//! Pipelines that write all their variables into what they publish, or turn a secret round so that their log
//! does not mask it.

use crate::effect::{Actor, Effect, Kind};
use crate::tag::Tag;
use crate::value::Origins;

/// A longer file is no pipeline.
const MAX_FILE: usize = 128 << 10;
/// Programs that only change how a text looks.
const TURNS: [&str; 9] = [
    "rev", "base64", "base32", "xxd", "od", "hexdump", "tr", "fold", "sed",
];

pub(super) fn run(path: &str, content: &str, found: &mut Vec<Effect>) {
    if content.len() > MAX_FILE || !is_pipeline(path) {
        return;
    }
    let publishes = content.contains("artifact") || content.contains("pages");
    for line in content.lines().filter(|l| !l.trim_start().starts_with('#')) {
        let file = publishes.then(|| all_variables_to(line)).flatten();
        let public = file.is_some_and(|file| is_published(content, line, file));
        if public || turns_secret(content, line) {
            let line = crate::json::shorten(line.trim(), 200);
            let effect = Actor::new("published", &line).does(Kind::Send).about(&line);
            let mut effect = effect.tagged(Tag::Ci);
            effect.origins |= Origins::ENVIRONMENT;
            found.push(effect);
            return;
        }
    }
}

fn is_pipeline(path: &str) -> bool {
    let folders = [
        ".github/",
        ".gitea/",
        ".forgejo/",
        ".circleci/",
        ".buildkite/",
        ".woodpecker/",
    ];
    let names = [
        "gitlab-ci",
        "azure-pipelines",
        "bitbucket-pipelines",
        ".travis",
        ".drone",
        "jenkinsfile",
        ".cirrus",
        "appveyor",
    ];
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    folders.iter().any(|folder| path.contains(folder))
        || names.iter().any(|part| name.contains(part))
}

/// The file into which a line writes every variable: `env > public/e.txt`.
fn all_variables_to(line: &str) -> Option<&str> {
    let (head, file) = line.rsplit_once('>')?;
    let head = head.trim_end_matches('>').trim_end();
    let command = head.rsplit(['&', ';', '|']).next().unwrap_or(head).trim();
    let command = command
        .trim_start_matches("- ")
        .trim_start_matches("run:")
        .trim();
    let whole = [
        "env",
        "printenv",
        "export -p",
        "export",
        "declare -x",
        "declare -px",
        "set",
        "compgen -v",
    ];
    let all = whole.contains(&command)
        || has_whole(head, "process.env")
        || has_whole(head, "os.environ")
        || has_whole(head, "ENV.to_");
    let file = file.trim().trim_matches(['"', '\'']);
    (all && !file.is_empty() && !file.starts_with(['$', '&', '/'])).then_some(file)
}

/// Whether a name stands in a line without a member of it.
fn has_whole(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let next = line
            .get(at + name.len()..)
            .and_then(|rest| rest.chars().next());
        !next.is_some_and(|c| matches!(c, '.' | '[') || c.is_alphanumeric() && !name.ends_with('_'))
    })
}

/// Whether another line than the writing one names the file or its folder.
fn is_published(content: &str, written: &str, file: &str) -> bool {
    let file = file.trim_start_matches("./");
    let folder = file.split('/').next().unwrap_or(file);
    let mut lines = content.lines().filter(|line| *line != written);
    lines.any(|line| {
        let lists = ["path", "artifact", "- ", "publish", "folder"];
        lists.iter().any(|word| line.contains(word))
            && !line.contains("mkdir")
            && line
                .split(|c: char| c.is_whitespace() || "[]{}'\",:".contains(c))
                .any(|word| {
                    let word = word
                        .trim_start_matches("./")
                        .trim_end_matches("/**")
                        .trim_end_matches('/');
                    word == file || word == folder || word.split('/').next() == Some(folder)
                })
    })
}

/// Whether a line shows a secret in another form: `echo "$KEY" | rev`.
fn turns_secret(content: &str, line: &str) -> bool {
    let Some((head, last)) = line.rsplit_once('|') else {
        return false;
    };
    let mut words = last.split_whitespace();
    let program = words.next().unwrap_or("");
    let shows = TURNS.contains(&program)
        && !last.contains('>')
        && !last.contains(')')
        && !words.any(|word| matches!(word, "-d" | "-D" | "--decode" | "-r" | "-i"))
        && !head.contains("$(")
        && !head.contains('`');
    if !shows
        || !(head.contains("echo")
            || head.contains("printf")
            || head.contains("<<<")
            || head.contains("printenv"))
    {
        return false;
    }
    head.contains("secrets.")
        || head
            .split('$')
            .skip(1)
            .any(|rest| is_secret_variable(content, rest))
}

/// Whether the variable at the start of `rest` is filled with a secret: `K: ${{ secrets.X }}`.
fn is_secret_variable(content: &str, rest: &str) -> bool {
    let rest = rest.trim_start_matches('{');
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
    let name = rest.get(..end).unwrap_or("");
    if name.is_empty() {
        return false;
    }
    let filled = content.lines().any(|line| {
        let (key, value) = line.split_once(':').unwrap_or(("", ""));
        key.trim().trim_start_matches("- ") == name && value.contains("secrets.")
    });
    filled || crate::scene::is_secret(name)
}

#[cfg(test)]
mod tests {
    use super::{all_variables_to, turns_secret};

    #[test]
    fn all_variables_are_told_from_one() {
        assert_eq!(
            all_variables_to("    - printenv > site/v.txt"),
            Some("site/v.txt")
        );
        assert_eq!(all_variables_to("    - env | grep CI > site/v.txt"), None);
        assert_eq!(
            all_variables_to("    - node -p process.env.HOME > site/v.txt"),
            None
        );
        assert_eq!(all_variables_to("    - env >> $GITHUB_ENV"), None);
    }

    #[test]
    fn a_secret_that_is_decoded_is_used() {
        let file = "env:\n  K: ${{ secrets.SIGNING }}\n";
        assert!(turns_secret(file, "run: echo \"$K\" | xxd"));
        assert!(!turns_secret(
            file,
            "run: echo \"$K\" | base64 -d > key.jks"
        ));
        assert!(!turns_secret(file, "run: AUTH=$(echo -n \"$K\" | base64)"));
        assert!(!turns_secret(file, "run: echo \"$CI_REF\" | sed s/x/y/"));
    }
}
