//! Weights in ggml's blocks of 32: `q8_0` and `q5_1`.

use half::f16;

/// How matrices are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Quantisation {
    /// 16-bit floats, as the source has them.
    #[serde(rename = "f16")]
    F16,
    /// 8 bits and one scale a block.
    #[serde(rename = "q8_0")]
    Q8,
    /// 5 bits, a scale and an offset a block.
    #[serde(rename = "q5_1")]
    Q5,
}

/// Values in a block.
pub(crate) const BLOCK: usize = 32;

impl Quantisation {
    /// As ggml calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Q8 => "q8_0",
            Self::Q5 => "q5_1",
        }
    }

    /// ggml's number of the type.
    pub(crate) fn ggml_type(self) -> i32 {
        match self {
            Self::F16 => 1,
            Self::Q5 => 7,
            Self::Q8 => 8,
        }
    }

    /// What stands in the file's header: ggml's number of the file type, with its quantisation version.
    pub(crate) fn file_type(self) -> i32 {
        match self {
            Self::F16 => 1,
            Self::Q8 => 2007,
            Self::Q5 => 2009,
        }
    }

    /// Appends the values; their count is a multiple of 32.
    pub(crate) fn encode(self, values: &[f32], into: &mut Vec<u8>) {
        match self {
            Self::F16 => into.extend(values.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes())),
            Self::Q8 => values.chunks_exact(BLOCK).for_each(|block| encode_q8(block, into)),
            Self::Q5 => values.chunks_exact(BLOCK).for_each(|block| encode_q5(block, into)),
        }
    }
}

/// A scale in 16 bits, then 32 signed bytes.
fn encode_q8(block: &[f32], into: &mut Vec<u8>) {
    let largest = block.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    let scale = largest / 127.0;
    let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
    into.extend(f16::from_f32(scale).to_le_bytes());
    into.extend(block.iter().map(|value| (value * inverse).round() as i8 as u8));
}

/// Scale and smallest value in 16 bits each, 32 high bits, then 16 bytes: value `i` in the low and value
/// `i + 16` in the high half of byte `i`.
fn encode_q5(block: &[f32], into: &mut Vec<u8>) {
    let smallest = block.iter().copied().fold(f32::INFINITY, f32::min);
    let largest = block.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let scale = (largest - smallest) / 31.0;
    let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
    into.extend(f16::from_f32(scale).to_le_bytes());
    into.extend(f16::from_f32(smallest).to_le_bytes());
    let code = |value: f32| (((value - smallest) * inverse).round() as u8).min(31);
    let (mut high, mut low) = (0u32, [0u8; BLOCK / 2]);
    for (at, byte) in low.iter_mut().enumerate() {
        let (first, second) = (code(block[at]), code(block[at + BLOCK / 2]));
        *byte = (first & 15) | ((second & 15) << 4);
        high |= u32::from(first >> 4) << at;
        high |= u32::from(second >> 4) << (at + BLOCK / 2);
    }
    into.extend(high.to_le_bytes());
    into.extend(low);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(bytes: &[u8]) -> f32 {
        f16::from_le_bytes([bytes[0], bytes[1]]).to_f32()
    }

    fn ramp() -> Vec<f32> {
        (0..32u8).map(|at| f32::from(at) - 15.5).collect()
    }

    #[test]
    fn eight_bits_come_back_within_half_a_step() {
        let mut bytes = Vec::new();
        Quantisation::Q8.encode(&ramp(), &mut bytes);
        assert_eq!(bytes.len(), 34);
        let scale = half(&bytes);
        assert!((scale - 15.5 / 127.0).abs() < 1e-4);
        for (value, byte) in ramp().iter().zip(&bytes[2..]) {
            assert!((f32::from(*byte as i8) * scale - value).abs() <= scale * 0.51 + 0.01);
        }
    }

    #[test]
    fn five_bits_of_a_ramp_of_32_steps_are_exact() {
        let mut bytes = Vec::new();
        Quantisation::Q5.encode(&ramp(), &mut bytes);
        assert_eq!(bytes.len(), 24);
        let (scale, smallest) = (half(&bytes), half(&bytes[2..]));
        assert_eq!((scale, smallest), (1.0, -15.5));
        let high = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        for (at, value) in ramp().iter().enumerate() {
            let byte = bytes[8 + at % 16];
            let low = if at < 16 { byte & 15 } else { byte >> 4 };
            let code = u32::from(low) | ((high >> at) & 1) << 4;
            assert!((code as f32 * scale + smallest - value).abs() < f32::EPSILON);
        }
    }

    #[test]
    fn a_block_of_equal_values_has_no_scale() {
        for (kind, size) in [(Quantisation::Q8, 34), (Quantisation::Q5, 24), (Quantisation::F16, 64)] {
            let mut bytes = Vec::new();
            kind.encode(&[0.0; 32], &mut bytes);
            assert_eq!(bytes, vec![0; size]);
        }
    }
}
