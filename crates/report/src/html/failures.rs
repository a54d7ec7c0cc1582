//! What failed, kind by kind; every count leads to its passes.

use std::fmt::Write as _;

use tenpass_trace::{FailureClass, FailureKind};

use super::data::ReportSection;
use super::escape::escape;
use crate::numbers::grouped;
use crate::summary::{ClassCount, Example};
use crate::view::kind_name;

/// One line: a class with its passes in each column.
struct Line<'a> {
    kind: FailureKind,
    class: FailureClass,
    passes: Vec<u64>,
    example: Option<&'a Example>,
}

/// The table; `number` tells the sections of a page apart.
pub(crate) fn failures(section: &ReportSection, number: usize) -> String {
    let lines = lines(section);
    let unclassified: Vec<u64> = section.summary.configurations.iter().map(|one| one.unclassified).collect();
    if lines.is_empty() && unclassified.iter().sum::<u64>() == 0 {
        let scored = section.summary.configurations.iter().any(|one| one.rate.total > 0);
        let words = if scored {
            "<p class=\"good\">Nothing failed.</p>"
        } else {
            "<p class=\"doubt\">Nothing was scored, so nothing is known.</p>"
        };
        return format!("<h3>What failed</h3>\n{words}\n");
    }
    let mut html = String::from(
        "<h3>What failed</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"failures by class\">\
         <table class=\"failures\"><thead><tr><th scope=\"col\">kind</th><th scope=\"col\">class</th>",
    );
    for i in 1..=section.columns.len() {
        let name = if section.columns.len() == 1 { "passes".to_owned() } else { format!("#{i}") };
        let _ = write!(html, "<th scope=\"col\" class=\"num\">{name}</th>");
    }
    html.push_str("<th scope=\"col\">for example</th></tr></thead>\n<tbody>\n");
    let mut previous = None;
    for line in &lines {
        let kind = if previous == Some(line.kind) { "" } else { kind_name(line.kind) };
        previous = Some(line.kind);
        let class = line.class.as_str();
        let _ = write!(html, "<tr><td class=\"quiet\">{kind}</td><th scope=\"row\">{class}</th>");
        counts(&mut html, &line.passes, number, class);
        let _ = writeln!(html, "<td>{}</td></tr>", line.example.map(example).unwrap_or_default());
    }
    if unclassified.iter().sum::<u64>() > 0 {
        html.push_str("<tr><td></td><th scope=\"row\">unclassified</th>");
        counts(&mut html, &unclassified, number, "");
        html.push_str("<td></td></tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    let others = FailureClass::ALL.len() - lines.len();
    let _ = writeln!(
        html,
        "<p class=\"quiet\">The other {others} failure classes did not occur. A count opens its passes.</p>"
    );
    html
}

fn counts(html: &mut String, passes: &[u64], number: usize, class: &str) {
    for (column, &count) in passes.iter().enumerate() {
        let _ = match count {
            0 => write!(html, "<td class=\"num quiet\">0</td>"),
            count => write!(
                html,
                "<td class=\"num\"><button type=\"button\" class=\"count\" data-section=\"{number}\" \
                 data-column=\"{column}\" data-class=\"{class}\">{}</button></td>",
                grouped(count)
            ),
        };
    }
}

fn example(example: &Example) -> String {
    let quote = if example.quote.is_empty() { "(nothing said)".to_owned() } else { format!("“{}”", example.quote) };
    format!(
        "<span class=\"quiet\">{} #{}</span> <q>{}</q>",
        escape(&example.case),
        example.pass,
        escape(quote.trim_matches(['“', '”']))
    )
}

/// Classes that occurred, INVALID last, else by how often their kind and then they themselves did.
fn lines(section: &ReportSection) -> Vec<Line<'_>> {
    let configurations = &section.summary.configurations;
    let classes = |i: usize| configurations[i].failures.iter().flat_map(|kind| &kind.classes);
    let mut lines: Vec<Line<'_>> = FailureClass::ALL
        .iter()
        .map(|&class| {
            let found: Vec<Option<&ClassCount>> =
                (0..configurations.len()).map(|i| classes(i).find(|count| count.class == class)).collect();
            Line {
                kind: class.kind(),
                class,
                passes: found.iter().map(|count| count.map_or(0, |count| count.passes)).collect(),
                example: found.iter().flatten().find_map(|count| count.example.as_ref()),
            }
        })
        .filter(|line| line.passes.iter().sum::<u64>() > 0)
        .collect();
    let total = |line: &Line<'_>| line.passes.iter().sum::<u64>();
    let of_kind =
        |kind: FailureKind, lines: &[Line<'_>]| lines.iter().filter(|line| line.kind == kind).map(total).sum::<u64>();
    let kinds: Vec<u64> = lines.iter().map(|line| of_kind(line.kind, &lines)).collect();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|&i| {
        let line = &lines[i];
        let invalid = line.kind == FailureKind::Invalid;
        (invalid, std::cmp::Reverse(kinds[i]), line.kind, std::cmp::Reverse(total(line)), line.class)
    });
    let mut taken: Vec<Option<Line<'_>>> = lines.drain(..).map(Some).collect();
    order.into_iter().filter_map(|i| taken[i].take()).collect()
}
