//! Redirections: files that are read and written without any program's help.

use super::Shell;
use super::syntax::{Redirect, RedirectKind};
use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::value::{Origins, Value};

/// Where a command's output goes.
enum Sink {
    File { path: Value, append: bool },
    Network(Value),
}

impl Shell<'_, '_> {
    /// Runs something with its input and output redirected. Returns what is left to print.
    pub(super) fn redirected(
        &mut self,
        redirects: &[Redirect],
        run: impl FnOnce(&mut Self) -> Fueled<Value>,
    ) -> Fueled<Value> {
        if redirects.is_empty() {
            return run(self);
        }
        let outer = self.stdin.clone();
        let (sinks, network) = self.open(redirects)?;
        let outer_shell = std::mem::take(&mut self.bare);
        let printed = run(self)?;
        if let (Some(host), true) = (&network, self.bare) {
            let actor = Actor::new("shell", &format!("a shell on {}", host.text));
            self.scene.reaches(&actor, Kind::RemoteShell, host)?;
        }
        self.bare |= outer_shell;
        self.stdin = outer;
        self.flush(&sinks, printed)
    }

    /// What the redirections lead to. Apart from what runs with them, for that may go deep and
    /// this takes much of the stack.
    fn open(&mut self, redirects: &[Redirect]) -> Fueled<(Vec<Sink>, Option<Value>)> {
        let mut sinks = Vec::new();
        let mut network = None;
        for redirect in redirects {
            let target = self.expand_one(&redirect.target)?;
            match redirect.kind {
                RedirectKind::Text => {
                    let mut text = target;
                    if !text.text.is_empty() && !text.text.ends_with('\n') {
                        text.push_text("\n");
                    }
                    self.input(redirect, text);
                }
                RedirectKind::Read => {
                    if let Some(host) = self.connection(&target)? {
                        self.stdin = Some(received(&host));
                        network = Some(host);
                    } else {
                        let text = self.scene.read(&redirection(&target, "<"), &target)?;
                        self.input(redirect, text);
                    }
                }
                RedirectKind::Write
                | RedirectKind::Append
                | RedirectKind::WriteBoth
                | RedirectKind::AppendBoth => {
                    let append = matches!(
                        redirect.kind,
                        RedirectKind::Append | RedirectKind::AppendBoth
                    );
                    match self.sink(target, append)? {
                        Sink::File { path, append } if redirect.descriptor == Some(2) => {
                            let actor = redirection(&path, ">");
                            self.scene.write(&actor, &path, &Value::default(), append)?;
                        }
                        sink @ (Sink::File { .. } | Sink::Network(_)) => sinks.push(sink),
                    }
                }
                RedirectKind::ReadWrite => {
                    if let Some(host) = self.connection(&target)? {
                        self.connections
                            .insert(redirect.descriptor.unwrap_or(0), host.clone());
                        if redirect.descriptor.unwrap_or(0) == 0 {
                            self.stdin = Some(received(&host));
                        }
                        network = Some(host);
                    } else {
                        sinks.push(Sink::File {
                            path: target,
                            append: true,
                        });
                    }
                }
                RedirectKind::Duplicate if !is_number(&target) => {
                    sinks.push(self.sink(target, false)?);
                }
                RedirectKind::Duplicate => {
                    let number = target.text.trim_end_matches('-').parse::<u32>().ok();
                    if let Some(host) = number.and_then(|n| self.connections.get(&n)).cloned() {
                        if redirect.descriptor.unwrap_or(0) == 0 {
                            self.stdin = Some(received(&host));
                            network = Some(host);
                        } else {
                            sinks.push(Sink::Network(host));
                        }
                    }
                }
            }
        }
        let connected = |sink: &Sink| match sink {
            Sink::Network(host) => Some(host.clone()),
            Sink::File { .. } => None,
        };
        let network = sinks.iter().rev().find_map(connected).or(network);
        Ok((sinks, network))
    }

    /// What a descriptor gives. Any of them can be read by its number; programs that do so are rare,
    /// so the text counts as their input too.
    fn input(&mut self, redirect: &Redirect, text: Value) {
        if let Some(number) = redirect.descriptor.filter(|number| *number > 0) {
            for folder in ["/dev/fd", "/proc/self/fd"] {
                let path = format!("{folder}/{number}");
                self.scene.files.insert(&path, text.clone());
            }
        }
        self.stdin = Some(text);
    }

    /// Where what is written to `target` goes: a connection or a file.
    fn sink(&mut self, target: Value, append: bool) -> Fueled<Sink> {
        Ok(match self.connection(&target)? {
            Some(host) => Sink::Network(host),
            None => Sink::File {
                path: target,
                append,
            },
        })
    }

    fn flush(&mut self, sinks: &[Sink], printed: Value) -> Fueled<Value> {
        if sinks.is_empty() {
            return Ok(printed);
        }
        for sink in sinks {
            match sink {
                Sink::File { path, append } => {
                    let actor = redirection(path, if *append { ">>" } else { ">" });
                    let actor = Scene::filler(&actor, path, &printed, *append);
                    self.scene.write(&actor, path, &printed, *append)?;
                }
                Sink::Network(host) => {
                    let actor = redirection(host, "> /dev/tcp");
                    self.scene.send(&actor, host, &printed)?;
                }
            }
        }
        Ok(Value::default())
    }

    /// `exec 5<>/dev/tcp/…`, `exec > log`: from here on.
    pub(super) fn lasting(&mut self, redirects: &[Redirect]) -> Fueled<Value> {
        for redirect in redirects {
            let target = self.expand_one(&redirect.target)?;
            if redirect.kind == RedirectKind::Text {
                self.input(redirect, target);
                continue;
            }
            if let Some(host) = self.connection(&target)? {
                self.connections
                    .insert(redirect.descriptor.unwrap_or(0), host);
            } else if redirect.kind == RedirectKind::Duplicate {
                let number = target.text.trim_end_matches('-').parse::<u32>().ok();
                if let Some(host) = number.and_then(|n| self.connections.get(&n)).cloned() {
                    self.connections
                        .insert(redirect.descriptor.unwrap_or(0), host);
                }
            } else if redirect.kind == RedirectKind::Read {
                let text = self.scene.read(&redirection(&target, "exec <"), &target)?;
                self.input(redirect, text);
            } else {
                let actor = redirection(&target, "exec >");
                self.scene.write(&actor, &target, &Value::default(), true)?;
            }
        }
        Ok(Value::default())
    }

    /// The host of `/dev/tcp/host/port`: bash connects to it.
    fn connection(&mut self, target: &Value) -> Fueled<Option<Value>> {
        let rest = target
            .text
            .strip_prefix("/dev/tcp/")
            .or_else(|| target.text.strip_prefix("/dev/udp/"));
        let Some(rest) = rest else {
            return Ok(None);
        };
        let host = target.map(rest.split('/').next().unwrap_or(""));
        let actor = Actor::new("shell", &target.text);
        let known = self.scene.know.hosts.host(&host);
        self.scene
            .emit(actor.does(Kind::Connect).with(known).about(&target.text))?;
        Ok(Some(host))
    }
}

/// `>&2`, `>&-`, `<&3-`
fn is_number(target: &Value) -> bool {
    target
        .text
        .trim_end_matches('-')
        .bytes()
        .all(|b| b.is_ascii_digit())
}

fn received(host: &Value) -> Value {
    Value::unknown(Origins::FETCHED).with_source(&host.text)
}

fn redirection(target: &Value, how: &str) -> Actor {
    Actor::new(
        "shell",
        &format!("{how} {}", crate::json::shorten(&target.text, 120)),
    )
}
