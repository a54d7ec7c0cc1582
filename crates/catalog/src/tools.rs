//! The client programs of the package sources, found on an explicit search path.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use crate::SourceError;

/// Where client programs are looked for, and how long they may do nothing.
#[derive(Debug, Clone)]
pub struct Tools {
    search_path: OsString,
    idle_limit: Duration,
}

/// The longest time between two looks at a running client.
const TICK: Duration = Duration::from_millis(100);
/// Bytes of a client's error output that are kept.
const COMPLAINTS: usize = 64 * 1024;

impl Default for Tools {
    fn default() -> Self {
        Self::new(std::env::var_os("PATH").unwrap_or_default())
    }
}

impl Tools {
    /// Looks for programs on this search path, which the programs get as their own `PATH`.
    pub fn new(search_path: impl Into<OsString>) -> Self {
        Self { search_path: search_path.into(), idle_limit: Duration::from_mins(10) }
    }

    /// Stops a client that fetched nothing for this long.
    pub fn with_idle_limit(mut self, limit: Duration) -> Self {
        self.idle_limit = limit;
        self
    }

    /// The full path of a program.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.search_path)
            .map(|folder| folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX)))
            .find(|path| is_program(path))
    }

    /// Runs a client in `call.folder`, telling `on_tick` at intervals. Its standard output is returned.
    pub(crate) fn run(&self, call: &Call<'_>, on_tick: &mut dyn FnMut() -> u64) -> Result<Vec<u8>, SourceError> {
        let program = self.find(call.program).ok_or_else(|| SourceError::NoClient { program: call.program.into() })?;
        let failed = |reason: String| SourceError::Client { program: call.program.into(), reason };
        // Output goes to a file: a full pipe cannot block the client, and a huge one cannot fill memory.
        let out = call.folder.join("client.out");
        let out_file = File::create(&out).map_err(|error| SourceError::io(&out, &error))?;
        let mut child = Command::new(program)
            .args(call.arguments)
            .current_dir(call.folder)
            .env("PATH", &self.search_path)
            .env("TMPDIR", call.folder)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(out_file)
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let complaints = complaints(child.stderr.take());
        let mut progressed = (Instant::now(), 0);
        let mut tick = TICK / 32;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => std::thread::sleep(tick),
                Err(error) => return Err(failed(error.to_string())),
            }
            tick = (tick * 2).min(TICK);
            let bytes = on_tick();
            if bytes != progressed.1 {
                progressed = (Instant::now(), bytes);
            } else if progressed.0.elapsed() > self.idle_limit {
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(format!("fetched nothing for {} s", self.idle_limit.as_secs())));
            }
        };
        on_tick();
        if status.success() {
            return std::fs::read(&out).map_err(|error| SourceError::io(&out, &error));
        }
        let text = complaints.recv_timeout(Duration::from_secs(5)).unwrap_or_default();
        if text.contains("No space left on device") || text.contains("ENOSPC") {
            return Err(SourceError::DiskFull);
        }
        Err(failed(reason(&text).unwrap_or_else(|| status.to_string())))
    }
}

/// One call of a client program.
pub(crate) struct Call<'a> {
    /// Its name, without folder.
    pub(crate) program: &'a str,
    /// Its arguments.
    pub(crate) arguments: &'a [&'a OsStr],
    /// Working folder, temporary folder and place of its output.
    pub(crate) folder: &'a Path,
}

/// Reads a client's error output beside it, the last part of it. Through a pipe: on a full disk a file
/// would not hold the message that says so.
fn complaints(stream: Option<ChildStderr>) -> Receiver<String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = [0; 4096];
        let mut stream = stream;
        while let Some(Ok(count @ 1..)) = stream.as_mut().map(|stream| stream.read(&mut buffer)) {
            kept.extend_from_slice(&buffer[..count]);
            let excess = kept.len().saturating_sub(COMPLAINTS);
            kept.drain(..excess);
        }
        // Nobody listens when the client succeeded.
        let _ = sender.send(String::from_utf8_lossy(&kept).into_owned());
    });
    receiver
}

/// The line of a client's error output that says most: its last error line, or its last line.
fn reason(text: &str) -> Option<String> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = |line: &&str| ["ERROR:", "E:", "npm error", "npm ERR!"].iter().any(|mark| line.starts_with(mark));
    let line = lines().rfind(error).or_else(|| lines().next_back())?;
    Some(without_addresses(line).chars().take(200).collect())
}

/// A message without the addresses in it, which may hold credentials.
fn without_addresses(line: &str) -> String {
    let words = line.split(' ').map(|word| if word.contains("://") { "(address)" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::script;

    fn run(tools: &Tools, program: &str, folder: &Path) -> Result<Vec<u8>, SourceError> {
        tools.run(&Call { program, arguments: &[OsStr::new("x")], folder }, &mut || 0)
    }

    #[test]
    fn output_comes_back_and_a_failure_gives_the_clients_own_words() {
        let folder = tempfile::tempdir().unwrap();
        script(folder.path(), "good", "echo \"$1 $TMPDIR\"");
        script(folder.path(), "bad", "echo 'ERROR: no such http://user:pw@h/x thing' >&2\necho 'a notice' >&2\nexit 3");
        script(folder.path(), "full", "echo 'OSError: [Errno 28] No space left on device' >&2\nexit 1");
        let tools = Tools::new(folder.path());
        let expected = format!("x {}\n", folder.path().display());
        assert_eq!(run(&tools, "good", folder.path()).unwrap(), expected.as_bytes());
        let error = run(&tools, "bad", folder.path()).unwrap_err();
        assert_eq!(error.to_string(), "bad: ERROR: no such (address) thing");
        assert_eq!(run(&tools, "full", folder.path()).unwrap_err(), SourceError::DiskFull);
        assert_eq!(run(&tools, "none", folder.path()).unwrap_err(), SourceError::NoClient { program: "none".into() });
    }

    #[test]
    fn a_client_that_fetches_nothing_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        script(folder.path(), "hangs", "exec /bin/sleep 600");
        let tools = Tools::new(folder.path()).with_idle_limit(Duration::from_millis(1));
        let error = run(&tools, "hangs", folder.path()).unwrap_err();
        assert_eq!(error.to_string(), "hangs: fetched nothing for 0 s");
    }
}
