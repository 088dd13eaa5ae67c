//! Commands that are meant to hurt: each family grows as large as one wants.

/// A family's name, and its member of about so many bytes.
pub(crate) type Family = (&'static str, Box<dyn Fn(usize) -> String>);

/// Commands whose cost must grow no faster than they do.
pub(crate) fn families() -> Vec<Family> {
    let repeated = |(name, pattern): &(&'static str, &'static str)| -> Family {
        let pattern = *pattern;
        (name, Box::new(|size| member(pattern, size)))
    };
    let other = |(name, make): &(&'static str, Make)| -> Family { (name, Box::new(*make)) };
    let all = REPEATED.iter().map(repeated);
    all.chain(OTHERS.iter().map(other)).collect()
}

/// What stands in `«…»` is repeated until the command is large enough; `«a¦b¦c»` is `b` in as many
/// pairs of `a` and `c`, and `«3×a»` is always `aaa`.
const REPEATED: &[(&str, &str)] = &[
    ("open parentheses", "«(»"),
    ("closed parentheses", "«(¦true¦)»"),
    ("many subshells", "«(a);»"),
    ("open groups", "«{ »"),
    ("many groups", "«{ a; };»"),
    ("open substitutions", "«$(»"),
    ("substitutions", "echo «$(a ¦b¦)»"),
    ("quoted substitutions", "echo «\"$(a ¦b¦)\"»"),
    ("many substitutions", "echo «$(a)»"),
    ("open arithmetic", "«((»"),
    ("open arithmetic words", "echo «$((»"),
    ("arithmetic with quotes", "echo «$((\"\\\"\"))»"),
    ("many arithmetic words", "echo «$((1+2))»"),
    ("long arithmetic", "echo $((1«+1»))"),
    ("half arithmetic", "«((a);»"),
    ("deep arithmetic", "echo $((«(¦1¦)»))"),
    ("open parameters", "echo «${x:-»"),
    ("parameters", "echo «${x:-¦y¦}»"),
    ("backticks", "echo «`a`»"),
    ("open backtick", "echo `«a »"),
    ("open quotes", "«'\"»"),
    ("open brackets", "«a[»"),
    ("indices", "«a[$(¦b¦)]»=1"),
    ("many indices", "«a[1]=2 »"),
    ("tests", "[[ «a == b && » ]]"),
    ("many tests", "«[[ a ]];»"),
    ("globs", "ls «*?[a]»"),
    ("path globs", "cat «/*/??/[a-z]*»"),
    ("many globs", "cat «/e*/p?s* »"),
    ("extended globs", "ls «@(a|b)»"),
    ("open globs", "ls «@(»"),
    ("braces", "echo «{a,b}»"),
    ("nested braces", "echo «{a,¦b¦}»"),
    ("open braces", "echo «{a,»"),
    ("brace sequences", "echo «{1..99999} »"),
    ("pipes", "a«|a»"),
    ("pipes of programs", "cat f« | grep a»"),
    ("and, or", "a« && b || c»"),
    ("background", "«a & »"),
    ("lines", "«ls\n»"),
    ("comments", "«# '\n»"),
    ("blank lines", "«\n»"),
    ("continued lines", "a «\\\n»"),
    ("here-documents", "«cat <<E\n$x\nE\n»"),
    ("open here-documents", "cat« <<E»\n"),
    ("here-documents with substitutions", "cat <<E\n«$(a)»\nE\n"),
    ("here-document that never ends", "cat <<E\n«E \n»"),
    ("here-strings", "«cat <<<\"$x\";»"),
    ("many here-strings", "cat «<<<a »"),
    ("redirections", "a «>f »"),
    ("redirections to files", "«a >f$i;»"),
    ("appends", "«echo aaaaaaaa >>f;»"),
    ("long word", "echo «a»"),
    ("long program", "«a»"),
    ("long path", "cat «a/»"),
    ("long path of dots", "cat «../»"),
    ("many words", "echo «a »"),
    ("many paths", "rm «a/b »"),
    ("many options", "curl «-o a »"),
    ("letters of options", "tar -«x»"),
    ("many addresses", "curl «http://a.b »"),
    ("many escapes", "echo «\\a»"),
    ("many quotes", "echo «''\"\"»"),
    ("ANSI quotes", "echo $'«\\x41»'"),
    ("unicode", "echo «\u{ff52}\u{430}\u{200b}»"),
    ("assignments", "«x=1;»"),
    ("assignments before one command", "«x=1 »ls"),
    ("doubling", "x=aaaaaaaa;«x=$x$x;»"),
    ("doubling arrays", "x=(a b c);«x=(${x[@]} ${x[@]});»"),
    ("large array", "x=(«a »);«echo ${x[@]};»"),
    ("appending", "x=a;«x+=$x;»"),
    ("long pattern", "x=«ab»;echo ${x//«a*»/c}"),
    ("suffixes", "x=«ab»;«echo ${x%%a*b};»"),
    ("functions", "«f() { a; };»"),
    ("functions in functions", "«f() { ¦a;¦ }»"),
    (
        "functions in child shells",
        "f() { «bash -c f;((1)) && (f);» };f",
    ),
    ("loops", "«for i in a b; do c; done;»"),
    ("loop over much", "for i in «a/b »; do rm $i; done"),
    (
        "loop with a long body",
        "for i in {1..64}; do «rm $i;» done",
    ),
    ("open loops", "«while a; do »"),
    ("conditions", "«if a; then b; else c; fi;»"),
    ("conditions in conditions", "«if a; then ¦b;¦ fi;»"),
    ("open conditions", "«if a; then »"),
    ("many branches", "if a; then b; «elif a; then x=$x$x; » fi"),
    ("arms", "case a in «a) b;; » esac"),
    ("open arms", "«case a in a) »"),
    ("uncertain assignments", "«a && x=1$x;»"),
    ("aliases", "alias a='a b';«a;»"),
    ("long alias", "alias a='«b;»';«a;»"),
    ("eval", "«eval »a"),
    (
        "eval of itself",
        "x='eval \"$x;$x\"';eval \"$x\";«eval \"$x\";»",
    ),
    ("shells", "«sh -c a;»"),
    ("shells in shells", "«bash -c »a"),
    ("shells of a long script", "x='«ls;»';«sh -c \"$x\";»"),
    ("printf", "printf '«%s»' a"),
    ("printf of many", "printf '%s%s' «a »"),
    ("printf widths", "printf '«%99999999d»' a"),
    ("base64", "echo «YWFh» | base64 -d | base64 -d"),
    ("many base64", "«echo YWFh | base64 -d | sh;»"),
    ("chain of rev", "echo «ab»«|rev»"),
    ("chain of tr", "echo «ab»«|tr a-z b-za»"),
    ("sed", "echo «ab» | sed «s/a/b/;»"),
    ("cut", "echo «ab» | cut -c«1,»"),
    ("seq", "«seq 1 99999999;»"),
    ("xargs", "echo a | «xargs »ls"),
    ("xargs of much", "echo «a/b »| xargs rm"),
    ("env", "«env »ls"),
    ("env with values", "env «A=1 »ls"),
    ("sudo", "«sudo -u a »ls"),
    ("find", "find . «-exec ls {} \\; »"),
    ("find, nested", "find . «-exec find . »"),
    ("finds", "«find a -name b -delete;»"),
    ("exports", "«export A=1;»"),
    ("nested exports", "export «A=$(export ¦B=1¦)»"),
    ("process substitutions", "cat «<(a) »"),
    ("reads", "«read x <<<a;»"),
    ("folders", "«cd a;»"),
    ("folders up and down", "«cd a/../b;pwd;»"),
    ("files that are written and run", "«echo ls >f;sh f;»"),
    ("file that grows and runs", "«echo ls >>f;sh f;»"),
    ("links", "«ln -s a b;»"),
    ("git", "«git commit -m 'a' -- b;»"),
    ("python", "python3 -c '«print(1);»'"),
    ("python that nests", "python3 -c '«f(¦1¦)»'"),
    ("open python", "python3 -c '«f([{»'"),
    ("python that adds", "python3 -c 'x=\"a\"\n«x=x+x\n»'"),
    (
        "python that calls a shell",
        "python3 -c 'import os\n«os.system(\"ls\")\n»'",
    ),
    ("many pythons", "«python3 -c 'f(1)';»"),
    ("node", "node -e '«f(()=>{»'"),
    ("perl", "perl -e '«$x=~s/a/b/e;»'"),
    ("ruby", "ruby -e '«`ls`;»'"),
    ("awk", "awk '«{system(\"ls\")}»'"),
    ("PowerShell", "pwsh -c '«ls | % { rm $_ };»'"),
    ("written script", "cat >a.sh <<'E'\n«rm a/b\n»E\n"),
    ("written python", "cat >a.py <<'E'\n«os.remove('a')\n»E\n"),
    ("unreadable", "«) ; a ' »"),
    ("unreadable words", "( «rm -rf a;»"),
    ("wide braces", "echo {«a,»}"),
    ("braces and a long tail", "echo «20×{a,b}»«x»"),
    ("doubling, then echo", "x=a;«20×x=$x$x;»«echo $x;»"),
    ("doubling, then words", "x='a ';«20×x=$x$x;»«echo $x;»"),
    ("patterns", "x=«64×ab»;«echo ${x//a*b*a*b/c};»"),
    ("eval of a doubled text", "x=ls\\;;«12×x=$x$x;»«eval $x;»"),
];

type Make = fn(usize) -> String;

/// Those that grow in another way.
const OTHERS: &[(&str, Make)] = &[
    ("assignments of many names", |n| {
        numbered(n, |i| format!("x{i}=1;"))
    }),
    ("many names and subshells", |n| {
        format!(
            "{}{}",
            numbered(n / 2, |i| format!("x{i}=1;")),
            "(a);".repeat(n / 8)
        )
    }),
    ("chain of variables", |n| {
        numbered(n, |i| format!("x{}=$x{i}$x{i};", i + 1))
    }),
    ("functions that call functions", |n| {
        format!(
            "{}f0",
            numbered(n, |i| format!("f{i}() {{ f{j};f{j}; }};", j = i + 1))
        )
    }),
    ("functions of functions in child shells", |n| {
        let body = nested("( ", "bash -c f; f", ")", 100);
        format!(
            "f() {{ {body}; }}; g() {{ f; {body}; }};{}",
            "f;g;".repeat(n / 4)
        )
    }),
    ("loops in loops", |n| {
        let depth = (n / 30).min(50);
        format!(
            "{}a{}",
            "for i in 1 2 3 4 5 6 7 8; do ".repeat(depth),
            ";done".repeat(depth)
        )
    }),
    ("uncertain values", |n| {
        numbered(n, |i| format!("a && x={i};echo $x$x;"))
    }),
    ("chain of aliases", |n| {
        format!(
            "{}a0",
            numbered(n, |i| format!("alias a{i}='a{j};a{j}';", j = i + 1))
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
];

fn member(pattern: &str, size: usize) -> String {
    let parts: Vec<&str> = pattern.split(['«', '»']).collect();
    let fixed = pattern.matches('×').count();
    let size = size / (parts.len() / 2 - fixed);
    let grown = parts.iter().enumerate().map(|(number, part)| {
        if number % 2 == 0 {
            return (*part).to_owned();
        }
        if let Some((times, part)) = part.split_once('×') {
            return part.repeat(times.parse().unwrap());
        }
        match part.split('¦').collect::<Vec<_>>()[..] {
            [open, middle, close] => nested(open, middle, close, size),
            _ => part.repeat(size / part.len()),
        }
    });
    grown.collect()
}

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
