//! A message as sentences, without what the model only quotes: blocks of code, quotations, and the
//! inside of quotation marks.

/// Stands in a sentence for each text in quotation marks or backticks.
pub(super) const QUOTED: char = '\u{fffc}';
/// Sentences that are looked at, from the last one.
const MOST: usize = 64;
/// Bytes that a quotation may have.
const LONGEST: usize = 600;

/// One sentence.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sentence {
    /// As it was written.
    pub(super) shown: String,
    /// In small letters, with straight apostrophes, without emphasis, and with [`QUOTED`] for
    /// what is quoted.
    pub(super) plain: String,
    /// What is quoted, in order, in small letters.
    pub(super) quoted: Vec<String>,
    /// Whether it is a question.
    pub(super) asks: bool,
}

/// The sentences of `text`, the last ones if there are many.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut all = Vec::new();
    let mut fence: Option<&str> = None;
    let mut paragraph = String::new();
    for line in text.lines() {
        let bare = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|m| bare.starts_with(m));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, Some(mark)) => {
                split(&paragraph, &mut all);
                paragraph.clear();
                fence = Some(mark);
            }
            (None, None) if bare.is_empty() || bare.starts_with('>') => {
                split(&paragraph, &mut all);
                paragraph.clear();
            }
            (None, None) => {
                // A line that goes on begins with a small letter.
                if !bare.starts_with(char::is_lowercase) {
                    split(&paragraph, &mut all);
                    paragraph.clear();
                }
                if !paragraph.is_empty() {
                    paragraph.push(' ');
                }
                paragraph.push_str(bare.trim_start_matches(['#', '-', '*', '+', '•', ' ']));
            }
        }
    }
    split(&paragraph, &mut all);
    let skipped = all.len().saturating_sub(MOST);
    all.split_off(skipped)
}

/// Splits a paragraph into sentences.
fn split(paragraph: &str, all: &mut Vec<Sentence>) {
    let mut sentence = Builder::default();
    let mut chars = paragraph.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let rest = paragraph.get(at + c.len_utf8()..).unwrap_or_default();
        if let Some(inside) = quotation(c, before, rest) {
            sentence.quote(paragraph.get(at..), inside);
            for _ in 0..=inside.chars().count() {
                before = chars.next().map_or(' ', |(_, c)| c);
            }
            continue;
        }
        sentence.push(c, before, chars.peek().map(|(_, c)| *c));
        before = c;
        let ends = match c {
            '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' | ';' => rest.chars().next().is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            all.extend(std::mem::take(&mut sentence).finish());
        }
    }
    all.extend(sentence.finish());
}

/// What stands between this quotation mark and the one that closes it.
fn quotation(open: char, before: char, rest: &str) -> Option<&str> {
    let close = match open {
        '`' | '"' => open,
        '“' | '„' => '”',
        '«' => '»',
        '「' => '」',
        '『' => '』',
        // Otherwise it is an apostrophe.
        '\'' | '‘' if !before.is_alphanumeric() => {
            if open == '‘' {
                '’'
            } else {
                '\''
            }
        }
        _ => return None,
    };
    let rest = rest.get(..rest.floor_char_boundary(LONGEST))?;
    let mut from = 0;
    loop {
        let at = from + rest.get(from..)?.find(close)?;
        let inside = rest.get(..at)?;
        let after = rest.get(at + close.len_utf8()..)?.chars().next();
        let is_apostrophe = matches!(close, '\'' | '’') && after.is_some_and(char::is_alphanumeric);
        if !is_apostrophe {
            return Some(inside).filter(|inside| !inside.trim().is_empty());
        }
        from = at + close.len_utf8();
    }
}

#[derive(Default)]
struct Builder {
    shown: String,
    plain: String,
    quoted: Vec<String>,
}

impl Builder {
    fn push(&mut self, c: char, before: char, after: Option<char>) {
        self.shown.push(c);
        match c {
            '’' | 'ʼ' | '´' | '‘' | '＇' => self.plain.push('\''),
            '*' | '~' => {}
            QUOTED => self.plain.push(' '),
            '_' if !before.is_alphanumeric() || !after.is_some_and(char::is_alphanumeric) => {}
            c if c.is_whitespace() => self.plain.push(' '),
            c => self.plain.extend(c.to_lowercase()),
        }
    }

    fn quote(&mut self, from: Option<&str>, inside: &str) {
        let length = inside.chars().count() + 2;
        let written = from.unwrap_or_default().chars().take(length);
        self.shown.extend(written);
        self.plain.push(QUOTED);
        self.quoted.push(inside.to_lowercase());
    }

    fn finish(self) -> Option<Sentence> {
        let plain = self.plain.trim();
        if plain.is_empty() {
            return None;
        }
        Some(Sentence {
            shown: self.shown.trim().to_owned(),
            asks: plain.ends_with(['?', '？']),
            plain: plain.to_owned(),
            quoted: self.quoted,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(text: &str) -> Vec<String> {
        sentences(text).into_iter().map(|s| s.plain).collect()
    }

    #[test]
    fn quotations_and_blocks_are_left_out() {
        let text = "I **won’t** run `rm -rf x`. It said \"I can't. No.\" in v1.2!\n\
                    > I refuse\n```\nI won't\n```\nA 'b c' isn't\nwrapped";
        let expected = [
            "i won't run \u{fffc}.",
            "it said \u{fffc} in v1.2!",
            "a \u{fffc} isn't wrapped",
        ];
        assert_eq!(plain(text), expected);
        assert_eq!(sentences(text)[0].quoted, ["rm -rf x"]);
        assert_eq!(sentences(text)[0].shown, "I **won’t** run `rm -rf x`.");
    }

    #[test]
    fn an_apostrophe_opens_no_quotation() {
        assert_eq!(plain("I won't and can't."), ["i won't and can't."]);
        assert_eq!(
            plain("The users' files, I won't."),
            ["the users' files, i won't."]
        );
    }

    proptest! {
        #[test]
        fn what_is_shown_stands_in_the_text(text in "(?s)[a-zI'’\"`“”.?! \n>*_~-]{0,200}") {
            let squeezed = |t: &str| t.chars().filter(|c| c.is_alphabetic()).collect::<String>();
            for sentence in sentences(&text) {
                prop_assert!(squeezed(&text).contains(&squeezed(&sentence.shown)), "{sentence:?}");
                let quoted = sentence.plain.matches(QUOTED).count();
                prop_assert_eq!(quoted, sentence.quoted.len());
            }
        }
    }
}
