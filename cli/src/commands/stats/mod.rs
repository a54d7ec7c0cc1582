//! `tenpass stats …`: one question, two numbers, an answer in a sentence.
//!
//! `input` reads the numbers, `rates`, `pairs` and `many` answer, [`Answer`] is what is printed: the
//! sentence for people, an object with `p`, `low`, `high` and `value` for programs.

mod answer;
mod input;
mod many;
mod pairs;
mod rates;
#[cfg(test)]
mod tests;

use self::answer::Answer;
use crate::args::TextOrJson;
use crate::args::stats::Stats;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Carries out the command.
pub(crate) fn run(command: &Stats, printer: Printer) -> Result<Exit, Failure> {
    let answer = answer(command)?;
    if format(command).json() {
        printer.json(&answer.value())?;
    } else {
        printer.out(&answer.text());
    }
    Ok(Exit::Yes)
}

fn format(command: &Stats) -> TextOrJson {
    match command {
        Stats::Wilson(rate) | Stats::Clopper(rate) => rate.format,
        Stats::Holm(values) | Stats::Bh(values) => values.format,
        Stats::Shrink(tallies) | Stats::Laney(tallies) => tallies.format,
        Stats::Poisson { format, .. }
        | Stats::Boschloo { format, .. }
        | Stats::Mcnemar { format, .. }
        | Stats::Cmh { format, .. }
        | Stats::Passk { format, .. }
        | Stats::Tango { format, .. }
        | Stats::Evalue { format, .. }
        | Stats::Signtest { format, .. }
        | Stats::Votes { format, .. }
        | Stats::Permutation { format, .. }
        | Stats::Gate { format, .. }
        | Stats::Passes { format, .. } => *format,
    }
}

/// Works it out.
fn answer(command: &Stats) -> Result<Answer, Failure> {
    match command {
        Stats::Wilson(rate) => rates::wilson(rate),
        Stats::Clopper(rate) => rates::clopper(rate),
        Stats::Poisson { events, exposure, confidence, .. } => {
            Ok(rates::poisson(*events, *exposure, confidence.confidence))
        }
        Stats::Passk { successes, trials, k, confidence, .. } => {
            rates::passk(*successes, *trials, *k, confidence.confidence)
        }
        Stats::Gate { need, of, rate, .. } => rates::gate(*need, *of, *rate),
        Stats::Passes { cases, delta, rate, show, confidence, .. } => match (cases, delta, show) {
            (Some(cases), Some(delta), None) => rates::passes(*cases, *delta, *rate),
            (None, None, Some(show)) => rates::straight(*show, confidence.confidence),
            _ => Err(Failure::mistake("passes for what? neither a difference nor a rate was named")
                .hint("name --cases and --delta, or --show")),
        },
        Stats::Boschloo { successes_before, trials_before, successes_after, trials_after, confidence, .. } => {
            let before = input::tally(*successes_before, *trials_before, "before")?;
            let after = input::tally(*successes_after, *trials_after, "after")?;
            pairs::boschloo(before, after, confidence.confidence)
        }
        Stats::Mcnemar { only_before, only_after, .. } => Ok(pairs::mcnemar(*only_before, *only_after)),
        Stats::Tango { only_before, only_after, pairs, confidence, .. } => {
            pairs::tango(*only_before, *only_after, *pairs, confidence.confidence)
        }
        Stats::Evalue { wins, losses, .. } => Ok(pairs::evalue(*wins, *losses)),
        Stats::Signtest { wins, losses, confidence, .. } => pairs::signtest(*wins, *losses, confidence.confidence),
        Stats::Cmh { cases, .. } => many::cmh(&input::pairs(cases)?),
        Stats::Holm(values) => Ok(many::holm(values)),
        Stats::Bh(values) => Ok(many::benjamini_hochberg(values)),
        Stats::Votes { votes, chances, .. } => many::votes(votes, chances.as_deref()),
        Stats::Permutation { file, seed, .. } => Ok(many::permutation(&input::clusters(file)?, *seed)),
        Stats::Shrink(tallies) => many::shrink(&input::tallies(&tallies.tallies)?),
        Stats::Laney(tallies) => many::laney(&input::tallies(&tallies.tallies)?),
    }
}
