//! `holdgate expert`: from a person's terminal to the proxy.

use super::line::Line;
use super::typed::Tty;
use crate::args::{ExpertArgs, WrongUse};
use crate::expert::PHRASE;
use anyhow::bail;
use holdgate_effects::json::Json;
use std::io::{IsTerminal as _, Write};
use std::path::Path;
use std::time::Duration;

/// Switches expert mode on or off, or tells whether it is on.
pub fn run(args: &ExpertArgs, state_dir: &Path, out: &mut impl Write) -> anyhow::Result<()> {
    let seconds: Json<'_> = match (args.time, args.off) {
        (Some(time), _) => {
            confirm(time)?;
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
fn confirm(time: Duration) -> anyhow::Result<()> {
    let at_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let tty = Tty::open().ok().filter(|_| at_terminal);
    let mut tty = tty.ok_or_else(|| {
        WrongUse("only a person at a terminal can switch on expert mode".to_owned())
    })?;
    let typed = tty.ask(&format!(
        "For {}, the gate will not block any call of any agent of this proxy. All calls are \
         recorded in the ledger.\nType `{PHRASE}` to continue: ",
        humantime::format_duration(time)
    ))?;
    if typed.trim() != PHRASE {
        bail!("nothing was changed");
    }
    Ok(())
}
