//! From decoded tokens to stretches of text, and the rules that say whether to believe them.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::engine::{Answer, Token};
use crate::vocabulary::{TIME_STEP_S, Vocabulary};

/// A text that compresses by more than this repeats itself.
const COMPRESSION_RATIO: f64 = 2.4;
/// A mean log-probability below this is a guess.
const LOG_PROBABILITY: f32 = -1.0;
/// Above this probability of silence a guess is dropped.
const NO_SPEECH: f32 = 0.6;

/// A stretch of text within a window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    pub(crate) start_s: f64,
    pub(crate) end_s: f64,
    pub(crate) text: String,
    pub(crate) log_probability: f32,
}

/// True when nothing was said: improbable words and a probable silence.
pub(crate) fn is_silence(answer: &Answer) -> bool {
    answer.no_speech > NO_SPEECH && answer.log_probability() < LOG_PROBABILITY
}

/// True when an answer needs no other attempt.
pub(crate) fn is_good(answer: &Answer, vocabulary: &Vocabulary) -> bool {
    if is_silence(answer) {
        return true;
    }
    let text = vocabulary.decode(answer.tokens.iter().map(|token| token.id));
    answer.log_probability() >= LOG_PROBABILITY && compression_ratio(&text) <= COMPRESSION_RATIO
}

/// Bytes of a text against those of its zlib stream.
pub(crate) fn compression_ratio(text: &str) -> f64 {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    packed.map_or(1.0, |packed| text.len() as f64 / packed.len().max(1) as f64)
}

/// The stretches of an answer, and the second at which the next window begins: the whole window, unless its last
/// stretch is unfinished. The rules are those of OpenAI's `transcribe.py`.
pub(crate) fn pieces(answer: &Answer, vocabulary: &Vocabulary, length_s: f64) -> (Vec<Piece>, f64) {
    let (end, first_time) = (vocabulary.special.end, vocabulary.special.first_time);
    let tokens: Vec<Token> = answer.tokens.iter().copied().filter(|token| token.id != end).collect();
    let is_time = |at: usize| tokens.get(at).is_some_and(|token| token.id >= first_time);
    let seconds = |token: &Token| (f64::from(token.id.saturating_sub(first_time)) * TIME_STEP_S).min(length_s);
    let mut cuts: Vec<usize> = (1..tokens.len()).filter(|at| is_time(at - 1) && is_time(*at)).collect();
    let count = tokens.len();
    let ends_closed = count >= 2 && is_time(count - 1) && !is_time(count - 2);
    let mut found = Vec::new();
    let mut add = |run: &[Token], whole: bool| {
        let times: Vec<f64> = run.iter().filter(|token| token.id >= first_time).map(seconds).collect();
        let starts = run.first().is_some_and(|token| token.id >= first_time);
        let start_s = if starts { times.first().copied().unwrap_or(0.0) } else { 0.0 };
        let last = times.last().copied().filter(|last| *last > start_s);
        let end_s = if whole { last.unwrap_or(length_s) } else { last.unwrap_or(start_s) };
        let text = vocabulary.decode(run.iter().map(|token| token.id));
        if !text.trim().is_empty() {
            let sum: f32 = run.iter().map(|token| token.log_probability).sum();
            let log_probability = sum / run.len().max(1) as f32;
            found.push(Piece { start_s, end_s, text: text.trim().to_owned(), log_probability });
        }
    };
    if cuts.is_empty() {
        add(&tokens, true);
        return (found, length_s);
    }
    if ends_closed {
        cuts.push(count);
    }
    let mut from = 0;
    for cut in cuts {
        add(&tokens[from..cut], false);
        from = cut;
    }
    let next_s = if ends_closed { length_s } else { seconds(&tokens[from - 1]) };
    (found, next_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::tests::made_up;

    /// Made once: it has fifty thousand words.
    fn vocabulary() -> &'static Vocabulary {
        static MADE: std::sync::LazyLock<Vocabulary> =
            std::sync::LazyLock::new(|| Vocabulary::from_json(&made_up(false), 51_864).unwrap());
        &MADE
    }

    const END: u32 = 50_256;

    fn time(seconds: f64) -> u32 {
        50_363 + (seconds / TIME_STEP_S).round() as u32
    }

    fn answer(ids: &[u32]) -> Answer {
        let tokens = ids.iter().map(|id| Token { id: *id, log_probability: -0.5 }).collect();
        Answer { tokens, no_speech: 0.1, temperature: 0.0 }
    }

    fn of(ids: &[u32], length_s: f64) -> (Vec<(f64, f64, String)>, f64) {
        let (found, next) = pieces(&answer(ids), vocabulary(), length_s);
        (found.into_iter().map(|piece| (piece.start_s, piece.end_s, piece.text)).collect(), next)
    }

    const A: u32 = b'a' as u32;
    const B: u32 = b'b' as u32;

    #[test]
    fn a_closed_end_takes_the_whole_window() {
        let (found, next) = of(&[time(0.0), A, time(2.0), time(2.0), B, time(4.0), END], 30.0);
        assert_eq!(found, [(0.0, 2.0, "a".to_owned()), (2.0, 4.0, "b".to_owned())]);
        assert!((next - 30.0).abs() < 1e-9);
    }

    #[test]
    fn an_unfinished_stretch_is_heard_again() {
        let (found, next) = of(&[time(0.0), A, time(28.0), time(28.0), B, END], 30.0);
        assert_eq!(found, [(0.0, 28.0, "a".to_owned())]);
        assert!((next - 28.0).abs() < 1e-9);
        let (found, next) = of(&[time(0.0), A, time(28.0), time(28.0), END], 30.0);
        assert_eq!((found.len(), next), (1, 28.0));
    }

    #[test]
    fn without_timestamps_the_text_is_the_window() {
        assert_eq!(of(&[A, B, END], 3.5), (vec![(0.0, 3.5, "ab".to_owned())], 3.5));
        assert_eq!(of(&[time(1.0), A, time(3.0), END], 5.0), (vec![(1.0, 3.0, "a".to_owned())], 5.0));
        // A model may put an end after the end of the sound.
        assert_eq!(of(&[time(1.0), A, time(9.0), END], 5.0), (vec![(1.0, 5.0, "a".to_owned())], 5.0));
        assert_eq!(of(&[END], 5.0), (vec![], 5.0));
        assert_eq!(of(&[], 5.0), (vec![], 5.0));
    }

    #[test]
    fn what_repeats_itself_or_is_a_guess_is_not_good() {
        let vocabulary = vocabulary();
        assert!(is_good(&answer(&[A, B, END]), vocabulary));
        assert!(!is_good(&answer(&[A, B].repeat(60)), vocabulary));
        let mut guess = answer(&[A, B]);
        guess.tokens[0].log_probability = -3.0;
        assert!(!is_good(&guess, vocabulary));
        guess.no_speech = 0.7;
        assert!(is_silence(&guess) && is_good(&guess, vocabulary));
        assert!(compression_ratio("one two three") < 1.0);
        assert!(compression_ratio(&"again ".repeat(40)) > 5.0);
    }

    proptest::proptest! {
        #[test]
        fn pieces_stay_in_the_window(ids in proptest::collection::vec(
            proptest::prop_oneof![0u32..256, 50_256u32..50_257, 50_363u32..51_864], 0..40), length in 0.1f64..30.0) {
            let (found, next) = pieces(&answer(&ids), vocabulary(), length);
            proptest::prop_assert!((0.0..=length).contains(&next));
            for piece in found {
                proptest::prop_assert!(0.0 <= piece.start_s && piece.start_s <= piece.end_s && piece.end_s <= length);
            }
        }
    }
}
