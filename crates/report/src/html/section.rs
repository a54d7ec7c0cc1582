//! The runs of one bench: headline, heat map, failures, times.

use std::fmt::Write as _;

use super::data::{FactSheet, ReportExtra, ReportSection};
use super::escape::{escape, spans};
use super::failures::failures;
use super::fragment::fragment;
use super::heat::heat_map;
use crate::numbers::plural;
use crate::plot::{Measure, SERIES, boxes, cumulative, rates};
use crate::summary::{Rate, RunSummary};
use crate::view;

/// Cases that moved, of each configuration.
const MOST_MOVED: usize = 40;
/// Rates in the table of groups.
const MOST_GROUP_CELLS: usize = 400;

/// Everything about one bench but its passes.
pub(crate) fn section(section: &ReportSection, number: usize) -> String {
    let summary = &section.summary;
    let mut html = String::from("<section>\n");
    html.push_str(&fragment(&view::headline(summary)));
    if section.columns.len() > 1 {
        html.push_str(&columns(section));
        let rate_of: Vec<Rate> = summary.configurations.iter().map(|one| one.rate).collect();
        html.push_str("<div class=\"plots\">");
        html.push_str(&figure("Rates with 95 % intervals", &rates("Rates with 95 % Wilson intervals", &rate_of)));
        html.push_str("</div>\n");
        html.push_str(&comparisons(summary));
    }
    html.push_str("<h3>Cases</h3>\n");
    html.push_str(&heat_map(section, number));
    html.push_str(&failures(section, number));
    html.push_str(&measured(section));
    html.push_str(&groups(summary));
    html.push_str("</section>\n");
    html
}

/// The summary without its cases and groups, for views that show neither.
fn without_cases(summary: &RunSummary) -> RunSummary {
    RunSummary {
        version: summary.version,
        facts: summary.facts.clone(),
        passes: summary.passes,
        configurations: summary.configurations.clone(),
        comparisons: summary.comparisons.clone(),
        groups: Vec::new(),
        cases: Vec::new(),
        notes: Vec::new(),
    }
}

/// Every configuration against the first; of the cases that moved, those that moved most surely.
fn comparisons(summary: &RunSummary) -> String {
    if summary.comparisons.is_empty() {
        return String::new();
    }
    let mut shown = without_cases(summary);
    let mut cut = 0;
    for comparison in &mut shown.comparisons {
        cut += comparison.moved.len().saturating_sub(MOST_MOVED);
        comparison.moved.truncate(MOST_MOVED);
    }
    let mut table = fragment(&view::comparisons(&shown));
    if cut > 0 {
        let _ = writeln!(
            table,
            "<p class=\"quiet\">{} more moved; of each configuration the {MOST_MOVED} surest are here.</p>",
            plural(cut as u64, "case", "cases")
        );
    }
    format!("<details><summary>every configuration against #1</summary>\n{table}</details>\n")
}

/// The groups; where families are very many, the heat map alone has them.
fn groups(summary: &RunSummary) -> String {
    let cells = |summary: &RunSummary| summary.groups.len() * summary.configurations.len();
    let mut shown = RunSummary { groups: summary.groups.clone(), ..without_cases(summary) };
    let mut words = "by family, language and kind";
    if cells(&shown) > MOST_GROUP_CELLS {
        shown.groups.retain(|group| group.by != "family");
        words = "by language and kind";
    }
    if shown.groups.is_empty() {
        return String::new();
    }
    format!("<details><summary>{words}</summary>\n{}</details>\n", fragment(&view::groups(&shown)))
}

/// Who the numbers of the columns are.
fn columns(section: &ReportSection) -> String {
    let mut html = String::from("<ol class=\"columns\">\n");
    for column in &section.columns {
        let _ = writeln!(
            html,
            "<li>{} <span class=\"quiet\">{}</span></li>",
            escape(&column.configuration),
            escape(&column.run)
        );
    }
    html.push_str("</ol>\n");
    html
}

fn measured(section: &ReportSection) -> String {
    let columns = section.spreads.columns(section.columns.len());
    let mut plots = Vec::new();
    for (measure, words) in [
        (Measure::FirstToken, "to the first token"),
        (Measure::FirstCall, "to the first call"),
        (Measure::End, "to the end"),
    ] {
        let title = format!("Time {words}");
        plots.extend(boxes(&title, &columns, measure).map(|svg| figure(&title, &svg)));
    }
    for (cold, state) in [(false, "warm"), (true, "cold")] {
        let first = if columns.len() > SERIES { format!(", the first {SERIES} configurations") } else { String::new() };
        let title = format!("Share of {state} passes that ended within a time{first}");
        plots.extend(cumulative(&title, &columns, Measure::End, cold).map(|svg| figure(&title, &svg)));
    }
    for (measure, title) in
        [(Measure::PromptTokens, "Tokens of the prompt"), (Measure::AnswerTokens, "Tokens of the answer")]
    {
        plots.extend(boxes(title, &columns, measure).map(|svg| figure(title, &svg)));
    }
    if plots.is_empty() {
        return String::new();
    }
    format!(
        "<h3>Times and tokens</h3>\n<p class=\"quiet\">Boxes from the 25th to the 75th percentile with the median, whiskers \
         from the 5th to the 95th, a dot at the largest. Cold passes paid for loading the model or evaluating the prompt.</p>\n\
         <div class=\"plots\">{}</div>\n<details><summary>the numbers</summary>\n{}</details>\n",
        plots.concat(),
        fragment(&view::measured(&section.summary))
    )
}

fn figure(title: &str, svg: &str) -> String {
    format!("<figure><figcaption>{}</figcaption>{svg}</figure>\n", escape(title))
}

/// A part that the caller added.
pub(crate) fn extra(extra: &ReportExtra) -> String {
    let mut html = format!("<section>\n<h2>{}</h2>\n", escape(&extra.title));
    for paragraph in &extra.paragraphs {
        let _ = writeln!(html, "<p>{}</p>", spans(paragraph));
    }
    if !extra.plots.is_empty() {
        let plots: Vec<String> = extra.plots.iter().map(|svg| format!("<figure>{svg}</figure>\n")).collect();
        let _ = writeln!(html, "<div class=\"plots\">{}</div>", plots.concat());
    }
    let (heads, rows) = &extra.table;
    if !rows.is_empty() {
        let cells = |cells: &[String], open: &str, close: &str| -> String {
            cells.iter().map(|cell| format!("{open}{}{close}", escape(cell))).collect::<Vec<_>>().concat()
        };
        let _ = writeln!(
            html,
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\"><table><thead><tr>{}</tr></thead>\n<tbody>",
            escape(&extra.title),
            cells(heads, "<th scope=\"col\">", "</th>")
        );
        for row in rows {
            let _ = writeln!(html, "<tr>{}</tr>", cells(row, "<td>", "</td>"));
        }
        html.push_str("</tbody></table></div>\n");
    }
    html.push_str("</section>\n");
    html
}

/// What the runs were made of.
pub(crate) fn facts(sheets: &[FactSheet]) -> String {
    let mut html = String::from("<section>\n<h2>What was measured, and how to measure it again</h2>\n");
    for sheet in sheets {
        let _ = writeln!(html, "<details><summary>{}</summary>\n<dl class=\"facts\">", escape(&sheet.title));
        for (name, value) in &sheet.rows {
            let _ = writeln!(html, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
        }
        html.push_str("</dl>\n");
        if !sheet.command.is_empty() {
            let _ = writeln!(html, "<p>The same again:</p>\n<pre class=\"command\">{}</pre>", escape(&sheet.command));
        }
        for (name, text) in &sheet.documents {
            let _ = writeln!(
                html,
                "<details><summary>{}</summary>\n<pre tabindex=\"0\">{}</pre></details>",
                escape(name),
                escape(text)
            );
        }
        html.push_str("</details>\n");
    }
    html.push_str("</section>\n");
    html
}
