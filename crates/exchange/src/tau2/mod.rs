//! Tasks of tau2-bench as cases.
//!
//! A domain is a folder with `tasks.json` and `policy.md`; its tools are `tools.json` in OpenAI's form
//! beside them, or `tools.py`, whose signatures and docstrings are read and never run. A task of
//! tau2-bench is a conversation with a simulated customer and a database. What a case of the
//! tool-choice bench can hold of it is its beginning: the customer says what they want and who they are,
//! and the agent's first call must be one that the task expects. Where the arguments of that call are not
//! in what the customer says, no answer could be judged, and the task is left out with a note. A task
//! without any expected action is one that must be refused: there every tool that writes is forbidden.

mod import;
mod python;
#[cfg(test)]
mod tests;

pub use import::import;

pub use crate::promptfoo::Converted;
