//! Files with commands that a parser reads: YAML, TOML, HCL.

use super::{check, check_runs};
use crate::code::Language;

#[test]
fn aliases_and_nesting_are_bounded() {
    use Language::Embedded;
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let before = format!("*a{}, ", level - 1).repeat(8);
        bomb.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    bomb.push_str("run: *a19\n");
    check(Embedded, &bomb, &["unreadable"]);
    // Nobody runs what stands so deep, and nothing overflows.
    let mut chain = "b0: &b0 [x]\n".to_owned();
    for level in 1..2000 {
        chain.push_str(&format!("b{level}: &b{level} [*b{}]\n", level - 1));
    }
    let cycle = "&a [*a, *a, {run: make x}]\n".to_owned();
    let deep =
        |open: &str, close: &str| format!("a = {}1{}", open.repeat(20_000), close.repeat(20_000));
    let nested = [
        deep("[", "]"),
        deep("(", ")"),
        deep("- ", ""),
        deep("1 ? ", " : 1"),
    ];
    for text in nested
        .into_iter()
        .chain([chain, "a: ".repeat(20_000), "- ".repeat(20_000)])
    {
        check_runs(Embedded, &text, &[]);
    }
    check_runs(Embedded, &cycle, &["shell: make x"]);
    let json = format!(
        "{{\"x\": {}1{}, \"scripts\": {{\"a\": \"make a\"}}}}",
        "[".repeat(200),
        "]".repeat(200)
    );
    check_runs(Embedded, &json, &["shell: make a"]);
}
