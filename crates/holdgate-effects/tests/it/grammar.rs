//! Random shell scripts: nearly all of bash's grammar, most of it valid.

use crate::random::Random;

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "b", "-x", "$x", "\"a b\"", "'c d'", "a\\ b", "*.c", "{a,b}", "~/x", "$1", "\"$@\"", "a=b",
    "x$y\"z\"", "$'a\\n'", "$\"t\"", "é", "%", "a:b", "@", "^", "]", "[", "[a]", "!", "=", "+", "?",
    "{", "}", "a{", "a}", "{}", "a#", "--", "$", "a$", "in", "do", "if", "then", "[[", "]]", "time",
    "function", "esac", "$#", "$?", "$$", "$!", "$-", "$_", "'('", "')'", "'\"'", "'`'", "\"(\"",
    "\"'\"", "\"\\\"\"", "\"\\`\"", "\"}\"", "\"#\"", "\"\\$\"", "\"\\\n\"", "\"$\"", "\\(", "\\\"",
    "\\'", "\\`", "\\$", "\\;", "\\&", "\\|", "\\<", "\\>", "\\{", "\\}", "\\#", "\\\\", "\\ ",
    "$'\\''", "$'\\\\'", "$'\\x41'", "$'\"'", "`a`", "`a | b`", "`echo \"x\"`", "${x}", "${#x}",
    "${#}", "${#a[@]}", "${!x}", "${!x@}", "${!x*}", "${!a[@]}", "${x@Q}", "${@:2}", "${10}",
    "${?}", "${#@}", "${-}", "${!}", "${$}", "${##}", "${x:(-1)}", "${x: -1}", "${x:$((1))}",
    "${!x:-y}", "${x//[^a-z]/}", "${x//\\'/}", "${x/#a/b}", "${x/%a/b}", "${x//\"/\"/_}",
    "${x:-\"a}\"}", "${x:-'}'}", "${x-`a`}", "${x:-$(b)}", "${x[1]:-y}", "${x[$i]//a/b}",
    "\"${x:-'}\"", "${x##*/}", "${x%/*}", "${x////_}", "${x//\\//_}", "${x/\\}/y}", "${x:-\\}}",
    "${x^^}", "${x,}", "\"${a[@]:1}\"", "${a[x+1]}", "${a[b[1]]}", "$((1+2))", "$(( (1) ))",
    "$[1+1]", "$((x?1:2))", "$((a[1]))", "\"${x:-\"y\"}\"",
];
#[rustfmt::skip]
const TESTS: &[&str] = &[
    "-f x", "$x", "a == b", "\"$x\" = \"y\"", "$x =~ ^a", "$x =~ ^(a|b)+$", "-n $x", "a < b",
    "$a -gt 3", "x != *.c", "$x == @(a|b)*", "$x =~ [0-9]+", "$x =~ \"a b\"", "$x =~ a\\ b", "-v x",
    "-z \"$(a)\"", "$x == [[:alpha:]]*", "$x =~ ([^/]+)/([^/]+)$", "$1 == -*", "$x =~ ^[a-z]{2,3}$",
    "a > b", "${x} -nt y", "\"$x\" == *\"y\"*", "! -e x",
];
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "echo", "ls", "a", "./b", "/bin/c", "test", "[", "export", "local", "declare", "eval", "printf",
    "git", "\"x\"", "$cmd", ":", "let", "read", ".", "rm", "a-b", "a.b", "function1", "ifx",
    "time1", "coproc1",
];
#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "1", "x", "$x", "0x1f", "i++", "-1", "a[1]", "2#101", "\"3\"", "x=1", "${x}", "1,2", "(1)",
];
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "f() ", "f () ", "f()\n", "function f ", "function f() ", "function a-b ", "g.h() ",
];

/// Writes scripts.
pub(crate) struct Writer<'r> {
    random: &'r mut Random,
    /// Here-documents whose bodies come with the next line.
    bodies: Vec<String>,
}

impl<'r> Writer<'r> {
    /// A whole script.
    pub(crate) fn script(random: &'r mut Random) -> String {
        let mut writer = Writer {
            random,
            bodies: Vec::new(),
        };
        let script = writer.list(3);
        script + &writer.flush()
    }

    fn pick(&mut self, all: &[&'static str]) -> &'static str {
        self.random.pick::<&'static str>(all)
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.random.below(many) == 0
    }

    fn word(&mut self, depth: usize) -> String {
        if depth == 0 || self.one_in(2) {
            return self.pick(WORDS).to_owned();
        }
        let operator = self.pick(&[
            ":-", ":=", "-", "+", "#", "##", "%", "%%", ":?", "/", "//", "^", ",,",
        ]);
        match self.random.below(9) {
            0 => format!("$({})", self.list(depth - 1)),
            1 => format!("\"$({})\"", self.list(depth - 1)),
            2 => format!("$(({}))", self.number(depth - 1)),
            3 => format!("${{x{operator}{}}}", self.word(depth - 1)),
            4 => format!(
                "${{x/{}/{}}}",
                self.pick(&["a", "*", "[a-z]", "\"a b\""]),
                self.word(depth - 1)
            ),
            5 => format!("<({})", self.list(depth - 1)),
            6 => format!(
                "{}({}|b)",
                self.pick(&["?", "*", "+", "@"]),
                self.pick(&["a", "*.c", "\"x y\""])
            ),
            7 => format!("x{}", self.word(depth - 1)),
            _ => self.word(depth - 1) + &self.word(depth - 1),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        if depth == 0 || self.one_in(3) {
            return self.pick(NUMBERS).to_owned();
        }
        let operator = self.pick(&[
            "+", "-", "*", "/", "%", "<<", ">>", "<", ">", "==", "!=", "&", "|", "&&", "||", "=",
        ]);
        match self.random.below(4) {
            0 => format!("({})", self.number(depth - 1)),
            1 => format!("{} ? {} : 1", self.number(depth - 1), self.number(0)),
            2 => format!("$(({}))", self.number(depth - 1)),
            _ => self.number(depth - 1) + operator + &self.number(depth - 1),
        }
    }

    fn redirect(&mut self) -> String {
        match self.random.below(8) {
            0 => self.here_document(),
            1 => "<<<".to_owned() + &self.word(1),
            2 => self
                .pick(&["2>&1", ">&2", ">&-", "<&-", "1>&$fd", "3>&1-"])
                .to_owned(),
            _ => {
                let operator =
                    self.pick(&[">", "2>", "<", ">>", ">|", "<>", "&>", "&>>", "{fd}>", "3<"]);
                operator.to_owned()
                    + self.pick(&["", " "])
                    + self.pick(&["f", "\"a b\"", "$x", "/dev/null"])
            }
        }
    }

    fn here_document(&mut self) -> String {
        let (start, end) = *self.random.pick(&[
            ("E", "E"),
            ("'E'", "E"),
            ("\"E F\"", "E F"),
            ("\\E", "E"),
            ("-E", "\tE"),
        ]);
        let quoted = start.contains(['\'', '"', '\\']);
        let body = self.pick(&[
            "",
            "text\n",
            "$x `a` $(b)\n",
            "a \"q\n",
            "it's\n",
            "))\n",
            "${x:-a b}\n",
            "a\\\nb\n",
            ";;\n",
        ]);
        let body = if quoted && self.one_in(3) {
            "$( ` ${\n"
        } else {
            body
        };
        self.bodies.push(format!("{body}{end}\n"));
        format!("<<{start}")
    }

    /// The bodies that wait, on lines of their own.
    fn flush(&mut self) -> String {
        format!("\n{}", self.bodies.drain(..).collect::<String>())
    }

    fn separator(&mut self) -> String {
        if self.bodies.is_empty() {
            self.pick(&[";", "\n", "; ", " ;\n", "&", "\n\n", "\n# it's (\n"])
                .to_owned()
        } else {
            self.flush()
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.random.below(3) / 2 {
            text += self.pick(&[
                "x=",
                "x+=",
                "a[0]=",
                "a[$i]=",
                "a[x+1]+=",
                "m[\"k k\"]=",
                "a[${#a[@]}]=",
            ]);
            text += &self.word(depth);
            text += self.pick(&[" ", " z=(a b) ", " z+=([1]=a\n) ", " z=( # c\n) "]);
        }
        text += self.pick(NAMES);
        for _ in 0..self.random.below(4) {
            text += self.pick(&[" ", "  ", "\t", " \\\n "]);
            text += &if self.one_in(5) {
                self.redirect()
            } else {
                self.word(depth)
            };
        }
        text
    }

    fn test(&mut self, depth: usize) -> String {
        match self.random.below(6) {
            0 if depth > 0 => format!("( {} )", self.test(depth - 1)),
            1 if depth > 0 => format!("! {}", self.test(depth - 1)),
            2 if depth > 0 => {
                let (left, right) = (self.test(depth - 1), self.test(depth - 1));
                left + self.pick(&[" && ", " || ", " &&\n"]) + &right
            }
            _ => self.pick(TESTS).to_owned(),
        }
    }

    /// Commands, and what must follow them before a keyword.
    fn block(&mut self, depth: usize) -> String {
        self.list(depth) + &self.separator()
    }

    fn command(&mut self, depth: usize) -> String {
        let Some(inner) = depth.checked_sub(1) else {
            return self.simple(0);
        };
        match self.random.below(24) {
            0 => format!("( {})", self.list(inner)),
            1 => format!("{{ {}}}", self.block(inner)),
            2 => format!("if {}then {}fi", self.block(inner), self.block(inner)),
            3 => format!(
                "if {}then {}else {}fi",
                self.block(inner),
                self.block(inner),
                self.block(inner)
            ),
            4 => format!("while {}do {}done", self.block(inner), self.block(inner)),
            5 => format!(
                "for i in {} {}; do {}done",
                self.word(0),
                self.word(0),
                self.block(inner)
            ),
            6 => format!("for i; do {}done", self.block(inner)),
            7 => format!(
                "for (({};{}; i++)); do {}done",
                self.number(1),
                self.number(1),
                self.block(inner)
            ),
            8 => {
                let pattern = self.pick(&[
                    "a", "*", "[a-z]*", "\"x y\"", "$x", "(-h", "a|b", "@(a|b)", "'('",
                ]);
                let end = self.pick(&[";;", ";&", ";;&"]);
                let body = self.block(inner);
                format!(
                    "case {} in\n{pattern}) {body}{end}\nz) ;; esac",
                    self.word(0)
                )
            }
            9 => format!("[[ {} ]]", self.test(2)),
            10 => format!("(({}))", self.number(2)),
            11 => format!("{}{{ {}}}", self.pick(FUNCTIONS), self.block(inner)),
            12 => format!("{}( {})", self.pick(FUNCTIONS), self.list(inner)),
            13 => format!("! {}", self.command(inner)),
            14 => format!(
                "{}{}",
                self.pick(&["time ", "time -p ", "coproc "]),
                self.simple(inner)
            ),
            15 => format!("coproc NAME {{ {}}}", self.block(inner)),
            16 => format!("select x in a b; do {}done", self.block(inner)),
            17 => format!("{{ {}}} {}", self.block(inner), self.redirect()),
            _ => self.simple(inner),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.command(depth);
        for _ in 0..self.random.below(3) {
            let operator = match self.random.below(5) {
                0 => " && ".to_owned(),
                1 => " || ".to_owned(),
                2 => self.pick(&[" | ", "|", " |& "]).to_owned(),
                _ => self.separator(),
            };
            text = text + &operator + &self.command(depth);
        }
        if !self.bodies.is_empty() && depth < 3 {
            text += &self.flush();
        }
        text
    }
}
