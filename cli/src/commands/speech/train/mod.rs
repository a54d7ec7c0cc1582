//! `tenpass train`.

pub(super) mod setup;
mod verifier;
mod wake;

use tenpass_train::verifier::VerifierError;
use tenpass_train::wake::TrainError;

use crate::args::speech::train::Train;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Train) -> Result<Exit, Failure> {
    match command {
        Train::Wake(command) => wake::run(context, command),
        Train::Verifier(command) => verifier::run(context, command),
    }
}

impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Self {
        let hint = error.hint();
        match error {
            TrainError::Voices { .. } | TrainError::Phonemes(_) => Self::backend(error).hint(hint),
            TrainError::Export(_) => Self::bug(error),
            _ => Self::mistake(error).hint(hint),
        }
    }
}

impl From<VerifierError> for Failure {
    fn from(error: VerifierError) -> Self {
        match error {
            VerifierError::Train(error) => error.into(),
            VerifierError::Fitted(_) => Self::bug(error),
            _ => {
                let hint = error.hint();
                Self::mistake(error).hint(hint)
            }
        }
    }
}
