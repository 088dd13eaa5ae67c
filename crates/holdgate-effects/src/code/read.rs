//! Reads code from top to bottom, keeping what variables hold, and says what its calls do.
//!
//! No grammar of any one language: statements, assignments, calls and literals look alike in all
//! of them. What is not understood is skipped, token by token.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a thing of any other kind is not understood, whichever kinds come later"
)]

mod assign;
mod attribute;
mod bound;
mod call;
mod define;
mod enter;
mod expression;
mod head;
mod import;
mod index;
mod joined;
mod library;
mod list;
mod literal;
mod loops;
mod names;
mod operator;
mod pass;
mod pattern;
mod peer;
mod pieces;
mod postfix;
mod scan;
mod texts;
mod touch;
mod types;
mod value;

use crate::code::Language;
use crate::code::act::Network;
use crate::code::functions::Functions;
use crate::code::keyed::NameMap;
use crate::code::lex::{Kind, Token, Tokens, code_of_page, tokens};
use crate::code::thing::AbstractValue;
use crate::effect::{Actor, Kind as EffectKind};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;
use rustc_hash::FxHashMap;
use std::rc::Rc;

pub(super) use call::Arguments;
pub(super) use names::module;
pub(super) use value::{constant, parent_of};

/// Brackets in brackets, functions in functions.
const MAX_DEPTH: u32 = 64;
/// Calls of the code's own functions that are followed.
const MAX_CALLS: u32 = 96;

/// Code under reading.
pub(super) struct Reader<'s, 'w, 'a> {
    pub(super) scene: &'s mut Scene<'w>,
    pub(super) language: Language,
    pub(super) network: Network,
    /// What the code prints.
    pub(super) output: Value,
    /// Where the unknown parts of the code come from.
    taint: Value,
    table: &'w Functions,
    tokens: Rc<Tokens<'a>>,
    at: usize,
    depth: u32,
    /// Inside of brackets, where line ends mean nothing.
    loose: bool,
    variables: NameMap<AbstractValue>,
    /// Modules all of whose names stand in the code as they are: `from os import *`.
    stars: Vec<String>,
    /// Decorators that stand before the next definition.
    decorators: Vec<AbstractValue>,
    /// The defaults of the parameters that were read last.
    defaults: Vec<(String, AbstractValue)>,
    /// Classes that the code defines.
    classes: Vec<&'a str>,
    functions: Vec<Rc<define::Function<'a>>>,
    /// Which function starts at which token.
    definitions: FxHashMap<usize, usize>,
    calls: u32,
    /// How often something was done that matters.
    pub(super) deeds: u64,
    returned: AbstractValue,
    too_deep: bool,
}

/// Says in `scene` what `code` does, and returns what it prints.
pub(super) fn run(scene: &mut Scene<'_>, language: Language, code: &Value) -> Fueled<Value> {
    let know = scene.know;
    let Some(table) = know.functions.of(language) else {
        return Ok(Value::default());
    };
    scene.fuel.spend_on(code.text.len())?;
    if language == Language::Php
        && let Some(inner) = code_of_page(&code.text)
    {
        scene.apart(|scene| run(scene, language, &code.map(inner)))?;
    }
    let lexed = if language == Language::Other {
        Language::Compiled
    } else {
        language
    };
    let tokens = tokens(&code.text, lexed);
    let end = tokens.list.len();
    if code.text.contains("ioctl") && scan::types_into_terminals(&tokens) {
        let actor = Actor::new(language.word(), "TIOCSTI");
        let types = actor.does(EffectKind::System).tagged(Tag::Keystrokes);
        scene.emit(types.about("TIOCSTI"))?;
    }
    // Of code that is only written, what it prints is of no interest: most of it does nothing.
    if scene.written && !scan::may_act(&tokens, language, table) {
        return Ok(Value::default());
    }
    let before = scene.effects.len();
    let mut reader = reader(scene, language, code, table, tokens);
    reader.find_functions()?;
    reader.statements(end)?;
    reader.pieces(before)?;
    reader.patterns()?;
    reader.finish()?;
    reader.joins(before)?;
    if reader.too_deep {
        reader.scene.too_deep(&Actor::new(language.word(), ""))?;
    }
    Ok(reader.output)
}

/// A reader at the start of the code.
fn reader<'s, 'w, 'a>(
    scene: &'s mut Scene<'w>,
    language: Language,
    code: &Value,
    table: &'w Functions,
    tokens: Tokens<'a>,
) -> Reader<'s, 'w, 'a> {
    // The languages of single programs have calls with brackets as compiled languages have them.
    let language = match language {
        Language::Other => Language::Compiled,
        other => other,
    };
    Reader {
        scene,
        language,
        network: Network::default(),
        output: Value::default(),
        taint: code.map(String::new()),
        table,
        tokens: Rc::new(tokens),
        at: 0,
        depth: 0,
        loose: false,
        variables: NameMap::default(),
        stars: Vec::new(),
        decorators: Vec::new(),
        defaults: Vec::new(),
        classes: Vec::new(),
        functions: Vec::new(),
        definitions: FxHashMap::default(),
        calls: 0,
        deeds: 0,
        returned: AbstractValue::Nothing,
        too_deep: false,
    }
}

/// What `act` finds in `code` by itself, with all that a reader knows. Returns what is printed.
pub(super) fn perform(
    scene: &mut Scene<'_>,
    language: Language,
    code: &Value,
    act: impl FnOnce(&mut Reader<'_, '_, '_>) -> Fueled,
) -> Fueled<Value> {
    let know = scene.know;
    let Some(table) = know.functions.of(language) else {
        return Ok(Value::default());
    };
    let mut reader = reader(scene, language, code, table, tokens("", language));
    act(&mut reader)?;
    reader.finish()?;
    Ok(reader.output)
}

impl<'a> Reader<'_, '_, 'a> {
    fn token_at(&self, index: usize) -> Option<Token<'a>> {
        self.tokens.list.get(index).copied()
    }

    /// The next token before `end`, line ends left out where they mean nothing.
    fn peek(&mut self, end: usize) -> Option<Token<'a>> {
        while self.at < end {
            let token = self.token_at(self.at)?;
            if !self.loose || !matches!(token.kind, Kind::Line(_)) {
                return Some(token);
            }
            self.at += 1;
        }
        None
    }

    /// Goes to the next token that is not the end of a line.
    fn skip_lines(&mut self) {
        while matches!(self.token_at(self.at).map(|t| t.kind), Some(Kind::Line(_))) {
            self.at += 1;
        }
    }

    fn is_mark(&self, index: usize, mark: &str) -> bool {
        self.token_at(index).is_some_and(|t| t.is_mark(mark))
    }

    fn name_at(&self, index: usize) -> Option<&'a str> {
        let token = self.token_at(index)?;
        (token.kind == Kind::Name).then_some(token.text)
    }

    /// The index of the bracket that closes the one at `open`, at most `end`.
    fn close_of(&self, open: usize, end: usize) -> usize {
        match self.tokens.partners.get(open) {
            Some(partner) if *partner > 0 => usize::try_from(*partner).unwrap_or(end).min(end),
            _ => end,
        }
    }

    /// The code from one token to another, for the explanation.
    pub(super) fn evidence(&self, from: usize) -> String {
        let start = self.token_at(from).map_or(0, |t| t.start as usize);
        let last = self.token_at(self.at.saturating_sub(1));
        let end = last.map_or(start, |t| t.end as usize).max(start);
        let text = self.tokens.code.get(start..end).unwrap_or("");
        crate::json::shorten(text, 200)
    }

    /// The next tokens, at most `count`.
    pub(super) fn ahead(&self, count: usize) -> &[Token<'a>] {
        let rest = self.tokens.list.get(self.at..).unwrap_or(&[]);
        rest.get(..count).unwrap_or(rest)
    }

    /// Whether any token is one of those asked for.
    pub(super) fn has_token(&self, is: impl Fn(&Token<'_>) -> bool) -> bool {
        self.tokens.list.iter().any(is)
    }

    fn statements(&mut self, end: usize) -> Fueled {
        let loose = std::mem::replace(&mut self.loose, false);
        while self.at < end {
            let before = self.at;
            self.statement(end)?;
            if self.at <= before {
                self.at = before + 1;
            }
        }
        self.loose = loose;
        Ok(())
    }

    fn statement(&mut self, end: usize) -> Fueled {
        self.scene.fuel.spend(1)?;
        let Some(token) = self.token_at(self.at) else {
            return Ok(());
        };
        let skipped = match token.kind {
            Kind::Line(_) => true,
            Kind::Mark if token.text == "@" && self.language == Language::Python => {
                self.at += 1;
                return self.decorator(end);
            }
            Kind::Mark if token.text == "{" => self.language != Language::Python,
            Kind::Mark => !matches!(token.text, "(" | "[" | "*" | "&" | "!" | "@" | "<<"),
            Kind::Name if self.keyword(token.text, end)? => return Ok(()),
            Kind::Name | Kind::Number | Kind::Text(_) => false,
        };
        if skipped {
            self.at += 1;
            return Ok(());
        }
        if self.language == Language::Perl {
            self.bind_modifier(end)?;
        }
        let thing = self.expression(end)?;
        if self.language == Language::Python
            && self.name_at(self.at) == Some("as")
            && let Some(name) = self.name_at(self.at + 1)
        {
            self.at += 2;
            self.assign(name, thing)?;
        }
        Ok(())
    }

    /// Whether a keyword started the statement and is dealt with.
    fn keyword(&mut self, word: &str, end: usize) -> Fueled<bool> {
        use Language::{Compiled, JavaScript, Lua, Perl, Php, Python, Ruby};
        let followed_by_bracket = self.is_mark(self.at + 1, "(");
        match (self.language, word) {
            (Python, "import" | "from") => self.python_import(end)?,
            (JavaScript, "import") if !followed_by_bracket && !self.is_mark(self.at + 1, ".") => {
                self.javascript_import(end)?;
            }
            (JavaScript, "with") if followed_by_bracket => {
                self.at += 1;
                if let AbstractValue::Name(module) = self.expression(end)? {
                    self.opens_module(module);
                }
            }
            (Compiled, "import" | "use" | "using" | "package") => self.compiled_import(end),
            (Php | Perl, "use" | "namespace" | "package" | "no") => {
                while self
                    .token_at(self.at)
                    .is_some_and(|t| !t.is_mark(";") && !matches!(t.kind, Kind::Line(_)))
                {
                    self.at += 1;
                }
            }
            (Python | Ruby, "def")
            | (JavaScript | Php | Lua, "function")
            | (Perl, "sub")
            | (Compiled, "fn" | "func" | "def" | "fun") => {
                self.definition(end)?;
                self.decorate()?;
            }
            (_, "for") | (Perl | Php | Compiled, "foreach") => self.for_loop(end)?,
            (_, "while") | (Perl | Ruby | Lua, "until") => {
                self.at += 1;
                let after = self.at + usize::from(self.is_mark(self.at, "("));
                let endless = self.token_at(after).is_some_and(|t| {
                    matches!(t.text, "True" | "true" | "1" | "fork")
                        && matches!(t.kind, Kind::Name | Kind::Number)
                });
                self.network.endless |= endless;
            }
            (Ruby | Compiled, "loop") => {
                self.network.endless = true;
                self.at += 1;
            }
            (_, "return") => {
                self.at += 1;
                let start = self.at;
                let thing = self.expression(end)?;
                self.reduces(&thing, start)?;
                self.returned = self.returned.or(&thing);
            }
            // What a generator gives out is an item of what it returns.
            (Python | JavaScript, "yield") => {
                self.at += 1;
                let from = self.name_at(self.at) == Some("from") || self.is_mark(self.at, "*");
                self.at += usize::from(from);
                let thing = self.expression(end)?;
                let items = if from {
                    thing
                } else {
                    AbstractValue::list(vec![thing])
                };
                self.returned = self.returned.or(&items);
            }
            (JavaScript, "const" | "let" | "var") => {
                self.at += 1;
                self.destructuring(end)?;
            }
            (Compiled, "let") => {
                self.at += 1;
                self.unwrapping(end)?;
            }
            (Compiled, "match") if !followed_by_bracket => self.matching(end)?,
            (Perl, "my" | "our" | "local") => {
                self.at += 1;
                if self.is_mark(self.at, "(") {
                    self.destructuring(end)?;
                }
            }
            (JavaScript, _)
                if self.definitions.contains_key(&self.at) && self.starts_method(self.at) =>
            {
                self.definition(end)?;
            }
            (language, word)
                if names::declares(language, word)
                    && (word == "class" || self.name_at(self.at + 1).is_some()) =>
            {
                if word == "class"
                    && let Some(name) = self
                        .name_at(self.at + 1)
                        .filter(|_| self.classes.len() < 64)
                {
                    self.classes.push(name);
                }
                self.at += 2;
            }
            _ if self.does_file(word) => return Ok(false),
            _ if self.skips(self.at, word) => self.at += 1,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
