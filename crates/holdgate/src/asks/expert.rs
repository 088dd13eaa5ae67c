//! `holdgate expert`: from a person's terminal to the proxy.

use super::line::Line;
use crate::args::{ExpertArgs, WrongUse};
use crate::expert::PHRASE;
use anyhow::bail;
use holdgate_effects::json::Json;
use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Read, Write};
use std::path::Path;
use std::time::Duration;

const MAX_LINE: u64 = 4096;

/// Switches expert mode on or off, or tells whether it is on.
pub fn run(args: &ExpertArgs, state_dir: &Path, out: &mut impl Write) -> anyhow::Result<()> {
    let seconds: Json<'_> = match (args.time, args.off) {
        (Some(time), _) => {
            confirm_in_terminal(time)?;
            time.as_secs().into()
        }
        (None, true) => 0.into(),
        (None, false) => Json::Null,
    };
    let answer = Line::to(state_dir)?.request(&Json::object([("expert", seconds)]))?;
    match answer.get("expert").and_then(Json::as_u64) {
        Some(0) => writeln!(out, "expert mode is off: the gate blocks calls")?,
        Some(left) => {
            let left = humantime::format_duration(Duration::from_secs(left));
            writeln!(out, "expert mode is on for {left}: the gate only records")?;
        }
        None => bail!("the proxy's response cannot be read"),
    }
    Ok(())
}

/// Somebody sits there and means it.
fn confirm_in_terminal(time: Duration) -> anyhow::Result<()> {
    let tty = OpenOptions::new().read(true).write(true).open("/dev/tty");
    let (Ok(tty), true, true) = (
        tty,
        std::io::stdin().is_terminal(),
        std::io::stdout().is_terminal(),
    ) else {
        let what = "only a person at a terminal can switch on expert mode";
        return Err(WrongUse(what.to_owned()).into());
    };
    let answers = tty.try_clone()?;
    confirm(time, answers, tty)
}

fn confirm(time: Duration, answers: impl Read, mut questions: impl Write) -> anyhow::Result<()> {
    write!(
        questions,
        "For {}, the gate will not block any call of any agent of this proxy. All calls are \
         recorded in the ledger.\nType `{PHRASE}` to continue: ",
        humantime::format_duration(time)
    )?;
    questions.flush()?;
    let mut typed = String::new();
    BufReader::new(answers.take(MAX_LINE)).read_line(&mut typed)?;
    if typed.trim() != PHRASE {
        bail!("nothing was changed");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phrase_has_to_be_typed() {
        let typed = |text: &'static str| {
            let mut asked = Vec::new();
            let typed = confirm(Duration::from_mins(10), text.as_bytes(), &mut asked);
            assert!(String::from_utf8(asked).unwrap().starts_with("For 10m,"));
            typed.is_ok()
        };
        assert!(typed("lift the gate\n"));
        assert!(!typed("y\n"));
        assert!(!typed("\n"));
        assert!(!typed(""));
    }
}
