//! The decoding loop: greedy, beams, and samples at a temperature.

use candle_core::{Device, IndexOp, Result, Tensor};
use candle_transformers::models::whisper::model::TextDecoder;
use tenpass_audio::Random;

use crate::listen::engine::{Answer, CANDIDATES, MOST_TOKENS, Token, Window};
use crate::listen::rules::{Rules, log_softmax};
use crate::vocabulary::Special;

/// A row that is being decoded.
#[derive(Debug, Clone, Default)]
struct Row {
    tokens: Vec<Token>,
    total: f32,
}

impl Row {
    fn ids(&self) -> Vec<u32> {
        self.tokens.iter().map(|token| token.id).collect()
    }

    fn with(&self, id: u32, log_probability: f32) -> Self {
        let mut row = self.clone();
        row.tokens.push(Token { id, log_probability });
        row.total += log_probability;
        row
    }

    fn score(&self) -> f32 {
        self.total / self.tokens.len().max(1) as f32
    }

    fn ended(&self, end: u32) -> bool {
        self.tokens.last().is_some_and(|token| token.id == end)
    }
}

/// Decodes one window at one temperature.
pub(crate) fn decode(
    decoder: &mut TextDecoder,
    features: &Tensor,
    window: &Window<'_>,
    (rules, special): (&Rules, &Special),
    (prompt, temperature): (&[u32], f32),
) -> Result<Answer> {
    let start_at = prompt.iter().position(|id| *id == special.start).unwrap_or(0);
    let mut state = Loop { decoder, features, prompt, rows: 0 };
    let (mut logits, at_start) = state.first(start_at)?;
    log_softmax_of(&mut logits);
    let no_speech = at_start.get(special.no_speech as usize).copied().unwrap_or(0.0);
    let width = if temperature > 0.0 { CANDIDATES } else { window.beams };
    let best = if temperature > 0.0 {
        sample(&mut state, logits, (rules, special), window, temperature, width)?
    } else {
        search(&mut state, logits, (rules, special), window, width)?
    };
    Ok(Answer { tokens: best.tokens, no_speech, temperature })
}

fn log_softmax_of(rows: &mut [Vec<f32>]) {
    rows.iter_mut().for_each(|row| log_softmax(row));
}

/// The decoder with what it attends to.
struct Loop<'a> {
    decoder: &'a mut TextDecoder,
    features: &'a Tensor,
    prompt: &'a [u32],
    /// Rows that the decoder's cache of the features is for.
    rows: usize,
}

impl Loop<'_> {
    /// Logits after the prompt, and the probabilities where the transcript starts, which tell of silence.
    fn first(&mut self, start_at: usize) -> Result<(Vec<Vec<f32>>, Vec<f32>)> {
        let tokens = Tensor::new(self.prompt, &Device::Cpu)?.unsqueeze(0)?;
        let hidden = self.decoder.forward(&tokens, self.features, true)?;
        self.rows = 1;
        let last = self.decoder.final_linear(&hidden.i((..1, self.prompt.len() - 1..))?)?.i((0, 0))?;
        let start = self.decoder.final_linear(&hidden.i((..1, start_at..=start_at))?)?.i((0, 0))?;
        let mut start: Vec<f32> = start.to_vec1()?;
        log_softmax(&mut start);
        Ok((vec![last.to_vec1()?], start.into_iter().map(f32::exp).collect()))
    }

    /// Logits after each of the rows, which are equally long.
    fn next(&mut self, rows: &[Row]) -> Result<Vec<Vec<f32>>> {
        let flush = self.rows != rows.len();
        self.rows = rows.len();
        let length = self.prompt.len() + rows[0].tokens.len();
        let ids: Vec<u32> = rows.iter().flat_map(|row| self.prompt.iter().copied().chain(row.ids())).collect();
        let tokens = Tensor::from_vec(ids, (rows.len(), length), &Device::Cpu)?;
        let features = if rows.len() == 1 {
            self.features.clone()
        } else {
            let (_, frames, width) = self.features.dims3()?;
            self.features.broadcast_as((rows.len(), frames, width))?.contiguous()?
        };
        let hidden = self.decoder.forward(&tokens, &features, flush)?;
        let last = hidden.i((.., length - 1.., ..))?.contiguous()?;
        self.decoder.final_linear(&last)?.squeeze(1)?.to_vec2()
    }
}

/// The best ids of a row of log-probabilities.
fn top(values: &[f32], count: usize) -> Vec<(u32, f32)> {
    let mut best: Vec<(u32, f32)> = Vec::with_capacity(count + 1);
    for (id, value) in values.iter().enumerate() {
        if best.len() < count || best.last().is_some_and(|worst| *value > worst.1) {
            let at = best.partition_point(|other| other.1 >= *value);
            best.insert(at, (id as u32, *value));
            best.truncate(count);
        }
    }
    best.retain(|(_, value)| value.is_finite());
    best
}

/// Greedy and beams: beams of 1.
fn search(
    state: &mut Loop<'_>,
    mut logits: Vec<Vec<f32>>,
    (rules, special): (&Rules, &Special),
    window: &Window<'_>,
    beams: usize,
) -> Result<Row> {
    let mut rows = vec![Row::default()];
    let mut finished: Vec<Row> = Vec::new();
    for step in 0..window.most_tokens.saturating_add(1).min(MOST_TOKENS) {
        if step > 0 {
            logits = state.next(&rows)?;
        }
        let mut candidates: Vec<Row> = Vec::new();
        for (row, values) in rows.iter().zip(&mut logits) {
            rules.apply(values, &row.ids(), window.times);
            let width = if beams == 1 { 1 } else { beams + 1 };
            candidates.extend(top(values, width).into_iter().map(|(id, value)| row.with(id, value)));
        }
        candidates.sort_by(|a, b| b.total.total_cmp(&a.total));
        let mut open = Vec::new();
        for row in candidates {
            if row.ended(special.end) {
                finished.push(row);
            } else if open.len() < beams {
                open.push(row);
            }
            if open.len() == beams && beams > 1 {
                break;
            }
        }
        if finished.len() >= beams || open.is_empty() {
            rows = open;
            break;
        }
        // The decoder keeps what it has of the features for a fixed count of rows.
        while open.len() < beams {
            open.push(open[0].clone());
        }
        rows = open;
    }
    let ended = if finished.is_empty() { rows } else { finished };
    Ok(ended.into_iter().max_by(|a, b| a.score().total_cmp(&b.score())).unwrap_or_default())
}

/// Independent samples, of which the most probable is taken.
fn sample(
    state: &mut Loop<'_>,
    first: Vec<Vec<f32>>,
    (rules, special): (&Rules, &Special),
    window: &Window<'_>,
    temperature: f32,
    count: usize,
) -> Result<Row> {
    let mut random = Random::new(u64::from(temperature.to_bits()));
    let mut rows = vec![Row::default(); count];
    let mut logits: Vec<Vec<f32>> = first.into_iter().cycle().take(count).collect();
    for step in 0..window.most_tokens.saturating_add(1).min(MOST_TOKENS) {
        if step > 0 {
            logits = state.next(&rows)?;
        }
        for (row, values) in rows.iter_mut().zip(&mut logits) {
            if row.ended(special.end) {
                // Finished rows are carried along; what is appended is taken off at the end.
                row.tokens.push(Token { id: special.end, log_probability: 0.0 });
                continue;
            }
            values.iter_mut().for_each(|value| *value /= temperature);
            rules.apply(values, &row.ids(), window.times);
            let id = draw(values, random.unit());
            *row = row.with(id, values[id as usize]);
        }
        if rows.iter().all(|row| row.ended(special.end)) {
            break;
        }
    }
    for row in &mut rows {
        let length = row.tokens.iter().position(|token| token.id == special.end).map_or(row.tokens.len(), |at| at + 1);
        row.tokens.truncate(length);
    }
    Ok(rows.into_iter().max_by(|a, b| a.score().total_cmp(&b.score())).unwrap_or_default())
}

/// The id at a point of the cumulated probabilities.
fn draw(log_probabilities: &[f32], at: f64) -> u32 {
    let (mut sum, mut last) = (0.0f64, 0);
    for (id, value) in log_probabilities.iter().enumerate() {
        let probability = f64::from(value.exp());
        if probability > 0.0 {
            sum += probability;
            last = id as u32;
            if sum > at {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_in_order_and_the_forbidden_never() {
        let values = [-1.0, f32::NEG_INFINITY, -0.5, -3.0, -0.7];
        assert_eq!(top(&values, 3), [(2, -0.5), (4, -0.7), (0, -1.0)]);
        assert_eq!(top(&[f32::NEG_INFINITY, -2.0], 3), [(1, -2.0)]);
        assert_eq!(top(&[1.0, 1.0], 1), [(0, 1.0)]);
    }

    #[test]
    fn a_draw_follows_the_probabilities() {
        let values: Vec<f32> = [0.25f32, 0.0, 0.5, 0.25].iter().map(|value| value.ln()).collect();
        assert_eq!([0.0, 0.2, 0.3, 0.7, 0.8, 0.9999, 1.0].map(|at| draw(&values, at)), [0, 0, 2, 2, 3, 3, 3]);
    }
}
