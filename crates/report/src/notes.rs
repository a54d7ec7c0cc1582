//! What a reader must know before trusting the numbers of a run.

use crate::numbers::{grouped, of, percent, plural};
use crate::summary::{ConfigurationSummary, Observations, RunSummary};
use tenpass_trace::FailureClass;

/// The notes, the most serious first.
pub(crate) fn notes(summary: &RunSummary) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(unfinished(summary));
    for configuration in &summary.configurations {
        notes.extend(overflow(configuration));
        notes.extend(invalid(configuration));
        notes.extend(repeats(configuration));
        notes.extend(full_context(configuration));
    }
    notes.extend(weighed(summary));
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

/// Where the table pools passes and the comparisons weigh cases alike, and the two are not the same.
fn weighed(summary: &RunSummary) -> Option<String> {
    if summary.comparisons.is_empty() {
        return None;
    }
    let differing = summary.configurations.iter().enumerate().find_map(|(place, configuration)| {
        let cells = summary.cases.iter().filter_map(|case| case.cells.get(place)?.rate.rate);
        let rates: Vec<f64> = cells.collect();
        let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
        let pooled = configuration.rate.rate?;
        (!rates.is_empty() && (pooled - mean).abs() > 5e-4).then_some((configuration, mean))
    });
    differing.map(|(configuration, mean)| {
        format!(
            "the cases have different numbers of passes: rates and plots pool passes ({}: {}), verdicts weigh cases \
             alike ({} %)",
            configuration.facts.label,
            of(&configuration.rate),
            percent(mean, 1)
        )
    })
}

fn invalid(configuration: &ConfigurationSummary) -> Option<String> {
    let faults = configuration.invalid.saturating_sub(overflows(configuration));
    let share = faults as f64 / (configuration.invalid + configuration.rate.total).max(1) as f64;
    (share > 0.05).then(|| {
        format!(
            "{}: {} ended in an infrastructure fault; they are not scored, and so many may hide a pattern",
            configuration.facts.label,
            plural(faults, "pass", "passes"),
        )
    })
}

/// Passes whose request did not fit the context.
fn overflows(configuration: &ConfigurationSummary) -> u64 {
    let classes = configuration.failures.iter().flat_map(|kind| &kind.classes);
    classes.filter(|class| class.class == FailureClass::InvalidOverflow).map(|class| class.passes).sum()
}

fn overflow(configuration: &ConfigurationSummary) -> Option<String> {
    let count = overflows(configuration);
    (count > 0).then(|| {
        let passes = plural(count, "pass", "passes");
        format!(
            "{}: {passes} did not fit the context and are not scored: raise it with --ctx, or offer fewer tools",
            configuration.facts.label
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
