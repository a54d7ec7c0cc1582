//! Known answers of operators, and heads that are written and read again.

use super::*;
use crate::head::Head;
use crate::onnx::{Attribute, Builder, HeadGraph, Layer, Model, head_model};
use crate::testing::Numbers;
use crate::{EMBEDDING, Embedding};

fn ints(values: &[i64]) -> Attribute {
    Attribute::Ints(values.to_vec())
}

/// One node on an input of 2 × 3 numbers, 1 to 6.
fn one(
    op: &str,
    constants: &[(&[usize], &[f32])],
    attributes: Vec<(&str, Attribute)>,
) -> Result<(Vec<usize>, Vec<f32>), String> {
    let mut builder = Builder::new("test", "x", &[2, 3]);
    let constants: Vec<String> = constants.iter().map(|(shape, values)| builder.constant(shape, values)).collect();
    let inputs: Vec<&str> = std::iter::once("x").chain(constants.iter().map(String::as_str)).collect();
    let output = builder.node(op, &inputs, attributes);
    let model = builder.finish(&output, &[]);
    Program::compile(&model.graph)?.run(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], Branches::Both)
}

#[test]
fn operators_have_their_known_answers() {
    let bias: (&[usize], &[f32]) = (&[2], &[10.0, 20.0]);
    let matrix: (&[usize], &[f32]) = (&[2, 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    let found = one("Gemm", &[matrix, bias], vec![("transB", Attribute::Int(1))]).unwrap();
    assert_eq!(found, (vec![2, 2], vec![11.0, 25.0, 14.0, 31.0]));
    let found = one("MatMul", &[(&[3, 1], &[1.0, 0.0, -1.0])], vec![]).unwrap();
    assert_eq!(found, (vec![2, 1], vec![-2.0, -2.0]));
    let found = one("Sub", &[(&[2, 1], &[1.0, 4.0])], vec![]).unwrap();
    assert_eq!(found, (vec![2, 3], vec![0.0, 1.0, 2.0, 0.0, 1.0, 2.0]));
    let found = one("Add", &[(&[4, 1, 1], &[0.0, 1.0, 2.0, 3.0])], vec![]).unwrap();
    assert_eq!((found.0, found.1[23]), (vec![4, 2, 3], 9.0));
    let found = one("ReduceMean", &[], vec![("axes", ints(&[0])), ("keepdims", Attribute::Int(0))]).unwrap();
    assert_eq!(found, (vec![3], vec![2.5, 3.5, 4.5]));
    let found = one("Transpose", &[], vec![]).unwrap();
    assert_eq!(found, (vec![3, 2], vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    let found = one("Softmax", &[], vec![("axis", Attribute::Int(0))]).unwrap();
    assert!((found.1[0] - 0.047_425_87).abs() < 1e-6 && (found.1[3] - 0.952_574_1).abs() < 1e-6);
    let ones: (&[usize], &[f32]) = (&[3], &[1.0, 1.0, 2.0]);
    let found = one("LayerNormalization", &[ones], vec![]).unwrap();
    assert!((found.1[0] + 1.224_735_7).abs() < 1e-5 && (found.1[5] - 2.449_471_5).abs() < 1e-5);
    let found = one("Erf", &[], vec![]).unwrap();
    assert!((found.1[0] - 0.842_700_8).abs() < 1e-6);
    let found = one("Concat", &[matrix], vec![("axis", Attribute::Int(1))]).unwrap();
    assert_eq!((found.0, &found.1[..6]), (vec![2, 6], &[1.0, 2.0, 3.0, 1.0, 0.0, 0.0][..]));
}

#[test]
fn what_does_not_go_together_is_an_error_and_no_panic() {
    let wrong: (&[usize], &[f32]) = (&[2, 2], &[1.0; 4]);
    for op in ["Gemm", "MatMul", "Add", "Concat", "Conv", "LSTM", "BatchNormalization", "LayerNormalization"] {
        let error = one(op, &[wrong, wrong, wrong, wrong], vec![("axis", Attribute::Int(1))]);
        let axis_fits = op == "Concat" && error.is_ok();
        assert!(axis_fits || error.is_err(), "{op}");
    }
    for op in ["Softmax", "Flatten", "Gather", "ReduceMean"] {
        assert!(one(op, &[], vec![("axis", Attribute::Int(9)), ("axes", ints(&[7]))]).is_err(), "{op}");
    }
    assert_eq!(
        one("NonMaxSuppression", &[], vec![]).unwrap_err(),
        "node 0 (NonMaxSuppression): this operator is not supported"
    );
}

/// A convolution of [1, 2, 4] with kernel 3, padding 1, stride 2: known answers from the definition.
#[test]
fn a_convolution_over_frames_pads_and_steps() {
    let mut builder = Builder::new("test", "x", &[1, 2, 4]);
    let weight = builder.constant(&[1, 2, 3], &[1.0, 2.0, 3.0, 0.0, 1.0, 0.0]);
    let bias = builder.constant(&[1], &[0.5]);
    let settings = vec![("pads", ints(&[1, 1])), ("strides", ints(&[2])), ("kernel_shape", ints(&[3]))];
    let output = builder.node("Conv", &["x", &weight, &bias], settings);
    let program = Program::compile(&builder.finish(&output, &[]).graph).unwrap();
    let found = program.run(&[1, 2, 4], &[1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0], Branches::Both).unwrap();
    // 2·1 + 3·2 + 10 + ½; 1·2 + 2·3 + 3·4 + 30 + ½
    assert_eq!(found, (vec![1, 1, 2], vec![18.5, 50.5]));
}

fn head(layers: Vec<Layer>, frames: usize) -> Model {
    head_model(&HeadGraph { name: "kora".to_owned(), frames, layers, metadata: vec![("word".into(), "kora".into())] })
        .unwrap()
}

fn linear(numbers: &mut Numbers, inputs: usize, outputs: usize) -> Layer {
    let scale = 1.0 / (inputs as f32).sqrt();
    Layer::Linear { weight: numbers.take(inputs * outputs, scale), bias: numbers.take(outputs, 0.1) }
}

fn window(frames: usize) -> Vec<Embedding> {
    let mut numbers = Numbers::new(9);
    (0..frames).map(|_| std::array::from_fn(|_| numbers.next() * 3.0)).collect()
}

#[test]
fn a_dense_head_scores_as_its_layers_say() {
    let mut numbers = Numbers::new(1);
    let layers = vec![
        Layer::Flatten,
        linear(&mut numbers, 16 * EMBEDDING, 32),
        Layer::LayerNorm { scale: vec![1.5; 32], shift: vec![0.1; 32], epsilon: 1e-5 },
        Layer::Relu,
        linear(&mut numbers, 32, 1),
        Layer::Sigmoid,
    ];
    let (Layer::Linear { weight: w1, bias: b1 }, Layer::Linear { weight: w2, bias: b2 }) = (&layers[1], &layers[4])
    else {
        panic!()
    };
    let input = window(16);
    let hidden: Vec<f64> = w1
        .chunks(1536)
        .zip(b1)
        .map(|(row, bias)| {
            row.iter().zip(input.as_flattened()).map(|(w, x)| f64::from(w * x)).sum::<f64>() + f64::from(*bias)
        })
        .collect();
    let mean = hidden.iter().sum::<f64>() / 32.0;
    let deviation = (hidden.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 32.0 + 1e-5).sqrt();
    let normal = hidden.iter().map(|x| ((x - mean) / deviation * 1.5 + 0.1).max(0.0));
    let sum: f64 = normal.zip(w2).map(|(x, w)| x * f64::from(*w)).sum::<f64>() + f64::from(b2[0]);
    let wanted = 1.0 / (1.0 + (-sum).exp());
    let bytes = head(layers, 16).to_bytes();
    let read = Head::parse("kora", &bytes).unwrap();
    assert_eq!((read.frames(), read.classes(), read.metadata()[0].1.as_str()), (16, 1, "kora"));
    assert!((f64::from(read.score(&input)) - wanted).abs() < 1e-5, "{} {wanted}", read.score(&input));
    // The last 16 of more, and nothing of fewer.
    let longer = [&window(3)[..], &input[..]].concat();
    assert_eq!(read.score(&longer).to_bits(), read.score(&input).to_bits());
    assert!(read.score(&input[1..]) == 0.0);
}

#[test]
fn a_convolution_and_attention_head_runs() {
    let mut numbers = Numbers::new(2);
    let mut square = |n: usize| (numbers.take(n * n, 0.2), numbers.take(n, 0.1));
    let attention = Layer::Attention { query: square(24), key: square(24), value: square(24), output: square(24) };
    let mut numbers = Numbers::new(3);
    let layers = vec![
        Layer::Conv1d {
            weight: numbers.take(24 * 96 * 3, 0.05),
            bias: numbers.take(24, 0.1),
            kernel: 3,
            padding: 1,
            stride: 1,
        },
        Layer::Relu,
        Layer::LayerNorm { scale: vec![1.0; 24], shift: vec![0.0; 24], epsilon: 1e-5 },
        attention,
        linear(&mut numbers, 24, 16),
        Layer::AttentionPool { weight: numbers.take(16, 0.5), bias: 0.2 },
        linear(&mut numbers, 16, 1),
        Layer::Sigmoid,
    ];
    let head = Head::from_model("kora", &head(layers, 20)).unwrap();
    let input = window(20);
    let score = head.score(&input);
    assert!(score > 0.0 && score < 1.0);
    let mut other = input;
    other[0] = [5.0; EMBEDDING];
    assert!((head.score(&other) - score).abs() > 1e-6);
}

#[test]
fn layers_that_do_not_fit_are_named() {
    let refused = |layers| {
        let graph = HeadGraph { name: "kora".to_owned(), frames: 16, layers, metadata: Vec::new() };
        head_model(&graph).unwrap_err().to_string()
    };
    let narrow = Layer::Linear { weight: vec![0.0; 10], bias: vec![0.0] };
    assert_eq!(refused(vec![Layer::Flatten, narrow]), "kora: layer 1: weight has 10 numbers, 1536 are needed");
    assert_eq!(refused(vec![Layer::Flatten]), "kora: the last layer must leave one value");
    assert!(refused(vec![Layer::Flatten, Layer::MeanPool]).contains("a vector comes in"));
}

#[test]
fn a_branch_that_cannot_run_is_found_on_loading() {
    let mut numbers = Numbers::new(4);
    let mut model = head(vec![Layer::Flatten, linear(&mut numbers, 16 * EMBEDDING, 1), Layer::Sigmoid], 16);
    let score = model.graph.outputs[0].name.clone();
    let branch = |op: &str, output: &str| Graph {
        nodes: vec![Node {
            op: op.into(),
            inputs: vec![score.clone()],
            outputs: vec![output.into()],
            ..Node::default()
        }],
        outputs: vec![crate::onnx::Port { name: output.into(), shape: vec![] }],
        ..Graph::default()
    };
    let half = crate::onnx::Tensor::floats("half", &[], vec![2.0]);
    model.graph.initializers.push(half);
    let node = |op: &str, inputs: &[&str], output: &str| Node {
        op: op.into(),
        inputs: inputs.iter().map(|input| (*input).to_owned()).collect(),
        outputs: vec![output.into()],
        ..Node::default()
    };
    model.graph.nodes.push(node("Greater", &[&score, "half"], "sure"));
    let mut choice = node("If", &["sure"], "out");
    choice.attributes = vec![
        ("then_branch".into(), Attribute::Graph(branch("Neg", "a"))),
        ("else_branch".into(), Attribute::Graph(branch("Identity", "b"))),
    ];
    model.graph.nodes.push(choice);
    model.graph.outputs[0].name = "out".into();
    let read = Model::parse("x", &model.to_bytes()).unwrap();
    assert_eq!(read, model);
    assert!(Head::from_model("x", &read).unwrap().score(&window(16)) > 0.0);
    // The branch that no score chooses cannot flatten a third dimension.
    if let Some((_, Attribute::Graph(then))) = model.graph.nodes.last_mut().unwrap().attributes.first_mut() {
        then.nodes[0].op = "LSTM".into();
    }
    assert!(Head::from_model("x", &model).unwrap_err().to_string().contains("(LSTM)"));
}

mod broken {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// A head that ends early, or with bytes changed, is an error or another head; never a panic.
        #[test]
        fn a_damaged_head_never_panics(cut in 0.0f64..1.0, changes in proptest::collection::vec((0.0f64..1.0, any::<u8>()), 0..6), whole: bool) {
            let mut numbers = Numbers::new(5);
            let layers = vec![
                Layer::Conv1d { weight: numbers.take(4 * 96 * 3, 0.1), bias: numbers.take(4, 0.1), kernel: 3, padding: 1, stride: 1 },
                Layer::AttentionPool { weight: numbers.take(4, 0.5), bias: 0.2 },
                linear(&mut numbers, 4, 1),
                Layer::Sigmoid,
            ];
            let mut bytes = head(layers, 4).to_bytes();
            let length = bytes.len();
            let place = |share: f64| ((share * length as f64) as usize).min(length - 1);
            for (share, byte) in changes {
                bytes[place(share)] = byte;
            }
            let kept = if whole { length } else { place(cut) };
            if let Ok(head) = Head::parse("x", &bytes[..kept]) {
                head.score(&window(head.frames()));
            }
            if !whole {
                let cut_off = Head::parse("x", &bytes[..kept]);
                // Only what stands behind the last field that counts can be missed.
                if kept < length / 2 {
                    prop_assert!(cut_off.is_err());
                }
            }
        }
    }
}
