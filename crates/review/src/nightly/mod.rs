//! A night: every bench of a profile, each beside its baseline, and what came of it.
//!
//! ```text
//! runs/nights/lock                    held by the night that runs
//!             2026-11-30/night.json   what was planned, how far it is, what was found
//!                        report.html  junit.xml  summary.md
//! ```
//! `night.json` is written by renaming a complete file over the old one after every step, so a
//! night that a power cut ended goes on where it was. It keeps the counts of every case: the
//! history outlives the runs themselves.

mod change;
mod chart;
mod error;
mod folder;
mod measure;
mod night;
mod page;
mod summary;
mod systemd;
#[cfg(test)]
mod tests;

pub use change::{Broken, first_broken};
pub use chart::{Noise, chart, noise, rates};
pub use error::NightError;
pub use folder::{NightLock, Nights};
pub use measure::{Measured, Roles, measure};
pub use night::{
    BenchResult, CaseCount, Found, NIGHT_VERSION, Night, NightState, Plan, Repeatability, Step, StepState,
};
pub use page::extras;
pub use summary::{markdown, one_line};
pub use systemd::{Unit, units};
