//! Whole pages, read back by an HTML parser.

use std::collections::BTreeSet;

use dom_query::Document;
use serde_json::Value;
use tenpass_trace::FailureClass;

use super::embed::unpack;
use super::shell::source;
use super::{
    FactSheet, PagePart, PassPage, ReportColumn, ReportExtra, ReportPage, ReportSection, ReportWriter, fragment,
};
use crate::blocks::Block;
use crate::plot::{ChartPoint, Spreads, p_chart};
use crate::summarise::PassView;
use crate::{sample, summarise};

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}gnp.exe";

fn section(count: usize, passes: &[PassView<'_>]) -> ReportSection {
    let configurations = sample::configurations(count);
    let columns: Vec<ReportColumn> = configurations
        .iter()
        .map(|one| ReportColumn { run: "20260728-101500-1f3a".into(), configuration: one.label.clone() })
        .collect();
    let mut spreads = Spreads::new();
    for pass in passes {
        let column = columns.iter().position(|column| column.configuration == pass.configuration);
        spreads.add(column.unwrap(), pass);
    }
    ReportSection { summary: summarise(sample::facts(), configurations, passes.iter().copied()), spreads, columns }
}

fn sheet() -> FactSheet {
    FactSheet {
        title: "run 20260728-101500-1f3a".into(),
        rows: vec![("seed".into(), "7".into())],
        command: "tenpass bench tools --seed 7".into(),
        documents: vec![("manifest.json".into(), format!("{{\"a\": \"{HOSTILE}\"}}"))],
    }
}

/// A page with some of its passes.
fn page(section: ReportSection, passes: &[PassPage]) -> String {
    let page = ReportPage {
        title: format!("bench tools {HOSTILE}"),
        written: "written for a test".into(),
        comparisons: &[],
        refused: &["other run: the cases differ".to_owned()],
        extras: &[ReportExtra {
            title: "Nights".into(),
            paragraphs: vec![HOSTILE.into()],
            plots: vec![p_chart(&[ChartPoint { label: HOSTILE.into(), rate: 0.5 }], 0.5, &[(0.4, 0.6)])],
            table: (vec!["night".into()], vec![vec![HOSTILE.into()]]),
        }],
        sections: vec![section],
        facts: vec![sheet()],
    };
    let mut writer = ReportWriter::new(&page, Vec::new()).unwrap();
    let request = [PagePart::new("system", "You are an assistant. ".repeat(30)), PagePart::new("user", HOSTILE)];
    for pass in passes {
        for sha256 in &pass.requests {
            if !writer.knows_request(sha256) {
                writer.request(sha256, &request).unwrap();
            }
        }
        writer.pass(pass).unwrap();
    }
    String::from_utf8(writer.finish(passes.len() as u64, 0).unwrap()).unwrap()
}

fn failing(case: &str, column: usize, pass: u32) -> PassPage {
    PassPage {
        column,
        case: case.into(),
        pass,
        verdict: "wrong".into(),
        class: Some(FailureClass::WrongTool),
        reasons: vec![format!("called {HOSTILE}")],
        facts: vec![("end".into(), "12 ms".into())],
        parts: vec![
            PagePart::new("text, raw", format!("{HOSTILE} {}", "long ".repeat(50))),
            PagePart::new("calls", HOSTILE),
        ],
        requests: vec!["aa".into()],
        command: "tenpass runs show 20260728-101500-1f3a".into(),
        ..PassPage::default()
    }
}

fn whole(count: usize) -> String {
    let mut passes = sample::passes(count);
    // The case of one pass has a name that nobody should trust.
    let hostile = PassView { case: HOSTILE, family: "<b>family</b>", quote: HOSTILE, ..passes[0] };
    passes.push(PassView { success: Some(false), class: Some(FailureClass::NoCall), ..hostile });
    page(section(count, &passes), &[failing("nested-address", 0, 3), failing(HOSTILE, count - 1, 1)])
}

fn element<'a>(html: &'a str, open: &str, close: &str) -> &'a str {
    html.split_once(open).unwrap().1.split_once(close).unwrap().0
}

#[test]
fn every_page_is_well_formed() {
    for count in 1..=3 {
        let html = whole(count);
        let document = Document::from(html.as_str());
        assert_eq!(*document.errors.borrow(), Vec::<std::borrow::Cow<'_, str>>::new());
        assert_eq!(document.select("main").length(), 1);
        assert_eq!(document.select("html").attr("lang").as_deref(), Some("en"));
        let ids: Vec<String> =
            document.select("[id]").iter().map(|element| element.attr("id").unwrap().to_string()).collect();
        let unique: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        for named in &document.select("[aria-labelledby]") {
            for id in named.attr("aria-labelledby").unwrap().split(' ') {
                assert!(ids.iter().any(|known| known == id), "{id} is not there");
            }
        }
    }
    let plain = Document::from(super::page("a title", &fragment(&[Block::Heading("b".into())])).as_str());
    assert_eq!(plain.errors.borrow().len(), 0);
    assert_eq!(plain.select("h3").text().to_string(), "b");
}

#[test]
fn what_a_model_wrote_stays_text() {
    let html = whole(2);
    let document = Document::from(html.as_str());
    assert_eq!(document.select("img, b, script[src], link[href^='http'], iframe, object").length(), 0);
    assert_eq!(document.select("script:not([type='text/plain'])").length(), 1, "the page's own script");
    assert!(!html.contains("alert(1)</script>") && !html.contains("onerror=alert(2)>"), "markup got through");
    assert!(!html.contains('\u{202e}'), "a direction got through");
    assert!(document.select("table.heat th").text().contains("</script><script>alert(1)"), "shown as text");
    for attribute in ["style", "onclick", "onload", "onerror"] {
        assert_eq!(document.select(&format!("[{attribute}]")).length(), 0, "{attribute}");
    }
}

#[test]
fn the_policy_names_the_style_and_the_script_that_are_there() {
    let html = whole(1);
    let document = Document::from(html.as_str());
    let policy = document.select("meta[http-equiv='Content-Security-Policy']").attr("content").unwrap().to_string();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(policy.contains(&format!("style-src {};", source(element(&html, "<style>", "</style>")))), "{policy}");
    assert!(policy.contains(&format!("script-src {};", source(element(&html, "<script>", "</script>")))), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    // It must stand before whatever it is to rule.
    assert!(html.find("Content-Security-Policy").unwrap() < html.find("<style>").unwrap());
    assert!(!super::page("a", "").contains("script-src"), "a page without a script admits none");
}

#[test]
fn the_script_never_makes_markup_of_data() {
    let script = super::shell::SCRIPT;
    for way in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        "http:",
        "https:",
        "fetch(",
    ] {
        assert!(!script.contains(way), "{way}");
    }
    assert!(!super::shell::STYLE.contains("url("), "the style sheet loads nothing");
}

#[test]
fn the_chunks_hold_the_passes() {
    let html = whole(2);
    let document = Document::from(html.as_str());
    let chunk = |id: &str| -> Value { unpack(&document.select(&format!("script#{id}")).text()) };
    let index = chunk("index");
    let listed = index["passes"].as_array().unwrap();
    assert_eq!(listed.len(), 2);
    let cases = index["sections"][0]["cases"].as_array().unwrap();
    for (entry, expected) in listed.iter().zip([failing("nested-address", 0, 3), failing(HOSTILE, 1, 1)]) {
        let position = entry[2].as_u64().unwrap() as usize;
        assert_eq!(cases[position][0], super::escape::visible(&expected.case).into_owned());
        assert_eq!(
            (entry[1].as_u64(), entry[3].as_u64()),
            (Some(expected.column as u64), Some(u64::from(expected.pass)))
        );
        assert_eq!(entry[4], "wrong_tool");
        let pass = &chunk(&format!("d{}", entry[5]))[entry[6].as_u64().unwrap() as usize];
        assert_eq!(pass["reasons"][0], expected.reasons[0]);
        assert_eq!(pass["parts"][1][1], HOSTILE, "a short text stands where it belongs");
        let place = &index["texts"][pass["parts"][0][1].as_u64().unwrap() as usize];
        let text = &chunk(&format!("t{}", place[0]))[place[1].as_u64().unwrap() as usize];
        assert_eq!(*text, expected.parts[0].text);
        assert_eq!(pass["requests"], serde_json::json!([0]), "the request stands once");
    }
    // The row that a cell of the table leads to is the case it shows.
    for row in &document.select("table.heat tr[data-i]") {
        let position: usize = row.attr("data-i").unwrap().parse().unwrap();
        let name = row.select("th").text().replace(" guard", "");
        assert_eq!(Value::String(name), cases[position][0]);
        assert_eq!(row.select("td[tabindex]").length(), 2);
    }
}

/// The page as its headings, table heads and what can be pressed.
fn outline(document: &Document) -> String {
    let mut text = String::new();
    for element in
        &document.select("h1, h2, h3, caption, thead tr, summary, figcaption, button, .verdict .word, svg desc")
    {
        let node = element.nodes().first().unwrap();
        let name = node.node_name().unwrap();
        let words = element.text().split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&format!("{name}: {words}\n"));
    }
    text
}

#[test]
fn the_structure_of_a_small_page() {
    let html = page(section(2, &sample::passes(2)), &[failing("nested-address", 0, 3)]);
    insta::assert_snapshot!(outline(&Document::from(html.as_str())));
}
