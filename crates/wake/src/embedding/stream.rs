//! The rows that each layer keeps between hops.

use super::layers::{Kind, Layer, Network};
use super::{EMBEDDING, Embedding};
use crate::mel::{MEL_BANDS, MelFrame};

/// One stream's rows.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    /// What has come in and is still needed, layer by layer.
    kept: Vec<Vec<f32>>,
    /// Where a layer's output is computed.
    output: Vec<f32>,
}

impl Rows {
    pub(crate) fn new(network: &Network) -> Self {
        Self { kept: network.layers.iter().map(|_| Vec::new()).collect(), output: Vec::new() }
    }

    /// Takes mel frames and hands out every embedding that they complete.
    pub(crate) fn push(&mut self, network: &Network, frames: &[MelFrame], sink: &mut dyn FnMut(Embedding)) {
        let Some(first) = self.kept.first_mut() else { return };
        for frame in frames {
            first.push(0.0);
            first.extend_from_slice(frame);
            first.push(0.0);
        }
        for place in 0..network.layers.len() {
            let layer = &network.layers[place];
            let count = self.advance(place, layer);
            if count == 0 {
                return;
            }
            let (frequencies, channels) = layer.output();
            let row = (frequencies + 2) * channels;
            match self.kept.get_mut(place + 1) {
                Some(next) => next.extend_from_slice(&self.output[..count * row]),
                None => hand_out(&self.output[..count * row], row, channels, sink),
            }
        }
    }

    /// Computes a layer's new rows into `output` and forgets what no later row needs.
    fn advance(&mut self, place: usize, layer: &Layer) -> usize {
        let kept = &mut self.kept[place];
        let (row, needs, step) = (layer.row(), layer.needs(), layer.step());
        let there = kept.len() / row;
        if there < needs {
            return 0;
        }
        let count = (there - needs) / step + 1;
        let (frequencies, channels) = layer.output();
        let wanted = count * (frequencies + 2) * channels;
        self.output.clear();
        self.output.resize(wanted, 0.0);
        layer.compute(kept, count, &mut self.output);
        let used = count * step * row;
        kept.copy_within(used.., 0);
        kept.truncate(kept.len() - used);
        count
    }
}

fn hand_out(rows: &[f32], row: usize, channels: usize, sink: &mut dyn FnMut(Embedding)) {
    for row in rows.chunks_exact(row) {
        let mut embedding = [0.0; EMBEDDING];
        // Behind the padding is the one frequency that is left.
        embedding.copy_from_slice(&row[channels..2 * channels]);
        sink(embedding);
    }
}

impl Network {
    /// Whether rows of `MEL_BANDS` become embeddings: a file may have anything in it.
    pub(crate) fn fits(&self) -> bool {
        let mut shape = (MEL_BANDS, 1);
        for layer in &self.layers {
            if (layer.frequencies, layer.channels) != shape || (matches!(layer.kind, Kind::Pool { .. }) && shape.0 < 2)
            {
                return false;
            }
            shape = layer.output();
        }
        shape == (1, EMBEDDING)
    }
}
