//! Which entries are shown: all in the panel, few in the prompt (K61, R8).
//!
//! | projection | entries a section | order | times and ids |
//! |---|---|---|---|
//! | panel | 30 | newest first | yes |
//! | prompt, `recent` | the last 6 | oldest first | no |
//! | prompt, `relevant` | the 6 with the highest score | oldest first | no |
//! | prompt, `off` | none | | |
//!
//! The score of `relevant` (R8) is 0.5 · overlap + 0.3 · importance + 0.2 · recency, each 0 to 1:
//! - overlap: shared content words of entry and query over those of the shorter one;
//! - importance: what kind of thing it is, by its section: a decision 1, an open thread 0.8, a
//!   pattern 0.6, an anomaly 0.3; a word that makes it binding ("never", "always", "allergic",
//!   "urgent", …) lifts it to 1;
//! - recency: halved every 30 days, measured from the newest entry of the file, so that it needs no
//!   clock and a pause does not age everything; without a time it is 0.

use jiff::Timestamp;

use super::clean::{MAX_ENTRY_CHARACTERS, shortened, without_hidden};
use super::grounding::overlap;
use super::{Document, Entry, Section};
use crate::Retrieval;
use crate::prompt::MemoryEntry;
use crate::words::fold;

/// Entries a section in the panel (K61).
pub const PANEL_ENTRIES: usize = 30;
/// Entries a section in the prompt (K61).
pub const PROMPT_ENTRIES: usize = 6;

const OVERLAP_WEIGHT: f64 = 0.5;
const IMPORTANCE_WEIGHT: f64 = 0.3;
const RECENCY_WEIGHT: f64 = 0.2;
const HALF_LIFE_DAYS: f64 = 30.0;

/// Folded words that make an entry binding.
const BINDING: &[&str] = &[
    "never",
    "always",
    "must",
    "allergic",
    "allergy",
    "urgent",
    "important",
    "deadline",
    "forbidden",
    "jamais",
    "toujours",
    "allergique",
    "allergie",
    "urgente",
    "importante",
    "echeance",
    "interdit",
    "interdite",
    "imperatif",
    "obligatoire",
];

/// The panel: at most 30 entries a section, newest first. Sections without entries are there too.
pub fn panel(document: &Document) -> Vec<(Section, Vec<&Entry>)> {
    Section::ALL
        .iter()
        .map(|section| {
            let mut entries = chronological(document, *section);
            entries.reverse();
            entries.truncate(PANEL_ENTRIES);
            (*section, entries)
        })
        .collect()
}

/// The entries for the prompt: at most 6 a section, the oldest first.
pub fn for_prompt<'a>(document: &'a Document, retrieval: Retrieval, query: &str) -> Vec<(Section, Vec<&'a Entry>)> {
    if retrieval == Retrieval::Off {
        return Vec::new();
    }
    let newest = document.entries().iter().filter_map(|entry| entry.at).max();
    let mut sections = Vec::new();
    for section in Section::ALL {
        let entries = chronological(document, *section);
        let first = entries.len().saturating_sub(PROMPT_ENTRIES);
        let kept = match retrieval {
            Retrieval::Relevant => most_relevant(&entries, query, newest),
            Retrieval::Recent | Retrieval::Off => entries[first..].to_vec(),
        };
        if !kept.is_empty() {
            sections.push((*section, kept));
        }
    }
    sections
}

/// The projection as the prompt takes it: one line an entry, without times and ids.
pub fn prompt_entries(document: &Document, retrieval: Retrieval, query: &str) -> Vec<MemoryEntry> {
    let sections = for_prompt(document, retrieval, query);
    let line = |entry: &Entry| {
        let shown = without_hidden(&entry.text).replace('\n', " ");
        MemoryEntry { section: entry.section.as_str().to_owned(), text: shortened(shown.trim(), MAX_ENTRY_CHARACTERS) }
    };
    sections.into_iter().flat_map(|(_, entries)| entries).map(line).collect()
}

/// The entries of a section, oldest first. An entry without a time stands where it stands in the file.
fn chronological(document: &Document, section: Section) -> Vec<&Entry> {
    let mut before = Timestamp::MIN;
    let mut timed: Vec<(Timestamp, &Entry)> = document
        .section(section)
        .map(|entry| {
            before = entry.at.unwrap_or(before);
            (before, entry)
        })
        .collect();
    timed.sort_by_key(|(at, _)| *at);
    timed.into_iter().map(|(_, entry)| entry).collect()
}

fn most_relevant<'a>(entries: &[&'a Entry], query: &str, newest: Option<Timestamp>) -> Vec<&'a Entry> {
    let mut ranked: Vec<(usize, f64)> =
        entries.iter().enumerate().map(|(index, entry)| (index, score(entry, query, newest))).collect();
    // Of two equal scores the newer entry wins.
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(right.0.cmp(&left.0)));
    let mut kept: Vec<usize> = ranked.into_iter().take(PROMPT_ENTRIES).map(|(index, _)| index).collect();
    kept.sort_unstable();
    kept.into_iter().map(|index| entries[index]).collect()
}

/// The score of R8, 0 to 1; `newest` is the latest time in the file.
pub fn score(entry: &Entry, query: &str, newest: Option<Timestamp>) -> f64 {
    OVERLAP_WEIGHT * overlap(&entry.text, query)
        + IMPORTANCE_WEIGHT * importance(entry)
        + RECENCY_WEIGHT * recency(entry.at, newest)
}

fn importance(entry: &Entry) -> f64 {
    let folded = fold(&entry.text);
    if folded.split(|character: char| !character.is_alphanumeric()).any(|word| BINDING.contains(&word)) {
        return 1.0;
    }
    match entry.section {
        Section::Decisions => 1.0,
        Section::OpenThreads => 0.8,
        Section::Patterns => 0.6,
        Section::Anomalies => 0.3,
    }
}

fn recency(at: Option<Timestamp>, newest: Option<Timestamp>) -> f64 {
    let (Some(at), Some(newest)) = (at, newest) else { return 0.0 };
    let days = (newest.as_second() - at.as_second()) as f64 / 86_400.0;
    0.5_f64.powf(days.max(0.0) / HALF_LIFE_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(lines: impl IntoIterator<Item = String>) -> Document {
        let body: Vec<String> = lines.into_iter().collect();
        Document::parse(format!("{}\n## Patterns\n{}\n", super::super::MARKER, body.join("\n")))
    }

    fn day(day: usize) -> String {
        format!("2026-01-{day:02}T00:00:00Z")
    }

    fn texts<'a>(entries: &[&'a Entry]) -> Vec<&'a str> {
        entries.iter().map(|entry| entry.text.as_str()).collect()
    }

    #[test]
    fn k61_the_panel_has_30_a_section_newest_first() {
        let document = document((0..40).map(|number| format!("- [{}] n{number}", day(number % 28 + 1))));
        let panel = panel(&document);
        assert_eq!(panel.len(), 4);
        assert_eq!(panel[1].1.len(), 30);
        assert_eq!(panel[1].1[0].text, "n27");
        assert!(panel[1].1.windows(2).all(|pair| pair[0].at >= pair[1].at));
    }

    #[test]
    fn k61_the_prompt_has_the_last_6_a_section_without_times_and_ids() {
        let id = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let document = document((1..=9).map(|number| format!("- [{}] fact {number} <!-- id:{id} -->", day(number))));
        let entries = prompt_entries(&document, Retrieval::Recent, "");
        let shown: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(shown, ["fact 4", "fact 5", "fact 6", "fact 7", "fact 8", "fact 9"]);
        assert!(entries.iter().all(|entry| entry.section == "patterns"));
        assert_eq!(prompt_entries(&document, Retrieval::Off, ""), []);
        assert_eq!(prompt_entries(&Document::template(), Retrieval::Recent, ""), []);
    }

    #[test]
    fn an_entry_without_a_time_keeps_its_place() {
        let document = document(["- [2026-01-02] b", "- by hand", "- [2026-01-01] a"].map(str::to_owned));
        let order = for_prompt(&document, Retrieval::Recent, "");
        assert_eq!(texts(&order[0].1), ["a", "b", "by hand"]);
    }

    #[test]
    fn r8_the_score_is_half_overlap_three_tenths_importance_two_tenths_recency() {
        let document =
            document(["- [2026-01-31] likes green tea", "- [2026-01-01] drives a car", "- old car"].map(str::to_owned));
        let newest = document.entries()[0].at;
        let scores: Vec<f64> =
            document.entries().iter().map(|entry| score(entry, "which car do I own", newest)).collect();
        let close = |left: f64, right: f64| (left - right).abs() < 1e-9;
        assert!(close(scores[0], 0.3 * 0.6 + 0.2), "{scores:?}");
        // "own" and "car" against "drives" and "car": one of two; 30 days old.
        assert!(close(scores[1], 0.5 * 0.5 + 0.3 * 0.6 + 0.2 * 0.5), "{scores:?}");
        assert!(close(scores[2], 0.5 * 0.5 + 0.3 * 0.6), "{scores:?}");
    }

    #[test]
    fn r8_an_old_relevant_entry_comes_back_that_recent_forgets() {
        let mut lines = vec!["- [2025-06-01] the boiler was repaired by Morel".to_owned()];
        lines.extend((1..=9).map(|number| format!("- [{}] fact {number}", day(number))));
        let document = document(lines);
        let query = "who repaired the boiler?";
        let shows =
            |retrieval| prompt_entries(&document, retrieval, query).iter().any(|entry| entry.text.contains("Morel"));
        assert!(shows(Retrieval::Relevant) && !shows(Retrieval::Recent));
        assert_eq!(for_prompt(&document, Retrieval::Relevant, query)[0].1.len(), PROMPT_ENTRIES);
    }

    #[test]
    fn r8_a_binding_word_makes_an_entry_important() {
        let document = document(["- allergique aux noix", "- likes nuts"].map(str::to_owned));
        let [allergic, likes] = [0, 1].map(|index| importance(&document.entries()[index]));
        assert!((allergic - 1.0).abs() < 1e-12 && (likes - 0.6).abs() < 1e-12);
    }

    #[test]
    fn a_line_written_by_hand_is_cut_and_shows_nothing_hidden_in_the_prompt() {
        let document = document([format!("- a\u{202e}b {}", "word ".repeat(100))]);
        let text = &prompt_entries(&document, Retrieval::Recent, "")[0].text;
        assert!(text.starts_with("ab word") && text.ends_with('…') && text.chars().count() <= 180, "{text}");
    }
}
