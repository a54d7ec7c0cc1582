//! Decisions over stored runs: comparison, baselines, reports, nightly runs.

mod against;
mod baseline;
pub mod collect;
mod collect_parts;
mod compare;
mod compare_read;
mod compare_roles;
mod compare_told;
mod confirm;
mod differences;
mod differences_cases;
mod error;
mod find;
pub mod jobs;
mod measured;
pub mod nightly;
mod page;
mod page_compare;
mod page_facts;
mod page_file;
mod page_load;
mod page_pass;
mod page_plan;
#[cfg(test)]
mod page_tests;

pub use against::{check_plan, compare_candidates, early_stop, run_notes, told};
pub use baseline::{Baseline, Blessing, baseline_of, baselines, bless};
pub use compare::{CompareOptions, Side, compare};
pub use confirm::{Confirmation, confirmation};
pub use differences::DIMENSIONS;
pub use error::ReviewError;
pub use find::{configuration_named, find, find_run, the_configuration};
pub use measured::measured;
pub use page::{ReportOptions, write_report, write_report_with};
pub use page_compare::compare_columns;
pub use page_file::save_report;

#[cfg(test)]
mod compare_fixture;
#[cfg(test)]
mod compare_tests;
#[cfg(test)]
mod find_tests;
