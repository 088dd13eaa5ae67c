//! Commands that are meant to hurt: each family grows as large as one wants.

use std::collections::BTreeMap;

/// A family's name, and its member of about so many bytes.
pub(crate) type Family = (String, Box<dyn Fn(usize) -> String>);

/// Commands whose cost must grow no faster than they do.
pub(crate) fn families() -> Vec<Family> {
    let repeated: BTreeMap<String, String> =
        serde_saphyr::from_str(include_str!("families.yaml")).unwrap();
    let repeated = repeated
        .into_iter()
        .map(|(name, pattern)| -> Family { (name, Box::new(move |size| member(&pattern, size))) });
    let other = |(name, make): &(&str, Make)| -> Family { ((*name).to_owned(), Box::new(*make)) };
    repeated.chain(OTHERS.iter().map(other)).collect()
}

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
