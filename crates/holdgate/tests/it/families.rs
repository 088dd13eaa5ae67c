//! Commands that are meant to hurt: each family grows as large as one wants.

/// A family's name, and its member of about so many bytes.
pub(crate) type Family = (&'static str, fn(usize) -> String);

/// Commands whose cost must grow no faster than they do.
pub(crate) const FAMILIES: &[Family] = &[
    ("open parentheses", |n| "(".repeat(n)),
    ("closed parentheses", |n| nested("(", "true", ")", n)),
    ("many subshells", |n| "(a);".repeat(n / 4)),
    ("open groups", |n| "{ ".repeat(n / 2)),
    ("many groups", |n| "{ a; };".repeat(n / 7)),
    ("open substitutions", |n| "$(".repeat(n / 2)),
    ("substitutions", |n| {
        format!("echo {}", nested("$(a ", "b", ")", n))
    }),
    ("quoted substitutions", |n| {
        format!("echo {}", nested("\"$(a ", "b", ")\"", n))
    }),
    ("many substitutions", |n| {
        format!("echo {}", "$(a)".repeat(n / 4))
    }),
    ("open arithmetic", |n| "((".repeat(n / 2)),
    ("open arithmetic words", |n| {
        format!("echo {}", "$((".repeat(n / 3))
    }),
    ("arithmetic with quotes", |n| {
        format!("echo {}", "$((\"\\\"\"))".repeat(n / 10))
    }),
    ("many arithmetic words", |n| {
        format!("echo {}", "$((1+2))".repeat(n / 8))
    }),
    ("long arithmetic", |n| {
        format!("echo $((1{}))", "+1".repeat(n / 2))
    }),
    ("half arithmetic", |n| "((a);".repeat(n / 5)),
    ("deep arithmetic", |n| {
        format!("echo $(({}))", nested("(", "1", ")", n))
    }),
    ("open parameters", |n| {
        format!("echo {}", "${x:-".repeat(n / 5))
    }),
    ("parameters", |n| {
        format!("echo {}", nested("${x:-", "y", "}", n))
    }),
    ("backticks", |n| format!("echo {}", "`a`".repeat(n / 3))),
    ("open backtick", |n| format!("echo `{}", "a ".repeat(n / 2))),
    ("open quotes", |n| "'\"".repeat(n / 2)),
    ("open brackets", |n| "a[".repeat(n / 2)),
    ("indices", |n| format!("{}=1", nested("a[$(", "b", ")]", n))),
    ("many indices", |n| "a[1]=2 ".repeat(n / 7)),
    ("tests", |n| {
        format!("[[ {} ]]", "a == b && ".repeat(n / 10))
    }),
    ("many tests", |n| "[[ a ]];".repeat(n / 8)),
    ("globs", |n| format!("ls {}", "*?[a]".repeat(n / 5))),
    ("path globs", |n| {
        format!("cat {}", "/*/??/[a-z]*".repeat(n / 12))
    }),
    ("many globs", |n| {
        format!("cat {}", "/e*/p?s* ".repeat(n / 9))
    }),
    ("extended globs", |n| {
        format!("ls {}", "@(a|b)".repeat(n / 6))
    }),
    ("open globs", |n| format!("ls {}", "@(".repeat(n / 2))),
    ("braces", |n| format!("echo {}", "{a,b}".repeat(n / 5))),
    ("nested braces", |n| {
        format!("echo {}", nested("{a,", "b", "}", n))
    }),
    ("open braces", |n| format!("echo {}", "{a,".repeat(n / 3))),
    ("brace sequences", |n| {
        format!("echo {}", "{1..99999} ".repeat(n / 11))
    }),
    ("wide braces", |n| {
        format!("echo {{{}}}", "a,".repeat(n / 2))
    }),
    ("braces and a long tail", |n| {
        format!("echo {}{}", "{a,b}".repeat(20), "x".repeat(n))
    }),
    ("pipes", |n| format!("a{}", "|a".repeat(n / 2))),
    ("pipes of programs", |n| {
        format!("cat f{}", " | grep a".repeat(n / 9))
    }),
    ("and, or", |n| format!("a{}", " && b || c".repeat(n / 10))),
    ("background", |n| "a & ".repeat(n / 4)),
    ("lines", |n| "ls\n".repeat(n / 3)),
    ("comments", |n| "# '\n".repeat(n / 4)),
    ("blank lines", |n| "\n".repeat(n)),
    ("continued lines", |n| format!("a {}", "\\\n".repeat(n / 2))),
    ("here-documents", |n| "cat <<E\n$x\nE\n".repeat(n / 13)),
    ("open here-documents", |n| {
        format!("cat{}\n", " <<E".repeat(n / 4))
    }),
    ("here-documents with substitutions", |n| {
        format!("cat <<E\n{}\nE\n", "$(a)".repeat(n / 4))
    }),
    ("here-document that never ends", |n| {
        format!("cat <<E\n{}", "E \n".repeat(n / 3))
    }),
    ("here-strings", |n| "cat <<<\"$x\";".repeat(n / 12)),
    ("many here-strings", |n| {
        format!("cat {}", "<<<a ".repeat(n / 5))
    }),
    ("redirections", |n| format!("a {}", ">f ".repeat(n / 3))),
    ("redirections to files", |n| "a >f$i;".repeat(n / 7)),
    ("appends", |n| "echo aaaaaaaa >>f;".repeat(n / 18)),
    ("long word", |n| format!("echo {}", "a".repeat(n))),
    ("long program", |n| "a".repeat(n)),
    ("long path", |n| format!("cat {}", "a/".repeat(n / 2))),
    ("long path of dots", |n| {
        format!("cat {}", "../".repeat(n / 3))
    }),
    ("many words", |n| format!("echo {}", "a ".repeat(n / 2))),
    ("many paths", |n| format!("rm {}", "a/b ".repeat(n / 4))),
    ("many options", |n| {
        format!("curl {}", "-o a ".repeat(n / 5))
    }),
    ("letters of options", |n| format!("tar -{}", "x".repeat(n))),
    ("many addresses", |n| {
        format!("curl {}", "http://a.b ".repeat(n / 11))
    }),
    ("many escapes", |n| format!("echo {}", "\\a".repeat(n / 2))),
    ("many quotes", |n| {
        format!("echo {}", "''\"\"".repeat(n / 4))
    }),
    ("ANSI quotes", |n| {
        format!("echo $'{}'", "\\x41".repeat(n / 4))
    }),
    ("unicode", |n| {
        format!("echo {}", "\u{ff52}\u{430}\u{200b}".repeat(n / 8))
    }),
    ("assignments", |n| "x=1;".repeat(n / 4)),
    ("assignments of many names", |n| {
        numbered(n, |i| format!("x{i}=1;"))
    }),
    ("assignments before one command", |n| {
        format!("{}ls", "x=1 ".repeat(n / 4))
    }),
    ("many names and subshells", |n| {
        format!(
            "{}{}",
            numbered(n / 2, |i| format!("x{i}=1;")),
            "(a);".repeat(n / 8)
        )
    }),
    ("doubling", |n| {
        format!("x=aaaaaaaa;{}", "x=$x$x;".repeat(n / 7))
    }),
    ("doubling, then echo", |n| {
        format!("x=a;{}{}", "x=$x$x;".repeat(20), "echo $x;".repeat(n / 8))
    }),
    ("doubling, then words", |n| {
        format!(
            "x='a ';{}{}",
            "x=$x$x;".repeat(20),
            "echo $x;".repeat(n / 8)
        )
    }),
    ("doubling arrays", |n| {
        format!("x=(a b c);{}", "x=(${x[@]} ${x[@]});".repeat(n / 20))
    }),
    ("large array", |n| {
        format!(
            "x=({});{}",
            "a ".repeat(n / 4),
            "echo ${x[@]};".repeat(n / 26)
        )
    }),
    ("appending", |n| format!("x=a;{}", "x+=$x;".repeat(n / 6))),
    ("chain of variables", |n| {
        numbered(n, |i| format!("x{}=$x{i}$x{i};", i + 1))
    }),
    ("patterns", |n| {
        format!(
            "x={};{}",
            "ab".repeat(64),
            "echo ${x//a*b*a*b/c};".repeat(n / 21)
        )
    }),
    ("long pattern", |n| {
        format!(
            "x={};echo ${{x//{}/c}}",
            "ab".repeat(n / 4),
            "a*".repeat(n / 4)
        )
    }),
    ("suffixes", |n| {
        format!(
            "x={};{}",
            "ab".repeat(n / 4),
            "echo ${x%%a*b};".repeat(n / 32)
        )
    }),
    ("functions", |n| "f() { a; };".repeat(n / 11)),
    ("functions in functions", |n| {
        nested("f() { ", "a;", " }", n)
    }),
    ("functions that call functions", |n| {
        format!(
            "{}f0",
            numbered(n, |i| format!("f{i}() {{ f{j};f{j}; }};", j = i + 1))
        )
    }),
    ("functions in child shells", |n| {
        format!("f() {{ {} }};f", "bash -c f;((1)) && (f);".repeat(n / 24))
    }),
    ("functions of functions in child shells", |n| {
        let body = nested("( ", "bash -c f; f", ")", 100);
        format!(
            "f() {{ {body}; }}; g() {{ f; {body}; }};{}",
            "f;g;".repeat(n / 4)
        )
    }),
    ("loops", |n| "for i in a b; do c; done;".repeat(n / 25)),
    ("loops in loops", |n| {
        let depth = (n / 30).min(50);
        format!(
            "{}a{}",
            "for i in 1 2 3 4 5 6 7 8; do ".repeat(depth),
            ";done".repeat(depth)
        )
    }),
    ("loop over much", |n| {
        format!("for i in {}; do rm $i; done", "a/b ".repeat(n / 4))
    }),
    ("loop with a long body", |n| {
        format!("for i in {{1..64}}; do {} done", "rm $i;".repeat(n / 6))
    }),
    ("open loops", |n| "while a; do ".repeat(n / 12)),
    ("conditions", |n| "if a; then b; else c; fi;".repeat(n / 25)),
    ("conditions in conditions", |n| {
        nested("if a; then ", "b;", " fi;", n)
    }),
    ("open conditions", |n| "if a; then ".repeat(n / 11)),
    ("many branches", |n| {
        format!(
            "if a; then b; {} fi",
            "elif a; then x=$x$x; ".repeat(n / 21)
        )
    }),
    ("arms", |n| {
        format!("case a in {} esac", "a) b;; ".repeat(n / 7))
    }),
    ("open arms", |n| "case a in a) ".repeat(n / 13)),
    ("uncertain assignments", |n| "a && x=1$x;".repeat(n / 11)),
    ("uncertain values", |n| {
        numbered(n, |i| format!("a && x={i};echo $x$x;"))
    }),
    ("aliases", |n| {
        format!("alias a='a b';{}", "a;".repeat(n / 2))
    }),
    ("long alias", |n| {
        format!("alias a='{}';{}", "b;".repeat(n / 4), "a;".repeat(n / 4))
    }),
    ("chain of aliases", |n| {
        format!(
            "{}a0",
            numbered(n, |i| format!("alias a{i}='a{j};a{j}';", j = i + 1))
        )
    }),
    ("eval", |n| format!("{}a", "eval ".repeat(n / 5))),
    ("eval of a doubled text", |n| {
        format!(
            "x=ls\\;;{}{}",
            "x=$x$x;".repeat(12),
            "eval $x;".repeat(n / 8)
        )
    }),
    ("eval of itself", |n| {
        format!(
            "x='eval \"$x;$x\"';eval \"$x\";{}",
            "eval \"$x\";".repeat(n / 10)
        )
    }),
    ("shells", |n| "sh -c a;".repeat(n / 8)),
    ("shells in shells", |n| {
        format!("{}a", "bash -c ".repeat(n / 8))
    }),
    ("shells of a long script", |n| {
        format!(
            "x='{}';{}",
            "ls;".repeat(n / 6),
            "sh -c \"$x\";".repeat(n / 24)
        )
    }),
    ("deep groups in shells in deep groups", |n| {
        let body = nested("( ", "eval \"$x\"; bash -c \"$x\"", " )", 180);
        format!("x='{body}';{}", "eval \"$x\";".repeat(n / 10))
    }),
    ("deep substitutions in shells", |n| {
        let body = nested("$(a ", "$(eval \"$x\"; bash -c \"$x\")", ")", 240);
        format!("x='{body}';{}", "eval \"$x\";".repeat(n / 10))
    }),
    ("deep conditions in functions", |n| {
        let body = nested("if a; then ", "bash -c f; f; eval f", "; fi", 800);
        format!("f() {{ {body}; }};{}", "f;".repeat(n / 2))
    }),
    ("printf", |n| format!("printf '{}' a", "%s".repeat(n / 2))),
    ("printf of many", |n| {
        format!("printf '%s%s' {}", "a ".repeat(n / 2))
    }),
    ("printf widths", |n| {
        format!("printf '{}' a", "%99999999d".repeat(n / 10))
    }),
    ("base64", |n| {
        format!("echo {} | base64 -d | base64 -d", "YWFh".repeat(n / 4))
    }),
    ("many base64", |n| {
        "echo YWFh | base64 -d | sh;".repeat(n / 26)
    }),
    ("chain of rev", |n| {
        format!("echo {}{}", "ab".repeat(n / 4), "|rev".repeat(n / 8))
    }),
    ("chain of tr", |n| {
        format!(
            "echo {}{}",
            "ab".repeat(n / 4),
            "|tr a-z b-za".repeat(n / 24)
        )
    }),
    ("sed", |n| {
        format!(
            "echo {} | sed {}",
            "ab".repeat(n / 4),
            "s/a/b/;".repeat(n / 14)
        )
    }),
    ("cut", |n| {
        format!("echo {} | cut -c{}", "ab".repeat(n / 4), "1,".repeat(n / 4))
    }),
    ("seq", |n| "seq 1 99999999;".repeat(n / 15)),
    ("xargs", |n| {
        format!("echo a | {}ls", "xargs ".repeat(n / 6))
    }),
    ("xargs of much", |n| {
        format!("echo {}| xargs rm", "a/b ".repeat(n / 4))
    }),
    ("env", |n| format!("{}ls", "env ".repeat(n / 4))),
    ("env with values", |n| {
        format!("env {}ls", "A=1 ".repeat(n / 4))
    }),
    ("sudo", |n| format!("{}ls", "sudo -u a ".repeat(n / 10))),
    ("find", |n| {
        format!("find . {}", "-exec ls {} \\; ".repeat(n / 15))
    }),
    ("find, nested", |n| {
        format!("find . {}", "-exec find . ".repeat(n / 13))
    }),
    ("finds", |n| "find a -name b -delete;".repeat(n / 23)),
    ("exports", |n| "export A=1;".repeat(n / 11)),
    ("nested exports", |n| {
        format!("export {}", nested("A=$(export ", "B=1", ")", n))
    }),
    ("process substitutions", |n| {
        format!("cat {}", "<(a) ".repeat(n / 5))
    }),
    ("reads", |n| "read x <<<a;".repeat(n / 12)),
    ("folders", |n| "cd a;".repeat(n / 5)),
    ("folders up and down", |n| "cd a/../b;pwd;".repeat(n / 14)),
    ("files that are written and run", |n| {
        "echo ls >f;sh f;".repeat(n / 16)
    }),
    ("file that grows and runs", |n| {
        "echo ls >>f;sh f;".repeat(n / 17)
    }),
    ("links", |n| "ln -s a b;".repeat(n / 10)),
    ("git", |n| "git commit -m 'a' -- b;".repeat(n / 23)),
    ("python", |n| {
        format!("python3 -c '{}'", "print(1);".repeat(n / 9))
    }),
    ("python that nests", |n| {
        format!("python3 -c '{}'", nested("f(", "1", ")", n))
    }),
    ("open python", |n| {
        format!("python3 -c '{}'", "f([{".repeat(n / 4))
    }),
    ("python that adds", |n| {
        format!("python3 -c 'x=\"a\"\n{}'", "x=x+x\n".repeat(n / 6))
    }),
    ("python that calls a shell", |n| {
        format!(
            "python3 -c 'import os\n{}'",
            "os.system(\"ls\")\n".repeat(n / 16)
        )
    }),
    ("many pythons", |n| "python3 -c 'f(1)';".repeat(n / 18)),
    ("node", |n| format!("node -e '{}'", "f(()=>{".repeat(n / 7))),
    ("perl", |n| {
        format!("perl -e '{}'", "$x=~s/a/b/e;".repeat(n / 12))
    }),
    ("ruby", |n| format!("ruby -e '{}'", "`ls`;".repeat(n / 5))),
    ("awk", |n| {
        format!("awk '{}'", "{system(\"ls\")}".repeat(n / 14))
    }),
    ("PowerShell", |n| {
        format!("pwsh -c '{}'", "ls | % { rm $_ };".repeat(n / 17))
    }),
    ("written script", |n| {
        format!("cat >a.sh <<'E'\n{}E\n", "rm a/b\n".repeat(n / 7))
    }),
    ("written python", |n| {
        format!("cat >a.py <<'E'\n{}E\n", "os.remove('a')\n".repeat(n / 15))
    }),
    ("unreadable", |n| ") ; a ' ".repeat(n / 8)),
    ("unreadable words", |n| {
        format!("( {}", "rm -rf a;".repeat(n / 9))
    }),
];

/// `middle` in as many pairs of `open` and `close` as there is room for.
fn nested(open: &str, middle: &str, close: &str, size: usize) -> String {
    let times = size / (open.len() + close.len());
    format!("{}{middle}{}", open.repeat(times), close.repeat(times))
}

fn numbered(size: usize, piece: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&piece(number));
    }
    text
}
