//! Tests as data: texts, and the effects that each of them must have.
//!
//! `%% HEAD` starts a case, HEAD being its language or tool; its text follows. A case without an
//! expectation has that of the next case. `%#` starts a comment. Expectations:
//! `%has LINE` one of the effects; `%only LINE` all effects, in order; `%runs LINE` all that is
//! given to shells and interpreters, in order; `%not WORD` no effect starts with it. Ends of lines in
//! an effect are written `\n`.

struct Case<'t> {
    line: usize,
    head: &'t str,
    text: Vec<&'t str>,
}

/// Checks the cases of a file; `effects` are those of a text by its head.
#[track_caller]
pub(crate) fn check(cases: &str, effects: impl Fn(&str, &str) -> Vec<String>) {
    let mut errors = String::new();
    let mut waiting: Vec<Case<'_>> = Vec::new();
    let mut expected: Vec<(&str, &str)> = Vec::new();
    for (at, line) in cases.lines().chain(["%% "]).enumerate() {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        match mark {
            "%#" => {}
            "%%" => {
                let ready = if expected.is_empty() {
                    0
                } else {
                    waiting.len()
                };
                for case in waiting.drain(..ready) {
                    let found = effects(case.head, &case.text.join("\n"));
                    let found: Vec<String> = found.iter().map(|f| f.replace('\n', "\\n")).collect();
                    if !fits(&found, &expected) {
                        let line = case.line;
                        errors += &format!("line {line}: not {expected:?} but {found:#?}\n");
                    }
                }
                expected.clear();
                waiting.push(Case {
                    line: at + 1,
                    head: rest,
                    text: Vec::new(),
                });
            }
            "%has" | "%only" | "%runs" | "%not" => {
                expected.push((mark, rest));
            }
            _ if expected.is_empty() => waiting.last_mut().unwrap().text.push(line),
            _ => assert_eq!(line, "", "line {}: it belongs to no case", at + 1),
        }
    }
    assert!(errors.is_empty(), "{errors}");
}

fn fits(found: &[String], expected: &[(&str, &str)]) -> bool {
    let runs = |line: &&String| line.starts_with("shell: ") || line.starts_with("argv: ");
    let all = |mark: &'static str| {
        let lines = expected.iter().filter(move |(m, _)| *m == mark);
        lines.map(|(_, line)| *line).filter(|line| !line.is_empty())
    };
    let given = |mark: &str| expected.iter().any(|(m, _)| *m == mark);
    all("%has").all(|line| found.iter().any(|f| f == line))
        && !all("%not").any(|word| found.iter().any(|line| line.starts_with(word)))
        && (!given("%only") || found.iter().eq(all("%only")))
        && (!given("%runs") || found.iter().filter(runs).eq(all("%runs")))
}

#[test]
fn cases_that_do_not_fit_are_found() {
    let effects = |head: &str, text: &str| vec![format!("{head}: {text}"), "shell: b".to_owned()];
    let good =
        "%# x\n%% a\nb\n%% a\nb\n%has a: b\n%not c\n\n%% a\nb\n\n%only a: b\\n\n%only shell: b\n";
    check(good, effects);
    for bad in ["%has a: c", "%not a", "%only a: b", "%runs", "%only"] {
        let cases = format!("%% a\nb\n{bad}\n%% a\nb\n%has a: b\n");
        assert!(
            std::panic::catch_unwind(|| check(&cases, effects)).is_err(),
            "{bad}"
        );
    }
}
