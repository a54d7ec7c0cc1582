//! The verdict: what stands first on a page.

use std::fmt::Write as _;

use tenpass_stats::{Tally, clopper_pearson, straight_passes_needed};

use super::data::{ReportPage, ReportSection};
use super::escape::{escape, spans};
use super::fragment::fragment;
use crate::compare::RunComparison;
use crate::numbers::{interval, of, p_value, percent, plural, points, rate_percent};
use crate::summary::{CaseSummary, Comparison, Rate};
use crate::view::comparison_page;

/// z of a two-sided test at 5 % plus z of 80 % power.
const DETECTABLE: f64 = 1.96 + 0.842;

/// Cases of a whole comparison, at most.
const MOST_CASES: usize = 60;

/// Names of guard cases in a row, at most.
const MOST_NAMES: usize = 8;

/// A word with what it is about.
#[derive(Debug, Default)]
struct Card {
    word: String,
    class: &'static str,
    who: String,
    lines: Vec<String>,
    points: Vec<String>,
    /// What to know before trusting it.
    notes: Vec<String>,
    /// Ready HTML behind a click.
    more: String,
}

/// All cards of a page.
pub(crate) fn verdicts(page: &ReportPage<'_>) -> String {
    let mut cards: Vec<Card> = page.comparisons.iter().map(of_runs).collect();
    for section in &page.sections {
        let shown = |comparison: &Comparison| {
            page.comparisons.iter().any(|known| {
                known.before.facts.run == known.after.facts.run
                    && known.before.facts.run == section.columns[0].run
                    && known.after.facts.configuration == comparison.configuration
            })
        };
        cards.extend(section.summary.comparisons.iter().filter(|one| !shown(one)).map(within));
        if section.columns.len() == 1 && !about(page.comparisons, section) {
            cards.push(alone(section));
        }
    }
    let mut html = String::new();
    if cards.len() > 2 {
        let _ = writeln!(html, "<p>{}</p>", tally(&cards));
    }
    html.push_str("<section class=\"verdicts\" aria-label=\"verdict\">\n");
    for card in &cards {
        draw(&mut html, card);
    }
    html.push_str("</section>\n");
    if page.comparisons.len() + page.sections.iter().map(|one| one.summary.comparisons.len()).sum::<usize>() > 2 {
        html.push_str(
            "<p class=\"quiet\">Of several comparisons one may stand out by luck: measure the winner again with \
             <code>tenpass confirm RUN</code> and quote that number.</p>\n",
        );
    }
    if !page.refused.is_empty() {
        html.push_str("<h3>Not compared</h3>\n<ul class=\"remarks\">\n");
        for reason in page.refused {
            let _ = writeln!(html, "<li class=\"doubt\">{}</li>", escape(reason));
        }
        html.push_str("</ul>\n");
    }
    html
}

/// `2 REGRESSED, 1 NO CHANGE`, the gravest first.
fn tally(cards: &[Card]) -> String {
    let words = ["REGRESSED", "INCONCLUSIVE", "NO CHANGE", "REAL"];
    let count = |word: &str| cards.iter().filter(|card| card.word == word).count();
    let found = words.iter().map(|word| (*word, count(word))).filter(|(_, count)| *count > 0);
    found.map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

fn about(comparisons: &[RunComparison], section: &ReportSection) -> bool {
    let run = &section.columns[0].run;
    comparisons.iter().any(|known| known.before.facts.run == *run || known.after.facts.run == *run)
}

fn draw(html: &mut String, card: &Card) {
    let _ = writeln!(
        html,
        "<article class=\"verdict {}\"><p class=\"word\">{}</p><p class=\"who\">{}</p>",
        card.class,
        escape(&card.word),
        card.who
    );
    for line in &card.lines {
        let _ = writeln!(html, "<p>{}</p>", escape(line));
    }
    list(html, &card.points);
    if !card.notes.is_empty() {
        html.push_str("<h4>Before trusting it</h4>\n");
        list(html, &card.notes);
    }
    if !card.more.is_empty() {
        let _ = writeln!(html, "<details><summary>the whole comparison</summary>\n{}</details>", card.more);
    }
    html.push_str("</article>\n");
}

fn list(html: &mut String, points: &[String]) {
    if points.is_empty() {
        return;
    }
    html.push_str("<ul class=\"remarks\">\n");
    for point in points {
        let _ = writeln!(html, "<li>{}</li>", spans(point));
    }
    html.push_str("</ul>\n");
}

fn class_of(word: &str) -> &'static str {
    match word {
        "REAL" => "real",
        "REGRESSED" => "regressed",
        "NO CHANGE" => "same",
        _ => "open",
    }
}

fn of_runs(found: &RunComparison) -> Card {
    let side = |side: &crate::compare::SideFacts| {
        format!("{} <span class=\"quiet\">{}</span>", escape(&side.configuration), escape(&side.run))
    };
    let mut lines =
        vec![change(found.delta.estimate, found.delta.low, found.delta.high, found.delta.cases, Some(found.delta.p))];
    lines[0].push_str(&format!(": from {} to {} %", percent(found.delta.before, 1), percent(found.delta.after, 1)));
    lines.push(other_cases(found.other_cases.map(|other| (other.low, other.high))));
    lines.extend(
        found
            .passes_still
            .or(found.passes_needed)
            .map(|passes| format!("To settle it: {} a case and side more.", plural(passes, "pass", "passes"))),
    );
    if !found.under_test.is_empty() {
        let each = found.under_test.iter().map(|one| format!("{}: {} → {}", one.name, one.before, one.after));
        lines.push(format!("Under test: {}", each.collect::<Vec<_>>().join("; ")));
    }
    Card {
        word: found.verdict.clone(),
        class: class_of(&found.verdict),
        who: format!("{} → {}", side(&found.before.facts), side(&found.after.facts)),
        lines,
        points: found.reasons.clone(),
        notes: found.notes.clone(),
        more: whole(found),
    }
}

/// The comparison in full, but for the cases that moved least where there are many.
fn whole(found: &RunComparison) -> String {
    if found.cases.len() <= MOST_CASES {
        return fragment(&comparison_page(found));
    }
    let mut shown = found.clone();
    shown.cases.truncate(MOST_CASES);
    format!(
        "<p class=\"quiet\">The {MOST_CASES} cases that moved most, of {}; <code>tenpass compare</code> shows all.</p>\n{}",
        found.cases.len(),
        fragment(&comparison_page(&shown))
    )
}

/// Two configurations of one run.
fn within(found: &Comparison) -> Card {
    let mut points = Vec::new();
    for (cases, words) in [
        (&found.cases_worse, "cases proven worse"),
        (&found.guards_worse, "guard cases proven worse"),
        (&found.guards_failed, "guard cases below 8 of 10"),
    ] {
        if !cases.is_empty() {
            points.push(format!("{words}: {}", named(cases)));
        }
    }
    let mut lines = vec![
        format!(
            "{}, Holm-corrected p {}",
            change(found.delta, found.low, found.high, found.cases, None),
            p_value(found.p_holm)
        ),
        other_cases(found.other_cases.map(|other| (other.low, other.high))),
    ];
    lines.extend(
        found.passes_needed.map(|passes| format!("To settle it: {} a case.", plural(passes, "pass", "passes"))),
    );
    Card {
        word: found.verdict.clone(),
        class: class_of(&found.verdict),
        who: format!("{} → {}", escape(&found.baseline), escape(&found.configuration)),
        lines,
        points,
        ..Card::default()
    }
}

/// The first of many names.
fn named(cases: &[String]) -> String {
    let shown = cases.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match cases.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn change(delta: f64, low: f64, high: f64, cases: u64, p: Option<f64>) -> String {
    let p = p.map_or_else(String::new, |p| format!(", p {}", p_value(p)));
    format!(
        "On these {}: {} points (95 % interval {} to {}{p})",
        plural(cases, "case", "cases"),
        self::points(delta),
        self::points(low),
        self::points(high)
    )
}

fn other_cases(range: Option<(f64, f64)>) -> String {
    match range {
        Some((low, high)) => format!("On cases not written yet: {} to {} points.", points(low), points(high)),
        None => "On cases not written yet: these cannot tell.".to_owned(),
    }
}

/// A single configuration: its rate, what that shows, and what it does not.
fn alone(section: &ReportSection) -> Card {
    let Some(only) = section.summary.configurations.first() else { return Card::default() };
    let rate = &only.rate;
    let who = format!(
        "{} <span class=\"quiet\">{}</span>",
        escape(&section.columns[0].configuration),
        escape(&section.columns[0].run)
    );
    if rate.total == 0 {
        let lines = vec!["No pass was scored, so nothing is known.".to_owned()];
        return Card { word: "NOTHING SCORED".to_owned(), class: "open", who, lines, ..Card::default() };
    }
    Card {
        word: format!("{} passed", rate_percent(rate)),
        class: "alone",
        who,
        lines: vec![format!("{} passes; 95 % interval {}.", of(rate), interval(rate, 1))],
        points: [shown(rate), not_shown(&section.summary.cases)].concat(),
        ..Card::default()
    }
}

fn shown(rate: &Rate) -> Vec<String> {
    // The evidence: passes that repeat an output are no new one.
    let n = rate.effective_n.min(rate.total);
    let passed = (rate.rate.unwrap_or(0.0) * n as f64).floor() as u64;
    // One-sided 95 %: an end of the two-sided 90 % interval.
    let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let exact = clopper_pearson(Tally::new(count(passed), count(n - passed)), 0.90);
    let (words, bound) = if rate.passed == 0 { ("at most", exact.high) } else { ("at least", exact.low) };
    let mut points =
        vec![format!("It shows: these cases pass {words} {} % of the time (one-sided, 95 %).", percent(bound, 1))];
    if rate.passed == rate.total
        && let Some(needed) = straight_passes_needed(0.95, 0.95)
    {
        let enough = if n >= needed { "so many ran" } else { "fewer ran" };
        points.push(format!("Every pass succeeded. To show 95 %, {needed} straight passes are needed: {enough}."));
    }
    points
}

fn not_shown(cases: &[CaseSummary]) -> Vec<String> {
    let mut points = vec![match detectable(cases) {
        Some(points) => format!(
            "It does not show whether a change helped: that takes a second measurement, and two of this size tell \
             apart differences from about {} points on (80 % power).",
            percent(points, 1)
        ),
        None => {
            "It does not show whether a change helped: that takes a second measurement, with several cases and passes."
                .to_owned()
        }
    }];
    points.push("It says nothing about cases not written yet: the interval is about these.".to_owned());
    points
}

/// The smallest difference that two such runs would find four times of five.
fn detectable(cases: &[CaseSummary]) -> Option<f64> {
    let rates: Vec<&Rate> = cases.iter().filter_map(|case| case.cells.first()).map(|cell| &cell.rate).collect();
    let measured: Vec<&&Rate> = rates.iter().filter(|rate| rate.effective_n > 1).collect();
    if measured.len() < 2 {
        return None;
    }
    let variance: f64 = measured
        .iter()
        .map(|rate| {
            // Never certain: a case that always passed may still fail (Jeffreys).
            let n = rate.effective_n as f64;
            let p = (rate.rate.unwrap_or(0.0) * n + 0.5) / (n + 1.0);
            2.0 * p * (1.0 - p) / (n - 1.0)
        })
        .sum();
    Some(DETECTABLE * variance.sqrt() / measured.len() as f64).filter(|points| *points < 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{CaseCell, Measurements};

    fn cases(count: usize, passed: u64, total: u64) -> Vec<CaseSummary> {
        let rate =
            Rate { passed, total, rate: Some(passed as f64 / total as f64), low: 0.0, high: 1.0, effective_n: total };
        let cell = CaseCell {
            rate,
            invalid: 0,
            recovered: 0,
            distinct_outputs: total,
            failures: Vec::new(),
            measured: Measurements::default(),
        };
        let case = |i: usize| CaseSummary {
            case: format!("case-{i}"),
            family: "a".into(),
            language: "en".into(),
            kind: "target".into(),
            cells: vec![cell.clone()],
        };
        (0..count).map(case).collect()
    }

    /// The figures of the method: 10 passes a case, 80 % power.
    #[test]
    fn the_detectable_difference_is_the_one_of_the_method() {
        for (count, low, high) in [(30, 0.08, 0.12), (60, 0.06, 0.085), (100, 0.045, 0.065)] {
            let found = detectable(&cases(count, 8, 10)).unwrap();
            assert!((low..high).contains(&found), "{count}: {found}");
        }
        assert_eq!(detectable(&cases(1, 8, 10)), None);
        assert_eq!(detectable(&cases(30, 1, 1)), None, "one pass has no variance");
    }

    #[test]
    fn straight_passes_prove_less_than_they_seem() {
        let rate = Rate { passed: 10, total: 10, rate: Some(1.0), low: 0.72, high: 1.0, effective_n: 10 };
        let points = shown(&rate);
        // 0.05^(1/10) = 0.741.
        assert_eq!(points[0], "It shows: these cases pass at least 74.1 % of the time (one-sided, 95 %).");
        assert!(points[1].ends_with("59 straight passes are needed: fewer ran."), "{points:?}");
        let none = Rate { passed: 0, total: 9, rate: Some(0.0), low: 0.0, high: 0.3, effective_n: 9 };
        // 1 − 0.05^(1/9) = 0.283.
        assert_eq!(shown(&none), ["It shows: these cases pass at most 28.3 % of the time (one-sided, 95 %)."]);
    }
}
