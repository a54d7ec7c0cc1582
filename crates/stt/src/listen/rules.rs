//! Which tokens may come next: OpenAI's rules of `decoding.py`.

use crate::vocabulary::{Special, TIME_STEP_S, Vocabulary};

/// The first timestamp is at most this late.
const LATEST_FIRST_S: f64 = 1.0;

/// The rules of a model.
#[derive(Debug)]
pub(crate) struct Rules {
    special: Special,
    /// Never.
    never: Vec<u32>,
    /// Not at first.
    blank: Option<u32>,
}

impl Rules {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let special = vocabulary.special;
        // Everything between the end of the text and the first timestamp is a command and no text.
        let never = vocabulary.non_speech().into_iter().chain(special.end + 1..special.first_time).collect();
        Self { special, never, blank: vocabulary.blank() }
    }

    /// Log-probabilities in place of logits, `-inf` where a token may not come after these.
    pub(crate) fn apply(&self, logits: &mut [f32], before: &[u32], times: bool) {
        let forbid = |logits: &mut [f32], from: usize, to: usize| {
            let to = to.min(logits.len());
            if from < to {
                logits[from..to].fill(f32::NEG_INFINITY);
            }
        };
        for id in &self.never {
            if let Some(logit) = logits.get_mut(*id as usize) {
                *logit = f32::NEG_INFINITY;
            }
        }
        let (end, first_time, all) = (self.special.end as usize, self.special.first_time as usize, logits.len());
        if before.is_empty() {
            for id in [Some(self.special.end), self.blank].into_iter().flatten() {
                logits[id as usize] = f32::NEG_INFINITY;
            }
        }
        if !times {
            forbid(logits, first_time, all);
            log_softmax(logits);
            return;
        }
        let is_time = |id: &u32| *id >= self.special.first_time;
        let last = before.last().is_some_and(is_time);
        let last_but_one = before.len() < 2 || before.get(before.len() - 2).is_some_and(is_time);
        if before.is_empty() {
            // A stretch begins with its time, and the first not late.
            forbid(logits, 0, first_time);
            forbid(logits, first_time + (LATEST_FIRST_S / TIME_STEP_S).round() as usize + 1, all);
        } else if last && last_but_one {
            forbid(logits, first_time, all);
        } else if last {
            forbid(logits, 0, end);
        }
        if let Some(latest) = before.iter().rev().find(|id| is_time(id)) {
            // Times do not go back; one that ends a stretch is later than its begin.
            let latest = *latest as usize + usize::from(!last || last_but_one);
            forbid(logits, first_time, latest);
        }
        log_softmax(logits);
        let of_times = logsumexp(&logits[first_time.min(all)..]);
        let best_text = logits[..first_time.min(all)].iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if of_times > best_text {
            forbid(logits, 0, first_time);
            log_softmax(logits);
        }
    }
}

fn logsumexp(values: &[f32]) -> f32 {
    let largest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if largest == f32::NEG_INFINITY {
        return largest;
    }
    largest + values.iter().map(|value| (value - largest).exp()).sum::<f32>().ln()
}

pub(crate) fn log_softmax(values: &mut [f32]) {
    let all = logsumexp(values);
    if all.is_finite() {
        values.iter_mut().for_each(|value| *value -= all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::tests::made_up;

    fn allowed(before: &[u32], times: bool, favoured: &[u32]) -> Vec<u32> {
        let vocabulary = Vocabulary::from_json(&made_up(false), 51_864).unwrap();
        let mut logits = vec![0.0; 51_864];
        favoured.iter().for_each(|id| logits[*id as usize] = 30.0);
        Rules::new(&vocabulary).apply(&mut logits, before, times);
        let total: f32 = logits.iter().map(|value| value.exp()).sum();
        assert!((total - 1.0).abs() < 1e-3, "{total}");
        (0..51_864).filter(|id| logits[*id as usize] > -5.0).collect()
    }

    const END: u32 = 50_256;
    const TIME: u32 = 50_363;
    const A: u32 = b'a' as u32;
    const BLANK: u32 = b' ' as u32;

    #[test]
    fn the_first_token_is_an_early_time_or_without_times_no_blank() {
        assert!(allowed(&[], true, &[]).iter().all(|id| (TIME..=TIME + 50).contains(id)));
        assert_eq!(allowed(&[], false, &[END, BLANK, A, TIME + 1]), [A]);
        // A bracket stands for a sound, a marker is no text.
        assert_eq!(allowed(&[A], false, &[u32::from(b'['), END + 3, A]), [A]);
    }

    #[test]
    fn times_come_in_pairs_and_never_go_back() {
        // After the first time comes text.
        assert_eq!(allowed(&[TIME], true, &[A, TIME + 9]), [A]);
        // After text and its end comes the next begin at the same time or later, or the end.
        assert_eq!(allowed(&[TIME, A, TIME + 9], true, &[A, TIME + 8, TIME + 9]), [TIME + 9]);
        assert_eq!(allowed(&[TIME, A, TIME + 9], true, &[END, A]), [END]);
        // A stretch has a length.
        assert_eq!(allowed(&[TIME + 4, A], true, &[TIME + 4, TIME + 5]), [TIME + 5]);
    }

    #[test]
    fn many_improbable_times_together_outweigh_a_text() {
        let times: Vec<u32> = (TIME + 1..TIME + 40).collect();
        let mut favoured = times.clone();
        favoured.push(A);
        assert_eq!(allowed(&[TIME, A], true, &favoured), times);
    }
}
