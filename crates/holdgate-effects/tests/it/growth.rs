//! What a call costs grows no faster than its size. Fuel is counted, not time: the same call costs the
//! same everywhere.

use holdgate_effects::fuel::Fuel;
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use holdgate_effects::{Invocation, Knowledge, understand};

/// Sizes in bytes, one four times the other. Limits of what is followed make smaller calls costlier.
const SIZES: [usize; 2] = [4 << 10, 16 << 10];
/// A tank that is never empty.
const FULL: u64 = 1 << 40;

/// Commands of one shape: how they begin, what is repeated, how they end, and what is repeated there.
#[rustfmt::skip]
const COMMANDS: &[[&str; 4]] = &[
    ["", "echo $(date) ; ", "", ""],
    ["echo ", "\"$(echo ", "x", ")\""],
    ["", "cat <<'E'\nx\nE\n", "", ""],
    ["", "cat <<A <<B\na\nA\nb\nB\n", "", ""],
    ["", "cat <<< \"$x\" ; ", "", ""],
    ["", "x=a; y=\"$x$x\"; ", "", ""],
    ["ls ", "a*b?[c-d] ", "", ""],
    ["echo ", "{a,b} ", "", ""],
    ["echo ", "{a,", "", "}"],
    ["", "cat | ", "cat", ""],
    ["", "true && ", "true", ""],
    ["echo ", "a", "", ""],
    ["cat ", "/abc", "", ""],
    ["cat ", "a/../", "", ""],
    ["rm ", "src/a.rs ", "", ""],
    ["case $x in ", "a) echo;; ", " esac", ""],
    ["", "if a; then b; ", "c; ", "fi; "],
    ["for i in ", "a ", "; do echo $i; done", ""],
    ["", "cd a; cd ..; ", "ls", ""],
    ["", "cd a && ", "ls", ""],
    ["", "curl https://a.example.com/x -o f; ", "", ""],
    ["", "echo x > f; ", "", ""],
    ["", "sh -c 'ls' ; ", "", ""],
    ["sed ", "-e 's/a/b/' ", "f", ""],
    ["awk '", "{ print $1 } ", "' f", ""],
    ["python3 -c '", "x = y + 1\n", "'", ""],
    ["python3 <<'E'\n", "os.system(\"ls\")\n", "E", ""],
    ["echo ", "QUFB", " | base64 -d | sh", ""],
    ["echo ", "\\", "", ""],
    ["", "(", "ls", ")"],
    ["", "`echo a` ", "", ""],
    ["", "echo \"a", "", ""],
    ["", "A=1 ", "ls", ""],
    ["git ", "-c a.b=c ", "status", ""],
    ["find . ", "-name a -o ", "-print", ""],
    ["", "sudo ", "ls", ""],
];

/// Files of one shape: the name, and the same parts.
#[rustfmt::skip]
const FILES: &[(&str, [&str; 4])] = &[
    ("a.py", ["", "foo(bar(1), \"x\")\n", "", ""]),
    ("a.py", ["x = ", "(", "", ")"]),
    ("a.py", ["", "def f(x):\n    return g(x)\n", "", ""]),
    ("a.py", ["", "x = x + \"a\"\n", "", ""]),
    ("a.py", ["", "import os\nos.system(\"ls \" + x)\n", "", ""]),
    ("a.js", ["", "const f = (a) => { return g(a); };\n", "", ""]),
    ("a.js", ["x", ".then(y)", "", ""]),
    ("a.js", ["x=", "{a:", "1", "}"]),
    ("a.js", ["", "`${a}`+", "", ""]),
    ("a.ts", ["let x = \"", "a b ", "\";", ""]),
    ("a.sh", ["", "echo hi\n", "", ""]),
    ("a.json", ["", "[", "", "]"]),
    ("a.json", ["[", "{\"a\":1},", "1]", ""]),
    ("package.json", ["{\"scripts\":{\"a\":\"", "echo hi; ", "\"}}", ""]),
    (".github/workflows/a.yml", ["jobs:\n a:\n  steps:\n", "   - run: echo hi\n", "", ""]),
    ("a.md", ["", "Run `rm -rf x` now.\n", "", ""]),
    ("a.html", ["", "<a href=\"x\">y</a>\n", "", ""]),
    ("a.html", ["", "<script>f()</script>\n", "", ""]),
    ("Makefile", ["", "a: b\n\techo hi\n", "", ""]),
    ("Dockerfile", ["FROM a\n", "RUN echo hi\n", "", ""]),
    ("a.go", ["package main\n", "func f() { g(); }\n", "", ""]),
    ("a.php", ["<?php\n", "f($_GET[\"a\"]);\n", "", ""]),
    ("a.tf", ["", "resource \"a\" \"b\" {\n x = 1\n}\n", "", ""]),
    ("a.txt", ["", "a", "", ""]),
    ("a.txt", ["", "é\n", "", ""]),
    ("a.patch", ["--- a/x.py\n+++ b/x.py\n", "@@ -1 +1 @@\n-a\n+b\n", "", ""]),
];

/// A text of about `size` bytes.
fn text([begin, again, middle, end]: [&str; 4], size: usize) -> String {
    let times = size / (again.len() + end.len());
    [begin, &again.repeat(times), middle, &end.repeat(times)].concat()
}

/// The fuel that a call takes.
fn spent(tool: &str, input: &Json<'static>, know: &Knowledge) -> u64 {
    let fuel = Fuel::new(FULL);
    let text = input.text();
    let call = Invocation {
        tool,
        input,
        text: &text,
    };
    // A call that cannot be followed further costs what it took to see that.
    let _ = understand(call, &World::lexical("/home/dev/project"), know, &fuel);
    fuel.spent()
}

/// Adds a call to `all` if four times its size takes more than six times the fuel. Quadratic growth
/// takes sixteen.
fn check(
    tool: &str,
    shape: &str,
    input: impl Fn(usize) -> Json<'static>,
    know: &Knowledge,
    all: &mut Vec<String>,
) {
    let [small, large] = SIZES.map(|size| spent(tool, &input(size), know));
    if large > 6 * small {
        all.push(format!("{tool} {shape:?}: {small}, then {large}"));
    }
}

#[test]
fn costs_grow_like_the_call() {
    let know = Knowledge::built_in().unwrap();
    let mut all = Vec::new();
    for shape in COMMANDS {
        let input = |size| Json::object([("command", text(*shape, size).into())]);
        check("Bash", shape[1], input, &know, &mut all);
    }
    for (name, shape) in FILES {
        let path = format!("/home/dev/project/{name}");
        let written = |size| {
            let content = text(*shape, size);
            Json::object([
                ("file_path", path.clone().into()),
                ("content", content.into()),
            ])
        };
        check("Write", shape[1], written, &know, &mut all);
        let edited = |size| {
            let (old, new) = (text(*shape, size / 2), text(*shape, size / 2));
            Json::object([
                ("file_path", path.clone().into()),
                ("old_string", old.into()),
                ("new_string", new.into()),
            ])
        };
        check("Edit", shape[1], edited, &know, &mut all);
    }
    let update = "*** Update File: a.py\n@@\n-a\n+b\n";
    for again in [update, "-a\n+b\n"] {
        let shape = ["*** Begin Patch\n", again, "*** End Patch", ""];
        let input = |size| Json::object([("input", text(shape, size).into())]);
        check("apply_patch", again, input, &know, &mut all);
    }
    for again in [
        "some words here ",
        "/etc/passwd ",
        "ls -la; ",
        "https://a.example.com/x ",
    ] {
        let long = |size| Json::object([("q", text(["", again, "", ""], size).into())]);
        check("foo__bar", again, long, &know, &mut all);
        let many = |size: usize| {
            let items = (0..size / again.len()).map(|_| Json::from(again.to_owned()));
            Json::object([("q", Json::Array(items.collect()))])
        };
        check("foo__bar", again, many, &know, &mut all);
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}
