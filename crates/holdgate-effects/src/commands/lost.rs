//! Data that is encrypted with a random key which nobody keeps.

use super::Call;
use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;

/// Programs that encrypt, and the words with which they take a key.
const ENCRYPTS: [(&str, &[&str]); 17] = [
    ("ansible-vault", &["rekey", "encrypt"]),
    ("openssl", &["enc", "-pass", "-k", "-K"]),
    ("gpg", &["--passphrase"]),
    ("gpg2", &["--passphrase"]),
    ("zip", &["-P", "--password"]),
    ("7z", &["-p"]),
    ("7za", &["-p"]),
    ("7zz", &["-p"]),
    ("rar", &["-p", "-hp"]),
    ("cryptsetup", &["luks", "reencrypt", "open"]),
    ("ssh-keygen", &["-N"]),
    ("restic", &["key"]),
    ("borg", &["key"]),
    ("ccrypt", &["-K", "-k", "-E"]),
    ("ccencrypt", &["-K", "-k", "-E"]),
    ("qpdf", &["--encrypt"]),
    ("gocryptfs", &["-passwd", "-init", "-passfile"]),
];
/// Where random numbers come from.
#[rustfmt::skip]
const RANDOM: [&str; 12] = [
    "/urandom", "/dev/random", "openssl rand", "pwgen", "uuidgen", "$RANDOM", "--gen-random", "secrets.token", "kernel/random",
    "makepasswd", "apg ", "mktemp -u",
];
/// What keeps or shows a key.
const KEEPS: [&str; 9] = [
    "tee ",
    "echo ",
    "printf ",
    "> ",
    "kv put",
    "pass insert",
    "secret set",
    "create-secret",
    "put-parameter",
];

/// Notes a key that is made for this command and gone with it.
pub(super) fn notice(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    if scene.written {
        return Ok(());
    }
    let Some((_, takes)) = ENCRYPTS
        .iter()
        .find(|(program, _)| *program == call.program)
    else {
        return Ok(());
    };
    let is_taken = |word: &str| takes.iter().any(|take| word.starts_with(take));
    if !call.words.iter().skip(1).any(|word| is_taken(&word.text)) || !is_lost(&scene.command) {
        return Ok(());
    }
    let effect = actor
        .does(Kind::System)
        .tagged(Tag::LostKey)
        .tagged(Tag::ProgramSetting);
    scene.emit(effect.about(&actor.evidence))
}

fn is_lost(command: &str) -> bool {
    if !RANDOM.iter().any(|random| command.contains(random)) {
        return false;
    }
    let plain = command.replace("> /dev/null", "").replace("2> ", "");
    !KEEPS.iter().any(|keeps| plain.contains(keeps))
}

#[cfg(test)]
mod tests {
    use super::is_lost;

    #[test]
    fn keys_that_are_kept_are_not_lost() {
        assert!(is_lost("zip -P \"$(openssl rand -hex 16)\" a.zip src"));
        assert!(!is_lost(
            "K=$(openssl rand -hex 16); echo $K; zip -P $K a.zip src"
        ));
        assert!(!is_lost(
            "openssl rand -hex 16 > key && openssl enc -pass file:key"
        ));
        assert!(!is_lost("zip -P swordfish a.zip src"));
    }
}
