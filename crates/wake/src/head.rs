//! A wake word's head: a window of embeddings in, a score from 0 to 1 out.
//!
//! Any ONNX graph with one input [1, frames, 96] is taken as it is: the window length is read from the
//! shape, input and output are taken by position. With several outputs (classes), class 0 is "none of
//! these" and the score is the largest of the others.

use std::path::Path;

use crate::embedding::{EMBEDDING, Embedding};
use crate::error::WakeError;
use crate::graph::{Branches, Program};
use crate::onnx::Model;

/// The window where the shape leaves it free: 1.28 s, as the published heads.
const USUAL_FRAMES: usize = 16;
/// No head looks back further than 40 s.
const MOST_FRAMES: usize = 500;

/// A head that can be run.
#[derive(Debug)]
pub struct Head {
    name: String,
    frames: usize,
    classes: usize,
    metadata: Vec<(String, String)>,
    program: Program,
}

impl Head {
    /// Reads a head and runs it once, every branch of it, so that what cannot be run is an error here.
    pub fn load(path: &Path) -> Result<Self, WakeError> {
        let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Self::from_model(&name, &Model::read(path)?).map_err(|error| match error {
            WakeError::Unsupported { problem, .. } => {
                WakeError::Unsupported { name: path.display().to_string(), problem }
            }
            other => other,
        })
    }

    /// Reads a head from bytes.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, WakeError> {
        Self::from_model(name, &Model::parse(name, bytes)?)
    }

    /// A head of a model that was read or built.
    pub fn from_model(name: &str, model: &Model) -> Result<Self, WakeError> {
        let failed = |problem: String| WakeError::unsupported(name, problem);
        let frames = frames(model).map_err(failed)?;
        let program = Program::compile(&model.graph).map_err(failed)?;
        let mut head = Self { name: name.to_owned(), frames, classes: 0, metadata: model.metadata.clone(), program };
        let window = vec![[0.0; EMBEDDING]; frames];
        let (_, values) = head.run(&window, Branches::Both).map_err(failed)?;
        if values.is_empty() {
            return Err(failed("its output is empty".to_owned()));
        }
        head.classes = values.len();
        Ok(head)
    }

    /// What it is called: the file's name without its ending.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Embeddings of a window.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Numbers that come out: 1, or classes of which the first is "none of these".
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The file's properties.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// The score of the last [`Head::frames`] embeddings; 0 while there are fewer, which is never a detection.
    pub fn score(&self, window: &[Embedding]) -> f32 {
        match self.scores(window).as_slice() {
            [score] => *score,
            classes => classes.iter().skip(1).copied().fold(0.0, f32::max),
        }
    }

    /// Everything that comes out for the last [`Head::frames`] embeddings; nothing while there are fewer.
    pub fn scores(&self, window: &[Embedding]) -> Vec<f32> {
        let Some(start) = window.len().checked_sub(self.frames) else { return Vec::new() };
        // Every branch ran when it was loaded, on a window of this very shape.
        self.run(&window[start..], Branches::Chosen).map_or_else(|_| Vec::new(), |(_, values)| values)
    }

    fn run(&self, window: &[Embedding], branches: Branches) -> Result<(Vec<usize>, Vec<f32>), String> {
        self.program.run(&[1, self.frames, EMBEDDING], window.as_flattened(), branches)
    }
}

fn frames(model: &Model) -> Result<usize, String> {
    let inputs: Vec<_> = model.graph.free_inputs().collect();
    let [input] = inputs.as_slice() else { return Err(format!("it has {} inputs, one is needed", inputs.len())) };
    match input.shape.as_slice() {
        [None | Some(1), frames, None | Some(EMBEDDING)] => match frames.unwrap_or(USUAL_FRAMES) {
            frames @ 1..=MOST_FRAMES => Ok(frames),
            frames => Err(format!("a window of {frames} embeddings, at most {MOST_FRAMES} are possible")),
        },
        other => {
            let sizes: Vec<String> =
                other.iter().map(|size| size.map_or_else(|| "?".to_owned(), |size| size.to_string())).collect();
            Err(format!("its input is [{}], a head's is [1, frames, {EMBEDDING}]", sizes.join(", ")))
        }
    }
}
