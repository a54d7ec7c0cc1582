//! From played samples back to text: what was heard of a reply.

/// A piece of a reply with its sound.
#[derive(Debug, Clone, PartialEq)]
struct Spoken {
    text: String,
    samples: u64,
    /// Samples before its first and after its last sound.
    lead: u64,
    tail: u64,
}

/// The pieces of a reply in the order they are played.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heard {
    pieces: Vec<Spoken>,
}

impl Heard {
    /// Nothing spoken yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A piece with its samples, of which `lead` at the head and `tail` at the end are silent.
    pub fn push(&mut self, text: &str, samples: u64, lead: u64, tail: u64) {
        let lead = lead.min(samples);
        self.pieces.push(Spoken { text: text.to_owned(), samples, lead, tail: tail.min(samples - lead) });
    }

    /// All samples.
    pub fn samples(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.samples).sum()
    }

    /// The text of everything pushed.
    pub fn whole(&self) -> String {
        self.until(u64::MAX)
    }

    /// What was heard when `played` samples were: whole pieces, and of the piece in between the words whose
    /// share of its sound was played. A word that was cut off was not heard.
    pub fn until(&self, played: u64) -> String {
        let mut left = played;
        let mut heard = Vec::new();
        for piece in &self.pieces {
            if left >= piece.samples - piece.tail && piece.samples > 0 || left == u64::MAX {
                heard.push(piece.text.clone());
                left = left.saturating_sub(piece.samples);
                continue;
            }
            let sounding = piece.samples - piece.lead - piece.tail;
            let share = left.saturating_sub(piece.lead) as f64 / (sounding.max(1)) as f64;
            let begin = words_within(&piece.text, share);
            if !begin.is_empty() {
                heard.push(begin.to_owned());
            }
            break;
        }
        heard.join(" ")
    }
}

/// The words of a text that end within this share of its characters.
fn words_within(text: &str, share: f64) -> &str {
    let characters = text.chars().count();
    let limit = (share.clamp(0.0, 1.0) * characters as f64).floor() as usize;
    if limit >= characters {
        return text;
    }
    let mut end = 0;
    let mut in_word = false;
    for (count, (at, c)) in text.char_indices().enumerate() {
        if count > limit {
            break;
        }
        if c.is_whitespace() && in_word {
            end = at;
        }
        in_word = !c.is_whitespace();
    }
    text[..end].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_reply_is_cut_at_the_last_whole_word() {
        let mut heard = Heard::new();
        heard.push("One two three four.", 1900, 0, 0);
        heard.push("Five six.", 1100, 100, 100);
        assert_eq!(heard.until(0), "");
        assert_eq!(heard.until(299), "");
        assert_eq!(heard.until(300), "One");
        assert_eq!(heard.until(1000), "One two");
        assert_eq!(heard.until(1899), "One two three");
        assert_eq!(heard.until(1900), "One two three four.");
        assert_eq!(heard.until(2400), "One two three four. Five");
        // The silence at the end need not be heard.
        assert_eq!(heard.until(2900), "One two three four. Five six.");
        assert_eq!(heard.whole(), heard.until(heard.samples()));
    }

    proptest! {
        #[test]
        fn more_played_is_never_less_heard(
            texts in prop::collection::vec("[a-zé]{1,6}( [a-zé]{1,6}){0,5}", 1..4),
            samples in 1_u64..5000,
        ) {
            let mut heard = Heard::new();
            for text in &texts {
                heard.push(text, samples, samples / 10, samples / 10);
            }
            let mut before = String::new();
            for step in 0..=40 {
                let now = heard.until(heard.samples() * step / 40);
                prop_assert!(now.starts_with(&before), "{before:?} {now:?}");
                before = now;
            }
            prop_assert_eq!(before, texts.join(" "));
        }
    }
}
