//! Files: one folder that may be written, others that may be read, and nothing else.
//!
//! A typed path is judged as text ([`name`]), walked on directory handles without following links
//! ([`walk`]), and what is finally used is judged on its own handle ([`sandbox`]): a regular file
//! with one name, not the application's own, not too large. Everything read from a file is data
//! from outside and marked as such; so are file names.

mod define;
mod diff;
mod edit;
mod error;
mod list;
mod name;
mod protect;
mod read;
mod receive;
mod sandbox;
mod sensitive;
mod walk;
mod write;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tenpass_agent::tool::Tool;

pub use edit::{AppendFile, UpdateFile, WriteFile};
pub use error::FileError;
pub use list::ListDirectory;
pub use read::ReadFile;
pub use receive::Received;
pub use sandbox::{Sandbox, SandboxOptions};
pub use sensitive::sensitive;

pub(crate) use define::{Definition, integer, shown_bytes, shown_time, string};
pub(crate) use list::blocking;
pub(crate) use name::{fold, invisible};
pub(crate) use protect::{Identity, Protected, identity};
#[cfg(test)]
pub(crate) use tests::context as test_context;

/// Every file tool over one sandbox: `list_directory`, `read_file`, `write_file`, `append_file`
/// and `update_file`.
pub fn file_tools(sandbox: Arc<Sandbox>) -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(ListDirectory::new(Arc::clone(&sandbox))),
        Box::new(ReadFile::new(Arc::clone(&sandbox))),
        Box::new(WriteFile::new(Arc::clone(&sandbox))),
        Box::new(AppendFile::new(Arc::clone(&sandbox))),
        Box::new(UpdateFile::new(sandbox)),
    ]
}
