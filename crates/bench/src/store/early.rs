//! What the manifest says about a run that stops what is decided.

use serde::{Deserialize, Serialize};

/// Level of the looks during a run; see [`EarlyStop::during`].
pub const LEVEL_DURING: f64 = 0.01;
/// Level left for the test at the end.
pub const LEVEL_END: f64 = 0.04;

/// A run that stops gates and comparisons as soon as they are decided. The verdict of a gate is the one
/// that all passes would give; the rates of a stopped case are biased.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EarlyStop {
    /// Right answers that open a gate, of as many as the run has passes.
    pub gate: u32,
    /// Cases with a gate; `None`: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gated: Option<Vec<String>>,
    /// The level at which an e-value may end a comparison during the run; the chance that it does so
    /// although nothing changed is at most this. Absent where nothing is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<f64>,
    /// The level that this leaves for the test at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
    /// Passes that were not needed, when the run is complete.
    #[serde(default)]
    pub saved: u64,
    /// Gates that were decided before all passes had run, when the run is complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<ClosedGate>,
    /// Comparisons that were decided during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<DecidedComparison>,
}

/// A case whose gate was decided under every configuration before all passes had run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedGate {
    /// The case.
    pub case: String,
    /// Passes that each configuration had run.
    pub passes: u32,
}

/// A comparison that an e-value decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecidedComparison {
    /// The candidate; the first configuration is what it was compared with.
    pub configuration: String,
    /// The evidence against "no case changed" when it crossed its bound.
    pub e_value: f64,
    /// Pairs of passes in which only the candidate was right.
    pub better: u64,
    /// Pairs in which only the baseline was right.
    pub worse: u64,
    /// Passes of each case that it took.
    pub passes: u32,
}

impl EarlyStop {
    /// The same without what came of it: what two sessions, or two parts, must agree on.
    pub(crate) fn rules(&self) -> Self {
        Self { saved: 0, closed: Vec::new(), decided: Vec::new(), ..self.clone() }
    }

    /// What a reader must know before trusting the rates, a sentence each.
    pub fn sentences(&self, passes: u32) -> Vec<String> {
        let mut sentences = Vec::new();
        if !self.closed.is_empty() {
            let fewest = self.closed.iter().map(|gate| gate.passes).min().unwrap_or(0);
            sentences.push(format!(
                "stopped early: the gate \"{} of {passes}\" of {} case{} was decided before all passes had run (the first \
                 after {fewest}); their rates are biased, the gates are not",
                self.gate,
                self.closed.len(),
                if self.closed.len() == 1 { "" } else { "s" },
            ));
        }
        for decided in &self.decided {
            sentences.push(format!(
                "stopped early: {} was decided after {} of {passes} passes a case (e-value {:.0}; {} pairs better, {} \
                 worse); its rates are biased towards what decided it",
                decided.configuration, decided.passes, decided.e_value, decided.better, decided.worse,
            ));
        }
        if self.saved > 0 {
            sentences.push(format!("{} passes were not needed", self.saved));
        }
        sentences
    }
}
