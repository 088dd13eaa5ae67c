//! Signs in the names of options and programs that no entry knows: where results are put, and what records people.

use crate::effect::{Actor, Kind};
use crate::path::PathClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Options that name where results go, or that the files which are named are changed where they are: what people
/// keep in their own folders is written.
pub(super) fn puts(scene: &mut Scene<'_>, actor: &Actor, words: &[&Value]) -> Fueled {
    #[rustfmt::skip]
    const INTO: [&str; 22] = [
        "-o", "-O", "--out", "--output", "--outdir", "--out-dir", "--outfile", "--out-file", "--output-dir",
        "--output-file", "--output-path", "--output-folder", "--outputdir", "--output_dir", "--dest",
        "--destination", "--dest-dir", "--target-dir", "--save-to", "--write-to", "--export-dir", "--to-dir",
    ];
    #[rustfmt::skip]
    const HERE: [&str; 14] = [
        "-i", "--in-place", "--inplace", "--write", "--replace", "--overwrite", "--fix", "--rename", "--convert",
        "--replace-input", "--overwrite-original", "-overwrite_original", "--strip", "--force",
    ];
    let mut here = words.iter().any(|word| HERE.contains(&word.text.as_str()));
    // `-i FILE` is the input of many programs.
    here &= !words.iter().any(|word| INTO.contains(&word.text.as_str()));
    let mut into = false;
    for word in words {
        let text = word.text.as_str();
        let named = std::mem::take(&mut into);
        if text.starts_with('-') {
            match text.split_once('=') {
                Some((option, path)) if INTO.contains(&option) => {
                    written(scene, actor, &word.map(path))?;
                }
                _ => into = INTO.contains(&text),
            }
            continue;
        }
        if named || here {
            written(scene, actor, word)?;
        }
    }
    Ok(())
}

/// A place in somebody's own folders is written.
fn written(scene: &mut Scene<'_>, actor: &Actor, path: &Value) -> Fueled {
    if !path.text.starts_with(['/', '~', '.']) || path.text.contains("://") {
        return Ok(());
    }
    let place = scene.place(path);
    if place.is(PathClass::Home) && !place.is_harmless() {
        scene.touch(actor, Kind::Write, path)?;
    }
    Ok(())
}

/// What stands in the names of programs and options that record what a person does.
pub(super) fn observes(
    scene: &mut Scene<'_>,
    program: &str,
    actor: &Actor,
    words: &[&Value],
) -> Fueled {
    #[rustfmt::skip]
    const PROGRAMS: [&str; 12] = [
        "keylog", "keylogger", "screencap", "screenrec", "screencast", "screengrab", "screenshot", "micrec",
        "dictation", "webcam", "clipwatch", "recorder",
    ];
    #[rustfmt::skip]
    const OPTIONS: [&str; 8] = [
        "--mic", "--microphone", "--webcam", "--camera", "--record-screen", "--screen-capture", "--keyboard-log",
        "--clipboard-watch",
    ];
    #[rustfmt::skip]
    const VERBS: [&str; 8] = [
        "record", "begin", "start", "capture", "listen", "watch", "grab", "monitor",
    ];
    let said = |word: &&&Value| VERBS.contains(&word.text.as_str());
    let lower = program.to_ascii_lowercase();
    let parts = || lower.split(['-', '_', '.']);
    let named = parts().any(|part| PROGRAMS.contains(&part));
    let keys = parts().any(|part| part.starts_with("keylog"));
    // A program that writes down what is said, as it is said.
    let hears = parts().any(|part| matches!(part, "whisper" | "vosk" | "speech" | "stt"))
        && parts().any(|part| matches!(part, "stream" | "live" | "listen" | "mic" | "command"));
    let option = |word: &&&Value| {
        let name = word.text.split('=').next().unwrap_or("");
        OPTIONS.contains(&name)
    };
    let out = |word: &&&Value| matches!(word.text.as_str(), "-o" | "--out" | "--output" | "-f");
    let runs = words.iter().find(said).is_some() || words.iter().find(out).is_some();
    if keys || hears || named && runs || words.iter().find(option).is_some() {
        scene.emit(actor.does(Kind::System).tagged(Tag::Observes))?;
    }
    Ok(())
}
