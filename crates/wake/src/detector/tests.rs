//! The whole detector on a model and a head of made-up numbers.

use super::*;
use crate::onnx::{HeadGraph, Layer, head_model};
use crate::testing::{Numbers, embedding_model, sound};
use crate::{EMBEDDING, VERIFIER_INPUTS, VerifierFile};

fn head(seed: u64, frames: usize) -> Head {
    let mut numbers = Numbers::new(seed);
    let inputs = frames * EMBEDDING;
    let layers = vec![
        Layer::Flatten,
        Layer::Linear { weight: numbers.take(inputs, 3.0 / (inputs as f32).sqrt()), bias: vec![0.0] },
        Layer::Sigmoid,
    ];
    let graph = HeadGraph { name: format!("head {seed}"), frames, layers, metadata: Vec::new() };
    Head::from_model(&graph.name, &head_model(&graph).unwrap()).unwrap()
}

fn detector(config: DetectorConfig) -> Detector {
    Detector::new(&embedding_model(7), vec![head(1, 16), head(2, 20)], config).unwrap()
}

fn scores(detector: &mut Detector, samples: &[f32]) -> Vec<[Option<f32>; 2]> {
    let mut found = Vec::new();
    detector.push(samples, &mut |output| {
        if let Output::Frame(frame) = output {
            assert!((frame.time_s - (frame.index + 1) as f64 * FRAME_S).abs() < 1e-9);
            found.push([frame.scores[0], frame.scores[1]]);
        }
    });
    found
}

#[test]
fn a_window_is_cold_for_sixteen_frames_or_its_own_length() {
    let mut detector = detector(DetectorConfig::default());
    let sound = sound(80_000);
    let first = scores(&mut detector, &sound);
    let warm = |head: usize| first.iter().position(|scores| scores[head].is_some());
    assert_eq!((first.len(), warm(0), warm(1)), (62, Some(16), Some(20)));
    detector.reset();
    assert_eq!(scores(&mut detector, &sound), first);
    assert!((detector.seconds() - 5.0).abs() < 1e-9);
}

fn verifier(bias: f32) -> Verifier {
    Verifier::new(VerifierFile {
        format: VerifierFile::FORMAT.to_owned(),
        word: "kora".to_owned(),
        mean: vec![0.0; VERIFIER_INPUTS],
        scale: vec![1.0; VERIFIER_INPUTS],
        weights: vec![0.0; VERIFIER_INPUTS],
        bias,
        threshold: 0.5,
        c: 1.0,
        days: Vec::new(),
        features: String::new(),
    })
    .unwrap()
}

/// What happened, by head: fired, ended, rejected.
fn told(mut detector: Detector, samples: &[f32]) -> [[usize; 3]; 2] {
    let mut counts = [[0; 3]; 2];
    let mut count = |output: Output<'_>| match output {
        Output::Fired(event) => counts[event.head][0] += 1,
        Output::Ended(event) => {
            assert!(event.peak_time_s > 0.0 && event.peak >= event.strength && event.window.len() == WINDOW_FRAMES);
            counts[event.head][1] += 1;
        }
        Output::Rejected(event) => {
            assert!(event.verified.is_some());
            counts[event.head][2] += 1;
        }
        Output::Frame(_) => {}
    };
    detector.push(samples, &mut count);
    detector.finish(&mut count);
    counts
}

#[test]
fn every_event_ends_and_a_verifier_that_says_no_rejects_them() {
    let sound = sound(480_000);
    let mut all: Vec<f32> =
        scores(&mut detector(DetectorConfig::default()), &sound).iter().filter_map(|scores| scores[0]).collect();
    all.sort_unstable_by(f32::total_cmp);
    let (on, off) = (all[all.len() * 8 / 10], all[all.len() * 6 / 10]);
    let config = DetectorConfig { threshold_on: on, threshold_off: off, hits: 1, of: 1, ..DetectorConfig::default() };
    let free = told(detector(config.clone()), &sound);
    assert!(free[0][0] >= 2, "{free:?}");
    for [fired, ended, rejected] in free {
        assert_eq!((fired, rejected), (ended, 0));
    }
    let passed = told(detector(config.clone()).with_verifier(0, verifier(9.0)), &sound);
    assert_eq!(passed, free);
    let refused = told(detector(config).with_verifier(0, verifier(-9.0)), &sound);
    assert_eq!((refused[0][0], refused[0][1], refused[1]), (0, 0, free[1]));
    assert!(refused[0][2] >= free[0][0], "{refused:?} {free:?}");
}

#[test]
fn a_setting_out_of_range_is_named() {
    let refused = |config: DetectorConfig| config.check().unwrap_err().to_string();
    let usual = DetectorConfig::default;
    assert_eq!(refused(DetectorConfig { threshold_on: 1.5, ..usual() }), "threshold_on is 1.5: above 0, at most 1");
    assert!(refused(DetectorConfig { threshold_off: 0.6, ..usual() }).contains("threshold_off is 0.6"));
    assert!(refused(DetectorConfig { of: 65, ..usual() }).contains("of is 65"));
    assert!(refused(DetectorConfig { threshold_on: f32::NAN, ..usual() }).contains("NaN"));
    assert!(refused(DetectorConfig { pre_roll_ms: 60_001, ..usual() }).contains("pre_roll_ms"));
}
