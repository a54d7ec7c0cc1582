//! `tenpass stats …`.

use clap::{Args, Subcommand};

use super::TextOrJson;

/// The calculator.
#[derive(Debug, Subcommand)]
pub(crate) enum Stats {
    /// Interval of a success rate (Wilson's score interval), for display
    #[command(after_help = "Example:\n  tenpass stats wilson 7 10")]
    Wilson(Rate),
    /// Interval of a success rate where a guarantee is claimed (Clopper and Pearson, exact)
    #[command(after_help = "Example:\n  tenpass stats clopper 3 29")]
    Clopper(Rate),
    /// Interval of an event rate (exact Poisson)
    #[command(after_help = "Example:\n  tenpass stats poisson 2 30")]
    Poisson {
        /// How often it happened
        #[arg(value_parser = count, allow_negative_numbers = true)]
        events: u32,
        /// How long was watched, in hours or any other unit; need not be whole
        #[arg(value_parser = exposure, allow_negative_numbers = true, value_name = "HOURS")]
        exposure: f64,
        #[command(flatten)]
        confidence: Confidence,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// One case before and after (Boschloo's exact test, two-sided)
    #[command(after_help = "Example:\n  tenpass stats boschloo 10 10 7 10")]
    Boschloo {
        /// Successes before
        #[arg(value_parser = count, allow_negative_numbers = true)]
        successes_before: u32,
        /// Trials before
        #[arg(value_parser = count, allow_negative_numbers = true)]
        trials_before: u32,
        /// Successes after
        #[arg(value_parser = count, allow_negative_numbers = true)]
        successes_after: u32,
        /// Trials after
        #[arg(value_parser = count, allow_negative_numbers = true)]
        trials_after: u32,
        #[command(flatten)]
        confidence: Confidence,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Two systems once each on the same items (McNemar's exact test, two-sided)
    #[command(after_help = "Example:\n  tenpass stats mcnemar 5 1")]
    Mcnemar {
        /// b: items that passed only before
        #[arg(value_parser = count, allow_negative_numbers = true, value_name = "ONLY_BEFORE")]
        only_before: u32,
        /// c: items that passed only after
        #[arg(value_parser = count, allow_negative_numbers = true, value_name = "ONLY_AFTER")]
        only_after: u32,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Many cases before and after (Cochran-Mantel-Haenszel, exact)
    #[command(after_help = "\
Four numbers a case: successes and trials before, successes and trials after. A file has one case a
line, the four separated by commas; a fifth column names the family of the case. `-` reads stdin.

Example:
  tenpass stats cmh 3 10 8 10 5 10 9 10
  tenpass stats cmh 3/10 8/10 5/10 9/10
  tenpass stats cmh cases.csv")]
    Cmh {
        /// The numbers, four a case, or one file
        #[arg(required = true, allow_negative_numbers = true, value_name = "NUMBER|FILE")]
        cases: Vec<String>,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Several tests at once: no false alarm (Holm)
    #[command(after_help = "Example:\n  tenpass stats holm 0.01 0.04 0.03")]
    Holm(PValues),
    /// Several tests at once: few false alarms (Benjamini and Hochberg)
    #[command(after_help = "Example:\n  tenpass stats bh 0.01 0.04 0.03 --level 0.10")]
    Bh(PValues),
    /// Chance that k passes in a row all succeed (pass^k), and that one of k does (pass@k)
    #[command(after_help = "Example:\n  tenpass stats passk 7 10 3")]
    Passk {
        /// Successes
        #[arg(value_parser = count, allow_negative_numbers = true)]
        successes: u32,
        /// Trials
        #[arg(value_parser = count, allow_negative_numbers = true)]
        trials: u32,
        /// Passes in a row
        #[arg(value_parser = count, allow_negative_numbers = true, default_value = "3")]
        k: u32,
        #[command(flatten)]
        confidence: Confidence,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// By how much two systems differ on the same items (Tango's score interval)
    #[command(after_help = "\
The difference is after minus before: (ONLY_AFTER - ONLY_BEFORE) / PAIRS.

Example:
  tenpass stats tango 2 2 100")]
    Tango {
        /// b: items that passed only before
        #[arg(value_parser = count, allow_negative_numbers = true, value_name = "ONLY_BEFORE")]
        only_before: u32,
        /// c: items that passed only after
        #[arg(value_parser = count, allow_negative_numbers = true, value_name = "ONLY_AFTER")]
        only_after: u32,
        /// n: all items, those on which both agree included
        #[arg(value_parser = count, allow_negative_numbers = true)]
        pairs: u32,
        #[command(flatten)]
        confidence: Confidence,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Evidence that may be looked at after every vote (e-value of wins against losses)
    #[command(after_help = "Example:\n  tenpass stats evalue 9 1")]
    Evalue {
        /// Votes for the candidate
        #[arg(value_parser = count, allow_negative_numbers = true)]
        wins: u32,
        /// Votes against it; ties are left out
        #[arg(value_parser = count, allow_negative_numbers = true)]
        losses: u32,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Wins against losses (sign test, two-sided)
    #[command(after_help = "Example:\n  tenpass stats signtest 9 1")]
    Signtest {
        /// Wins
        #[arg(value_parser = count, allow_negative_numbers = true)]
        wins: u32,
        /// Losses; ties are left out
        #[arg(value_parser = count, allow_negative_numbers = true)]
        losses: u32,
        #[command(flatten)]
        confidence: Confidence,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Votes among three or more candidates (exact multinomial test; pairs with Holm)
    #[command(after_help = "Example:\n  tenpass stats votes 9 2 1")]
    Votes {
        /// Votes for each candidate
        #[arg(required = true, num_args = 2.., value_parser = count, allow_negative_numbers = true)]
        votes: Vec<u32>,
        /// Chances under the null hypothesis, one a candidate; equal ones unless given
        #[arg(long, value_parser = share, value_delimiter = ',', value_name = "P,…")]
        chances: Option<Vec<f64>>,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Paired differences that come in clusters (sign flips of whole clusters)
    #[command(after_help = "\
A file has one item a line: the name of its cluster, such as the command that several voices speak,
and its difference, after minus before. `-` reads stdin.

Example:
  tenpass stats permutation differences.csv")]
    Permutation {
        /// The file
        file: String,
        /// Seed of the flips that are drawn where not all can be tried
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Rates of cases drawn towards their mean (beta-binomial), for ranking
    #[command(after_help = "Example:\n  tenpass stats shrink 10/10 7/10 3/10 1/2")]
    Shrink(Tallies),
    /// Which nights lie outside what nights usually do (Laney's p' chart)
    #[command(after_help = "Example:\n  tenpass stats laney 560/600 548/600 571/600 480/600")]
    Laney(Tallies),
    /// A gate such as "at least 8 of 10": when it is settled, and who gets through
    #[command(after_help = "Example:\n  tenpass stats gate 8 10 --rate 0.9")]
    Gate {
        /// Successes needed
        #[arg(value_parser = count, allow_negative_numbers = true)]
        need: u32,
        /// Passes at most
        #[arg(value_parser = count, allow_negative_numbers = true)]
        of: u32,
        /// A true success rate
        #[arg(long, value_parser = share, default_value = "0.8", allow_negative_numbers = true)]
        rate: f64,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Passes needed to find a difference, or to show a rate
    #[command(after_help = "\
Example:
  tenpass stats passes --cases 30 --delta 0.05
  tenpass stats passes --show 0.95")]
    Passes {
        /// Cases of the bench
        #[arg(long, value_parser = count, allow_negative_numbers = true, requires = "delta")]
        cases: Option<u32>,
        /// The difference of the mean rate to be found with 80 % power at the 5 % level
        #[arg(long, value_parser = share, allow_negative_numbers = true, requires = "cases", value_name = "FRACTION")]
        delta: Option<f64>,
        /// The success rate of a typical case
        #[arg(long, value_parser = share, default_value = "0.8", allow_negative_numbers = true)]
        rate: f64,
        /// Show that a rate is at least this, without a single failure
        #[arg(long, value_parser = share, allow_negative_numbers = true, conflicts_with = "cases", value_name = "RATE")]
        show: Option<f64>,
        #[command(flatten)]
        confidence: Confidence,
        #[command(flatten)]
        format: TextOrJson,
    },
}

/// Successes of trials.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Rate {
    /// Successes
    #[arg(value_parser = count, allow_negative_numbers = true)]
    pub(crate) successes: u32,
    /// Trials
    #[arg(value_parser = count, allow_negative_numbers = true)]
    pub(crate) trials: u32,
    #[command(flatten)]
    pub(crate) confidence: Confidence,
    #[command(flatten)]
    pub(crate) format: TextOrJson,
}

/// `--confidence`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Confidence {
    /// How sure the interval is
    #[arg(long, value_parser = confidence, default_value = "0.95", allow_negative_numbers = true, value_name = "FRACTION")]
    pub(crate) confidence: f64,
}

/// P-values.
#[derive(Debug, Clone, Args)]
pub(crate) struct PValues {
    /// The p-values
    #[arg(required = true, value_parser = share, allow_negative_numbers = true)]
    pub(crate) p: Vec<f64>,
    /// The share of false alarms that is accepted: 0.05 for Holm, 0.10 for Benjamini and Hochberg
    #[arg(long, value_parser = share, allow_negative_numbers = true, value_name = "FRACTION")]
    pub(crate) level: Option<f64>,
    #[command(flatten)]
    pub(crate) format: TextOrJson,
}

/// Successes and trials, several.
#[derive(Debug, Clone, Args)]
pub(crate) struct Tallies {
    /// SUCCESSES/TRIALS of each, or one file with a line `successes,trials` each; `-` reads stdin
    #[arg(required = true, allow_negative_numbers = true, value_name = "K/N|FILE")]
    pub(crate) tallies: Vec<String>,
    #[command(flatten)]
    pub(crate) format: TextOrJson,
}

/// More than any bench has; what grows with the trials stays quick.
const MOST: u32 = 100_000_000;

/// A whole number of things counted.
pub(crate) fn count(text: &str) -> Result<u32, String> {
    let whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !whole {
        return Err("not a whole number of 0 or more".to_owned());
    }
    text.parse().ok().filter(|count| *count <= MOST).ok_or_else(|| format!("more than {MOST}"))
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| "not a number".to_owned())
}

fn exposure(text: &str) -> Result<f64, String> {
    number(text)?;
    number(text).ok().filter(|exposure| (1e-9..=1e12).contains(exposure)).ok_or_else(|| "not above 0".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share = number(text)?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("not between 0 and 1".to_owned()) }
}

fn confidence(text: &str) -> Result<f64, String> {
    let confidence = number(text)?;
    // Beyond this the ends are 0 and 1, or everything.
    let sensible = (0.01..=0.999_999).contains(&confidence);
    if sensible { Ok(confidence) } else { Err("not a fraction between 0 and 1, such as 0.95".to_owned()) }
}
