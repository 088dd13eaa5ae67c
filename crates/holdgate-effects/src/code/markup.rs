//! XML, HTML and templates: the scripts in them are read, and what stands in attributes and elements of
//! XML may be a command.

use crate::code::Language;
use crate::effect::Actor;
use crate::scene::{Fueled, Scene};
use crate::value::Value;

/// Elements whose text is shown.
const SHOWN: [&str; 12] = [
    "p", "code", "pre", "span", "div", "li", "td", "h1", "h2", "h3", "a", "summary",
];

/// Says what the scripts do, and tries the rest.
pub(super) fn run(scene: &mut Scene<'_>, code: &Value) -> Fueled<Value> {
    scene.fuel.spend_on(code.text.len() * 4)?;
    let text = code.text.as_str();
    for (open, close, language) in [
        ("<script", "</script", Language::JavaScript),
        ("<?php", "?>", Language::Php),
        ("<?=", "?>", Language::Php),
        ("<%", "%>", Language::JavaScript),
        ("<%", "%>", Language::Ruby),
        ("@{", "}\n", Language::Compiled),
        ("<![CDATA[", "]]>", Language::Compiled),
    ] {
        for script in between(text, open, close) {
            let script = if open == "<script" {
                script.split_once('>').map_or("", |(_, script)| script)
            } else {
                script.trim_start_matches(['=', '-', '@', '!'])
            };
            read_code(scene, code, language, script)?;
        }
    }
    // The code before the page: `---`.
    if let Some(rest) = text.strip_prefix("---\n")
        && let Some((script, _)) = rest.split_once("\n---")
    {
        read_code(scene, code, Language::JavaScript, script)?;
    }
    // A piece of a script.
    if !text.trim_start().starts_with(['<', '{', '@', '-', '#']) && !text.contains("</") {
        read_code(scene, code, Language::JavaScript, text)?;
    }
    texts(scene, code)?;
    Ok(Value::default())
}

fn read_code(scene: &mut Scene<'_>, code: &Value, language: Language, script: &str) -> Fueled {
    if script.trim().is_empty() {
        return Ok(());
    }
    let script = code.map(script);
    scene.apart(|scene| scene.code(language, &script))?;
    scene.apart(|scene| scene.code(Language::Source, &script))?;
    Ok(())
}

/// The texts between `open` and `close`.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(open) {
        let (inner, next) = after.split_once(close).unwrap_or((after, ""));
        found.push(inner);
        rest = next;
    }
    found
}

/// Tries what stands in attributes and between elements.
fn texts(scene: &mut Scene<'_>, code: &Value) -> Fueled {
    let actor = Actor::new("file", "");
    for piece in code.text.split('<').skip(1) {
        scene.fuel.spend(1)?;
        if piece.starts_with("!--") {
            continue;
        }
        let (tag, text) = match piece.find('>').map(|at| piece.split_at(at)) {
            // A `>` in an attribute: its quotes are counted.
            Some((tag, text)) if tag.matches('"').count() % 2 == 0 => (tag, text),
            _ => (piece, ""),
        };
        let name = tag
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap_or("");
        if SHOWN.contains(&name) || scene.know.files.is_shown(name) {
            continue;
        }
        let mut parts = tag.split('"');
        while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            let key = key.trim().trim_end_matches('=');
            let event = key.rsplit(' ').next().unwrap_or("").starts_with("on");
            let script = value.strip_prefix("javascript:");
            if (event || script.is_some()) && value.contains("://") {
                let value = script.unwrap_or(value);
                read_code(scene, code, Language::JavaScript, value)?;
                continue;
            }
            if !key.starts_with("on") && !scene.know.files.is_shown(key) {
                scene.tries(&actor, &code.map(super::embedded::unescaped_xml(value)))?;
            }
        }
        let text = text.trim_start_matches('>');
        scene.tries(&actor, &code.map(super::embedded::unescaped_xml(text)))?;
    }
    Ok(())
}
