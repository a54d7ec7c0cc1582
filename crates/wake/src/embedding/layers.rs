//! The layers of the network and what each makes of its rows.
//!
//! A row is one step of time: (frequencies + 2) × channels, zeros in the first and the last place of
//! frequency, which are the padding of the convolutions over it.

use crate::net::{Packed, Taps};

/// The whole network, in order.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) layers: Vec<Layer>,
}

/// One layer with the shape of the rows that come in.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) frequencies: usize,
    pub(crate) channels: usize,
    pub(crate) kind: Kind,
}

/// What a layer does.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A convolution.
    Convolution(Convolution),
    /// The largest of `time` × 2 neighbours.
    Pool { time: usize },
}

/// A convolution over `time` rows and `frequency` places.
#[derive(Debug)]
pub(crate) struct Convolution {
    pub(crate) time: usize,
    pub(crate) frequency: usize,
    pub(crate) matrix: Packed,
    pub(crate) after: After,
}

/// What is done to the sums.
#[derive(Debug)]
pub(crate) enum After {
    /// Nothing: the last layer.
    Nothing,
    /// max(LeakyReLU 0.2, −0.4).
    Leaky,
    /// The first layer: ReLU, then its normalisation (scale and shift by channel), then as the others.
    /// It cannot be folded into the weights, for the ReLU stands between.
    Normalised { scale: Vec<f32>, shift: Vec<f32> },
}

impl Layer {
    /// Floats of a row that comes in.
    pub(crate) fn row(&self) -> usize {
        (self.frequencies + 2) * self.channels
    }

    /// Rows that one row of the output needs.
    pub(crate) fn needs(&self) -> usize {
        match &self.kind {
            Kind::Convolution(convolution) => convolution.time,
            Kind::Pool { time } => *time,
        }
    }

    /// Rows from the first that one output needs to the first that the next one needs.
    pub(crate) fn step(&self) -> usize {
        match &self.kind {
            Kind::Convolution(_) => 1,
            Kind::Pool { time } => *time,
        }
    }

    /// Frequencies and channels of what comes out.
    pub(crate) fn output(&self) -> (usize, usize) {
        match &self.kind {
            Kind::Convolution(convolution) => (self.frequencies, convolution.matrix.outputs()),
            Kind::Pool { .. } => (self.frequencies / 2, self.channels),
        }
    }

    /// Computes `count` rows of output from the start of `input`, into zeroed padded rows.
    pub(crate) fn compute(&self, input: &[f32], count: usize, output: &mut [f32]) {
        match &self.kind {
            Kind::Convolution(convolution) => self.convolve(convolution, input, count, output),
            Kind::Pool { time } => self.pool(*time, input, count, output),
        }
    }

    fn convolve(&self, convolution: &Convolution, input: &[f32], count: usize, output: &mut [f32]) {
        let (row, outputs) = (self.row(), convolution.matrix.outputs());
        let length = convolution.frequency * self.channels;
        let taps = Taps { segments: convolution.time, length, stride: row };
        // A convolution over frequency starts at the padding, one over time behind it.
        let margin = if convolution.frequency == 1 { self.channels } else { 0 };
        let frequencies = self.frequencies;
        let output_row = (frequencies + 2) * outputs;
        let places = |position: usize| {
            let (time, frequency) = (position / frequencies, position % frequencies);
            (time * row + margin + frequency * self.channels, time * output_row + (frequency + 1) * outputs)
        };
        let positions = count * frequencies;
        match &convolution.after {
            After::Nothing => convolution.matrix.apply(input, taps, positions, places, output, |_, _| ()),
            After::Leaky => convolution.matrix.apply(input, taps, positions, places, output, |sums, _| leaky(sums)),
            After::Normalised { scale, shift } => {
                convolution.matrix.apply(input, taps, positions, places, output, |sums, first| {
                    for (sum, (scale, shift)) in sums.iter_mut().zip(scale[first..].iter().zip(&shift[first..])) {
                        *sum = sum.max(0.0) * scale + shift;
                    }
                    leaky(sums);
                });
            }
        }
    }

    fn pool(&self, time: usize, input: &[f32], count: usize, output: &mut [f32]) {
        let (row, channels, half) = (self.row(), self.channels, self.frequencies / 2);
        let output_row = (half + 2) * channels;
        for place in 0..count {
            for frequency in 0..half {
                let target = place * output_row + (frequency + 1) * channels;
                let target = &mut output[target..target + channels];
                let from = place * time * row + (2 * frequency + 1) * channels;
                let neighbours = &input[from..from + 2 * channels];
                let (one, two) = neighbours.split_at(channels);
                for (target, (one, two)) in target.iter_mut().zip(one.iter().zip(two)) {
                    *target = one.max(*two);
                }
                for later in 1..time {
                    let neighbours = &input[from + later * row..from + later * row + 2 * channels];
                    let (one, two) = neighbours.split_at(channels);
                    for (target, (one, two)) in target.iter_mut().zip(one.iter().zip(two)) {
                        *target = target.max(one.max(*two));
                    }
                }
            }
        }
    }
}

/// `max(LeakyReLU(x), −0.4)`; comparisons instead of `f32::max` where no NaN has to be told apart.
fn leaky(sums: &mut [f32]) {
    for sum in sums {
        let slope = *sum * 0.2;
        let kept = if *sum > slope { *sum } else { slope };
        *sum = if kept > -0.4 { kept } else { -0.4 };
    }
}
