//! Finding the weights in the file: they are constants of the branch for 16 kHz, beside one for 8 kHz
//! with the same names.

use super::{BINS, Convolution, HIDDEN, WINDOW, Weights};
use crate::error::WakeError;
use crate::net::Simd;
use crate::onnx::{Model, Tensor};

const BASIS: &str = "stft.forward_basis_buffer";
/// Inputs, outputs and stride of the convolutions.
const ENCODER: [(usize, usize, usize); 4] = [(BINS, 128, 1), (128, 64, 2), (64, 64, 2), (64, HIDDEN, 1)];

pub(super) fn weights(name: &str, model: &Model) -> Result<Weights, WakeError> {
    let mut constants = Vec::new();
    model.graph.constants(&mut constants);
    let failed = |problem: String| WakeError::unsupported(name, format!("this is not silero VAD: {problem}"));
    let basis = constants.iter().find(|(name, tensor)| name.ends_with(BASIS) && tensor.shape == [2 * BINS, 1, WINDOW]);
    let (found, basis) = basis.ok_or_else(|| failed(format!("it has no {BASIS} of 16 kHz")))?;
    let reading = Reading { constants: &constants, prefix: found.strip_suffix(BASIS).unwrap_or("") };
    reading.weights(basis).map_err(failed)
}

struct Reading<'a> {
    constants: &'a [(&'a str, &'a Tensor)],
    prefix: &'a str,
}

impl Reading<'_> {
    fn weights(&self, basis: &Tensor) -> Result<Weights, String> {
        let bias = self.floats("decoder.rnn.bias_ih", &[4 * HIDDEN])?;
        let more = self.floats("decoder.rnn.bias_hh", &[4 * HIDDEN])?;
        let output_bias = self.floats("decoder.decoder.2.bias", &[1])?;
        Ok(Weights {
            simd: Simd::best(),
            basis: basis.as_floats().ok_or("its basis holds no floats")?.to_vec(),
            encoder: [self.convolution(0)?, self.convolution(1)?, self.convolution(2)?, self.convolution(3)?],
            from_input: self.floats("decoder.rnn.weight_ih", &[4 * HIDDEN, HIDDEN])?,
            from_state: self.floats("decoder.rnn.weight_hh", &[4 * HIDDEN, HIDDEN])?,
            bias: bias.iter().zip(&more).map(|(one, two)| one + two).collect(),
            output: self.floats("decoder.decoder.2.weight", &[1, HIDDEN, 1])?,
            output_bias: output_bias[0],
        })
    }

    fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let wanted = |found: &str| found.strip_prefix(self.prefix) == Some(name);
        let (_, tensor) =
            self.constants.iter().find(|(found, _)| wanted(found)).ok_or_else(|| format!("it has no {name}"))?;
        if tensor.shape != shape {
            return Err(format!("{name} is {:?}, it must be {shape:?}", tensor.shape));
        }
        Ok(tensor.as_floats().ok_or_else(|| format!("{name} holds no floats"))?.to_vec())
    }

    fn convolution(&self, place: usize) -> Result<Convolution, String> {
        let (inputs, outputs, stride) = ENCODER[place];
        let weight = self.floats(&format!("encoder.{place}.reparam_conv.weight"), &[outputs, inputs, 3])?;
        let bias = self.floats(&format!("encoder.{place}.reparam_conv.bias"), &[outputs])?;
        let at = |output: usize, tap: usize, input: usize| weight[(output * inputs + input) * 3 + tap];
        let matrix = (0..outputs)
            .flat_map(|output| (0..3).map(move |tap| (output, tap)))
            .flat_map(|(output, tap)| (0..inputs).map(move |input| (output, tap, input)))
            .map(|(output, tap, input)| at(output, tap, input))
            .collect();
        Ok(Convolution { inputs, stride, matrix, bias })
    }
}
