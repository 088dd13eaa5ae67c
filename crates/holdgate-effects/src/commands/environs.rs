//! What shows the variables of processes that run already: they hold passwords and keys. Files of the kernel
//! (`/proc/1/environ`) are places of their own.

use super::Call;
use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Options of `ps` with a value of their own.
#[rustfmt::skip]
const VALUES: [&str; 18] = [
    "-o", "-O", "-C", "-p", "-u", "-U", "-g", "-G", "-t", "-q", "-s", "--sort", "--format", "--pid", "--ppid",
    "--user", "--tty", "--cols",
];

/// What the program prints, with secrets in it if it shows the variables of others.
pub(super) fn shows(
    scene: &mut Scene<'_>,
    call: &Call<'_>,
    actor: &Actor,
    output: Value,
) -> Fueled<Value> {
    if !tells(call) {
        return Ok(output);
    }
    let mut effect = actor.does(Kind::Read).tagged(Tag::SecretStore);
    if scene.captured > 0 {
        effect = effect.tagged(Tag::Captured);
    }
    scene.emit(effect)?;
    let mut output = output;
    output.push(&Value::unknown(Origins::SECRET).with_source(&actor.program));
    Ok(output)
}

fn tells(call: &Call<'_>) -> bool {
    let texts = || call.words.iter().skip(1).map(|word| word.text.as_str());
    let says = |words: &[&str]| texts().any(|text| words.contains(&text));
    match call.program {
        "ps" => of_ps(call),
        "systemctl" => {
            let property = |t: &str| {
                t.trim_start_matches("--property=")
                    .starts_with("Environment")
            };
            says(&["show-environment"]) || says(&["show"]) && texts().any(property)
        }
        "launchctl" => says(&["export", "getenv"]) || says(&["print"]) && texts().any(of_person),
        "tmux" => says(&["show-environment", "showenv"]),
        "pm2" => says(&["env", "jlist", "prettylist"]),
        "supervisorctl" => says(&["environ"]),
        "py-spy" => says(&["dump"]) && says(&["--locals", "-l"]),
        "jq" | "gojq" | "jaq" => texts().any(|t| t.contains("Config.Env")),
        _ => false,
    }
}

/// `gui/501`, `user/501`: all services of somebody.
fn of_person(word: &str) -> bool {
    word.starts_with("gui/") || word.starts_with("user/")
}

/// `ps e`, `ps auxeww`, `ps -E`: letters without a dash are options of BSD.
fn of_ps(call: &Call<'_>) -> bool {
    let mut value = false;
    for word in call.words.iter().skip(1) {
        let text = word.text.as_str();
        if std::mem::take(&mut value) {
            continue;
        }
        if VALUES.contains(&text) {
            value = true;
            continue;
        }
        if let Some(letters) = text.strip_prefix('-') {
            if letters.starts_with('-') {
                continue;
            }
            // The last letter may take the next word: `-eo pid`.
            value = letters.ends_with(['o', 'O', 'C', 'p', 'u', 'U', 't', 'g', 'G']);
            if letters.contains('E') && letters.chars().all(|c| c.is_ascii_alphabetic()) {
                return true;
            }
            continue;
        }
        let letters = |c: char| "acefghjlmoprstuvwxkLNOSTUVXZ".contains(c);
        if text.is_empty() || text.len() > 10 || !text.chars().all(letters) {
            continue;
        }
        // `axo command`
        value = text.ends_with(['o', 'O', 'p', 'U', 't', 'k']);
        if text.contains('e') {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> bool {
        let words: Vec<Value> = line.split(' ').map(Value::known).collect();
        let program = line.split(' ').next().unwrap_or("");
        tells(&Call {
            program,
            words: &words,
            stdin: None,
        })
    }

    #[test]
    fn variables_of_processes_are_shown() {
        for line in [
            "ps e",
            "ps auxeww",
            "ps eww -C node",
            "ps -E -p 1",
            "ps -eo pid e",
            "systemctl --user show-environment",
            "systemctl show -p Environment api",
            "systemctl show api --property=Environment",
            "pm2 env 0",
        ] {
            assert!(shown(line), "{line}");
        }
        for line in [
            "ps aux",
            "ps -ef",
            "ps -e -o pid,args",
            "ps axo cmd",
            "ps -C node",
            "ps -o etime= -p 1",
            "ps -u dev",
            "systemctl show api -p ActiveState",
            "pm2 list",
        ] {
            assert!(!shown(line), "{line}");
        }
    }
}
