//! The rounds bench: multi-round scenarios on the real tool loop.
//!
//! A scenario ([`Scenario`]) is played once per pass: its world is built in a temporary folder, the
//! real loop runs with the real tools and policy on it, a script stands in for the person, and what
//! happened ([`Played`]) is stored before it is graded. Grading needs no model.
//!
//! ```text
//! cases/rounds/*.toml ─► Suite ─► play (world + script + loop) ─► Played ─► grade
//! ```

mod archive;
mod check;
mod cloud;
mod desktop;
mod end;
mod faults;
mod files;
mod grade;
mod load;
mod pattern;
mod play;
mod played;
mod record;
mod scenario;
mod script;
#[cfg(test)]
mod tests;
mod transcript;
mod web;
mod world;

pub use check::SECURITY_ROWS;
pub use grade::grade;
pub use load::{load_suite, parse_suite};
pub(crate) use play::prompts;
pub use play::{Play, Stage, play};
pub use played::{FileState, Played, PlayedCall, PlayedTurn, RawAnswer, WorldEnd};
pub use scenario::{
    Action, CallCheck, Caps, Ending, Exchange, Fault, FaultKind, FileCheck, Memory, MemoryCheck, OldFile, OtherFiles,
    Page, Past, ProviderAnswer, Reaction, Scenario, ScenarioProfile, Search, SearchHit, StoredAnswer, Turn, Words,
    World,
};
pub use transcript::transcript;
pub use world::definitions;
