//! Fitting a head: batches, steps, checkpoints.
//!
//! A batch has general negatives from streams, near misses and positives (1024, 50, 50). A main stage with
//! warm-up, hold and cosine is followed by two of a tenth of its steps at a tenth and a hundredth of its size.
//! The weight of a negative begins at 1 and doubles at every look that finds more false wakes than wanted, as long as
//! most words are heard, and halves where they are not: a weight that only rises teaches a small set to say no to
//! everything. A checkpoint is chosen by the false wakes an hour of EVENTS on streams that were held out, then by recall.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tenpass_wake::DetectorConfig;

use super::TrainError;
use super::checkpoint::{self, State};
use super::data::{Data, Stream};
use super::plan::WakePlan;
use super::sound::Origin;
use super::trace::{Found, Trace, at, search, sweep};
use crate::network::{AdamW, Buffers, FRAMES, Network, Random, Standard, WIDTH, WINDOW, schedule};

/// Looks at the held-out streams in the whole of a training.
const LOOKS: u32 = 24;
/// The threshold at which false wakes decide about the weight of negatives.
const USUAL_THRESHOLD: f32 = 0.5;
/// With fewer of the words heard at the usual threshold the weight of negatives falls.
const LEAST_RECALL: f64 = 0.5;
/// Thresholds tried at a look.
const TRIED: usize = 40;
/// Thresholds tried in the end.
const TRIED_AT_LAST: usize = 400;

/// What a look at the held-out streams found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// After so many steps.
    pub step: u32,
    /// Mean loss since the last look.
    pub loss: f32,
    /// Weight of a negative.
    pub negative_weight: f32,
    /// False wakes an hour at 0.5.
    pub per_hour_at_half: f64,
    /// The threshold for the wanted false wakes an hour.
    pub threshold: f32,
    /// False wakes an hour at it.
    pub per_hour: f64,
    /// Words missed at it.
    pub misses: usize,
    /// Words.
    pub words: usize,
    /// From the lowest to the highest threshold that does as well.
    pub margin: f32,
}

impl Look {
    /// Whether it is better: false wakes beyond what is wanted first, then misses, then the margin.
    fn better_than(&self, other: &Self, target: f64) -> bool {
        let excess = |look: &Self| (look.per_hour - target).max(0.0);
        (excess(self), self.misses as f64, -self.margin) < (excess(other), other.misses as f64, -other.margin)
    }
}

/// A fitted head.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The network, for embeddings as they are.
    pub network: Network,
    /// The look that chose it.
    pub chosen: Look,
    /// All looks.
    pub looks: Vec<Look>,
    /// Positives it was trained on.
    pub positives: usize,
}

/// The training sets of one fit, standardised.
struct Sets {
    standard: Standard,
    user: Vec<Vec<f32>>,
    synthetic: Vec<Vec<f32>>,
    near: Vec<f32>,
    streams: Vec<Vec<f32>>,
    /// Windows before each stream, and all of them at the end.
    windows: Vec<usize>,
}

impl Sets {
    fn new(plan: &WakePlan, data: &Data) -> Result<Self, TrainError> {
        let all: Vec<f32> = data.streams.iter().flatten().copied().collect();
        let standard = Standard::of(&all);
        let of = |origin: Origin| -> Vec<Vec<f32>> {
            if plan.without.contains(&origin) {
                return Vec::new();
            }
            let chosen = data.positives.iter().filter(|(from, _)| *from == origin);
            chosen.map(|(_, window)| standardised(&standard, window)).collect()
        };
        let (user, synthetic) = (of(Origin::User), of(Origin::Synthetic));
        if user.is_empty() && synthetic.is_empty() {
            return Err(TrainError::NoPositives);
        }
        let streams: Vec<Vec<f32>> = data.streams.iter().map(|stream| standardised(&standard, stream)).collect();
        let mut windows = vec![0];
        for stream in &streams {
            windows.push(windows[windows.len() - 1] + (stream.len() / WIDTH).saturating_sub(FRAMES - 1));
        }
        if windows[windows.len() - 1] == 0 {
            return Err(TrainError::NoNegatives);
        }
        Ok(Self { near: standardised(&standard, &data.near), standard, user, synthetic, streams, windows })
    }

    fn negative(&self, random: &mut Random) -> &[f32] {
        let at = random.below(self.windows[self.windows.len() - 1]);
        let stream = self.windows.partition_point(|before| *before <= at) - 1;
        let begin = (at - self.windows[stream]) * WIDTH;
        &self.streams[stream][begin..begin + WINDOW]
    }

    /// The user's own recordings are half of the positives, however few they are.
    fn positive(&self, random: &mut Random) -> &[f32] {
        let (user, synthetic) = (!self.user.is_empty(), !self.synthetic.is_empty());
        let from = if user && (!synthetic || random.chance(0.5)) { &self.user } else { &self.synthetic };
        &from[random.below(from.len())]
    }
}

fn standardised(standard: &Standard, values: &[f32]) -> Vec<f32> {
    let mut values = values.to_vec();
    standard.apply(&mut values);
    values
}

/// The numbers of a batch.
#[derive(Default)]
struct Batch {
    windows: Vec<f32>,
    targets: Vec<f32>,
    weights: Vec<f32>,
}

impl Batch {
    fn fill(&mut self, sets: &Sets, plan: &WakePlan, negative_weight: f32, random: &mut Random) {
        self.windows.clear();
        self.targets.clear();
        self.weights.clear();
        let (general, near, positives) = plan.optimisation.batch;
        for _ in 0..general {
            self.windows.extend_from_slice(sets.negative(random));
            self.target(0.0, negative_weight);
        }
        let windows = sets.near.len() / WINDOW;
        for _ in 0..if windows == 0 { 0 } else { near } {
            let begin = random.below(windows) * WINDOW;
            self.windows.extend_from_slice(&sets.near[begin..begin + WINDOW]);
            self.target(0.0, negative_weight * plan.optimisation.near_weight);
        }
        for _ in 0..positives {
            let positive = sets.positive(random);
            if random.chance(plan.optimisation.mixup) {
                let share = random.between(0.7, 1.0) as f32;
                let other = sets.negative(random);
                self.windows.extend(positive.iter().zip(other).map(|(a, b)| share * a + (1.0 - share) * b));
                self.target(share, 1.0);
            } else {
                self.windows.extend_from_slice(positive);
                self.target(1.0, 1.0);
            }
        }
    }

    fn target(&mut self, target: f32, weight: f32) {
        self.targets.push(target);
        self.weights.push(weight);
    }
}

/// Fits a head. With a file for the state it goes on where it was, if the file is of the same training.
pub fn fit(
    plan: &WakePlan,
    data: &Data,
    kept: Option<&Path>,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<Fitted, TrainError> {
    let sets = Sets::new(plan, data)?;
    let names: Vec<String> =
        data.sounds.iter().map(|sound| format!("{:?}{:?}{}", sound.part, sound.role, sound.hash)).collect();
    let digest = plan.digest(&names, &data.features);
    let mut fitting = Fitting::new(plan, data, &sets);
    if let Some(path) = kept
        && let Some(state) = checkpoint::read(path, &digest)?
    {
        fitting.resume(state);
    }
    let all = fitting.last_step();
    let every = (all / LOOKS).max(1);
    while fitting.step < all {
        fitting.advance();
        if fitting.step.is_multiple_of(every) || fitting.step == all {
            fitting.look();
            done(fitting.step as usize, all as usize);
            if let Some(path) = kept {
                checkpoint::write(path, &digest, &fitting.state())?;
            }
        }
    }
    fitting.end()
}

struct Fitting<'a> {
    plan: &'a WakePlan,
    data: &'a Data,
    sets: &'a Sets,
    network: Network,
    decays: Vec<bool>,
    adam: AdamW,
    random: Random,
    step: u32,
    negative_weight: f32,
    loss: (f64, u32),
    looks: Vec<Look>,
    best: Option<(Look, Vec<f32>)>,
    batch: Batch,
    buffers: Buffers,
    gradient: Vec<f32>,
}

impl<'a> Fitting<'a> {
    fn new(plan: &'a WakePlan, data: &'a Data, sets: &'a Sets) -> Self {
        let network = Network::new(plan.architecture, plan.seed);
        Self {
            plan,
            data,
            sets,
            decays: network.decays(),
            adam: AdamW::new(network.parameters().len(), plan.optimisation.decay),
            network,
            random: Random::of(plan.seed, &["batches"]),
            step: 0,
            negative_weight: 1.0,
            loss: (0.0, 0),
            looks: Vec::new(),
            best: None,
            batch: Batch::default(),
            buffers: Buffers::default(),
            gradient: Vec::new(),
        }
    }

    fn last_step(&self) -> u32 {
        self.plan.steps + 2 * (self.plan.steps / 10)
    }

    /// The size of this step: of the main stage, or of one of the two after it.
    fn rate(&self) -> f32 {
        let (main, after) = (self.plan.steps, self.plan.steps / 10);
        let peak = self.plan.optimisation.rate;
        match self.step {
            step if step < main => schedule(step, main, peak),
            step if step < main + after => schedule(step - main, after, peak / 10.0),
            step => schedule(step - main - after, after, peak / 100.0),
        }
    }

    fn advance(&mut self) {
        self.batch.fill(self.sets, self.plan, self.negative_weight, &mut self.random);
        let Batch { windows, targets, weights } = &self.batch;
        let how = self.plan.optimisation.loss();
        let loss = self.network.gradient(windows, targets, weights, how, &mut self.buffers, &mut self.gradient);
        let rate = self.rate();
        self.adam.step(self.network.parameters_mut(), &self.gradient, &self.decays, rate);
        self.loss = (self.loss.0 + f64::from(loss), self.loss.1 + 1);
        self.step += 1;
    }

    fn look(&mut self) {
        let folded = self.network.folded(&self.sets.standard);
        let traces = traces(&folded, &self.data.dev, &mut self.buffers);
        let settings = DetectorConfig::default();
        let usual = at(&traces, &settings, USUAL_THRESHOLD);
        let half = usual.false_wakes_per_hour();
        let Some(found) = search(&sweep(&traces, &settings, TRIED), self.plan.target_per_hour) else { return };
        let Found { threshold, point, margin } = found;
        let look = Look {
            step: self.step,
            loss: (self.loss.0 / f64::from(self.loss.1.max(1))) as f32,
            negative_weight: self.negative_weight,
            per_hour_at_half: half,
            threshold,
            per_hour: point.per_hour(),
            misses: point.misses,
            words: point.words,
            margin,
        };
        let most = self.plan.optimisation.most_negative_weight;
        if usual.recall() < LEAST_RECALL {
            self.negative_weight = (0.5 * self.negative_weight).max(1.0);
        } else if half > self.plan.target_per_hour {
            self.negative_weight = (2.0 * self.negative_weight).min(most);
        }
        self.loss = (0.0, 0);
        self.looks.push(look);
        if self.best.as_ref().is_none_or(|(best, _)| look.better_than(best, self.plan.target_per_hour)) {
            self.best = Some((look, self.network.parameters().to_vec()));
        }
    }

    fn state(&self) -> State {
        State {
            step: self.step,
            random: self.random.state(),
            negative_weight: self.negative_weight,
            looks: self.looks.clone(),
            adam_steps: self.adam.steps,
            best: self.best.as_ref().map(|(look, _)| *look),
            numbers: [
                self.network.parameters().to_vec(),
                self.adam.mean.clone(),
                self.adam.square.clone(),
                self.best.as_ref().map_or_else(Vec::new, |(_, parameters)| parameters.clone()),
            ],
        }
    }

    fn resume(&mut self, state: State) {
        let [parameters, mean, square, best] = state.numbers;
        let Some(network) = Network::from_parameters(self.plan.architecture, parameters) else { return };
        if mean.len() != network.parameters().len() || square.len() != mean.len() {
            return;
        }
        self.network = network;
        (self.adam.mean, self.adam.square, self.adam.steps) = (mean, square, state.adam_steps);
        self.best = state.best.filter(|_| best.len() == self.adam.mean.len()).map(|look| (look, best));
        self.random = Random::new(state.random);
        (self.step, self.negative_weight) = (state.step, state.negative_weight);
        self.looks = state.looks;
    }

    /// The best checkpoint, with its threshold searched once more among all that make a difference.
    fn end(mut self) -> Result<Fitted, TrainError> {
        let (mut chosen, parameters) = self.best.ok_or(TrainError::NoDevelopment)?;
        let network = Network::from_parameters(self.plan.architecture, parameters).ok_or(TrainError::NoDevelopment)?;
        let network = network.folded(&self.sets.standard);
        let traces = traces(&network, &self.data.dev, &mut self.buffers);
        let points = sweep(&traces, &DetectorConfig::default(), TRIED_AT_LAST);
        if let Some(Found { threshold, point, margin }) = search(&points, self.plan.target_per_hour) {
            let (per_hour, misses, words) = (point.per_hour(), point.misses, point.words);
            chosen = Look { threshold, per_hour, misses, words, margin, ..chosen };
        }
        let positives = self.sets.user.len() + self.sets.synthetic.len();
        Ok(Fitted { network, chosen, looks: self.looks, positives })
    }
}

/// The scores of a network over streams.
pub fn traces(network: &Network, streams: &[Stream], buffers: &mut Buffers) -> Vec<Trace> {
    let trace =
        |stream: &Stream| Trace { scores: network.scores(&stream.embeddings, buffers), truth: stream.truth.clone() };
    streams.iter().map(trace).collect()
}
