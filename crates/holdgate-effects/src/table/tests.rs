use super::{Table, compiled, write};
use serde::Deserialize;
use serde_saphyr::Spanned;
use std::collections::BTreeMap;

/// One value of every shape that a table has.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Shapes {
    word: Spanned<String>,
    quoted: String,
    truth: bool,
    number: Option<Spanned<u32>>,
    none: Option<String>,
    list: Vec<Spanned<String>>,
    nested: BTreeMap<String, Vec<i64>>,
    way: Way,
    other: Vec<Way>,
    either: Either,
    same: Spanned<Vec<String>>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Way {
    OneWay,
    Other { of: String },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Either {
    Word(String),
    Words(Vec<String>),
}

const SHAPES: &str = r#"
word: true
quoted: "12 \u00e4"
truth: true
number: 7
none: ~
list: &list [a, 'b c', "null"]
nested:
  5: [1, -2]
way: one-way
other: [one-way, {other: {of: x}}]
either: [one, two]
same: *list
"#;

#[test]
fn a_compiled_table_is_what_the_yaml_says() {
    let mut read: Shapes = compiled(SHAPES).read().unwrap();
    assert_eq!(read.same.referenced.line(), 13);
    let mut yaml: Shapes = serde_saphyr::from_str(SHAPES).unwrap();
    // Only lines and columns are kept.
    let plain = |shapes: &mut Shapes| {
        let at = |line: u64, column: u64| format!("{line}:{column}");
        let mut places = vec![at(
            shapes.word.referenced.line(),
            shapes.word.referenced.column(),
        )];
        for item in &shapes.list {
            places.push(at(item.referenced.line(), item.referenced.column()));
        }
        places
    };
    assert_eq!(plain(&mut read), plain(&mut yaml));
    let values = |shapes: Shapes| {
        let list: Vec<String> = shapes.list.into_iter().map(|item| item.value).collect();
        let number = shapes.number.map(|number| number.value);
        (
            (shapes.word.value, shapes.quoted, shapes.truth, number),
            (shapes.none, list, shapes.nested, shapes.way),
            (shapes.other, shapes.either, shapes.same.value),
        )
    };
    assert_eq!(values(read), values(yaml));
}

#[test]
fn errors_say_where() {
    for (yaml, expected) in [
        ("a: 1\nb: [x]\n", "line 2, column 4: invalid type"),
        ("a: 1\nc: 2\n", "line 2, column 1: unknown field `c`"),
        ("a: x\nb: 1\n", "line 1, column 4: expected a number"),
    ] {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Numbers {
            #[expect(dead_code, reason = "only read")]
            a: u32,
            #[expect(dead_code, reason = "only read")]
            b: BTreeMap<String, u32>,
        }
        let error = compiled(yaml).read::<Numbers>().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    for (yaml, expected) in [
        ("a: 1\na: 2\n", "line 2, column 1: this key is there twice"),
        ("a: !x 1\n", "tables have no tags"),
        ("a: [1\n", ""),
        ("", "the table is empty"),
    ] {
        let error = write::compile(yaml).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_cut_table_is_an_error() {
    let whole = write::compile(SHAPES).unwrap();
    for end in 0..whole.len() {
        let cut = whole.get(..end).unwrap();
        assert!(Table(cut).read::<Shapes>().is_err());
    }
}
