//! The verdict on the markings of a text: by their form, by where they stand, and by what the text is.

use super::context::Context;
use super::mark::{Form, Mark};
use super::place::{Place, Speech};
use super::tables::{Family, Level};
use super::tokens::Label;
use crate::verdict::Verdict;

/// Lines within which the lines of a block stand.
const BLOCK_LINES: usize = 15;

impl Mark {
    /// Whether it marks one paragraph.
    fn is_portion(&self) -> bool {
        self.words.starts_with(['(', '['])
    }

    /// Whether it marks a whole text, and is not a portion mark or a line of a block.
    pub(super) fn is_banner(&self) -> bool {
        match self.form {
            Form::Full | Form::Phrase | Form::Loose | Form::Code => !self.is_portion(),
            Form::Statement(letter) => letter != 'A',
            Form::Bare(_) => matches!(self.spot.place, Place::Own | Place::Literal),
            Form::Portion(_) | Form::Label(_) => false,
        }
    }
}

/// The verdict on `mark`, one of `marks` in `text`.
pub(super) fn verdict(mark: &Mark, marks: &[Mark], text: &str, context: &Context) -> Verdict {
    let verdict = match mark.form {
        Form::Full => full(mark),
        Form::Phrase | Form::Loose if is_continued(mark, context) => Verdict::Audit,
        Form::Statement('A') => Verdict::Allow,
        Form::Phrase | Form::Statement(_) => phrase(mark),
        Form::Loose => loose(mark),
        Form::Code => code(mark),
        Form::Bare(level) => bare(mark, level, marks, text, context),
        Form::Portion(level) => portion(mark, level, marks, text, context),
        Form::Label(label) => label_line(mark, label, marks),
    };
    if verdict < Verdict::Block {
        let known = context.about || context.file.test;
        let shown = known && mark.spot.place == Place::Literal;
        return if shown {
            verdict.min(Verdict::Audit)
        } else {
            verdict
        };
    }
    lowered(mark, marks, context)
}

/// Blocked, unless the words around the marking say at least `from`.
fn unless(mark: &Mark, from: Speech, otherwise: Verdict) -> Verdict {
    if mark.spot.speech >= from {
        otherwise
    } else {
        Verdict::Block
    }
}

fn full(mark: &Mark) -> Verdict {
    let place = mark.spot.place;
    if mark.is_portion() && matches!(place, Place::Start | Place::Lead | Place::End) {
        return Verdict::Block;
    }
    match place {
        Place::Own => Verdict::Block,
        Place::Start | Place::Lead | Place::End | Place::Marked | Place::Value => {
            unless(mark, Speech::Example, Verdict::Ask)
        }
        Place::Literal => unless(mark, Speech::Talk, Verdict::Audit).min(Verdict::Ask),
        Place::Inside => unless(mark, Speech::Talk, Verdict::Audit),
    }
}

/// Whether a line begins with the phrase only because the sentence was broken there.
fn is_continued(mark: &Mark, context: &Context) -> bool {
    matches!(mark.spot.place, Place::Lead | Place::Start | Place::Own)
        && context.is_broken(mark.line)
}

fn phrase(mark: &Mark) -> Verdict {
    match mark.spot.place {
        Place::Own => Verdict::Block,
        Place::Marked => unless(mark, Speech::Example, Verdict::Ask),
        Place::Start | Place::Lead | Place::End => unless(mark, Speech::Explained, Verdict::Audit),
        Place::Value => Verdict::Ask,
        Place::Literal | Place::Inside => Verdict::Audit,
    }
}

fn loose(mark: &Mark) -> Verdict {
    match mark.spot.place {
        Place::Own => Verdict::Block,
        Place::Marked => unless(mark, Speech::Example, Verdict::Audit),
        Place::Start | Place::End => unless(mark, Speech::Explained, Verdict::Audit),
        Place::Lead | Place::Value | Place::Literal | Place::Inside => Verdict::Audit,
    }
}

/// A level with a code word may be a path or a list of words.
fn code(mark: &Mark) -> Verdict {
    match mark.spot.place {
        Place::Own | Place::Marked | Place::Start => Verdict::Ask,
        Place::Lead | Place::End | Place::Value | Place::Literal | Place::Inside => Verdict::Audit,
    }
}

/// A level alone counts as a header, as a footer, and as the value of a key for it.
fn bare(mark: &Mark, level: Level, marks: &[Mark], text: &str, context: &Context) -> Verdict {
    let graver = matches!(level, Level::TopSecret | Level::Secret | Level::Cui);
    match mark.spot.place {
        Place::Own if context.is_edge(mark) && !context.file.source => {
            let first = context.edges.first() == Some(&mark.line);
            let again = marks.iter().any(|other| {
                other.form == mark.form
                    && other.words == mark.words
                    && other.spot.place == Place::Own
                    && other.line.abs_diff(mark.line) > 1
                    && context.is_edge(other)
            });
            let body = context.filled > 1 && is_prose(text, mark.line);
            if again && context.filled > 2 || first && graver && body {
                Verdict::Block
            } else if first && body {
                Verdict::Ask
            } else {
                Verdict::Audit
            }
        }
        Place::Marked
            if mark.spot.strict
                && !mark.spot.quoted
                && graver
                && mark.spot.speech < Speech::Example =>
        {
            Verdict::Block
        }
        Place::Marked if mark.spot.strict => Verdict::Ask,
        Place::Start | Place::Lead if level == Level::TopSecret && context.is_edge(mark) => {
            Verdict::Audit
        }
        Place::Own
        | Place::Start
        | Place::Lead
        | Place::End
        | Place::Marked
        | Place::Value
        | Place::Literal
        | Place::Inside => Verdict::Allow,
    }
}

/// Whether some of the lines around `line` are sentences, not code or a list of names.
fn is_prose(text: &str, line: usize) -> bool {
    text.split('\n')
        .skip(line.saturating_sub(6))
        .take(13)
        .map(beginning)
        .any(|line| {
            let words = line.split_whitespace().filter(|word| {
                word.chars()
                    .all(|c| c.is_alphabetic() || ",.;:'-()".contains(c))
            });
            words.count() >= 3 && !line.contains(['{', '=', '<', '$', '\\'])
        })
}

/// As much of a line as is looked at.
fn beginning(line: &str) -> &str {
    line.get(..line.floor_char_boundary(300)).unwrap_or(line)
}

/// A portion mark without a block counts with others at the start of paragraphs.
fn portion(mark: &Mark, level: Level, marks: &[Mark], text: &str, context: &Context) -> Verdict {
    if mark.spot.place != Place::Start || !is_paragraph(text, mark) {
        return Verdict::Allow;
    }
    if level == Level::Cui {
        return if mark.spot.speech == Speech::Example {
            Verdict::Audit
        } else {
            Verdict::Block
        };
    }
    if level == Level::Unclassified || context.enumeration {
        return Verdict::Allow;
    }
    let mut levels = Vec::new();
    let mut lines = Vec::new();
    for other in marks {
        if let Form::Portion(level) = other.form
            && other.spot.place == Place::Start
            && is_paragraph(text, other)
        {
            levels.push(level);
            lines.push(other.line);
        }
    }
    lines.dedup();
    let kinds = |level: Level| usize::from(levels.contains(&level));
    let different = kinds(Level::TopSecret)
        + kinds(Level::Secret)
        + kinds(Level::Confidential)
        + kinds(Level::Unclassified);
    let secret = kinds(Level::TopSecret) + kinds(Level::Secret) > 0;
    let header = marks.iter().any(|other| match other.form {
        Form::Full => true,
        Form::Bare(_) => other.spot.place == Place::Own,
        Form::Label(label) => matches!(label, Label::ClassifiedBy | Label::DeclassifyOn),
        Form::Phrase | Form::Loose | Form::Code | Form::Portion(_) | Form::Statement(_) => false,
    });
    if header || lines.len() >= 2 && different >= 2 || lines.len() >= 3 && secret {
        Verdict::Block
    } else {
        Verdict::Allow
    }
}

/// Whether words of a sentence follow a portion mark, and no year or holder of a copyright.
fn is_paragraph(text: &str, mark: &Mark) -> bool {
    let rest = text.get(mark.range.end..).unwrap_or_default();
    let line = beginning(rest.split('\n').next().unwrap_or_default());
    let low = line.to_ascii_lowercase();
    let year = line.split_whitespace().take(2).any(|word| {
        word.trim_end_matches([',', '.', '-']).len() == 4 && word.starts_with("19")
            || word.starts_with("20") && word.len() < 11
    });
    let right =
        low.contains("copyright") || low.contains("rights reserved") || low.contains("license");
    line.split_whitespace().count() >= 3 && !year && !right
}

/// Lines of an authority block or a designation block count together.
fn label_line(mark: &Mark, label: Label, marks: &[Mark]) -> Verdict {
    let near: Vec<Label> = marks
        .iter()
        .filter(|other| {
            other.family == mark.family && other.line.abs_diff(mark.line) <= BLOCK_LINES
        })
        .filter_map(|other| match other.form {
            Form::Label(label) => Some(label),
            Form::Full
            | Form::Phrase
            | Form::Loose
            | Form::Code
            | Form::Bare(_)
            | Form::Portion(_)
            | Form::Statement(_) => None,
        })
        .collect();
    let has = |label: Label| near.contains(&label);
    let block = if mark.family == Family::Authority {
        let both = has(Label::ClassifiedBy)
            && (has(Label::DerivedFrom) || has(Label::DeclassifyOn) || has(Label::Reason))
            || has(Label::DeclassifyOn) && (has(Label::DerivedFrom) || has(Label::Reason));
        both || label == Label::DeclassifyOn && mark.blocks > 0
    } else {
        let second = has(Label::ControlledBy) || has(Label::Dissemination) || has(Label::Contact);
        has(Label::CuiCategory) && second || has(Label::ControlledBy) && has(Label::Dissemination)
    };
    if block {
        Verdict::Block
    } else {
        Verdict::Allow
    }
}

/// A full banner in a document stays what it is; other forms give way to what the text says.
fn lowered(mark: &Mark, marks: &[Mark], context: &Context) -> Verdict {
    let header = mark.spot.place == Place::Own
        && mark.form == Form::Full
        && context.is_edge(mark)
        && !context.file.source;
    if context.harmless {
        return Verdict::Ask;
    }
    if context.is_shown(mark) && mark.family != Family::Authority {
        return Verdict::Audit;
    }
    if context.about && !header {
        let twice = marks.iter().any(|other| {
            other.words == mark.words && other.line != mark.line && context.is_edge(other)
        });
        let document = twice && mark.form == Form::Full && context.is_edge(mark);
        return if document {
            Verdict::Block
        } else {
            Verdict::Audit
        };
    }
    // In source, what is not a comment is a string or a name.
    let alone = mark.form == Form::Full && mark.spot.place == Place::Own;
    let alone = alone && mark.family != Family::Export;
    let inside = mark.spot.place == Place::Inside;
    if context.file.source && (inside || !mark.spot.comment && !alone) {
        return Verdict::Ask;
    }
    let whole = mark.blocks > 1 && mark.spot.place == Place::Own && !context.file.source;
    if context.file.test && !header && !whole {
        return Verdict::Ask;
    }
    Verdict::Block
}
