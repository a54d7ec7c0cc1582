//! Why a document's text could not be read.

/// One clear reason per document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Larger than the cap.
    #[error("the file is {bytes} bytes long; the limit is {cap}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The cap.
        cap: usize,
    },
    /// It unpacks to more than the caps allow, or to too many parts.
    #[error("the file unpacks to more than is read: {what}")]
    Bomb {
        /// Which cap.
        what: String,
    },
    /// It is encrypted or needs a password.
    #[error("the {kind} file is protected by a password")]
    Encrypted {
        /// Its format.
        kind: &'static str,
    },
    /// It is cut short, corrupted or not what its name says.
    #[error("the {kind} file is damaged or incomplete: {reason}")]
    Damaged {
        /// Its format.
        kind: &'static str,
        /// What the parser says.
        reason: String,
    },
    /// The format holds no text that is read here.
    #[error("the file is {kind}, which has no text that can be read")]
    Unsupported {
        /// What it is.
        kind: &'static str,
    },
    /// It has pages, and no text on any of them.
    #[error("the PDF file has {pages} pages and no text on them: they are images")]
    OnlyImages {
        /// How many pages.
        pages: usize,
    },
    /// It took too long.
    #[error("reading the {kind} file took more than {seconds} s")]
    TooSlow {
        /// Its format.
        kind: &'static str,
        /// The limit.
        seconds: u64,
    },
}

/// Longest reason: parsers quote the document, which may say anything at any length.
const LONGEST_REASON: usize = 160;

impl DocumentError {
    /// The same error with a short reason without line breaks.
    pub(crate) fn short(self) -> Self {
        match self {
            Self::Damaged { kind, reason } => {
                let reason = reason.chars().map(|character| if character.is_control() { ' ' } else { character });
                Self::Damaged { kind, reason: reason.take(LONGEST_REASON).collect() }
            }
            other => other,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } | Self::Bomb { .. } | Self::TooSlow { .. } => "use a smaller file or a part of it",
            Self::Encrypted { .. } => "the user can save a copy without a password",
            Self::Damaged { .. } => "the user can open and save it again, or send another copy",
            Self::Unsupported { .. } => "text, Word, spreadsheet, OpenDocument and PDF files can be read",
            Self::OnlyImages { .. } => "the user can send a version with text",
        }
    }
}
