//! A real tool failure, noted (K63b).

use jiff::Zoned;
use tenpass_agent::memory::{Applied, Refusal, Source, failure_entry};

use super::error::MemoryError;
use super::file::MemoryFile;

/// Notes under anomalies that `tool` failed, once a tool and day; a second time is refused
/// ([`Refusal::FailureNoted`]), and so is a turn that read something from outside. Call it when
/// [`tenpass_agent::memory::is_real_failure`] says so.
pub fn note_failure(
    file: &MemoryFile,
    tool: &str,
    error: &str,
    tainted: bool,
    now: &Zoned,
) -> Result<Applied, MemoryError> {
    if tainted {
        return Err(Refusal::Tainted.into());
    }
    let decision = failure_entry(tool, error, &file.show()?, now)?;
    file.write(&decision, Source::Application, now.timestamp())
}
