//! Going on with a run of a speech bench that was stopped.

use serde::de::DeserializeOwned;
use tenpass_listening::store::{CorpusRecord, EngineRecord, SpeechRun, StoreError};

use crate::failure::Failure;

/// What the run measures, as its manifest has it.
pub(super) fn plan<P: DeserializeOwned>(run: &SpeechRun) -> Result<P, Failure> {
    serde_json::from_value(run.manifest().details["plan"].clone())
        .map_err(|error| different(run, format!("its plan cannot be read: {error}")).into())
}

/// Numbers of one run come from one corpus and the same models.
pub(super) fn same(run: &SpeechRun, engines: &[EngineRecord], corpus: &CorpusRecord) -> Result<(), Failure> {
    if run.manifest().corpora.first() != Some(corpus) {
        return Err(different(run, format!("the corpus {} is not what it was", corpus.name)).into());
    }
    if let Some(now) = engines.iter().find(|engine| !run.manifest().engines.contains(engine)) {
        return Err(different(run, format!("the model of {} is not the one it was started with", now.spec)).into());
    }
    Ok(())
}

fn different(run: &SpeechRun, problem: String) -> StoreError {
    StoreError::Different { id: run.manifest().id.clone(), problem }
}
