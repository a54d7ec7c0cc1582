//! What of an answer is shown while it arrives: no call, no marker, no secret.

use tenpass_model::calls::MarkerFilter;
use tenpass_trace::mask::Masker;

use super::decode::AnswerDecoder;
use crate::Structure;
use crate::untrusted::MarkerStripper;

/// The display of one answer's text.
///
/// Raw pieces go through the decoder of the structure, the filter of call markup, the stripper of
/// the application's markers, and the masks, in this order. Each holds back what may be the
/// beginning of something it takes out.
#[derive(Debug)]
pub(super) struct Display {
    decoder: Option<AnswerDecoder>,
    filter: MarkerFilter,
    clean: Clean,
    shown: String,
}

impl Display {
    pub(super) fn new(structure: Structure) -> Self {
        Self {
            decoder: (structure == Structure::Grammar).then(AnswerDecoder::default),
            filter: MarkerFilter::new(),
            clean: Clean::default(),
            shown: String::new(),
        }
    }

    /// Takes a raw piece; gives what of it, and of what was held back, may be shown.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let decoded = match &mut self.decoder {
            Some(decoder) => {
                let text = decoder.push(piece);
                // A decoded text has no call in it; plain text may.
                if decoder.is_plain() { self.filter.push(&text) } else { text }
            }
            None => self.filter.push(piece),
        };
        let piece = self.clean.push(&decoded);
        self.shown.push_str(&piece);
        piece
    }

    /// The end of the answer, whole or cut off: what was held back in vain.
    pub(super) fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.filter).finish();
        let piece = self.clean.finish(&rest);
        self.shown.push_str(&piece);
        piece
    }

    /// Everything that was shown.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }
}

/// Takes the application's markers and secrets out of a stream.
#[derive(Debug, Default)]
pub(super) struct Clean {
    stripper: MarkerStripper,
    masker: Masker,
}

impl Clean {
    pub(super) fn push(&mut self, piece: &str) -> String {
        let stripped = self.stripper.push(piece);
        self.masker.push(&stripped)
    }

    /// The last piece and all that was held back.
    pub(super) fn finish(&mut self, piece: &str) -> String {
        let mut stripped = self.stripper.push(piece);
        stripped.push_str(&self.stripper.finish());
        let mut clean = self.masker.push(&stripped);
        clean.push_str(&self.masker.finish());
        clean
    }
}
