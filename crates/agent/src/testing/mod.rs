//! Scripted parts for tests of the loop, here and in other rooms: fakes, named as such.
//!
//! They prove the loop and nothing about any model, tool or person.

mod model;
mod people;
mod tools;

pub use model::{Said, ScriptedModel, obeying, scripted_info};
pub use people::{FixedClock, MemoryRecorder, ScriptedPerson};
pub use tools::ScriptedTools;

/// A text of the form of a provider's key that is no key.
pub fn seeded_secret() -> String {
    ["ghp", "_", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fG3hJ5"].concat()
}
