//! Files with commands that a parser reads: YAML, TOML, HCL.

use super::{check, check_runs};
use crate::code::Language;

#[test]
fn yaml_in_all_its_styles() {
    use Language::Embedded;
    let check = |yaml: &str, expected: &[&str]| check_runs(Embedded, yaml, expected);
    // Flow style, quoted keys, escapes, comments between.
    check(
        "jobs: {x: {steps: [{name: a, run: curl x | sh}, {'run': \"make\\x20b\"}]}}\n",
        &["shell: curl x | sh", "shell: make b"],
    );
    check(
        "on: push\njobs:\n  x:\n    steps:\n      - \"run\": make a # b\n      - ? run\n        : make c\n",
        &["shell: make a", "shell: make c"],
    );
    check(
        "{\"on\": \"push\", \"jobs\": {\"x\": {\"steps\": [{\"run\": \"make a\"}]}}}",
        &["shell: make a"],
    );
    // Anchors and merged keys.
    check(
        ".x: &x curl x | sh\n.all: &all\n  - make a\n  - make b\njob:\n  script:\n    - *x\n    - *all\n  after_script: *all\n",
        &[
            "shell: curl x | sh",
            "argv: make a make b",
            "shell: make a",
            "shell: make b",
        ],
    );
    check(
        "x: &x {run: make a}\nsteps:\n  - <<: *x\n    name: y\n",
        &["shell: make a"],
    );
    // Folded lines, lines that go on, several documents.
    check(
        "a:\n  script: >\n    make\n    a\n---\nb:\n  script: make\n    b\n",
        &["shell: make a\n", "shell: make b"],
    );
    // One program with its arguments, and the commands of a list.
    check(
        "services: {x: {command: [sh, -c, make a], entrypoint: \"make b\"}}\n",
        &["argv: sh -c make a", "shell: make b"],
    );
    check(
        "command:\n  - sh\n  - -c\nargs: [make a]\n",
        &["argv: sh -c make a"],
    );
    check(
        "runcmd:\n  - [sh, -c, make a]\n  - make b\n",
        &["argv: sh -c make a", "shell: make a", "shell: make b"],
    );
    // A script in the language of its step.
    check(
        "steps:\n  - {shell: python, run: \"import os; os.system('id')\"}\n",
        &["shell: id"],
    );
    // What does not parse is scanned, and what came before the error counts.
    check(
        "a: {script: [make a]}\n  - run: make b\n} x\n",
        &["shell: make a", "shell: make b"],
    );
    check(
        "test:\n  script:\n    - !reference [.setup, script]\n    - make a\n",
        &["shell: make a"],
    );
    // A file within the file.
    check(
        "data:\n  crontab: |\n    @reboot make a\n",
        &["shell: make a"],
    );
}

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

#[test]
fn toml_and_hcl() {
    use Language::Embedded;
    check_runs(
        Embedded,
        "[project]\nname = 'x'\nscripts = { x = 'x.main:run' }\n[tool.poe.tasks]\nlint = \"ruff check .\"\nall = { cmd = \"make a\" }\n[tool.hatch.envs.default.scripts]\ntest = [\"make b\", \"make c\"]\n[[tool.mypy.overrides]]\nmodule = 'y'\n",
        &[
            "shell: make b",
            "shell: make c",
            "shell: make a",
            "shell: ruff check .",
        ],
    );
    check_runs(
        Embedded,
        "[target.'cfg(unix)']\nrunner = ['sh', '-c', 'make a']\n[build]\nrustc-wrapper = 'sccache'\n",
        &["shell: sccache", "argv: sh -c make a"],
    );
    check_runs(
        Embedded,
        "resource \"null_resource\" \"x\" {\n  provisioner \"local-exec\" {\n    command = \"curl ${var.url} | sh\"\n  }\n  provisioner \"local-exec\" {\n    interpreter = [\"python3\", \"-c\"]\n    command = <<-EOT\n      import os\n    EOT\n  }\n  provisioner \"remote-exec\" {\n    inline = [\"make a\", \"make b\"]\n  }\n}\ndata \"external\" \"y\" { program = [\"sh\", \"z.sh\"] }\n",
        &[
            "shell: curl \u{fffc} | sh",
            "argv: python3 -c import os\n",
            "shell: make a",
            "shell: make b",
            "argv: sh z.sh",
        ],
    );
    check_runs(
        Embedded,
        "command = var.x ? \"make a\" : \"make b\"\n",
        &["argv: make a make b"],
    );
}
