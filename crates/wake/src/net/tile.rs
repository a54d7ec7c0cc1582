//! Convolution as tiles of a matrix product, channels innermost.
//!
//! A position of the output is a sum over segments of the input: a convolution over frequency reads one
//! stretch of three neighbours, one over time reads three rows. Nothing is copied to bring that about.

use super::Simd;

/// Positions computed together.
pub(super) const POSITIONS: usize = 8;
/// Channels of the widest block.
pub(super) const WIDEST: usize = 48;

/// Where a position's inputs lie: segments of equal length, this far apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taps {
    /// How many.
    pub(crate) segments: usize,
    /// Floats of one.
    pub(crate) length: usize,
    /// Floats from the start of one to the start of the next.
    pub(crate) stride: usize,
}

impl Taps {
    /// Floats from a position's first input to behind its last.
    pub(super) fn reach(&self) -> usize {
        (self.segments - 1) * self.stride + self.length
    }
}

/// A layer's matrix in blocks of channels: for every input the weights of a block's channels.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    simd: Simd,
    outputs: usize,
    blocks: Vec<Block>,
}

#[derive(Debug, Clone)]
struct Block {
    first: usize,
    /// Channels that count.
    channels: usize,
    /// Channels that are computed: padded with zeros.
    width: usize,
    weights: Vec<f32>,
    bias: [f32; WIDEST],
}

impl Packed {
    /// From `weight(input, output)`, inputs in the order of the taps.
    pub(crate) fn new(
        simd: Simd,
        inputs: usize,
        outputs: usize,
        bias: Option<&[f32]>,
        weight: impl Fn(usize, usize) -> f32,
    ) -> Self {
        let mut blocks = Vec::new();
        let mut first = 0;
        while first < outputs {
            let left = outputs - first;
            let width = match simd {
                #[cfg(target_arch = "x86_64")]
                Simd::Avx512 => 48.min(left.next_multiple_of(16)),
                _ => 24,
            };
            let channels = left.min(width);
            let mut block = Block { first, channels, width, weights: vec![0.0; inputs * width], bias: [0.0; WIDEST] };
            for input in 0..inputs {
                for channel in 0..channels {
                    block.weights[input * width + channel] = weight(input, first + channel);
                }
            }
            if let Some(bias) = bias {
                block.bias[..channels].copy_from_slice(&bias[first..first + channels]);
            }
            blocks.push(block);
            first += channels;
        }
        Self { simd, outputs, blocks }
    }

    /// The sums of every position: `output[place(n)..]` gets the channels of the position whose inputs
    /// start at `start(n)`, after `finish` has seen each block.
    pub(crate) fn apply(
        &self,
        input: &[f32],
        taps: Taps,
        positions: usize,
        places: impl Fn(usize) -> (usize, usize),
        output: &mut [f32],
        finish: impl Fn(&mut [f32], usize),
    ) {
        let mut sums = [0.0f32; POSITIONS * WIDEST];
        let mut at = 0;
        while at < positions {
            // Remainders go by halves: full tiles of one position less are not worth their code.
            let tile = [8, 4, 2, 1].into_iter().find(|tile| *tile <= positions - at).unwrap_or(1);
            let mut starts = [0; POSITIONS];
            for (place, start) in starts.iter_mut().enumerate().take(tile) {
                *start = places(at + place).0;
                assert!(*start + taps.reach() <= input.len(), "a position reaches beyond its input");
            }
            for block in &self.blocks {
                block.sums(self.simd, input, &starts[..tile], taps, &mut sums);
                for (place, values) in sums.chunks_exact_mut(block.width).enumerate().take(tile) {
                    finish(&mut values[..block.channels], block.first);
                    let target = places(at + place).1 + block.first;
                    output[target..target + block.channels].copy_from_slice(&values[..block.channels]);
                }
            }
            at += tile;
        }
    }

    /// Channels of the output.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }
}

impl Block {
    /// Sums of a tile, one position after the other, `width` each. The caller has checked the reach.
    fn sums(&self, simd: Simd, input: &[f32], starts: &[usize], taps: Taps, sums: &mut [f32; POSITIONS * WIDEST]) {
        match simd {
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => super::x86::sums_avx512(input, starts, taps, &self.weights, &self.bias, self.width, sums),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => super::x86::sums_avx2(input, starts, taps, &self.weights, &self.bias, sums),
            Simd::Portable => self.portable(input, starts, taps, sums),
        }
    }

    fn portable(&self, input: &[f32], starts: &[usize], taps: Taps, sums: &mut [f32; POSITIONS * WIDEST]) {
        for (start, sums) in starts.iter().zip(sums.as_chunks_mut::<24>().0) {
            let mut sum = [0.0f32; 24];
            sum.copy_from_slice(&self.bias[..24]);
            let mut rows = self.weights.as_chunks::<24>().0.iter();
            for segment in 0..taps.segments {
                let from = start + segment * taps.stride;
                for (value, row) in input[from..from + taps.length].iter().zip(&mut rows) {
                    for (sum, weight) in sum.iter_mut().zip(row) {
                        *sum += value * weight;
                    }
                }
            }
            *sums = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(n: usize) -> f32 {
        ((n as u32).wrapping_mul(2_654_435_761) >> 8) as f32 / (1u32 << 24) as f32 - 0.5
    }

    /// Every form agrees with the plain sum, for every number of channels and positions.
    #[test]
    fn tiles_are_plain_sums() {
        for simd in Simd::all() {
            for (outputs, positions, taps) in [
                (24, 32, Taps { segments: 3, length: 3, stride: 34 }),
                (72, 13, Taps { segments: 1, length: 30, stride: 0 }),
                (96, 7, Taps { segments: 3, length: 10, stride: 50 }),
                (5, 1, Taps { segments: 2, length: 4, stride: 4 }),
            ] {
                let inputs = taps.segments * taps.length;
                let bias: Vec<f32> = (0..outputs).map(|n| number(n + 7)).collect();
                let weight = |input: usize, output: usize| number(input * 131 + output);
                let packed = Packed::new(simd, inputs, outputs, Some(&bias), weight);
                let input: Vec<f32> = (0..400).map(|n| number(n + 1000)).collect();
                let mut found = vec![0.0; positions * outputs];
                packed.apply(&input, taps, positions, |n| (n * 2, n * outputs), &mut found, |_, _| ());
                for (n, found) in found.chunks(outputs).enumerate() {
                    for (output, found) in found.iter().enumerate() {
                        let tap = |k: usize| input[n * 2 + k / taps.length * taps.stride + k % taps.length];
                        let wanted = bias[output] + (0..inputs).map(|k| tap(k) * weight(k, output)).sum::<f32>();
                        assert!((wanted - found).abs() < 1e-5, "{simd:?} {outputs} {n} {output}: {found} {wanted}");
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "beyond its input")]
    fn a_reach_beyond_the_input_is_refused() {
        let packed = Packed::new(Simd::best(), 4, 24, None, |_, _| 1.0);
        let taps = Taps { segments: 1, length: 4, stride: 0 };
        packed.apply(&[0.0; 8], taps, 2, |n| (n * 5, n * 24), &mut [0.0; 48], |_, _| ());
    }
}
