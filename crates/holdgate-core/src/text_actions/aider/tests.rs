use super::*;
use holdgate_effects::json::Json;

/// The parts of a text, however it is split.
fn parts(text: &str) -> Vec<Part> {
    let read = |cuts: &[usize]| {
        let mut aider = Aider::default();
        let mut out = Vec::new();
        let mut from = 0;
        for to in cuts.iter().copied().chain([text.len()]) {
            aider.push(text.get(from..to).unwrap(), &mut out).unwrap();
            from = to;
        }
        aider.finish(&mut out);
        out
    };
    let whole = read(&[]);
    let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    assert_eq!(read(&cuts), whole, "every character by itself: {text:?}");
    for cut in cuts {
        assert_eq!(read(&[cut]), whole, "at {cut}: {text:?}");
    }
    whole
}

/// What a text does: tools with their arguments, one a line.
fn done(text: &str) -> Vec<String> {
    described(text, parts(text))
}

fn done_at_once(text: &str) -> Vec<String> {
    let (mut aider, mut out) = (Aider::default(), Vec::new());
    for piece in text.as_bytes().chunks(100) {
        let piece = std::str::from_utf8(piece).unwrap();
        aider.push(piece, &mut out).unwrap();
    }
    aider.finish(&mut out);
    described(text, out)
}

fn described(text: &str, parts: Vec<Part>) -> Vec<String> {
    let mut done = Vec::new();
    let mut words = String::new();
    for part in parts {
        match part {
            Part::Prose(prose) => words.push_str(&prose),
            Part::Actions(held, actions) => {
                words.push_str(&held);
                for Action { tool, input } in actions {
                    let arguments = input.as_object().unwrap_or_default();
                    let arguments = arguments.iter().filter_map(|(_, value)| value.as_str());
                    done.push(format!(
                        "{tool} {}",
                        arguments.collect::<Vec<_>>().join(" | ")
                    ));
                }
            }
            Part::Unclear(held, _) => {
                words.push_str(&held);
                done.push("unclear".to_owned());
            }
        }
    }
    assert_eq!(words, text, "no word is lost");
    done
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(done(text), expected, "{text}");
}

#[test]
fn what_aider_does_is_found_in_all_formats() {
    check(
        "Sure.\n\nsrc/a.py\n```python\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\nDone.",
        &["Edit src/a.py | old\n | new\n"],
    );
    check(
        "```python\nsrc/a.py\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n```\n",
        &[
            "Write src/a.py | new\n",
            "Write untitled.py | src/a.py\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n",
        ],
    );
    check(
        "Run it:\n\n```bash\nls -l\n# why not\n\n  rm x\n```\n",
        &["Bash ls -l", "Bash rm x"],
    );
    check("a.sh\n```\necho\n```\n", &["Write a.sh | echo\n"]);
    // It may be the file that the user works on, of whatever kind.
    check(
        "It is:\n\n```\nfailed\n```\n",
        &["Write untitled | failed\n"],
    );
    check(
        "**`a.sh`:**\n````\n```\n````\n",
        &["Write a.sh | ", "Write untitled | ", "Write a.sh | ```\n"],
    );
    check(
        "```diff\n--- a/x.py\n+++ b/x.py\n@@ ... @@\n-old\n+new\n same\n```\n",
        &["Edit x.py | old\nsame\n | new\nsame\n"],
    );
    check(
        "*** Begin Patch\n*** Add File: x\n+1\n*** End Patch\n",
        &["apply_patch *** Begin Patch\n*** Add File: x\n+1\n*** End Patch\n"],
    );
}

#[test]
fn prose_does_nothing_and_waits_for_no_more_than_the_start_of_a_mark() {
    for text in [
        "Use `a` and <b>bold</b>, and a < b.\n<<< not a head\n** bold **\n*** Update File: x\n",
        "The log says:\n```\nrm -rf / failed\n```\n",
        "In a list:\n   ```python\n   x\n   ```\n",
    ] {
        check(text, &[]);
    }
    let mut aider = Aider::default();
    let mut out = Vec::new();
    let mut waited = 0;
    for c in "Hello <code>x</code> and\n<<<< 5 ``quoted``\n**bold**\n</sourcecodes\n".chars() {
        aider.push(c.encode_utf8(&mut [0; 4]), &mut out).unwrap();
        let said: usize = out
            .iter()
            .map(|part| match part {
                Part::Prose(text) => text.len(),
                Part::Actions(..) | Part::Unclear(..) => panic!("{part:?}"),
            })
            .sum();
        waited = waited.max(aider.line.len() - aider.sent);
        assert!(said > 0);
    }
    assert!(waited <= "</sourcecode>".len(), "{waited}");
}

#[test]
fn what_readers_read_differently_is_read_in_every_way() {
    // A fence of four marks ends a file for some, and for others it does not.
    check(
        "a.txt\n````\nx\n```\n.git/hooks/pre-commit\n```\nevil\n```\n````\n",
        &[
            "Write a.txt | x\n",
            "Write .git/hooks/pre-commit | evil\n",
            "Write untitled | ",
            "Write a.txt | x\n```\n.git/hooks/pre-commit\n```\nevil\n```\n",
        ],
    );
    // aider runs each line by itself: this is no here-document.
    check(
        "```sh\ncat <<'EOF'\nrm -rf ~\nEOF\n```\n",
        &["Bash cat <<'EOF'", "Bash rm -rf ~", "Bash EOF"],
    );
    // Lines end as Python sees it.
    check(
        "Look here:\u{2028}```bash\u{b}rm x\r```\r\n",
        &["Bash rm x"],
    );
    check(
        "  \n \t```\nx\n```",
        &["Write untitled | x\n", "Write x | "],
    );
    check("evil.sh\r\n```\r\nx\r\n```\r\n", &["Write evil.sh | x\r\n"]);
    check("   ```zsh -l\nrm x\n   ```\n", &["Bash rm x"]);
    // What never ends acts too.
    check("```bash\nrm x", &["Bash rm x"]);
    // A name stays for the next block.
    check(
        "a.py\n<<<<<<< SEARCH\no\n=======\nn\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\np\n=======\nm\n=======\n",
        &["Edit a.py | o\n | n\n", "Edit a.py | p\n | m\n"],
    );
}

#[test]
fn thinking_that_clients_cut_out_hides_nothing() {
    for text in [
        "<think>\nso\n</think>```bash\nrm x\n```\n",
        "``<think>so\n\nso</think>`bash\nrm x\n```\n",
        "so</think>  ```bash\nrm x\n```\n",
    ] {
        assert_eq!(done(text)[0], "Bash rm x", "{text}");
    }
    // The name stands before the thinking.
    check(
        ".git/hooks/pre-commit\n<think>so\n</think>```\nx\n```\n",
        &["Write </think> | x\n", "Write .git/hooks/pre-commit | x\n"],
    );
    let long = format!("{}</think>```bash\nrm x\n```\n", "x ".repeat(KEPT));
    assert_eq!(done_at_once(&long)[0], "Bash rm x");
    check(
        "```bash\necho <think>\n```\n</think>rm x\n```\n",
        &["unclear"],
    );
}

#[test]
fn text_does_not_go_on_behind_an_action_that_was_cut_off() {
    let mut aider = Aider::default();
    let mut out = Vec::new();
    aider.push("```bash\nrm", &mut out).unwrap();
    aider.pause(&mut out);
    assert!(matches!(out.as_slice(), [Part::Actions(..)]), "{out:?}");
    assert_eq!(aider.push(" x", &mut out), Err(Continued));
    let mut aider = Aider::default();
    out.clear();
    aider.push("``", &mut out).unwrap();
    aider.pause(&mut out);
    assert_eq!(out, [Part::Prose("``".to_owned())]);
    aider.push("`sh\nrm x\n```\n", &mut out).unwrap();
    let Some(Part::Actions(words, actions)) = out.get(1) else {
        panic!("{out:?}");
    };
    assert_eq!(words, "`sh\nrm x\n```\n", "only what has not left");
    assert_eq!(actions[0].input, Json::object([("command", "rm x".into())]));
}
