//! `tenpass shadow`.

mod places;
mod probe;
mod start;
mod status;

use tenpass_train::promote::{GoldenError, ServiceError};
use tenpass_train::records::RecordError;
use tenpass_train::shadow::ShadowError;

use crate::args::speech::shadow::Shadow;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
pub(super) use places::{Places, ShadowPlace, thresholds};

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Shadow) -> Result<Exit, Failure> {
    match command {
        Shadow::Start(command) => start::run(context, command),
        Shadow::Probe(command) => probe::run(context, command),
        Shadow::Status(command) => status::run(context, command),
        Shadow::Label(command) => status::label(context, command),
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::mistake(&error).hint(error.hint())
    }
}

impl From<ShadowError> for Failure {
    fn from(error: ShadowError) -> Self {
        match error {
            ShadowError::Wake(error) => error.into(),
            other => {
                let hint = other.hint();
                Self { hint, ..Self::mistake(other) }
            }
        }
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        Self::mistake(&error).hint(error.hint())
    }
}

impl From<GoldenError> for Failure {
    fn from(error: GoldenError) -> Self {
        match error {
            GoldenError::Wake(error) => error.into(),
            GoldenError::Open(_) => Self::mistake(&error).hint("freeze it with `tenpass corpus freeze DIR`"),
            other => Self::mistake(other),
        }
    }
}
