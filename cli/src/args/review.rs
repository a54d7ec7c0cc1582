//! The commands over stored runs: compare, confirm, nightly, report, query.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Format;

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
A and B are runs (an id, its beginning, `latest` or `baseline`), with /CONFIGURATION where a run has several.
They must differ in one thing, the variable under test; --allow names others that may differ too.

Exit code 1 when the verdict is REGRESSED.

Examples:
  tenpass compare baseline latest
  tenpass compare 20261130-2200 20261130-2214 --targets 'delegate-*' --guards 'no-call-*'
  tenpass compare 'latest/embedded:smollm2-135m grammar' 'latest/embedded:smollm2-135m text' --format markdown")]
pub(crate) struct Compare {
    /// The run before
    pub(crate) before: String,
    /// The run after
    pub(crate) after: String,
    #[command(flatten)]
    pub(crate) options: Comparing,
    /// How to print it
    #[arg(long, value_enum, default_value = "table", value_name = "FORMAT")]
    pub(crate) format: ComparisonFormat,
}

/// What a comparison is told beforehand.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Comparing {
    /// Cases that are meant to improve, by id (`*` stands for any text) [default: those of kind target]
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) targets: Vec<String>,
    /// Cases that must stay good [default: those of kind guard]
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) guards: Vec<String>,
    /// Smallest difference that matters, as a fraction [default: 0.05]
    #[arg(long, value_name = "RATE", value_parser = parse_delta)]
    pub(crate) delta: Option<f64>,
    /// What else may differ between the two, such as passes or timeout; `all` allows everything
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) allow: Vec<String>,
}

/// How a comparison is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparisonFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// For a pull request.
    Markdown,
    /// A page of its own.
    Html,
    /// For spreadsheets: a row a case.
    Csv,
    /// For data frames: a row a case; needs a file or a pipe.
    Parquet,
}

/// Arguments of `confirm`.
#[derive(Debug, Args)]
#[command(after_help = "\
The best of several configurations looks better than it is, because it was picked for its luck too. This measures
the winner of a run again, with seeds it has not met, beside the configuration it was compared with; the number to
report is this one.

Example:
  tenpass confirm latest")]
pub(crate) struct Confirm {
    /// The run whose winner is measured again
    pub(crate) run: String,
    /// The configuration to confirm [default: the one with the highest rate]
    #[arg(long, value_name = "ID")]
    pub(crate) configuration: Option<String>,
    /// Passes of each case [default: as many as the run had]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) passes: Option<u32>,
    #[command(flatten)]
    pub(crate) options: Comparing,
    /// How to print it
    #[arg(long, value_enum, default_value = "table", value_name = "FORMAT")]
    pub(crate) format: ComparisonFormat,
}

/// Arguments of `nightly`.
#[derive(Debug, Args)]
#[command(after_help = "\
Runs the benches named by `nightly.benches` of the profile, each beside its baseline, and writes what came of it to a
folder of the night: report.html, junit.xml, summary.md. A night that a power cut ended is gone on with. Exit code 1
when something regressed or a case broke since earlier nights, 3 when something could not be measured.

Examples:
  tenpass nightly
  tenpass nightly --systemd --out ~/.config/systemd/user
  tenpass nightly --jobs slurm --parts 4 --out jobs")]
pub(crate) struct Nightly {
    /// Print a systemd service and timer, or write them to --out, and do nothing else
    #[arg(long, conflicts_with = "jobs")]
    pub(crate) systemd: bool,
    /// Write job files for a scheduler, and do nothing else
    #[arg(long, value_enum, value_name = "SCHEDULER")]
    pub(crate) jobs: Option<Scheduler>,
    /// Parts that --jobs divides the cases into
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000), requires = "jobs")]
    pub(crate) parts: u32,
    /// Where --jobs and --systemd write
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Where the nights are kept [default: nights beside the runs]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Begin a new night even where one is unfinished
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Print the summary of past nights, and run nothing
    #[arg(long)]
    pub(crate) history: bool,
}

/// A scheduler that runs the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheduler {
    /// A job array.
    Slurm,
    /// An Indexed Job.
    Kubernetes,
    /// A matrix of GitHub Actions.
    Github,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = "\
The page is one file that needs no network: the verdict, a heat map of cases and configurations, what failed, times
and tokens, and the failing passes behind a click. RUN/CONFIGURATION shows one configuration of a run.

Examples:
  tenpass report latest --open
  tenpass report 20261130-2200 20261130-2214 --out page.html
  tenpass report latest --passing --out - > page.html")]
pub(crate) struct Report {
    /// Runs: ids, their beginnings, `latest` or `baseline`; the first is the baseline of the others
    #[arg(required = true)]
    pub(crate) runs: Vec<String>,
    /// Where to write; - is the standard output [default: report.html in the folder of the last run]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Put passing passes in as well, as far as there is room
    #[arg(long)]
    pub(crate) passing: bool,
    #[command(flatten)]
    pub(crate) options: Comparing,
}

/// Arguments of `query`.
#[derive(Debug, Args)]
#[command(after_help = "\
Tables: runs, configurations, cases, passes, cells, failures; turns, rounds, calls, confirmations,
verdicts, retries, delegations, events. `tenpass query --tables` shows their columns.

The language is SQLite's, for reading only. Beside its functions there are latest() and
baseline('tools') (ids of runs), wilson_low(passed, total), wilson_high(passed, total), median(x) and
quantile(x, q). `case` is a word of SQL: the column is [case].

Examples:
  tenpass query \"SELECT class, count(*) AS passes FROM passes WHERE run = latest() GROUP BY class\"
  tenpass query \"SELECT [case], rate, low, high FROM cells WHERE run = latest() AND high < 0.9\"
  tenpass query \"SELECT [case], run, rate FROM cells WHERE bench = 'tools'\" --wide case,run,rate
  tenpass query \"SELECT tool, outcome, count(*) FROM calls GROUP BY tool, outcome\" --format csv
  tenpass query \"SELECT * FROM passes\" --format parquet --out passes.parquet")]
pub(crate) struct Query {
    /// One SELECT, or WITH … SELECT
    #[arg(required_unless_present = "tables")]
    pub(crate) sql: Option<String>,
    /// List the tables, their columns, and the functions
    #[arg(long, conflicts_with_all = ["sql", "wide", "out", "timeout"])]
    pub(crate) tables: bool,
    /// Spread the values of a column over columns of its own: rows, columns, values
    #[arg(long, value_name = "ROW,COLUMN,VALUE", value_parser = parse_wide)]
    pub(crate) wide: Option<Wide>,
    /// Write to this file instead of the terminal; it is there when it is complete
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Give up after this time, such as 30s
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) timeout: Option<std::time::Duration>,
    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// What `--wide` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wide {
    /// Its values become rows.
    pub(crate) row: String,
    /// Its values become columns.
    pub(crate) column: String,
    /// What stands where they meet.
    pub(crate) value: String,
}

fn parse_wide(text: &str) -> Result<Wide, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    match parts.as_slice() {
        [row, column, value] if parts.iter().all(|part| !part.is_empty()) => {
            Ok(Wide { row: (*row).to_owned(), column: (*column).to_owned(), value: (*value).to_owned() })
        }
        _ => Err("write three columns of the answer, such as case,configuration,rate".to_owned()),
    }
}

fn parse_time(text: &str) -> Result<std::time::Duration, String> {
    let time = tenpass_config::parse_duration(text).filter(|time| !time.is_zero());
    time.ok_or_else(|| "write a time such as 30s or 2m".to_owned())
}

fn parse_delta(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| *value > 0.0 && *value < 1.0);
    value.ok_or_else(|| "write a fraction above 0 and below 1, such as 0.05".to_owned())
}
