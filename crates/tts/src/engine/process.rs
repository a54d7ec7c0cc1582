//! Programs that are run: a list of arguments and no shell, text by stdin, result by stdout, an end in any case.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::{Cancel, TtsError};

/// Most bytes that a program may print: an hour of 48 kHz in 16 bits is far more than any text here.
const MOST_BYTES: u64 = 350_000_000;
/// How often a cancellation is looked for while a program runs.
const LOOK: Duration = Duration::from_millis(10);

/// What is run.
pub(crate) struct Call<'a> {
    /// The engine, for messages.
    pub(crate) engine: &'a str,
    /// The program.
    pub(crate) program: &'a Path,
    /// Its arguments.
    pub(crate) arguments: &'a [String],
    /// What it reads.
    pub(crate) stdin: &'a [u8],
    /// Longest time.
    pub(crate) timeout: Duration,
    /// How it is installed.
    pub(crate) install: &'a str,
}

/// Runs it to its end and returns what it printed.
pub(crate) fn run(call: &Call<'_>, cancel: &Cancel) -> Result<Vec<u8>, TtsError> {
    let engine = |problem: String| TtsError::Engine { engine: call.engine.to_owned(), problem };
    let mut child = Command::new(call.program)
        .args(call.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => TtsError::Missing {
                what: format!("the program {}", call.program.display()),
                hint: call.install.to_owned(),
            },
            _ => engine(format!("{} does not start: {error}", call.program.display())),
        })?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (sender, receiver) = channel();
    let text = call.stdin.to_vec();
    // The writer ends with the program at the latest: a closed pipe is an error that does not matter.
    std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&text)));
    let errors = std::thread::spawn(move || {
        let mut told = String::new();
        let _ = stderr.map(|stderr| stderr.take(4096).read_to_string(&mut told));
        told
    });
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.map_or(Ok(0), |stdout| stdout.take(MOST_BYTES).read_to_end(&mut bytes));
        let _ = sender.send(read.map(|_| bytes));
    });
    let deadline = Instant::now() + call.timeout;
    let outcome = loop {
        match receiver.recv_timeout(LOOK) {
            Ok(read) => break read.map_err(|error| engine(format!("its output cannot be read: {error}"))),
            Err(RecvTimeoutError::Disconnected) => break Err(engine("its output ended early".to_owned())),
            Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => break Err(TtsError::Cancelled),
            Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                break Err(engine(format!("no answer within {} s", call.timeout.as_secs_f64())));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    if outcome.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| engine(error.to_string()))?;
    let bytes = outcome?;
    if !status.success() {
        let told = errors.join().unwrap_or_default();
        let line = told.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        return Err(engine(format!("ended with {status}: {line}")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell<'a>(arguments: &'a [String], stdin: &'a [u8], timeout: Duration) -> Call<'a> {
        Call { engine: "sh", program: Path::new("sh"), arguments, stdin, timeout, install: "none" }
    }

    fn script(text: &str) -> Vec<String> {
        vec!["-c".to_owned(), text.to_owned()]
    }

    #[test]
    fn text_goes_in_and_comes_out_however_long() {
        let text = "a line of text\n".repeat(40_000);
        let arguments = script("cat");
        let out = run(&shell(&arguments, text.as_bytes(), Duration::from_secs(30)), &Cancel::new()).unwrap();
        assert_eq!(out, text.as_bytes());
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let arguments = script("exec sleep 1000");
        let error = run(&shell(&arguments, b"", Duration::from_millis(50)), &Cancel::new()).unwrap_err();
        assert!(error.to_string().contains("no answer within 0.05 s"), "{error}");
        let cancel = Cancel::new();
        cancel.cancel();
        let error = run(&shell(&arguments, b"", Duration::from_mins(1)), &cancel).unwrap_err();
        assert!(matches!(error, TtsError::Cancelled));
    }

    #[test]
    fn a_failure_tells_its_first_line_and_a_missing_program_how_to_get_it() {
        let arguments = script("echo 'no such voice' >&2; exit 3");
        let error = run(&shell(&arguments, b"", Duration::from_secs(30)), &Cancel::new()).unwrap_err();
        assert!(error.to_string().contains("no such voice"), "{error}");
        let call = Call {
            engine: "x",
            program: Path::new("no-such-program-here"),
            arguments: &[],
            stdin: b"",
            timeout: Duration::from_secs(1),
            install: "install it",
        };
        let error = run(&call, &Cancel::new()).unwrap_err();
        assert_eq!(error.hint(), "install it");
    }
}
