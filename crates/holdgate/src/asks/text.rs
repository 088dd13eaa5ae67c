//! Texts of others on a terminal: nothing in them steers it, and lines have a width.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar as _;

/// How a part of a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Look {
    #[default]
    Plain,
    Strong,
    Faint,
    /// The part of a call that is asked about.
    Danger,
}

impl Look {
    fn style(self) -> Style {
        let style = Style::new();
        match self {
            Look::Plain => style,
            Look::Strong => style.bold(),
            Look::Faint => style.dimmed(),
            Look::Danger => style
                .fg_color(Some(AnsiColor::Red.into()))
                .bold()
                .underline(),
        }
    }
}

/// A character of a line, which can be shown as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell(char, Look);

/// One line, or a text of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text(Vec<Cell>);

impl Text {
    pub(super) fn new(text: &str, look: Look) -> Text {
        let mut new = Text::default();
        new.push(text, look);
        new
    }

    /// Adds a text, with everything in it made visible that would steer a terminal or hide.
    pub(super) fn push(&mut self, text: &str, look: Look) {
        for c in text.chars() {
            match c {
                '\n' => self.0.push(Cell('\n', look)),
                '\r' => {}
                '\t' => self.0.extend([Cell(' ', look); 2]),
                c if c.is_ascii_control() => {
                    let picture = u32::from(c).checked_add(0x2400);
                    let picture = if c == '\u{7f}' { None } else { picture };
                    let picture = picture.and_then(char::from_u32).unwrap_or('\u{2421}');
                    self.0.push(Cell(picture, look));
                }
                c if is_unseen(c) => {
                    let name = format!("<U+{:04X}>", u32::from(c));
                    self.0.extend(name.chars().map(|c| Cell(c, look)));
                }
                c => self.0.push(Cell(c, look)),
            }
        }
    }

    pub(super) fn with(mut self, text: &str, look: Look) -> Text {
        self.push(text, look);
        self
    }

    pub(super) fn append(&mut self, other: Text) {
        self.0.extend(other.0);
    }

    /// The same behind so many spaces; a blank line stays blank.
    pub(super) fn indented(mut self, columns: usize) -> Text {
        if !self.0.is_empty() {
            let spaces = std::iter::repeat_n(Cell(' ', Look::Plain), columns);
            self.0.splice(0..0, spaces);
        }
        self
    }

    /// What follows on this line, which [`wrap`](Self::wrap) has made the first.
    pub(super) fn after(&self, line: &Text) -> Text {
        let rest = self.0.get(line.0.len()..).unwrap_or_default();
        let skip = rest
            .first()
            .is_some_and(|cell| matches!(cell.0, ' ' | '\n'));
        Text(rest.get(usize::from(skip)..).unwrap_or_default().to_vec())
    }

    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|cell| cell.width()).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, look: Look) -> bool {
        self.0.iter().any(|cell| cell.1 == look)
    }

    /// Lines of at most `width` columns: at a line's end, else at a space, else anywhere.
    pub(super) fn wrap(&self, width: usize) -> Vec<Text> {
        let width = width.max(1);
        let mut lines = Vec::new();
        for line in self.0.split(|cell| cell.0 == '\n') {
            let mut rest = line;
            loop {
                let (fits, cut) = split(rest, width);
                lines.push(Text(fits.to_vec()));
                rest = cut;
                if rest.is_empty() {
                    break;
                }
            }
        }
        lines
    }

    /// At most `width` columns of it, with `…` for the rest.
    pub(super) fn cut(mut self, width: usize) -> Text {
        if self.width() <= width {
            return self;
        }
        while self.width() >= width.max(1) {
            self.0.pop();
        }
        self.0.push(Cell('…', Look::Plain));
        self
    }

    /// The line for a terminal, with its styles or without.
    pub(super) fn render(&self, styled: bool) -> String {
        let mut out = String::new();
        for part in self.0.chunk_by(|a, b| a.1 == b.1) {
            let style = part.first().map(|cell| cell.1.style());
            let style = style.filter(|_| styled).unwrap_or_default();
            out.push_str(&style.render().to_string());
            out.extend(part.iter().map(|cell| cell.0));
            out.push_str(&style.render_reset().to_string());
        }
        out
    }
}

impl Cell {
    fn width(self) -> usize {
        self.0.width().unwrap_or(0)
    }
}

/// What fits into a line, and the rest.
fn split(line: &[Cell], width: usize) -> (&[Cell], &[Cell]) {
    let mut columns = 0;
    let fits = line.iter().take_while(|cell| {
        columns += cell.width();
        columns <= width
    });
    let fits = fits.count().max(1);
    if fits >= line.len() {
        return (line, &[]);
    }
    let space = line
        .iter()
        .take(fits + 1)
        .rposition(|cell| cell.0 == ' ')
        .filter(|at| *at > fits / 2);
    match space {
        Some(at) => (
            line.get(..at).unwrap_or_default(),
            line.get(at + 1..).unwrap_or_default(),
        ),
        None => line.split_at_checked(fits).unwrap_or_default(),
    }
}

/// Whether a character is not seen, or changes how others are seen: C1 controls, marks of direction,
/// joiners, tags, selectors of variants, separators, private use.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        let text = "a\u{1b}[2J\u{7}b\u{9b}1m\u{202e}c\u{200b}\rd\u{7f}\te";
        let shown = Text::new(text, Look::Plain).render(false);
        assert_eq!(
            shown,
            "a\u{241b}[2J\u{2407}b<U+009B>1m<U+202E>c<U+200B>d\u{2421}  e"
        );
        for c in ('\0'..=char::MAX).filter(|c| *c != '\n') {
            let shown = Text::new(&c.to_string(), Look::Plain).render(false);
            assert!(!shown.chars().any(char::is_control), "{c:?}");
        }
    }

    #[test]
    fn lines_keep_their_width() {
        let wrap = |text: &str, width| -> Vec<String> {
            let lines = Text::new(text, Look::Plain).wrap(width);
            lines.iter().map(|line| line.render(false)).collect()
        };
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("a\n\nb", 4), ["a", "", "b"]);
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
        assert_eq!(wrap("", 4), [""]);
        let cut = |width| Text::new("日本語", Look::Plain).cut(width).render(false);
        assert_eq!([cut(6), cut(5), cut(2)], ["日本語", "日本…", "…"]);
    }

    #[test]
    fn styles_end_with_their_part() {
        let text = Text::new("a", Look::Plain).with("b", Look::Danger);
        assert_eq!(text.render(false), "ab");
        assert_eq!(text.render(true), "a\u{1b}[1m\u{1b}[4m\u{1b}[31mb\u{1b}[0m");
    }
}
