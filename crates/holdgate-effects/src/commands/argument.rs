//! What one argument does, by its role.

use super::args::Parsed;
use super::role::Role;
use super::scripts::{patch, script};
use super::units::Run;
use super::{
    Gathered, folder, git, is_key_option, network, packages, processes, reference, special, sql,
    units, values,
};
use crate::effect::{Actor, Kind};
use crate::language::Language;
use crate::scene::{ARGUMENTS, Fueled, STANDARD_INPUT, Scene};
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};
use rustc_hash::FxHashSet;

/// Words that code gets of its command line.
const MAX_WORDS: usize = 64;

/// The role of operand `at` of `count`. What follows a repeating role is counted from the end.
pub(super) fn role_of(roles: &[(Role, bool)], at: usize, count: usize) -> Role {
    let Some(repeating) = roles.iter().position(|(_, repeats)| *repeats) else {
        return roles.get(at).map_or(Role::Data, |(role, _)| *role);
    };
    let after = roles.len() - repeating - 1;
    let index = if at < repeating {
        at
    } else if count - at <= after && at > repeating {
        roles.len() - (count - at)
    } else {
        repeating
    };
    roles.get(index).map_or(Role::Data, |(role, _)| *role)
}

/// Whether what has this role is run.
fn runs(role: Role) -> bool {
    matches!(
        role,
        Role::Shell
            | Role::Code(_)
            | Role::Script(_)
            | Role::Source
            | Role::Module
            | Role::Argv
            | Role::Sql
            | Role::SqlFile
    )
}

/// Whether an interpreter is given a script or code, so that it reads only data from its input.
fn has_code(parsed: &Parsed) -> bool {
    let count = parsed.operands.len();
    let mut operands = (0..count).map(|at| role_of(&parsed.spec.operands, at, count));
    let values = parsed.options.iter().filter_map(|o| o.value.as_ref());
    operands.any(runs) || values.map(|(role, _)| *role).any(runs)
}

impl Gathered {
    pub(super) fn operands(&mut self, scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
        let parsed = run.parsed;
        let roles = match run.chosen {
            Some(spec) if !spec.operands.is_empty() => &spec.operands,
            _ => &parsed.spec.operands,
        };
        if !parsed.command.is_empty() {
            self.output = Some(scene.argv(&parsed.command, run.call.stdin)?);
        }
        // `go run ./server -key k.pem`: the options of the program that runs are not listed here.
        let keys: FxHashSet<&str> = run
            .call
            .words
            .windows(2)
            .filter_map(|pair| match pair {
                [option, value] if is_key_option(&option.text) => Some(value.text.as_str()),
                _ => None,
            })
            .collect();
        for (at, operand) in parsed.operands.iter().enumerate() {
            let mut role = role_of(roles, at, parsed.operands.len());
            if role == Role::Data && keys.contains(operand.text.as_str()) {
                role = Role::Key;
            }
            let words = parsed.operands.get(at..).unwrap_or(&[]);
            if matches!(role, Role::Argv | Role::ArgvAndInput) {
                return self.program(scene, run, role, words);
            }
            if role == Role::Module {
                folder::run_module(scene, run.actor, &operand.text)?;
                self.output = Some(scene.argv(words, run.call.stdin)?);
                return Ok(());
            }
            if role == Role::InstallArgv {
                packages::install_program(scene, run, operand)?;
                self.output = packages::runs(scene, run, words)?;
                return Ok(());
            }
            self.argument(scene, run, role, operand)?;
        }
        Ok(())
    }

    /// `words` are a program and its arguments, after variables that are set for it.
    fn program(
        &mut self,
        scene: &mut Scene<'_>,
        run: Run<'_>,
        role: Role,
        words: &[Value],
    ) -> Fueled {
        // `aws-vault exec name -- program`
        let words = match words {
            [dashes, words @ ..] if dashes.text == "--" => words,
            words => words,
        };
        // `sudo NAME=value program`
        let assigned = special::assignments(words);
        for word in words.iter().take(assigned) {
            special::environment(scene, run.actor, word)?;
        }
        let words = words.get(assigned..).unwrap_or(&[]);
        let stdin = run.call.stdin;
        let input = if self.reads { Some(&self.input) } else { stdin };
        let mark = run.parsed.value_of(&["-I", "--replace", "-i"]);
        let mark = mark.map_or("{}", |mark| mark.text.as_str());
        let whole_lines = run.parsed.given(&["-0", "--null", "-d", "--delimiter"]);
        let words = values::with_input(words, role, input, mark, whole_lines);
        if let Some(url) = words.first().filter(|word| word.text.contains("://")) {
            // `uv run https://…/x.py`: it is fetched first.
            let code = scene.fetch(run.actor, url)?;
            return scene.executes(run.actor, &code);
        }
        self.output = Some(scene.argv(&words, stdin.filter(|_| role == Role::Argv))?);
        Ok(())
    }

    pub(super) fn standard_input(&mut self, scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
        let Some(stdin) = run.call.stdin else {
            return Ok(());
        };
        let parsed = run.parsed;
        let role = run.chosen.and_then(|s| s.stdin).or(parsed.spec.stdin);
        let is_named = |o: &Value| matches!(o.text.as_str(), "-" | "/dev/stdin");
        let named = parsed.operands.iter().any(is_named);
        let Some(role) = role else {
            if !self.reads || named {
                self.input.push(stdin);
            }
            return Ok(());
        };
        let has_code = has_code(parsed);
        if let Some(host) = self.connections.first()
            && parsed.inside == Some(Tag::Remote)
            && has_code
        {
            // The command over there reads it.
            let actor = run.actor.and(Tag::Transfer);
            return scene.send(&actor, host, stdin).map(drop);
        }
        let runs = matches!(role, Role::Shell | Role::Code(_) | Role::Sql);
        if !runs || !has_code || named || parsed.given(&["-s", "-i"]) {
            let stdin = units::input(&parsed.handlers, stdin);
            return self.argument(scene, run, role, &stdin);
        }
        Ok(())
    }

    /// What one argument does.
    pub(super) fn argument(
        &mut self,
        scene: &mut Scene<'_>,
        run: Run<'_>,
        role: Role,
        value: &Value,
    ) -> Fueled {
        scene.fuel.spend(2)?;
        let Run { call, actor, .. } = run;
        match role {
            Role::Data | Role::Index => scene.touches(actor, value)?,
            Role::Content => self.reads_text(value),
            Role::Text => network::publishes(scene, run, value)?,
            Role::Key
            | Role::Variables
            | Role::Cwd
            | Role::Argv
            | Role::ArgvAndInput
            | Role::Module
            | Role::InstallArgv
            | Role::ModeBits => {}
            Role::Read
            | Role::Shown
            | Role::Write
            | Role::WriteOrPipe
            | Role::Append
            | Role::Delete
            | Role::Move
            | Role::Mode => self.file(scene, actor, role, value)?,
            Role::Fetch => self.urls.push(value.clone()),
            Role::Repository => self.urls.push(git::at_forge(value)),
            Role::RunsReference => match reference::address(value) {
                Some(address) => reference::runs(scene, actor, &address)?,
                None => self.file(scene, actor, Role::Read, value)?,
            },
            Role::Send | Role::SendNamed => {
                let named = (role == Role::SendNamed).then(|| network::named(value));
                let data = named.as_ref().unwrap_or(value);
                self.sent
                    .push(network::data_to_send(scene, actor, data, call.stdin)?);
            }
            Role::SendFile => {
                let input = (value.text == "-").then(|| call.stdin.cloned().unwrap_or_default());
                self.sent
                    .push(input.map_or_else(|| scene.read(actor, value), Ok)?);
            }
            Role::Connect => {
                self.connections.push(value.clone());
                scene.reaches(actor, Kind::Connect, value)?;
            }
            Role::Listen => scene.emit(actor.does(Kind::Listen).about(&value.text))?,
            Role::Transfer => self.transfers.push(value.clone()),
            Role::Shell => self.commands.push(value.clone()),
            Role::Code(language) => self.code(scene, run, language, value)?,
            Role::Script(language) => {
                self.output = script(scene, run, language, value)?.or(self.output.take());
            }
            Role::Source => self.source(scene, actor, value)?,
            Role::Env => special::environment(scene, actor, value)?,
            Role::Setting => special::setting(scene, actor, value)?,
            Role::GitConfig => git::config(scene, actor, value)?,
            Role::ExecAction => special::exec_action(scene, actor, value)?,
            Role::Patch => patch(scene, run, value)?,
            Role::Mount => values::mount(scene, actor, value)?,
            Role::Manifest => {
                let content = manifest(scene, run, value)?;
                self.reads_text(&content);
            }
            Role::Sql => sql::run(scene, actor, value)?,
            Role::SqlFile => sql::run_file(scene, actor, value)?,
            Role::Install => packages::install(scene, run, value)?,
            Role::Kill => processes::kill(scene, actor, value)?,
            Role::About(kind) => {
                scene.emit(actor.does(kind).about(&value.text).of(value))?;
                if matches!(kind, Kind::Remote | Kind::Agent) {
                    scene.touches(actor, value)?;
                }
            }
        }
        Ok(())
    }

    fn reads_text(&mut self, text: &Value) {
        self.input.push(text);
        self.reads = true;
    }

    /// A script runs in this very shell.
    fn source(&mut self, scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
        let code = scene.read(actor, value)?;
        scene.grant_known(value);
        let loose = Origins::FETCHED | Origins::DECODED | Origins::OUTPUT;
        if code.is_known() || code.origins.any(loose) {
            self.output = Some(scene.shell(actor, &code)?);
        }
        Ok(())
    }

    /// What is done to a file.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "no other role is about a file"
    )]
    fn file(&mut self, scene: &mut Scene<'_>, actor: &Actor, role: Role, value: &Value) -> Fueled {
        let text = value.text.as_str();
        match role {
            Role::Read | Role::Write | Role::WriteOrPipe if text == "-" => {}
            Role::Read => {
                let is_url = text.contains("://") && !text.starts_with("file:");
                let content = if is_url {
                    scene.fetch(actor, value)?
                } else {
                    scene.read(actor, value)?
                };
                self.input.push(&content);
                self.reads = true;
                if text.contains([':', '|', '@']) && !actor.is(Tag::List) {
                    // `concat:file`, `@file`, `|command`: a place or command in a wrapping of its own.
                    scene.touches(actor, value)?;
                }
            }
            Role::Shown => {
                let mut actor = actor.clone();
                actor.tags.retain(|tag| *tag != Tag::List);
                scene.read(&actor, value)?;
            }
            Role::WriteOrPipe if text.starts_with(['|', '!']) => {
                let command = value.map(text.trim_start_matches(['|', '!']));
                scene.apart(|scene| scene.shell(actor, &command))?;
            }
            Role::WriteOrPipe => self.writes.push((value.clone(), false)),
            Role::Write => self.writes.push((value.clone(), actor.is(Tag::Append))),
            Role::Append => self.writes.push((value.clone(), true)),
            Role::Delete if is_root_if_unset(value) => {
                scene.delete(&actor.and(Tag::RootIfUnset), value)?;
            }
            Role::Delete => scene.delete(actor, value)?,
            Role::Move => {
                self.input.push(&scene.content(value));
                scene.touch(actor, Kind::Move, value)?;
            }
            Role::Mode => {
                scene.touch(actor, Kind::Mode, value)?;
                if actor.is(Tag::Executable) {
                    scene.becomes_program(value)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn code(
        &mut self,
        scene: &mut Scene<'_>,
        run: Run<'_>,
        language: Language,
        value: &Value,
    ) -> Fueled {
        let mut code = value.clone();
        if let Some(stdin) = run.call.stdin {
            // What is piped in is what the code reads from its standard input.
            let name = STANDARD_INPUT.to_owned();
            scene.variables.insert(name, vec![stdin.clone()]);
            if stdin.is_known() && run.call.words.iter().any(|w| w.text == "-i") {
                // It goes on with what it reads.
                code.push_text("\n");
                code.push(stdin);
            }
        }
        if language == Language::JavaScript && run.parsed.given(&["-p", "--print", "-pe"]) {
            code = printing(&code);
        }
        if language == Language::Awk {
            code = awk_variables(run.parsed, &code);
        }
        let outer = scene.variables.get(ARGUMENTS).cloned();
        let words = run.parsed.operands.iter().filter(|word| *word != value);
        let words = words.take(MAX_WORDS).cloned().collect();
        scene.variables.insert(ARGUMENTS.to_owned(), words);
        let mut output = scene.interpret(run.actor, language, &code)?;
        if !scene.loaded.is_empty() && output.sources.iter().any(|s| &**s == "environment") {
            output.taint(&scene.environment());
        }
        self.output = Some(output);
        scene.variables.remove(ARGUMENTS);
        if let Some(outer) = outer {
            scene.variables.insert(ARGUMENTS.to_owned(), outer);
        }
        scene.variables.remove(STANDARD_INPUT);
        if language == Language::Make {
            scene.touches(run.actor, value)?;
        }
        Ok(())
    }
}

/// `node -p CODE` prints what the last expression yields.
fn printing(code: &Value) -> Value {
    let text = code.text.trim_end_matches([';', '\n', ' ']);
    let at = text.rfind([';', '\n']).map_or(0, |at| at + 1);
    let (before, last) = text.split_at(at);
    code.map(format!("{before}console.log({last})"))
}

/// An awk program, after the variables that its command line sets.
fn awk_variables(parsed: &Parsed, code: &Value) -> Value {
    let mut all = Value::default();
    for given in &parsed.options {
        if let ("-v" | "--assign", Some((_, set))) = (given.name.as_str(), &given.value)
            && let Some((name, text)) = set.text.split_once('=')
        {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            all.push(&set.map(format!("{name}=\"{text}\"\n")));
        }
    }
    if all.text.is_empty() {
        return code.clone();
    }
    all.push(code);
    all
}

/// The containers of a manifest: given as it is, in a file that the call wrote, or as input.
fn manifest(scene: &mut Scene<'_>, run: Run<'_>, value: &Value) -> Fueled<Value> {
    let Run { call, actor, .. } = run;
    let content = if matches!(value.text.as_str(), "-" | "/dev/stdin") {
        call.stdin.cloned().unwrap_or_default()
    } else if value.text.trim_start().starts_with(['{', '['])
        || value.text.contains('\n')
        || value.text.contains(": ")
    {
        value.clone()
    } else if value.text.contains("://") {
        scene.fetch(actor, value)?
    } else {
        scene.read(actor, value)?
    };
    if content.is_known() && !content.text.is_empty() {
        scene.code(Language::Embedded, &content)?;
    }
    Ok(content)
}

/// `$UNSET/*`: all there is, if nothing has set the variable.
fn is_root_if_unset(value: &Value) -> bool {
    let rest = value.text.trim_start_matches(HOLE);
    value.origins == Origins::UNKNOWN
        && rest.len() < value.text.len()
        && matches!(rest, "/" | "/*" | "/.*" | "/**")
}
