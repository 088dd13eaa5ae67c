//! One remarkable line, with all patterns.

use super::command::{Commands, SeenCommand};
use super::escapes::escapes_resolved;
use super::event::{self, Part};
use super::excerpt::{around, first, history_text, last, whole};
use super::find::{find, hit_of, is_quoted, matched};
use super::judged::Judged;
use super::mask::masked;
use super::patterns::{Looks, Pattern, Patterns};
use super::plain::plain;
use super::reading::{JOINED, Reading, undrawn};
use super::reported::Reported;
use super::{CONTEXT, Hit, Weight};
use holdgate_effects::json::Json;
use holdgate_effects::text;
use std::borrow::Cow;

/// Characters of evidence.
const EVIDENCE: usize = 300;
/// Bytes of a text in pieces that are kept while its line has not ended.
const MAX_SAID: usize = 16 << 10;

/// What comes before a line.
#[derive(Clone, Copy, Default)]
struct Before<'a> {
    /// The text before this one.
    earlier: &'a str,
    /// This text, up to the line.
    text: &'a str,
}

/// What looks at a line.
pub(super) struct Scan<'a> {
    pub(super) patterns: &'a Patterns,
    pub(super) commands: &'a Commands,
    pub(super) judged: &'a mut Judged,
    pub(super) reported: &'a mut Reported,
    /// Set when the agent shows a call of its own.
    pub(super) acted: &'a mut bool,
    /// Raw output before the line.
    pub(super) history: &'a [u8],
    /// How much output there was before the line.
    pub(super) at: u64,
    /// More of the line may come, and change what it says.
    pub(super) unfinished: bool,
    pub(super) hits: &'a mut Vec<Hit>,
}

impl Scan<'_> {
    /// A whole line.
    pub(super) fn line(&mut self, line: &[u8], reading: &mut Reading) {
        if let Some(event) = event::read(line) {
            reading.leave_text();
            self.event(&event, reading);
            return;
        }
        self.said(&mut reading.said);
        reading.input.clear();
        let plain = plain(line);
        match escapes_resolved(&plain.shown) {
            Cow::Borrowed(text) => {
                self.lines(Before::default(), text, reading, true, Weight::Done);
            }
            Cow::Owned(text) => {
                reading.leave_text();
                self.document(&text, "", true, Weight::Shown);
            }
        }
        if let Some(written) = &plain.written {
            self.document(written, "", false, Weight::Done);
        }
    }

    fn event(&mut self, event: &Json<'_>, reading: &mut Reading) {
        let parts = event::parts(event);
        let mut said = std::mem::take(&mut reading.said);
        let more = |part: &Part<'_>| matches!(part, Part::Piece(_));
        if !parts.iter().any(|part| matches!(part, Part::Input(_))) {
            reading.input.clear();
        }
        if !said.is_empty() && !parts.iter().any(more) {
            self.said(&mut said);
        }
        let mut earlier = "";
        for part in &parts {
            match part {
                Part::Text(text, weight) => {
                    self.document(text, earlier, true, *weight);
                    earlier = text;
                }
                Part::Piece(text) => {
                    said.push_str(text);
                    if text.contains('\n')
                        && let Some(end) = said.rfind('\n')
                    {
                        let rest = said.split_off(end + 1);
                        self.said(&mut said);
                        said = rest;
                    }
                    if said.len() > MAX_SAID {
                        self.document(&said, "", true, Weight::Done);
                        let rest = last(&said, JOINED).to_owned();
                        said = rest;
                    }
                }
                Part::Input(more) => {
                    if let Some(call) = reading.input_with(more) {
                        self.command(&call, Before::default(), &call.text, Weight::Done);
                    }
                }
                Part::Call(call, weight) => {
                    let line = format!("{}: {}", call.tool, call.text);
                    let before = Before { earlier, text: "" };
                    self.command(call, before, &line, *weight);
                }
            }
        }
        reading.said = said;
    }

    /// What was said in pieces, as far as it is complete.
    pub(super) fn said(&mut self, said: &mut String) {
        self.document(said, "", true, Weight::Done);
        said.clear();
    }

    /// A piece of a line that is too long to be kept, and not an event. Only a painted screen
    /// contains commands, on lines that are complete.
    pub(super) fn piece(&mut self, piece: &[u8], painted: bool) {
        let plain = plain(piece);
        let text = escapes_resolved(&plain.shown);
        match text.split_once('\n').filter(|_| painted) {
            Some((first, rest)) => {
                let (whole, last) = rest.rsplit_once('\n').unwrap_or(("", rest));
                self.document(first, "", false, Weight::Done);
                self.document(whole, "", true, Weight::Done);
                self.document(last, "", false, Weight::Done);
            }
            None => self.document(&text, "", false, Weight::Done),
        }
        if let Some(written) = &plain.written {
            self.document(written, "", false, Weight::Done);
        }
    }

    /// A separate text. Lines with nothing remarkable are skipped.
    fn document(&mut self, text: &str, earlier: &str, commands: bool, weight: Weight) {
        let mut reading = Reading::unrelated();
        let mut done = 0;
        while let Some(rest) = text.get(done..).filter(|rest| !rest.is_empty()) {
            let near = if reading.goes_on() {
                0
            } else {
                match self.patterns.next_remarkable(rest.as_bytes(), 0) {
                    Some(at) => at.saturating_sub(1),
                    None => return,
                }
            };
            let start = rest
                .get(..rest.floor_char_boundary(near))
                .unwrap_or_default();
            let start = start.rfind('\n').map_or(0, |end| end + 1);
            let (quiet, rest) = rest.split_at_checked(start).unwrap_or((rest, ""));
            if !quiet.is_empty() {
                reading.listing.pass_quiet(quiet.as_bytes());
                reading.remember(quiet.strip_suffix('\n').unwrap_or(quiet).as_bytes());
            }
            let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
            let before = Before {
                earlier,
                text: text.get(..done + start).unwrap_or_default(),
            };
            let plain = plain(line.as_bytes());
            self.lines(before, &plain.shown, &mut reading, commands, weight);
            if let Some(written) = &plain.written {
                self.lines(before, written, &mut Reading::unrelated(), false, weight);
            }
            done += start + line.len() + 1;
        }
    }

    fn lines(
        &mut self,
        before: Before<'_>,
        text: &str,
        reading: &mut Reading,
        commands: bool,
        weight: Weight,
    ) {
        for line in text.split('\n') {
            if commands
                && let Some((said, worth)) = self.patterns.command_in(
                    line,
                    &mut reading.listing,
                    &mut reading.typed,
                )
                // A flood of what others say must not hide what the agent does.
                && (worth.min(weight) == Weight::Done || self.judged.has_room(self.at))
            {
                self.command(&said, before, line, worth.min(weight));
            }
            self.text(line, before, reading, weight);
        }
    }

    fn command(&mut self, said: &SeenCommand, before: Before<'_>, line: &str, weight: Weight) {
        *self.acted |= weight == Weight::Done;
        // The rest of the line may make it another command.
        let weight = if self.unfinished {
            Weight::Shown
        } else {
            weight
        };
        let (reported, at) = (&*self.reported, self.at);
        let mut for_commands = self.patterns.for_commands();
        let has_room =
            |pattern: &Pattern| reported.has_room(&hit_of(pattern, String::new(), weight), at);
        if !for_commands.any(|(_, pattern)| has_room(pattern)) {
            return;
        }
        let (patterns, commands) = (self.patterns, self.commands);
        let matched = self.judged.of(said, || matched(patterns, commands, said));
        for (place, because) in matched.iter() {
            if let Some(pattern) = self.patterns.list.get(*place) {
                let evidence = whole(&said.text);
                let hit = Hit {
                    call: !said.typed,
                    ..hit_of(pattern, because.clone(), weight)
                };
                self.hit(hit, &evidence, before, line);
            }
        }
    }

    fn text(&mut self, line: &str, before: Before<'_>, reading: &mut Reading, weight: Weight) {
        let drawn = line;
        let line = undrawn(line);
        let looks = text::as_it_looks(line);
        // `looks` has no invisible characters any more.
        let own = (looks != line).then_some(line);
        let has_word =
            self.patterns.has_word(&looks) || own.is_some_and(|l| self.patterns.has_word(l));
        if has_word {
            self.finds(&looks, None, before, drawn, weight);
            if let Some(own) = own {
                self.finds(own, None, before, drawn, weight);
            }
        }
        if has_word || reading.warm {
            let previous = reading.previous.as_deref().unwrap_or_default();
            // A list item is not the rest of a wrapped line.
            let item = looks.trim_start_matches(['+', ' ']).starts_with("- ");
            if !previous.is_empty() && !looks.is_empty() && !item {
                let joined = format!("{previous} {}", first(&looks, JOINED));
                self.finds(&joined, Some(previous.len()), before, drawn, weight);
            }
        }
        reading.warm = has_word;
        reading.pass_line(&looks);
    }

    /// Finds of all patterns for text, as far as they reach over `edge`, if there is one.
    fn finds(
        &mut self,
        text: &str,
        edge: Option<usize>,
        before: Before<'_>,
        line: &str,
        weight: Weight,
    ) {
        let patterns = self.patterns;
        for pattern in patterns.with_words(text) {
            let Looks::Text { regex, .. } = &pattern.looks else {
                continue;
            };
            let worst = hit_of(pattern, String::new(), weight);
            if !self.reported.has_room(&worst, self.at) {
                continue;
            }
            if let Some(found) = find(pattern, regex, text, edge) {
                let evidence = around(text, found.clone(), EVIDENCE);
                let quoted = is_quoted(text, found);
                let weight = if quoted { Weight::Shown } else { weight };
                let hit = hit_of(pattern, pattern.because.to_string(), weight);
                self.hit(hit, &evidence, before, line);
            }
        }
    }

    fn hit(&mut self, hit: Hit, evidence: &str, before: Before<'_>, line: &str) {
        let mut hit = Hit {
            evidence: masked(evidence.trim(), self.patterns).into_string(),
            certain: hit.certain && !self.unfinished,
            ..hit
        };
        if !self.reported.is_new(&mut hit, self.at) {
            return;
        }
        let mut context = String::new();
        if before.text.len() + before.earlier.len() < 4 * CONTEXT {
            context.push_str(&history_text(self.history));
        }
        for text in [before.earlier, before.text] {
            let start = text.ceil_char_boundary(text.len().saturating_sub(4 * CONTEXT));
            let text = text.get(start..).unwrap_or_default();
            context.push_str(&history_text(text.as_bytes()));
        }
        context.push_str(last(line, 2 * CONTEXT));
        self.hits.push(Hit {
            // Masked before it is cut, so that it does not begin with half a secret.
            context: last(&masked(&context, self.patterns), CONTEXT).to_owned(),
            ..hit
        });
    }
}
