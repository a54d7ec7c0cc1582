//! What a reader must know before trusting the numbers of a run.

use crate::numbers::{grouped, plural};
use crate::summary::{ConfigurationSummary, Observations, RunSummary};

/// The notes, the most serious first.
pub(crate) fn notes(summary: &RunSummary) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(unfinished(summary));
    for configuration in &summary.configurations {
        notes.extend(invalid(configuration));
        notes.extend(repeats(configuration));
        notes.extend(full_context(configuration));
    }
    if summary.configurations.len() > 2 {
        notes.push(
            "the best of several configurations looks a few points better than it is: \
             run the winner again with fresh seeds and quote that number"
                .to_owned(),
        );
    }
    notes
}

fn unfinished(summary: &RunSummary) -> Option<String> {
    let planned = summary.facts.planned_passes?;
    (summary.passes < planned).then(|| {
        format!("{} of {} passes have run: the rates are preliminary", grouped(summary.passes), grouped(planned))
    })
}

fn invalid(configuration: &ConfigurationSummary) -> Option<String> {
    let share = configuration.invalid as f64 / (configuration.invalid + configuration.rate.total).max(1) as f64;
    (share > 0.05).then(|| {
        format!(
            "{}: {} ended in an infrastructure fault; they are not scored, and so many may hide a pattern",
            configuration.facts.label,
            plural(configuration.invalid, "pass", "passes"),
        )
    })
}

fn repeats(configuration: &ConfigurationSummary) -> Option<String> {
    let rate = &configuration.rate;
    if rate.effective_n >= rate.total {
        return None;
    }
    let reason = match configuration.observations {
        Observations::Independent => return None,
        Observations::Deterministic => "at temperature 0",
        Observations::Repeating => "although it should sample (is the seed or the temperature ignored?)",
    };
    Some(format!(
        "{}: outputs repeat {reason}: {} passes are {} observations, and the intervals say so",
        configuration.facts.label,
        grouped(rate.total),
        grouped(rate.effective_n),
    ))
}

fn full_context(configuration: &ConfigurationSummary) -> Option<String> {
    let share = configuration.prompt_share_of_context.filter(|share| *share > 0.9)?;
    Some(format!(
        "{}: the largest prompt fills {:.0} % of the context and leaves little for the answer",
        configuration.facts.label,
        share * 100.0
    ))
}
