//! Training with and without a source, with several seeds each, measured on the same held-out sound.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tenpass_stats::{mcnemar_exact, tango};
use tenpass_train::network::Buffers;
use tenpass_train::wake::{Data, Measured, Origin, TrainError, WakePlan, at, export, fit, traces};
use tenpass_wake::DetectorConfig;

use super::WakeBenchError;
use crate::store::{Pass, SpeechRun};

/// What is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arm {
    /// Nothing.
    All,
    /// Positives of this origin.
    Without(Origin),
}

impl Arm {
    /// As it is told.
    pub fn name(self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Without(origin) => format!("without {}", format!("{origin:?}").to_lowercase()),
        }
    }
}

/// What is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Ablation {
    /// The plan of every training; `without` and `seed` are filled in.
    pub plan: WakePlan,
    /// Sources to leave out, one at a time.
    pub sources: Vec<Origin>,
    /// Seeds of each arm.
    pub seeds: u64,
}

impl Ablation {
    fn arms(&self) -> Vec<Arm> {
        std::iter::once(Arm::All).chain(self.sources.iter().map(|origin| Arm::Without(*origin))).collect()
    }
}

/// One training of one arm, measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AblatedPass {
    /// The arm's name.
    pub arm: String,
    /// The seed.
    pub seed: u64,
    /// The threshold that was chosen on development sound.
    pub threshold: f32,
    /// For each word of the test sound whether it was hit.
    pub hits: Vec<bool>,
    /// Misses and false wakes on test sound.
    pub measured: Measured,
}

impl Pass for AblatedPass {
    fn key(&self) -> String {
        format!("{}/{}", self.arm, self.seed)
    }
}

/// Trains and measures everything that has no pass yet; heads are kept in the folder.
pub fn ablate(
    run: &SpeechRun,
    ablation: &Ablation,
    data: &Data,
    folder: &Path,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<(), WakeBenchError> {
    for origin in &ablation.sources {
        let left = data.amount_of(*origin);
        if left == 0 || data.amount_of(Origin::User) + data.amount_of(Origin::Synthetic) == left {
            return Err(WakeBenchError::NothingToLeaveOut(format!("{origin:?}").to_lowercase()));
        }
    }
    if data.test.is_empty() {
        return Err(TrainError::NoDevelopment.into());
    }
    std::fs::create_dir_all(folder).map_err(|source| TrainError::File { path: folder.to_owned(), source })?;
    let finished = run.done::<AblatedPass>()?;
    let mut writer = run.writer()?;
    let arms = ablation.arms();
    let all = arms.len() * ablation.seeds as usize;
    let mut count = 0;
    for seed in 0..ablation.seeds {
        for arm in &arms {
            count += 1;
            if finished.contains(&format!("{}/{seed}", arm.name())) {
                continue;
            }
            let without = match arm {
                Arm::All => Vec::new(),
                Arm::Without(origin) => vec![*origin],
            };
            let plan = WakePlan { without, seed: ablation.plan.seed + seed, ..ablation.plan.clone() };
            let fitted = fit(&plan, data, None, &|_, _| ())?;
            let head = folder.join(format!("{}-{seed}.onnx", arm.name().replace(' ', "-")));
            export(&plan, data, &fitted, &head)?;
            let threshold = fitted.chosen.threshold;
            let traces = traces(&fitted.network, &data.test, &mut Buffers::default());
            let found = at(&traces, &DetectorConfig::default(), threshold);
            let hits = found.hits.iter().map(Option::is_some).collect();
            let measured = Measured::of(&found);
            writer.append(&AblatedPass { arm: arm.name(), seed, threshold, hits, measured })?;
            done(count, all);
        }
    }
    Ok(())
}

/// One arm over its seeds, and against everything.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AblationRow {
    /// The arm.
    pub arm: String,
    /// Seeds.
    pub seeds: usize,
    /// Words of the test sound.
    pub words: usize,
    /// Share missed: mean over the seeds.
    pub miss_rate: f64,
    /// The best seed's.
    pub miss_best: f64,
    /// The worst seed's.
    pub miss_worst: f64,
    /// False wakes an hour: mean over the seeds.
    pub per_hour: f64,
    /// Clips that most seeds of the full training hit and most of this arm's did not.
    pub only_all: u32,
    /// The other way round.
    pub only_arm: u32,
    /// Exact McNemar test over clips; 1 for the full training itself.
    pub p: f64,
    /// 95 % interval (Tango) of this arm's hit rate minus that of the full training.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Rows from passes alone, in the order of the arms.
pub fn ablation_rows(passes: &[AblatedPass]) -> Vec<AblationRow> {
    let mut arms: Vec<&str> = Vec::new();
    for pass in passes {
        if !arms.contains(&pass.arm.as_str()) {
            arms.push(&pass.arm);
        }
    }
    let majority = |arm: &str| -> Vec<bool> {
        let of: Vec<&AblatedPass> = passes.iter().filter(|pass| pass.arm == arm).collect();
        let words = of.iter().map(|pass| pass.hits.len()).min().unwrap_or(0);
        (0..words).map(|word| of.iter().filter(|pass| pass.hits[word]).count() * 2 > of.len()).collect()
    };
    let all = majority("all");
    let row = |arm: &str| {
        let of: Vec<&AblatedPass> = passes.iter().filter(|pass| pass.arm == arm).collect();
        let seeds = of.len().max(1) as f64;
        let rates: Vec<f64> =
            of.iter().map(|pass| pass.measured.misses as f64 / pass.measured.words.max(1) as f64).collect();
        let per_hour = |pass: &&AblatedPass| {
            if pass.measured.hours > 0.0 { pass.measured.false_wakes as f64 / pass.measured.hours } else { 0.0 }
        };
        let own = majority(arm);
        let count = |wanted: (bool, bool)| all.iter().zip(&own).filter(|(a, b)| (**a, **b) == wanted).count() as u32;
        let (only_all, only_arm) = (count((true, false)), count((false, true)));
        let words = all.len().min(own.len());
        let interval = tango(only_arm, only_all, words as u32, 0.95);
        AblationRow {
            arm: arm.to_owned(),
            seeds: of.len(),
            words,
            miss_rate: rates.iter().sum::<f64>() / seeds,
            miss_best: rates.iter().copied().fold(1.0, f64::min),
            miss_worst: rates.iter().copied().fold(0.0, f64::max),
            per_hour: of.iter().map(per_hour).sum::<f64>() / seeds,
            only_all,
            only_arm,
            p: mcnemar_exact(only_all, only_arm),
            low: interval.low,
            high: interval.high,
        }
    };
    arms.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(arm: &str, seed: u64, hits: &[bool]) -> AblatedPass {
        let misses = hits.iter().filter(|hit| !**hit).count();
        let measured = Measured {
            words: hits.len(),
            misses,
            miss_rate: (0.0, 1.0),
            false_wakes: seed as usize,
            hours: 2.0,
            speech_hours: 1.0,
            per_hour: (0.0, 1.0),
            below_per_hour: 1.0,
        };
        AblatedPass { arm: arm.into(), seed, threshold: 0.5, hits: hits.to_vec(), measured }
    }

    #[test]
    fn an_arm_is_judged_clip_by_clip_on_what_most_seeds_do() {
        let all = [true; 10];
        let mut half = all;
        half[..6].fill(false);
        let passes = [
            pass("all", 0, &all),
            pass("all", 1, &all),
            pass("all", 2, &half),
            pass("without user", 0, &half),
            pass("without user", 1, &half),
            pass("without user", 2, &all),
        ];
        let rows = ablation_rows(&passes);
        assert_eq!(rows[0].arm, "all");
        assert!((rows[0].miss_rate - 0.2).abs() < 1e-9 && (rows[0].p - 1.0).abs() < 1e-9);
        assert_eq!((rows[1].only_all, rows[1].only_arm), (6, 0));
        assert!((rows[1].p - 2.0 * 0.5_f64.powi(6)).abs() < 1e-9);
        assert!((rows[1].per_hour - 0.5).abs() < 1e-9 && rows[1].miss_worst > 0.59);
    }
}
