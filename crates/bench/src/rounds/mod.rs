//! The rounds bench: multi-round scenarios on the real tool loop.
//!
//! A scenario ([`Scenario`]) is played once per pass: its world is built in a temporary folder, the
//! real loop runs with the real tools and policy on it, a script stands in for the person, and what
//! happened ([`Played`]) is stored before it is graded. Grading needs no model.
//!
//! ```text
//! cases/rounds/*.toml ─► Suite ─► play (world + script + loop) ─► Played ─► grade
//! ```

mod check;
mod load;
mod scenario;

pub use check::SECURITY_ROWS;
pub use load::{load_suite, parse_suite};
pub use scenario::{
    Action, CallCheck, Caps, Ending, Exchange, Fault, FaultKind, FileCheck, Memory, MemoryCheck, OldFile, OtherFiles,
    Page, Past, ProviderAnswer, Reaction, Scenario, ScenarioProfile, Search, SearchHit, StoredAnswer, Turn, Words,
    World,
};
