//! Relevance: the always-on tools and the few whose description and keywords resemble the request.
//!
//! Similarity is the cosine of tf-idf vectors over folded, stemmed words. The documents are the
//! tools themselves, so a word that every description uses weighs nothing.

use std::collections::{BTreeMap, BTreeSet};

use tenpass_trace::ToolDefinition;

use crate::words::content_words;

/// How many tools are offered beside the always-on ones (R4).
pub const SIMILAR_TOOLS: usize = 4;

/// A keyword was written down to be found: it counts like this many mentions in the description.
const KEYWORD_WEIGHT: f64 = 3.0;

type Vector = BTreeMap<String, f64>;

/// The similarity of the request to each tool, 0 to 1, in the order of the tools.
pub fn similarities(tools: &[ToolDefinition], query: &str) -> Vec<f64> {
    let documents: Vec<Vector> = tools.iter().map(term_counts).collect();
    let mut document_frequency: BTreeMap<&str, usize> = BTreeMap::new();
    for document in &documents {
        for word in document.keys() {
            *document_frequency.entry(word).or_default() += 1;
        }
    }
    let inverse_frequency = |word: &str| {
        let seen = document_frequency.get(word).copied().unwrap_or(0);
        ((1.0 + documents.len() as f64) / (1.0 + seen as f64)).ln() + 1.0
    };
    let weighted = |counts: &Vector| -> Vector {
        counts.iter().map(|(word, count)| (word.clone(), (1.0 + count).ln() * inverse_frequency(word))).collect()
    };
    let mut query_counts = Vector::new();
    for word in content_words(query) {
        *query_counts.entry(word).or_default() += 1.0;
    }
    let query = weighted(&query_counts);
    documents.iter().map(|document| cosine(&query, &weighted(document))).collect()
}

/// Always-on tools and the top similar ones, in their given order. When nothing resembles the
/// request only the always-on tools stay; without any of those, every tool.
pub(super) fn most_relevant(tools: &[ToolDefinition], query: &str) -> Vec<ToolDefinition> {
    let scores = similarities(tools, query);
    let mut ranked: Vec<usize> =
        (0..tools.len()).filter(|&index| !tools[index].always && scores[index] > 0.0).collect();
    // Stable: of two equal scores the earlier tool wins.
    ranked.sort_by(|&left, &right| scores[right].total_cmp(&scores[left]));
    let similar: BTreeSet<usize> = ranked.into_iter().take(SIMILAR_TOOLS).collect();
    let chosen: Vec<ToolDefinition> = tools
        .iter()
        .enumerate()
        .filter(|(index, tool)| tool.always || similar.contains(index))
        .map(|(_, tool)| tool.clone())
        .collect();
    if chosen.is_empty() { tools.to_vec() } else { chosen }
}

fn term_counts(tool: &ToolDefinition) -> Vector {
    let mut counts = Vector::new();
    for word in content_words(&tool.name).into_iter().chain(content_words(&tool.description)) {
        *counts.entry(word).or_default() += 1.0;
    }
    for word in tool.keywords.iter().flat_map(|keyword| content_words(keyword)) {
        *counts.entry(word).or_default() += KEYWORD_WEIGHT;
    }
    counts
}

fn cosine(left: &Vector, right: &Vector) -> f64 {
    let norm = |vector: &Vector| vector.values().map(|weight| weight * weight).sum::<f64>().sqrt();
    let product: f64 = left.iter().filter_map(|(word, weight)| Some(weight * right.get(word)?)).sum();
    let length = norm(left) * norm(right);
    if length > 0.0 { product / length } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str, keywords: &[&str]) -> ToolDefinition {
        ToolDefinition {
            keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
            ..ToolDefinition::new(name, description)
        }
    }

    fn tools() -> Vec<ToolDefinition> {
        let mut core = tool("write_memory", "Remembers something.", &[]);
        core.always = true;
        vec![
            tool("create_chart", "Draws a chart from data.", &["graphique", "courbe", "plot"]),
            tool("analyse_data", "Analyses a data table.", &["moyenne", "tableau"]),
            core,
            tool("open_url", "Opens a web address.", &["ouvrir", "site"]),
            tool("control_media", "Controls the music.", &["musique", "pause"]),
            tool("read_file", "Reads a file.", &["lire", "fichier"]),
            tool("list_directory", "Lists a directory.", &["dossier", "répertoire"]),
        ]
    }

    #[test]
    fn a_french_request_meets_its_tool_through_keywords() {
        let scores = similarities(&tools(), "Fais-moi un graphique des ventes");
        let best = scores.iter().enumerate().max_by(|left, right| left.1.total_cmp(right.1)).unwrap().0;
        assert_eq!(tools()[best].name, "create_chart");
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
    }

    #[test]
    fn at_most_four_join_the_core_and_a_stranger_brings_none() {
        let everything = "chart data web music file directory";
        assert_eq!(most_relevant(&tools(), everything).len(), 1 + SIMILAR_TOOLS);
        let names: Vec<String> = most_relevant(&tools(), "bonjour").into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["write_memory"]);
    }

    #[test]
    fn a_word_in_every_description_decides_nothing() {
        let tools = vec![tool("a", "the tool lamp", &[]), tool("b", "the tool door", &[])];
        let scores = similarities(&tools, "tool for the lamp");
        assert!(scores[0] > 2.0 * scores[1], "{scores:?}");
    }
}
