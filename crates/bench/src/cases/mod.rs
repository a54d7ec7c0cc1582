//! Case files: what must happen, written down before it is measured.
//!
//! A suite is a folder of TOML files, one a family (a failure kind), with the shared tools in
//! `tools.toml` and the one system prompt in `prompt.md`:
//!
//! ```toml
//! family = "delegation"
//!
//! [[case]]
//! id = "delegate-long-letter"
//! language = "en"                # en | fr
//! kind = "target"                # target | guard
//! prompt = "Have Claude write a letter to my landlord."   # or history = [{ role = "user", content = "…" }, …]
//! tools = ["delegate", "write_file"]   # default: all of tools.toml; `tool = [{ … }]` adds inline ones
//! provenance = "where the failure was seen"
//!
//! [case.expect]
//! calls = [{ tool = "delegate", arguments = { provider = "claude", task = { contains = "letter" } } }]
//! forbid = ["write_file"]
//! ```
//!
//! [`load_suite`] reads it and reports every fault of every file, with its line. A [`Case`] comes out
//! with everything resolved, so that a run can store it and grade it again without the files.

mod block;
mod case;
mod check;
mod error;
mod file;
mod given;
mod load;
pub(crate) mod matcher;
mod notation;
pub mod show;
mod source;
mod tools;
mod write;

#[cfg(test)]
mod tests;

pub use block::{SuiteShared, case_text, expect_lines};
pub use case::{Case, CaseKind, Expect, ExpectedCall, Language, Suite, digest};
pub use error::CaseError;
pub use given::parse_expect;
pub use load::{PROMPT_FILE, SuiteText, TOOLS_FILE, load_suite, load_tools, parse_suite};
pub(crate) use load::{toml_files, unreadable};
pub use matcher::{Argument, KINDS, Matcher, MatcherError, NotationError, Pattern};
pub use write::to_toml;
