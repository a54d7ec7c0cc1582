//! Models for unit tests: the embedding's architecture with other numbers. The real one is held against ONNX
//! Runtime end to end.

use crate::embedding::EmbeddingModel;
use crate::onnx::{Attribute, Builder, Model};

/// Numbers in −1..1 that depend on nothing but a counter.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }

    pub(crate) fn take(&mut self, count: usize, scale: f32) -> Vec<f32> {
        (0..count).map(|_| self.next() * scale).collect()
    }
}

/// A graph as the published one, with these numbers.
pub(crate) fn embedding_graph(seed: u64) -> Model {
    let mut numbers = Numbers::new(seed);
    let mut builder = Builder::new("embedding", "input_1", &[1, 76, 32, 1]);
    let ints = |values: &[i64]| Attribute::Ints(values.to_vec());
    let pads = builder.integers(&[0, 0, 1, 0, 0, 0, 1, 0]);
    let shape = builder.integers(&[-1, 1, 76, 34]);
    let padded = builder.node("Pad", &["input_1", &pads], vec![]);
    let mut value = builder.node("Reshape", &[&padded, &shape], vec![]);
    let floor = builder.constant(&[1, 1, 1, 1], &[-0.4]);
    let layers: [&[(usize, usize, usize)]; 6] = [
        &[(24, 3, 3), (24, 1, 3), (24, 3, 1)],
        &[(48, 1, 3), (48, 3, 1), (48, 1, 3), (48, 3, 1)],
        &[(72, 1, 3), (72, 3, 1), (72, 1, 3), (72, 3, 1)],
        &[(96, 1, 3), (96, 3, 1), (96, 1, 3), (96, 3, 1)],
        &[(96, 1, 3), (96, 3, 1), (96, 1, 3), (96, 3, 1)],
        &[(96, 3, 1)],
    ];
    let mut channels = 1;
    for (block, layers) in layers.into_iter().enumerate() {
        for (place, (outputs, time, frequency)) in layers.iter().enumerate() {
            let inputs = channels * time * frequency;
            let weights = numbers.take(outputs * inputs, 1.7 / (inputs as f32).sqrt());
            let weight = builder.constant(&[*outputs, channels, *time, *frequency], &weights);
            let bias_values = numbers.take(*outputs, 0.1);
            let mut operands = vec![value.clone(), weight];
            if block > 0 || place > 0 {
                operands.push(builder.constant(&[*outputs], &bias_values));
            }
            if block == 5 {
                operands.truncate(2);
            }
            let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
            let pads = if *frequency == 3 && block + place > 0 { [0, 1, 0, 1] } else { [0; 4] };
            value = builder.node("Conv", &operands, vec![("pads", ints(&pads)), ("strides", ints(&[1, 1]))]);
            channels = *outputs;
            if block + place == 0 {
                let parameters: Vec<String> = (0..4)
                    .map(|part| {
                        let values = numbers
                            .take(24, 0.3)
                            .iter()
                            .map(|x| if part == 3 { x.abs() + 0.5 } else { *x })
                            .collect::<Vec<_>>();
                        builder.constant(&[24], &values)
                    })
                    .collect();
                let clipped = builder.node("Relu", &[&value], vec![]);
                let [gain, shift, mean, variance] = [0, 1, 2, 3].map(|part| parameters[part].as_str());
                value = builder.node("BatchNormalization", &[&clipped, gain, shift, mean, variance], vec![]);
            }
            if block < 5 {
                let leaky = builder.node("LeakyRelu", &[&value], vec![("alpha", Attribute::Float(0.2))]);
                value = builder.node("Max", &[&leaky, &floor], vec![]);
            }
        }
        if block < 5 {
            let kernel: &[i64] = if block % 2 == 0 { &[2, 2] } else { &[1, 2] };
            value = builder.node("MaxPool", &[&value], vec![("kernel_shape", ints(kernel)), ("strides", ints(kernel))]);
        }
    }
    let shape = builder.integers(&[-1, 1, 1, 96]);
    let last = builder.node("Reshape", &[&value, &shape], vec![]);
    builder.finish(&last, &[1, 1, 1, 96])
}

/// The model of such a graph.
pub(crate) fn embedding_model(seed: u64) -> EmbeddingModel {
    EmbeddingModel::from_model("test", &embedding_graph(seed)).unwrap()
}

/// Sound that is loud in places.
pub(crate) fn sound(samples: usize) -> Vec<f32> {
    let mut numbers = Numbers::new(5);
    (0..samples).map(|n| numbers.next() * 0.2 * ((n / 4000 % 3) as f32 + 0.01)).collect()
}
