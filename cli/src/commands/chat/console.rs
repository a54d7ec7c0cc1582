//! What a conversation needs of a terminal, so that a test can be one.

use tenpass_model::BoxFuture;

use crate::failure::Failure;

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// A line; a paste may have several in it.
    Text(String),
    /// Ctrl-C at an empty prompt.
    Interrupt,
    /// The end: Ctrl-D, or the end of a pipe.
    End,
}

/// What the display can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Features {
    /// What was written can be taken back, and there is a bell.
    pub(super) is_terminal: bool,
    /// A person types; otherwise lines come from a pipe or from the command line.
    pub(super) is_typed: bool,
    /// Colours.
    pub(super) is_colored: bool,
    /// Columns.
    pub(super) width: usize,
    /// Lines.
    pub(super) height: usize,
}

/// A terminal, a pipe, or a test.
pub(super) trait Console: Send + Sync {
    /// What it can do now.
    fn features(&self) -> Features;

    /// Writes a piece of the conversation.
    fn write(&self, text: &str);

    /// Writes whole lines above a prompt that stands open.
    fn announce(&self, text: &str);

    /// A message beside the conversation.
    fn note(&self, text: &str);

    /// An error line and its hint.
    fn failure(&self, failure: &Failure);

    /// The next line at the prompt.
    fn line(&self) -> BoxFuture<'_, Line>;

    /// A line typed after this was called. Dropping the future withdraws the question.
    fn answer(&self) -> BoxFuture<'_, Line>;

    /// A turn begins or ends: between them what is typed is overheard.
    fn turn(&self, is_running: bool);

    /// A line typed while a turn runs and no question stands open.
    fn overhear(&self) -> BoxFuture<'_, Line>;

    /// Ctrl-C, outside of the prompt's editor.
    fn interrupted(&self) -> BoxFuture<'_, ()>;
}
