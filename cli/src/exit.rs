//! Exit codes: part of the interface, for scripts, cron and CI.

/// What the process's exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// It was done, and the answer is yes where there is one.
    Yes = 0,
    /// It was done, and the answer is no: something is damaged, regressed, or held by a gate.
    No = 1,
    /// The user's mistake: an unknown name, a bad value, an invalid file.
    Mistake = 2,
    /// A backend or a model is missing, or failed.
    Backend = 3,
    /// A bug of this program.
    Bug = 70,
    /// Stopped by Ctrl-C; what was finished is kept.
    Interrupted = 130,
}
