//! The live tools, put together in one order for every front end: the prefix of a prompt never
//! changes between them (K26).

use std::sync::Arc;

use tenpass_agent::tool::{Tool, Tools};

use crate::cleanup::{CleanupOptions, Trash, cleanup_tools};
use crate::files::{Sandbox, file_tools};
use crate::memory::{MemoryFile, memory_tools};
use crate::page::ReadUrl;
use crate::providers::{DelegateToProvider, Providers};
use crate::recall::{Archive, recall_tools};
use crate::web::WebSearch;

/// What the live tools work on.
pub struct LiveTools {
    /// Whom work can be handed to; `None` offers no delegation.
    pub providers: Option<Providers>,
    /// The memory; `None` offers none.
    pub memory: Option<Arc<MemoryFile>>,
    /// Earlier conversations and answers.
    pub archive: Arc<dyn Archive>,
    /// What is searched; `None` offers no search.
    pub search: Option<WebSearch>,
    /// Where pages come from.
    pub pages: ReadUrl,
    /// The folders of the file tools.
    pub sandbox: Arc<Sandbox>,
    /// What measures the computer.
    pub system: Box<dyn Tool>,
    /// The folders that may be cleaned up.
    pub cleanup: CleanupOptions,
    /// Where cleaned up files go.
    pub trash: Arc<dyn Trash>,
}

impl LiveTools {
    /// The tools, in their order.
    pub fn assemble(self) -> Tools {
        let mut all: Vec<Box<dyn Tool>> = Vec::new();
        if let Some(providers) = self.providers {
            all.push(Box::new(DelegateToProvider::new(providers)));
        }
        if let Some(memory) = &self.memory {
            all.extend(memory_tools(memory));
        }
        all.extend(recall_tools(&self.archive));
        if let Some(search) = self.search {
            all.push(Box::new(search));
        }
        all.push(Box::new(self.pages));
        all.extend(file_tools(self.sandbox));
        all.push(self.system);
        all.extend(cleanup_tools(self.cleanup, self.trash));
        let mut tools = Tools::default();
        for tool in all {
            tools.add_boxed(tool);
        }
        tools
    }
}
