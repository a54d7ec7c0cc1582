//! ONNX Runtime, loaded from its shared library when the first voice needs it: one environment a process.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::session::{RunOptions, Session, SessionInputValue};

use super::pool::Pool;
use crate::{Cancel, Files, TtsError};

static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);
static SHARED: Pool<Model> = Pool::new();

/// A model that is loaded. Runs one text at a time.
pub(crate) struct Model {
    engine: &'static str,
    session: Mutex<Session>,
    /// Names of its inputs, in order.
    pub(crate) inputs: Vec<String>,
}

impl Model {
    /// Loads a model from memory; `path` is for messages.
    pub(crate) fn load(engine: &'static str, path: &Path, bytes: &[u8], files: &Files) -> Result<Self, TtsError> {
        let environment = environment(files)?;
        let failed = |problem: String| TtsError::Model { path: path.to_owned(), problem };
        let threads = threads(files);
        let session = Session::builder(&environment)
            .and_then(|builder| Ok(builder.with_intra_threads(threads)?))
            // Threads that wait busily take the core from what plays the sound, and gain nothing that was measurable.
            .and_then(|builder| Ok(builder.with_intra_op_spinning(false)?))
            .and_then(|mut builder| builder.commit_from_memory(bytes))
            .map_err(|error| failed(format!("ONNX Runtime cannot load it: {}", first_line(&error))))?;
        let inputs = session.inputs().iter().map(|input| input.name().to_owned()).collect();
        Ok(Self { engine, session: Mutex::new(session), inputs })
    }

    /// As [`Model::load`] from a file, for a model with many voices: they share as many sessions as can run side by
    /// side, in turns. One for each voice would be gigabytes.
    pub(crate) fn shared(engine: &'static str, path: &Path, files: &Files) -> Result<Arc<Self>, TtsError> {
        let threads = threads(files);
        let most = (processors() / threads).max(1);
        SHARED.get(path, threads, most, || Self::read(engine, path, files))
    }

    fn read(engine: &'static str, path: &Path, files: &Files) -> Result<Self, TtsError> {
        let failed = |error: std::io::Error| TtsError::Model { path: path.to_owned(), problem: error.to_string() };
        Self::load(engine, path, &std::fs::read(path).map_err(failed)?, files)
    }

    /// Runs it and returns its first output, flat.
    pub(crate) fn run(
        &self,
        inputs: Vec<(Cow<'static, str>, SessionInputValue<'_>)>,
        cancel: &Cancel,
    ) -> Result<Vec<f32>, TtsError> {
        if cancel.is_cancelled() {
            return Err(TtsError::Cancelled);
        }
        let failed =
            |error: &ort::Error| TtsError::Engine { engine: self.engine.to_owned(), problem: first_line(error) };
        let options = Arc::new(RunOptions::new().map_err(|error| failed(&error))?);
        let stopped = Arc::clone(&options);
        let _stop = cancel.on_cancel(move || {
            let _ = stopped.terminate();
        });
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session
            .run_with_options(inputs, &*options)
            .map_err(|error| if cancel.is_cancelled() { TtsError::Cancelled } else { failed(&error) })?;
        let (_, samples) = outputs[0].try_extract_tensor::<f32>().map_err(|error| failed(&error))?;
        Ok(samples.to_vec())
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Threads of one session.
fn threads(files: &Files) -> usize {
    files.threads.unwrap_or_else(processors).max(1)
}

/// The environment of this process; the library is loaded at the first call.
fn environment(files: &Files) -> Result<Environment, TtsError> {
    let mut kept = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*kept {
        return Ok(environment.clone());
    }
    let path = files.runtime()?;
    let failed = |problem: String| TtsError::Model { path: path.clone(), problem };
    if !path.is_file() {
        return Err(TtsError::Missing {
            what: format!("ONNX Runtime ({})", path.display()),
            hint: "tenpass models pull onnxruntime, or set ORT_DYLIB_PATH to its shared library".to_owned(),
        });
    }
    let builder =
        ort::init_from(&path).map_err(|error| failed(format!("no ONNX Runtime can be loaded from it: {error}")))?;
    let environment = builder
        .with_name("tenpass")
        .with_telemetry(false)
        .build()
        .map_err(|error| failed(format!("ONNX Runtime does not start: {}", first_line(&error))))?;
    *kept = Some(environment.clone());
    Ok(environment)
}

fn first_line(error: &ort::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(300).collect()
}
