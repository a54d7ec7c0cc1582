//! Text that others wrote, and what it may never become.
//!
//! Pages, files, tool results, memory entries, past turns and provider answers are data. Before
//! such text enters a prompt it goes through [`sanitise`], which leaves it readable and takes its
//! powers: no special token of a chat template, no header of a role, no marker of a tool call, no
//! marker of the application, no character that hides or reorders what stands there. [`delimit`]
//! does that and says where the text begins, ends and comes from. Only the application writes
//! `[[tenpass:NAME]]`; the same marker in a model's answer is made up ([`strip_markers`], K15).
//!
//! Notations that need no marker, such as a bare JSON object with a tool's name in it, are ordinary
//! text for a prompt. A model that repeats one would make a call of it, so [`defuse_calls`] breaks
//! the names of this turn's tools where they stand like a call.
//!
//! None of this makes a model ignore what the text asks for: that is what tiers, confirmations and
//! taint are for. [`looks_like_injection`] is a signal for the watchdog and no defence.

mod calls;
mod characters;
mod markers;
mod signal;
mod tokens;
mod visible;

pub use calls::defuse_calls;
pub use markers::{MarkerStripper, block, delimit, strip_markers};
pub use signal::looks_like_injection;
pub use tokens::sanitise;
pub use visible::{mixed_scripts, visible};

#[cfg(test)]
mod tests;
