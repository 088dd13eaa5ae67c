//! Functions of make that make a text of texts.

/// The name and the arguments of such a function.
pub(super) fn call(text: &str) -> Option<(&str, &str)> {
    let (name, arguments) = text.split_once([' ', '\t'])?;
    let known = [
        "subst",
        "patsubst",
        "addprefix",
        "addsuffix",
        "firstword",
        "lastword",
        "word",
        "join",
    ];
    known.contains(&name).then_some((name, arguments))
}

/// What it makes. `None`: not followed.
pub(super) fn made(name: &str, arguments: &str) -> Option<String> {
    let mut parts = arguments.splitn(3, ',').map(str::trim_start);
    let first = parts.next()?;
    let second = parts.next();
    let each = |make: &dyn Fn(&str) -> String, words: &str| {
        let made: Vec<String> = words.split_whitespace().map(make).collect();
        made.join(" ")
    };
    let made = match name {
        "subst" if !first.is_empty() => parts.next()?.replace(first, second?),
        "patsubst" if !first.contains('%') => {
            let to = second?;
            let change = |word: &str| if word == first { to } else { word }.to_owned();
            each(&change, parts.next()?)
        }
        "addprefix" => each(&|word| [first, word].concat(), second?),
        "addsuffix" => each(&|word| [word, first].concat(), second?),
        "firstword" => first.split_whitespace().next()?.to_owned(),
        "lastword" => first.split_whitespace().next_back()?.to_owned(),
        "word" => {
            let at: usize = first.trim().parse().ok()?;
            let mut words = second?.split_whitespace();
            words.nth(at.checked_sub(1)?)?.to_owned()
        }
        "join" => {
            let (left, right) = (first.split_whitespace(), second?.split_whitespace());
            let pairs = left.zip(right).map(|(a, b)| [a, b].concat());
            pairs.collect::<Vec<_>>().join(" ")
        }
        _ => return None,
    };
    (made.len() < 1 << 10).then_some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_replaced_and_put_together() {
        let result = |text| call(text).and_then(|(name, arguments)| made(name, arguments));
        assert_eq!(result("subst x,m,rx -r a").as_deref(), Some("rm -r a"));
        assert_eq!(result("addprefix r,m n").as_deref(), Some("rm rn"));
        assert_eq!(result("word 2,a b c").as_deref(), Some("b"));
        assert_eq!(result("join r g,m it").as_deref(), Some("rm git"));
        assert_eq!(result("patsubst %.c,%.o,a.c"), None);
        assert_eq!(result("wildcard *.c"), None);
    }
}
