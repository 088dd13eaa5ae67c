//! Programs that copy between hosts, or join what runs to them.

use super::Call;
use super::units::Run;
use crate::effect::{Actor, Kind};
use crate::path::PathClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// `scp`, `rsync`, `aws s3 cp`: all but the last go to where the last one says.
pub(super) fn transfer(scene: &mut Scene<'_>, actor: &Actor, operands: &[Value]) -> Fueled {
    let Some((target, sources)) = operands.split_last() else {
        return Ok(());
    };
    let mut content = Value::default();
    for source in sources {
        if let Some(host) = remote(source) {
            content.push(&scene.fetch(actor, &host)?);
        } else {
            let read = scene.read(actor, source)?;
            content.push(&read);
            if actor.is(Tag::Move) {
                scene.touch(actor, Kind::Move, source)?;
            }
        }
    }
    if let Some(host) = remote(target) {
        scene.send(&actor.and(Tag::Transfer), &host, &content)?;
    } else {
        let folder = target.text.ends_with('/') || matches!(target.text.as_str(), "." | ".." | "~");
        let name = sources
            .first()
            .and_then(|s| s.text.rsplit(['/', ':']).next())
            .unwrap_or("");
        let path = if folder {
            target.map(format!("{}/{name}", target.text.trim_end_matches('/')))
        } else {
            target.clone()
        };
        scene.write(actor, &path, &content, false)?;
    }
    if actor.is(Tag::Delete) && remote(target).is_none() {
        let place = scene.place(target);
        if !place.is(PathClass::Stream) {
            scene.emit(actor.does(Kind::Delete).tagged(Tag::Recursive).at(place))?;
        }
    }
    Ok(())
}

/// The host of `user@host:path`, `scheme://host/…`; `None` for a local path.
fn remote(operand: &Value) -> Option<Value> {
    let text = operand.text.as_str();
    if text.contains("://") {
        return Some(operand.clone());
    }
    let (host, _) = text.split_once(':')?;
    let is_host = !host.is_empty() && !host.contains('/') && host.len() > 1;
    is_host.then(|| operand.map(host))
}

/// What a client for files is told to send, line by line: `put file`.
pub(super) fn put_lines(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let script = match run.parsed.value_of(&["-b"]) {
        Some(file) if file.text != "-" => Some(scene.content(file)),
        _ => run.call.stdin.cloned(),
    };
    let (Some(script), Some(host)) = (script, run.parsed.operands.first()) else {
        return Ok(());
    };
    for line in script.text.lines().take(64) {
        let mut words = line.split_whitespace();
        let puts = words
            .next()
            .is_some_and(|w| matches!(w, "put" | "mput" | "reput" | "send" | "append"));
        let file = words.find(|w| !w.starts_with('-')).filter(|_| puts);
        if let Some(file) = file {
            let content = scene.read(run.actor, &script.map(file))?;
            scene.send(&run.actor.and(Tag::Transfer), host, &content)?;
        }
    }
    Ok(())
}

/// Two addresses, joined: a shell on one side and the network on the other is a remote shell.
pub(super) fn socat(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled<Value> {
    let (mut network, mut runs) = (None, false);
    let mut port = None;
    let mut content = call.stdin.cloned();
    let addresses = call
        .words
        .iter()
        .skip(1)
        .filter(|w| !w.text.starts_with('-') || w.text == "-");
    for address in addresses {
        let (kind, rest) = address.text.split_once(':').unwrap_or((&address.text, ""));
        let rest_value = address.map(rest);
        match kind.to_ascii_lowercase().as_str() {
            "exec" | "system" | "shell" => {
                runs = true;
                let command = rest.split(",pty").next().unwrap_or(rest);
                let command = command
                    .split(",stderr")
                    .next()
                    .unwrap_or(command)
                    .trim_matches(['\'', '"']);
                scene.shell(actor, &address.map(command))?;
            }
            kind if kind.contains("listen") || kind.ends_with("-l") => {
                scene.emit(actor.does(Kind::Listen).about(rest))?;
                port = rest.split(',').next();
                network = Some(Value::known("0.0.0.0"));
            }
            kind if kind.starts_with("tcp")
                || kind.starts_with("udp")
                || kind.starts_with("openssl")
                || kind.starts_with("sctp") =>
            {
                scene.reaches(actor, Kind::Connect, &rest_value)?;
                if let Some(port) = port {
                    scene.forwards_to(&format!("localhost:{port}"), &rest_value);
                }
                network = Some(rest_value);
            }
            "file" | "open" | "gopen" => {
                let path = rest.split(',').next().unwrap_or(rest);
                content = Some(scene.read(actor, &address.map(path))?);
            }
            "create" => {
                let path = rest.split(',').next().unwrap_or(rest);
                scene.write(actor, &address.map(path), &Value::default(), false)?;
            }
            _ => {}
        }
    }
    if let (Some(address), true) = (&network, runs) {
        scene.reaches(actor, Kind::RemoteShell, address)?;
    }
    if let (Some(address), Some(data)) = (&network, &content) {
        scene.send(actor, address, data)?;
    }
    Ok(match network {
        Some(_) => Value::unknown(Origins::FETCHED),
        None => Value::unknown(Origins::OUTPUT),
    })
}
