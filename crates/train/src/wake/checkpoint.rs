//! The state of a training on disk, from which it goes on bit for bit.
//!
//! One line of JSON (the training's digest, the step, the random numbers' state, the looks), then
//! four rows of `f32`, little-endian: parameters, the optimiser's two moments, the best parameters.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::TrainError;
use super::fit::Look;

/// Parameters of a network at most.
const MOST: usize = 10_000_000;

/// The state of a training.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    pub(crate) step: u32,
    pub(crate) random: u64,
    pub(crate) negative_weight: f32,
    pub(crate) looks: Vec<Look>,
    pub(crate) adam_steps: u32,
    pub(crate) best: Option<Look>,
    pub(crate) numbers: [Vec<f32>; 4],
}

#[derive(Serialize, Deserialize)]
struct Head {
    digest: String,
    step: u32,
    random: u64,
    negative_weight: f32,
    looks: Vec<Look>,
    adam_steps: u32,
    best: Option<Look>,
    lengths: [usize; 4],
}

/// Writes it whole or not at all.
pub(crate) fn write(path: &Path, digest: &str, state: &State) -> Result<(), TrainError> {
    let failed = |error| TrainError::file(path, error);
    let head = Head {
        digest: digest.to_owned(),
        step: state.step,
        random: state.random,
        negative_weight: state.negative_weight,
        looks: state.looks.clone(),
        adam_steps: state.adam_steps,
        best: state.best,
        lengths: std::array::from_fn(|at| state.numbers[at].len()),
    };
    let mut bytes = serde_json::to_vec(&head).map_err(|error| failed(error.into()))?;
    bytes.push(b'\n');
    for row in &state.numbers {
        bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
    }
    let beside = path.with_extension("part");
    std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, path)).map_err(failed)
}

/// The state in a file; `None` when there is none, or none that can be read. One of another training is an error.
pub(crate) fn read(path: &Path, digest: &str) -> Result<Option<State>, TrainError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(TrainError::file(path, error)),
    };
    let Some(line) = bytes.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
    let Ok(head) = serde_json::from_slice::<Head>(&bytes[..line]) else { return Ok(None) };
    if head.digest != digest {
        return Err(TrainError::OtherTraining(path.to_owned()));
    }
    let rest = bytes[line + 1..].as_chunks::<4>().0;
    if head.lengths.iter().any(|length| *length > MOST) || rest.len() != head.lengths.iter().sum::<usize>() {
        return Ok(None);
    }
    let mut rows = rest.iter().map(|value| f32::from_le_bytes(*value));
    let numbers = head.lengths.map(|length| rows.by_ref().take(length).collect());
    Ok(Some(State {
        step: head.step,
        random: head.random,
        negative_weight: head.negative_weight,
        looks: head.looks,
        adam_steps: head.adam_steps,
        best: head.best,
        numbers,
    }))
}
