//! Pages of HTML that stand alone: no network, no build step, one file.
//!
//! ```text
//! ReportPage ─► verdict, heat map, failures, plots, facts ─┐
//! passes, one by one ─► packed chunks ─────────────────────┼─► one file: style and script inlined,
//!                                                          │   named by their hashes in the policy
//! blocks ─► fragment ─► page ──────────────────────────────┘
//! ```

mod data;
mod embed;
mod escape;
mod failures;
mod fragment;
mod heat;
mod section;
mod shell;
#[cfg(test)]
mod tests;
mod verdict;
mod writer;

pub use data::{FactSheet, PagePart, PassPage, ReportColumn, ReportExtra, ReportPage, ReportSection};
pub use writer::{MOST_BYTES, MOST_PASSES, ReportWriter};

pub(crate) use escape::{escape, visible};
pub(crate) use fragment::fragment;
pub(crate) use shell::page;
