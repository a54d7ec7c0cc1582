//! The numbers: typed, or lines of a file.

use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use tenpass_stats::{Pair, Tally};

use crate::args::stats::count;
use crate::failure::Failure;

/// Larger files are no list of cases.
const BYTES: u64 = 16 << 20;
/// Exact tests grow with the passes of a case.
pub(super) const PASSES: u32 = 1_000_000;

/// Successes of trials. `side` names them in the error; it may be empty.
pub(super) fn tally(successes: u32, trials: u32, side: &str) -> Result<Tally, Failure> {
    let place = if side.is_empty() { String::new() } else { format!("{side}: ") };
    let Some(failures) = trials.checked_sub(successes) else {
        return Err(Failure::mistake(format!("{place}{successes} successes of {trials} trials"))
            .hint("first the successes, then the trials, which count failures too"));
    };
    if trials == 0 {
        return Err(Failure::mistake(format!("{place}0 trials say nothing")).hint("at least one trial is needed"));
    }
    Ok(Tally::new(successes, failures))
}

/// One that an exact test can take.
pub(super) fn small(tally: Tally, side: &str) -> Result<(), Failure> {
    if tally.total() <= PASSES {
        return Ok(());
    }
    Err(Failure::mistake(format!("{side}: {} trials of one case are more than {PASSES}", tally.total()))
        .hint("with so many, `tenpass stats wilson` on each side says as much"))
}

/// Cases before and after.
pub(super) fn pairs(arguments: &[String]) -> Result<Vec<Pair>, Failure> {
    let pair = |numbers: [u32; 4], place: &str| -> Result<Pair, Failure> {
        let before = tally(numbers[0], numbers[1], &format!("{place}, before"))?;
        let after = tally(numbers[2], numbers[3], &format!("{place}, after"))?;
        small(before, place)?;
        small(after, place)?;
        Ok(Pair::new(before, after))
    };
    let Some(file) = file(arguments) else {
        let numbers = numbers(arguments)?;
        let (quadruples, rest) = numbers.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(Failure::mistake(format!("{} numbers are not four a case", numbers.len()))
                .hint("a case is four numbers: successes and trials before, successes and trials after"));
        }
        let cases = quadruples.iter().enumerate();
        return cases.map(|(i, four)| Ok(pair(*four, &format!("case {}", i + 1))?.in_cluster(i))).collect();
    };
    let mut families: HashMap<String, usize> = HashMap::new();
    let mut pairs = Vec::new();
    for line in Lines::of(file)?.lines(0..4, "successes before, trials before, successes after, trials after")? {
        let mut numbers = [0; 4];
        for (column, number) in numbers.iter_mut().enumerate() {
            *number = line.count(column)?;
        }
        let next = families.len();
        // Without a family a case is one of its own.
        let family = line.fields.get(4).map_or_else(|| format!("\0{}", line.number), |family| (*family).to_owned());
        let cluster = *families.entry(family).or_insert(next);
        pairs.push(pair(numbers, &line.place)?.in_cluster(cluster));
    }
    Ok(pairs)
}

/// Successes of trials, several.
pub(super) fn tallies(arguments: &[String]) -> Result<Vec<Tally>, Failure> {
    let Some(file) = file(arguments) else {
        let numbers = numbers(arguments)?;
        let (twos, rest) = numbers.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(Failure::mistake(format!("{} numbers are not two each", numbers.len()))
                .hint("write successes and trials, such as 7/10"));
        }
        return twos.iter().enumerate().map(|(i, two)| tally(two[0], two[1], &format!("number {}", i + 1))).collect();
    };
    let opened = Lines::of(file)?;
    let lines = opened.lines(0..2, "successes, trials")?;
    lines.into_iter().map(|line| tally(line.count(0)?, line.count(1)?, &line.place)).collect()
}

/// Items with their clusters and differences.
pub(super) fn clusters(file: &str) -> Result<Vec<(usize, f64)>, Failure> {
    let mut names: HashMap<String, usize> = HashMap::new();
    let opened = Lines::of(file)?;
    let lines = opened.lines(1..2, "cluster, difference")?;
    lines
        .into_iter()
        .map(|line| {
            let next = names.len();
            let cluster = *names.entry(line.fields[0].to_owned()).or_insert(next);
            let difference = line.fields[1].parse().ok().filter(|difference: &f64| difference.abs() <= 1e12);
            let difference =
                difference.ok_or_else(|| line.mistake(1, &format!("{:?} is not a number", line.fields[1])))?;
            Ok((cluster, difference))
        })
        .collect()
}

/// One argument that is no number names a file.
fn file(arguments: &[String]) -> Option<&str> {
    let [one] = arguments else { return None };
    let numeric =
        one.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit()) && !Path::new(one).exists();
    (!numeric).then_some(one.as_str())
}

/// Whole numbers, apart or joined by slashes.
fn numbers(arguments: &[String]) -> Result<Vec<u32>, Failure> {
    let parts = arguments.iter().flat_map(|argument| argument.split('/'));
    parts.map(|part| count(part).map_err(|fault| Failure::mistake(format!("{part:?} is {fault}")))).collect()
}

/// A file of lines with fields.
struct Lines {
    name: String,
    text: String,
}

/// One of them.
struct Line<'a> {
    number: usize,
    place: String,
    fields: Vec<&'a str>,
}

impl Line<'_> {
    fn mistake(&self, column: usize, fault: &str) -> Failure {
        Failure::mistake(format!("{}, column {}: {fault}", self.place, column + 1))
    }

    fn count(&self, column: usize) -> Result<u32, Failure> {
        count(self.fields[column])
            .map_err(|fault| self.mistake(column, &format!("{:?} is {fault}", self.fields[column])))
    }
}

impl Lines {
    fn of(file: &str) -> Result<Self, Failure> {
        let mut text = String::new();
        let read = if file == "-" {
            std::io::stdin().lock().take(BYTES + 1).read_to_string(&mut text)
        } else {
            std::fs::File::open(file).and_then(|opened| opened.take(BYTES + 1).read_to_string(&mut text))
        };
        let name = if file == "-" { "stdin" } else { file };
        read.map_err(|error| {
            Failure::file(Path::new(name), &error).hint("type the numbers, or name a file with a line each")
        })?;
        if text.len() as u64 > BYTES {
            return Err(Failure::mistake(format!("{name}: more than {} MiB", BYTES >> 20)));
        }
        Ok(Self { name: name.to_owned(), text })
    }

    /// The lines, with numbers at least in the columns `numeric`. Empty lines, comments and a first
    /// line of names are skipped. Fields are separated by commas, semicolons, tabs or spaces.
    fn lines(&self, numeric: Range<usize>, columns: &str) -> Result<Vec<Line<'_>>, Failure> {
        let text = self.text.strip_prefix('\u{feff}').unwrap_or(&self.text);
        let fields = numeric.end;
        let mut lines = Vec::new();
        let mut header = true;
        for (i, line) in text.lines().enumerate() {
            let place = format!("{}, line {}", self.name, i + 1);
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let separator = [',', ';', '\t'].into_iter().find(|separator| line.contains(*separator)).unwrap_or(' ');
            let found: Vec<&str> = line.split(separator).map(|field| field.trim().trim_matches('"')).collect();
            // Names of columns: not one number where numbers belong.
            let named =
                found.len() >= fields && found[numeric.clone()].iter().all(|field| field.parse::<f64>().is_err());
            if std::mem::take(&mut header) && named {
                continue;
            }
            if found.len() < fields {
                return Err(Failure::mistake(format!("{place}: {} of {fields} fields", found.len()))
                    .hint(format!("the columns are {columns}")));
            }
            lines.push(Line { number: i + 1, place, fields: found });
        }
        if lines.is_empty() {
            return Err(Failure::mistake(format!("{}: no line with numbers", self.name))
                .hint(format!("the columns are {columns}")));
        }
        Ok(lines)
    }
}
