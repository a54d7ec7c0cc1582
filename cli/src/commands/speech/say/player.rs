//! Playing through the program that this machine has, chunk by chunk.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tenpass_tts::SpeechStream;

use crate::exit::Exit;
use crate::failure::Failure;

/// Programs that play a WAV file, and their arguments before it.
const PLAYERS: &[(&str, &[&str])] = &[
    ("pw-play", &[]),
    ("paplay", &[]),
    ("aplay", &["-q"]),
    ("afplay", &[]),
    ("ffplay", &["-nodisp", "-autoexit", "-loglevel", "error"]),
];

/// A program that plays, with its arguments.
pub(in crate::commands::speech) struct Player {
    program: PathBuf,
    arguments: &'static [&'static str],
}

impl Player {
    /// The first one on this machine.
    pub(in crate::commands::speech) fn find() -> Result<Self, Failure> {
        let (program, arguments) = find(std::env::var_os("PATH").as_deref()).ok_or_else(|| {
            let names: Vec<&str> = PLAYERS.iter().map(|(name, _)| *name).collect();
            Failure::backend(format!("no program that plays sound is on this machine ({})", names.join(", ")))
                .hint("write a file instead: tenpass say … --out FILE.wav")
        })?;
        Ok(Self { program, arguments })
    }

    /// Plays a file.
    pub(in crate::commands::speech) fn file(&self, path: &Path) -> Result<(), Failure> {
        run(&self.program, self.arguments, path)
    }

    /// Plays each chunk while the next ones are made.
    pub(super) fn play(&self, stream: SpeechStream) -> Result<Exit, Failure> {
        let folder = tempfile::tempdir().map_err(|error| Failure::file(&std::env::temp_dir(), &error))?;
        for spoken in stream {
            let spoken = spoken?;
            let path = folder.path().join(format!("{}.wav", spoken.index));
            tenpass_audio::write_wav(&path, &spoken.audio).map_err(Failure::backend)?;
            run(&self.program, self.arguments, &path)?;
            let _ = std::fs::remove_file(&path);
        }
        Ok(Exit::Yes)
    }
}

fn run(program: &Path, arguments: &[&str], path: &Path) -> Result<(), Failure> {
    let output = Command::new(program).args(arguments).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).output();
    let output = output.map_err(|error| Failure::backend(format!("{} does not start: {error}", program.display())))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = told.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").to_owned();
    Err(Failure::backend(format!("{} cannot play: {line}", program.display()))
        .hint("check the sound device, or write a file: tenpass say … --out FILE.wav"))
}

/// The first player in the search path.
fn find(path: Option<&std::ffi::OsStr>) -> Option<(PathBuf, &'static [&'static str])> {
    let folders: Vec<PathBuf> = std::env::split_paths(path?).collect();
    PLAYERS.iter().find_map(|(name, arguments)| {
        let found = folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file())?;
        Some((found, *arguments))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_player_in_the_search_path_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        assert!(find(Some(folder.path().as_os_str())).is_none());
        for name in ["ffplay", "aplay"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let (program, arguments) = find(Some(folder.path().as_os_str())).unwrap();
        assert_eq!((program, arguments), (folder.path().join("aplay"), &["-q"][..]));
    }
}
