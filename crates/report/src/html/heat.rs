//! The heat map: cases × configurations, a family after the other.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::data::ReportSection;
use super::escape::escape;
use crate::numbers::{grouped, interval, milliseconds, of, percent, plural, rate_percent, tokens};
use crate::summary::{CaseCell, CaseSummary, Group, Rate};

/// From this many cases on, families begin closed.
const CLOSED_FROM: usize = 300;
/// Up to this many passes a cell reads `7/10`, beyond it `70 %`.
const COUNTED_UP_TO: u64 = 30;

/// The steps of the scale: class in the style sheet, its words.
const SCALE: [(&str, &str); 7] = [
    ("h0", "0 %"),
    ("h1", "below 25 %"),
    ("h2", "below 50 %"),
    ("h3", "below 75 %"),
    ("h4", "below 90 %"),
    ("h5", "below 100 %"),
    ("h6", "100 %"),
];

/// The step of a rate.
pub(crate) fn step(rate: &Rate) -> &'static str {
    match rate.rate {
        None => "hn",
        Some(_) if rate.passed == 0 => SCALE[0].0,
        Some(_) if rate.passed == rate.total => SCALE[6].0,
        Some(fraction) => {
            let edges = [0.25, 0.5, 0.75, 0.9];
            SCALE[1 + edges.iter().filter(|edge| fraction >= **edge).count()].0
        }
    }
}

/// The table with its controls. `number` tells the sections of a page apart.
pub(crate) fn heat_map(section: &ReportSection, number: usize) -> String {
    let summary = &section.summary;
    let single = section.columns.len() == 1;
    let mut html = String::with_capacity(4096 + summary.cases.len() * (80 + 60 * section.columns.len()));
    html.push_str(&controls(summary.cases.len(), number));
    let _ = writeln!(
        html,
        "<div class=\"scroll map\" tabindex=\"-1\"><table class=\"heat\" role=\"grid\" id=\"heat-{number}\" data-section=\"{number}\">\n\
         <caption class=\"hidden\">Passes of each case under each configuration</caption>"
    );
    html.push_str(
        "<thead><tr><th scope=\"col\"><button type=\"button\" class=\"sort\" data-by=\"name\">case</button></th>",
    );
    for (i, column) in section.columns.iter().enumerate() {
        let name = if single { "rate".to_owned() } else { format!("#{}", i + 1) };
        let title = escape(&column.configuration);
        let _ = write!(
            html,
            "<th scope=\"col\" title=\"{title}\"><button type=\"button\" class=\"sort\" data-by=\"{i}\">{name}</button></th>"
        );
    }
    html.push_str(if single {
        "<th scope=\"col\" class=\"why\">what went wrong</th></tr></thead>\n"
    } else {
        "</tr></thead>\n"
    });
    families(&mut html, section, single);
    html.push_str("</table></div>\n");
    html
}

fn controls(cases: usize, number: usize) -> String {
    let mut html = format!(
        "<div class=\"controls\" hidden data-for=\"heat-{number}\"><label>Filter <input type=\"search\" \
         placeholder=\"case, family, language, kind\" spellcheck=\"false\" autocomplete=\"off\"></label>\
         <label><input type=\"checkbox\" class=\"failing\"> with failures only</label>\
         <button type=\"button\" class=\"families\">by family</button>\
         <span class=\"quiet\" role=\"status\">{}</span></div>\n<p class=\"scale\" aria-label=\"scale of rates\">",
        plural(cases as u64, "case", "cases")
    );
    for (class, words) in SCALE {
        let _ = write!(html, "<span class=\"{class}\">{words}</span> ");
    }
    html.push_str("</p>\n");
    html
}

fn families(html: &mut String, section: &ReportSection, single: bool) {
    let summary = &section.summary;
    let closed = if summary.cases.len() >= CLOSED_FROM { " closed" } else { "" };
    let width = section.columns.len() + 1 + usize::from(single);
    let mut position = 0;
    for cases in summary.cases.chunk_by(|a, b| a.family == b.family) {
        let family = &cases[0].family;
        let expanded = closed.is_empty();
        let count = plural(cases.len() as u64, "case", "cases");
        let _ = write!(
            html,
            "<tbody class=\"family{closed}\"><tr class=\"over\"><th scope=\"rowgroup\"><button type=\"button\" class=\"fold\" \
             aria-expanded=\"{expanded}\">{} <span class=\"quiet\">{count}</span></button></th>",
            escape(family)
        );
        match summary.groups.iter().find(|group| group.by == "family" && group.name == *family) {
            Some(group) => totals(html, group, single),
            None => {
                let _ = write!(html, "<td colspan=\"{}\"></td>", width - 1);
            }
        }
        html.push_str("</tr>\n");
        for case in cases {
            row(html, case, position, single);
            position += 1;
        }
        html.push_str("</tbody>\n");
    }
}

fn totals(html: &mut String, group: &Group, single: bool) {
    for rate in &group.rates {
        let text = rate.rate.map_or_else(|| "–".to_owned(), |fraction| format!("{} %", percent(fraction, 0)));
        let _ = write!(html, "<td class=\"total\">{text}</td>");
    }
    html.push_str(if single { "<td></td>" } else { "" });
}

fn row(html: &mut String, case: &CaseSummary, position: usize, single: bool) {
    let guard = if case.kind == "guard" { " <span class=\"guard\">guard</span>" } else { "" };
    let kind = escape(&case.kind);
    let language = escape(&case.language);
    let _ = write!(
        html,
        "<tr data-i=\"{position}\" data-l=\"{language}\" data-k=\"{kind}\"><th scope=\"row\">{}{guard}</th>",
        escape(&case.case)
    );
    for cell in &case.cells {
        let mark = if cell.invalid > 0 && cell.rate.total > 0 { "<sup>!</sup>" } else { "" };
        let _ = write!(html, "<td class=\"{}\" tabindex=\"-1\">{}{mark}</td>", step(&cell.rate), short(&cell.rate));
    }
    if single {
        let _ = write!(html, "<td class=\"why\">{}</td>", case.cells.first().map(why).unwrap_or_default());
    }
    html.push_str("</tr>\n");
}

/// What a cell reads.
fn short(rate: &Rate) -> String {
    match rate.rate {
        None => "–".to_owned(),
        Some(_) if rate.total <= COUNTED_UP_TO => format!("{}/{}", rate.passed, rate.total),
        Some(fraction) => format!("{} %", percent(fraction, 0)),
    }
}

/// `3 × wrong_tool, no_call`.
fn why(cell: &CaseCell) -> String {
    let each = cell.failures.iter().map(|failure| {
        let class = failure.class.map_or("unclassified", tenpass_trace::FailureClass::as_str);
        if failure.passes == 1 { class.to_owned() } else { format!("{} × {class}", grouped(failure.passes)) }
    });
    each.collect::<Vec<_>>().join(", ")
}

/// The section as the index has it: names and, for each cell, what its panel shows.
pub(crate) fn index(section: &ReportSection) -> Value {
    let cases: Vec<Value> = section
        .summary
        .cases
        .iter()
        .map(|case| {
            let cells: Vec<Value> = case.cells.iter().map(cell).collect();
            json!([visible(&case.case), cells, visible(&case.language)])
        })
        .collect();
    let columns: Vec<Value> =
        section.columns.iter().map(|column| json!([visible(&column.run), visible(&column.configuration)])).collect();
    json!({ "columns": columns, "cases": cases })
}

/// Facts of a cell, the number of its failing passes (not scored ones included), and its failures.
fn cell(cell: &CaseCell) -> Value {
    let rate = &cell.rate;
    let mut facts = vec![("passed".to_owned(), format!("{}, {}", of(rate), rate_percent(rate)))];
    if rate.total > 0 {
        facts.push(("95 % interval".to_owned(), interval(rate, 1)));
    }
    for (name, count) in [("INVALID", cell.invalid), ("recovered", cell.recovered)] {
        if count > 0 {
            facts.push((name.to_owned(), grouped(count)));
        }
    }
    if rate.total > 1 {
        let text = format!("{} of {}", grouped(cell.distinct_outputs), grouped(rate.total));
        facts.push(("distinct outputs".to_owned(), text));
    }
    for (name, latency) in [("warm", cell.measured.warm), ("cold", cell.measured.cold)] {
        if latency.total_ms.n > 0 {
            let [p50, p90] = [latency.total_ms.p50, latency.total_ms.p90].map(milliseconds);
            facts.push((
                format!("end, {name}"),
                format!("median {p50} ms, p90 {p90} ms, {} passes", grouped(latency.total_ms.n)),
            ));
        }
    }
    if cell.measured.completion_tokens.n > 0 {
        let (prompt, answer) = (tokens(cell.measured.prompt_tokens.p50), tokens(cell.measured.completion_tokens.p50));
        facts.push(("tokens, median".to_owned(), format!("prompt {prompt}, answer {answer}")));
    }
    let failing = rate.total - rate.passed + cell.invalid;
    json!([facts, failing, why(cell)])
}

/// Text of the index is set as text by the script: it needs no escapes, but nothing may hide in it.
fn visible(text: &str) -> String {
    super::escape::visible(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(passed: u64, total: u64) -> Rate {
        let fraction = (total > 0).then(|| passed as f64 / total as f64);
        Rate { passed, total, rate: fraction, low: 0.0, high: 1.0, effective_n: total }
    }

    #[test]
    fn only_never_and_always_have_the_ends_of_the_scale() {
        let steps = [(0, 10), (1, 10), (3, 10), (5, 10), (8, 10), (9, 10), (10, 10), (0, 0), (999, 1000), (1, 1000)];
        let found: Vec<&str> = steps.iter().map(|&(passed, total)| step(&rate(passed, total))).collect();
        assert_eq!(found, ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "hn", "h5", "h1"]);
    }

    #[test]
    fn many_passes_are_a_percentage() {
        assert_eq!(
            (short(&rate(7, 10)), short(&rate(999, 1000)), short(&rate(0, 0))),
            ("7/10".into(), "99 %".into(), "–".into())
        );
    }
}
