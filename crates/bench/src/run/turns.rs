//! Whose turn it is: all passes of a case at once, or waves of them.

use crate::run::schedule::{Turn, schedule};
use crate::run::waves::{Next, Shape, Waves};
use crate::run::{RunOptions, RunPlan};
use crate::store::{CaseSets, Manifest, Progress};

/// Passes to hand out, each with the attempts already made at it.
type Missing = Vec<(u32, u32)>;

/// Whose turn it is.
pub(super) enum Turns {
    /// All missing passes of each turn.
    Whole(Box<dyn Iterator<Item = Turn> + Send>),
    /// A few at a time.
    Waves(Box<Waves>),
}

impl Turns {
    pub(super) fn of(
        plan: &RunPlan,
        options: &RunOptions,
        manifest: &Manifest,
        cases: &CaseSets,
        progress: &Progress,
    ) -> Self {
        let (count, configurations) = (cases.shared().len(), plan.configurations.len());
        let Some(rules) = &manifest.early_stop else {
            return Self::Whole(Box::new(schedule(count, configurations, options.cases_per_turn)));
        };
        let ids: Vec<&str> = cases.shared().iter().map(|case| case.id.as_str()).collect();
        let shape = Shape {
            cases: &ids,
            configurations,
            passes: plan.passes,
            cases_per_turn: options.cases_per_turn,
            greedy: plan.configurations.iter().any(|configuration| configuration.options.temperature <= 0.0),
        };
        Self::Waves(Box::new(Waves::new(&shape, rules, progress)))
    }

    /// The next turn with its passes; `None` at the end, and where it depends on passes in flight.
    pub(super) fn next(&mut self, progress: &Progress) -> Option<(Turn, Missing)> {
        match self {
            Self::Whole(turns) => {
                let turn = turns.next()?;
                Some((turn, progress.missing(turn.case, turn.configuration)))
            }
            Self::Waves(waves) => {
                let Next::Work(turn, passes) = waves.next() else { return None };
                let attempts = |pass| (pass, progress.attempts(turn.case, turn.configuration, pass));
                Some((turn, passes.into_iter().map(attempts).collect()))
            }
        }
    }
}
