//! One step of the network over a batch of token rows from many sequences.

use rayon::prelude::*;
use tenpass_model::ModelError;

use crate::attention::{Heads, Span, attend};
use crate::cache::{KvBuffer, SegmentRef, path_len};
use crate::config::{Activation, NetworkConfig, RotaryStyle};
use crate::kernels::{gelu_mul, multiply_all, rms_norm, silu_mul};
use crate::weights::{Block, Linear, Weights};

/// A network ready to run.
pub(crate) struct Network {
    pub(crate) config: NetworkConfig,
    pub(crate) weights: Weights,
    pub(crate) name: String,
}

/// What one sequence contributes to a step.
pub(crate) struct Work<'a> {
    /// Shared history.
    pub(crate) path: &'a [SegmentRef],
    /// Private history; the step appends its keys and values.
    pub(crate) tail: &'a mut KvBuffer,
    /// Tokens to evaluate, at least one.
    pub(crate) tokens: &'a [u32],
    /// Whether the logits after the last token are wanted.
    pub(crate) logits: bool,
}

/// Sines and cosines of every row for one rotary base.
struct Rotation {
    pairs: usize,
    values: Vec<(f32, f32)>,
}

impl Network {
    /// Evaluates all works. Returns the logits of those that want them, in order, or `None` when
    /// `abandoned` said that nobody waits any more; the tails are then as before.
    pub(crate) fn step(
        &self,
        works: &mut [Work<'_>],
        abandoned: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Vec<f32>>>, ModelError> {
        let config = &self.config;
        let tokens: Vec<u32> = works.iter().flat_map(|work| work.tokens.iter().copied()).collect();
        let positions: Vec<usize> = works
            .iter()
            .flat_map(|work| {
                let first = path_len(work.path) + work.tail.len();
                first..first + work.tokens.len()
            })
            .collect();
        let global = self.rotation(&positions, config.rotary_base, config.rotary_divisor);
        let local = config.window.map(|window| self.rotation(&positions, window.rotary_base, 1.0));
        let mut states = self.embed(&tokens);
        for (layer, block) in self.weights.blocks.iter().enumerate() {
            if abandoned() {
                for work in works.iter_mut() {
                    work.tail.rewind(config.kv_width());
                }
                return Ok(None);
            }
            let window = config.window_of(layer);
            let rotation = if window.is_some() { local.as_ref().unwrap_or(&global) } else { &global };
            self.block(layer, block, window, rotation, works, &mut states).map_err(|error| self.failed(&error))?;
        }
        let mut wanted = Vec::new();
        let mut row = 0;
        for work in works.iter_mut() {
            row += work.tokens.len();
            if work.logits {
                wanted.extend_from_slice(&states[(row - 1) * config.width..row * config.width]);
            }
            work.tail.advance(work.tokens);
        }
        if wanted.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let normed = self.norm(&wanted, &self.weights.output_norm);
        let head = self.weights.head();
        let logits = head.multiply(&normed).map_err(|error| self.failed(&error))?;
        Ok(Some(logits.chunks_exact(head.outputs()).map(<[f32]>::to_vec).collect()))
    }

    fn failed(&self, error: &candle_core::Error) -> ModelError {
        ModelError::Stopped { model: self.name.clone(), reason: error.to_string() }
    }

    fn embed(&self, tokens: &[u32]) -> Vec<f32> {
        let width = self.config.width;
        let mut states = vec![0.0; tokens.len() * width];
        for (token, out) in tokens.iter().zip(states.chunks_exact_mut(width)) {
            self.weights.embedding.row(*token as usize, out);
            if (self.config.embedding_scale - 1.0).abs() > f32::EPSILON {
                for value in out.iter_mut() {
                    *value *= self.config.embedding_scale;
                }
            }
        }
        states
    }

    fn norm(&self, states: &[f32], weight: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; states.len()];
        for (x, out) in states.chunks_exact(weight.len()).zip(out.chunks_exact_mut(weight.len())) {
            rms_norm(x, weight, self.config.epsilon, out);
        }
        out
    }

    fn rotation(&self, positions: &[usize], base: f32, divisor: f32) -> Rotation {
        let pairs = self.config.rotary / 2;
        let factors = self.weights.rotary_factors.as_deref();
        let frequencies: Vec<f64> = (0..pairs)
            .map(|pair| {
                let frequency = f64::from(base).powf(-2.0 * pair as f64 / self.config.rotary as f64);
                frequency / factors.map_or(1.0, |factors| f64::from(factors[pair])) / f64::from(divisor)
            })
            .collect();
        let values = positions.iter().flat_map(|position| {
            frequencies.iter().map(move |frequency| {
                let angle = *position as f64 * frequency;
                (angle.sin() as f32, angle.cos() as f32)
            })
        });
        Rotation { pairs, values: values.collect() }
    }

    fn block(
        &self,
        layer: usize,
        block: &Block,
        window: Option<usize>,
        rotation: &Rotation,
        works: &mut [Work<'_>],
        states: &mut [f32],
    ) -> candle_core::Result<()> {
        let config = &self.config;
        let normed = self.norm(states, &block.attention_norm);
        let projections = [&block.query, &block.key, &block.value];
        let mut projected = multiply_all(&projections.map(|linear| &linear.matrix), &normed)?;
        for (values, linear) in projected.iter_mut().zip(projections) {
            add_bias(values, linear);
        }
        let (Some(values), Some(mut keys), Some(mut queries)) = (projected.pop(), projected.pop(), projected.pop())
        else {
            return Ok(()); // three matrices give three products
        };
        self.rotate(&mut queries, config.heads, block.query_norm.as_deref(), rotation);
        self.rotate(&mut keys, config.kv_heads, block.key_norm.as_deref(), rotation);
        let attended = self.attention(layer, window, works, &queries, &keys, &values);
        let mut attended = block.output.matrix.multiply(&attended)?;
        add_bias(&mut attended, &block.output);
        self.add(states, attended, block.attention_post_norm.as_deref());

        let normed = self.norm(states, &block.feed_norm);
        let mut products = multiply_all(&[&block.gate, &block.up], &normed)?;
        let (Some(up), Some(mut gate)) = (products.pop(), products.pop()) else { return Ok(()) };
        let activate = if config.activation == Activation::Silu { silu_mul } else { gelu_mul };
        let share = block.gate.outputs();
        if gate.len() < 1 << 14 {
            activate(&mut gate, &up);
        } else {
            gate.par_chunks_mut(share).zip(up.par_chunks(share)).for_each(|(gate, up)| activate(gate, up));
        }
        let fed = block.down.multiply(&gate)?;
        self.add(states, fed, block.feed_post_norm.as_deref());
        Ok(())
    }

    /// Residual addition, after an optional norm.
    fn add(&self, states: &mut [f32], update: Vec<f32>, norm: Option<&[f32]>) {
        let update = match norm {
            Some(norm) => self.norm(&update, norm),
            None => update,
        };
        for (state, update) in states.iter_mut().zip(&update) {
            *state += update;
        }
    }

    /// Normalises (where the family does) and rotates every head of every row.
    fn rotate(&self, values: &mut [f32], heads: usize, norm: Option<&[f32]>, rotation: &Rotation) {
        let head = self.config.head;
        let mut scratch = vec![0.0; head];
        for (row, values) in values.chunks_exact_mut(heads * head).enumerate() {
            let angles = &rotation.values[row * rotation.pairs..(row + 1) * rotation.pairs];
            for values in values.chunks_exact_mut(head) {
                if let Some(norm) = norm {
                    rms_norm(values, norm, self.config.epsilon, &mut scratch);
                    values.copy_from_slice(&scratch);
                }
                match self.config.rotary_style {
                    RotaryStyle::Interleaved => {
                        for (pair, (sin, cos)) in values.chunks_exact_mut(2).zip(angles) {
                            (pair[0], pair[1]) = (pair[0] * cos - pair[1] * sin, pair[0] * sin + pair[1] * cos);
                        }
                    }
                    RotaryStyle::Halves => {
                        let (first, second) = values[..rotation.pairs * 2].split_at_mut(rotation.pairs);
                        for ((a, b), (sin, cos)) in first.iter_mut().zip(second).zip(angles) {
                            (*a, *b) = (*a * cos - *b * sin, *a * sin + *b * cos);
                        }
                    }
                }
            }
        }
    }

    fn attention(
        &self,
        layer: usize,
        window: Option<usize>,
        works: &mut [Work<'_>],
        queries: &[f32],
        keys: &[f32],
        values: &[f32],
    ) -> Vec<f32> {
        let config = &self.config;
        let width = config.kv_width();
        let mut row = 0;
        for work in works.iter_mut() {
            let rows = row * width..(row + work.tokens.len()) * width;
            work.tail.append(layer, &keys[rows.clone()], &values[rows], width);
            row += work.tokens.len();
        }
        let mut row = 0;
        let spans: Vec<Span<'_>> = works
            .iter()
            .map(|work| {
                let span = Span {
                    row,
                    count: work.tokens.len(),
                    path: work.path,
                    tail: work.tail,
                    tail_before: work.tail.len(),
                };
                row += span.count;
                span
            })
            .collect();
        attend(
            queries,
            &spans,
            layer,
            Heads { queries: config.heads, keys: config.kv_heads, size: config.head, window },
        )
    }
}

fn add_bias(values: &mut [f32], linear: &Linear) {
    if let Some(bias) = &linear.bias {
        for row in values.chunks_exact_mut(bias.len()) {
            for (value, bias) in row.iter_mut().zip(bias) {
                *value += bias;
            }
        }
    }
}
