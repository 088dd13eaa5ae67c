//! `holdgate demo`
use std::io::Write;
/// Runs it.
pub fn run(_out: &mut impl Write) -> anyhow::Result<()> {
    Ok(())
}
