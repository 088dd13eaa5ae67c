//! `holdgate pin`: a person at a terminal sets, changes or removes the operator's PIN.

use crate::args::{PinArgs, WrongUse};
use crate::asks::pin::{self, NotAccepted, Pin};
use crate::asks::typed::Tty;
use crate::config::Config;
use crate::ledger::Ledger;
use anyhow::{Context as _, bail};
use holdgate_core::{Finding, LayerName};
use std::io::Write;

/// Asks for the old PIN if there is one, and for the new one twice. All of it is recorded.
pub fn run(args: &PinArgs, config: &Config, out: &mut impl Write) -> anyhow::Result<()> {
    let mut tty = Tty::of_person("set the PIN")?;
    let path = config.pin_file.as_ref();
    let path =
        path.ok_or_else(|| WrongUse("there is no folder for the PIN: HOME is not set".into()))?;
    let ledger = Ledger::open(&config.state_dir, config.ledger)
        .with_context(|| format!("cannot open the ledger in {}", config.state_dir.display()))?;
    let record = |rule: &'static str, reason: &str| {
        let finding = Finding::audit(LayerName::Operator, rule, reason);
        ledger.append_event("operator", "told", &finding)
    };
    let old = Pin::load(path)?;
    if let Some(old) = &old {
        match old.check(&tty.ask_hidden("Current PIN: ")?) {
            Ok(()) => {}
            Err(NotAccepted::Refused(why)) => bail!(why),
            Err(NotAccepted::Wrong(count)) => {
                let what = format!("a wrong PIN was entered in `holdgate pin` ({count} in a row)");
                record("wrong-pin", &what)?;
                bail!("wrong PIN; nothing was changed");
            }
        }
    }
    if args.remove {
        let Some(_) = old else {
            bail!("no PIN is set");
        };
        record("pin", "the PIN was removed")?;
        std::fs::remove_file(path).with_context(|| path.display().to_string())?;
        writeln!(out, "the PIN was removed")?;
    } else {
        let new = tty.ask_hidden("New PIN: ")?;
        pin::is_usable(&new).map_err(anyhow::Error::msg)?;
        if new != tty.ask_hidden("New PIN again: ")? {
            bail!("the two PINs differ; nothing was changed");
        }
        record("pin", "a new PIN was set")?;
        Pin::store(path, &new).with_context(|| path.display().to_string())?;
        writeln!(out, "the PIN is set")?;
    }
    writeln!(out, "restart a running proxy to use the change")?;
    Ok(())
}
