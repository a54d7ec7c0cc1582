//! A full-text index of documents in a file of its own (FTS5, bm25, accents ignored).
//!
//! The index holds copies and can be thrown away: the documents are the truth. A document is known
//! by a key (its path, say) and by an opaque `modified` text, so that a caller can tell which ones
//! changed since they were indexed.

use std::collections::BTreeMap;
use std::path::Path;

use super::DatabaseError;
use super::columns::limit as sql_limit;
use super::connection::{Store, Synchronous};
use super::migrations::FULL_TEXT;
use super::terms::match_expression;

/// Bytes of a document's text beyond this one are not indexed.
pub const DOCUMENT_BYTES: usize = 4 * 1024 * 1024;

/// A word in the title counts as much as this many in the text.
const TITLE_WEIGHT: f64 = 4.0;

/// One document as it is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it is found again by: unique.
    pub key: String,
    /// Shown with a hit; searched too.
    pub title: String,
    /// Changes when the document does (its modification time and length, say). Only compared.
    pub modified: String,
    /// The text that is searched, cut to [`DOCUMENT_BYTES`].
    pub text: String,
}

/// One document that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its key.
    pub key: String,
    /// Its title.
    pub title: String,
    /// About 40 words around the best match; `…` where text was left out.
    pub snippet: String,
    /// bm25, larger is better; only comparable within one search.
    pub score: f64,
}

/// The index. Shared between threads by reference.
#[derive(Debug)]
pub struct FullTextIndex {
    store: Store,
}

impl FullTextIndex {
    /// Opens or creates the index in this file.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        Ok(Self { store: Store::open(path, FULL_TEXT, Synchronous::Normal)? })
    }

    /// An index that lives as long as this value.
    pub fn in_memory() -> Result<Self, DatabaseError> {
        Ok(Self { store: Store::in_memory(FULL_TEXT)? })
    }

    /// Adds the document, or replaces the one with the same key.
    pub fn upsert(&self, document: &Document) -> Result<(), DatabaseError> {
        self.upsert_all(std::iter::once(document))
    }

    /// Adds or replaces documents, all or none of them.
    pub fn upsert_all<'a>(&self, documents: impl IntoIterator<Item = &'a Document>) -> Result<(), DatabaseError> {
        self.store.write("index documents", |transaction| {
            let mut statement = transaction.prepare_cached(
                "INSERT INTO documents (key, title, modified, text) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (key) DO UPDATE SET title = ?2, modified = ?3, text = ?4",
            )?;
            for Document { key, title, modified, text } in documents {
                let end = text.floor_char_boundary(DOCUMENT_BYTES);
                statement.execute((key, title, modified, &text[..end]))?;
            }
            Ok(())
        })
    }

    /// Forgets a document; false when there was none of this key.
    pub fn remove(&self, key: &str) -> Result<bool, DatabaseError> {
        self.store.write("remove a document from the index", |transaction| {
            Ok(transaction.execute("DELETE FROM documents WHERE key = ?1", [key])? > 0)
        })
    }

    /// Every indexed key with the `modified` text it was indexed under.
    pub fn known(&self) -> Result<BTreeMap<String, String>, DatabaseError> {
        self.store.read("list the index", |connection| {
            let mut statement = connection.prepare_cached("SELECT key, modified FROM documents")?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// The best documents for these words, best first. Any text is a valid query; one without words
    /// finds nothing.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, DatabaseError> {
        let Some(expression) = match_expression(query) else { return Ok(Vec::new()) };
        self.store.read("search the index", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT documents.key, documents.title, snippet(documents_text, 1, '', '', '…', 40),
                        -bm25(documents_text, ?3, 1.0) AS score
                 FROM documents_text JOIN documents ON documents.id = documents_text.rowid
                 WHERE documents_text MATCH ?1 ORDER BY score DESC, documents.key LIMIT ?2",
            )?;
            let rows = statement.query_map((expression, sql_limit(limit), TITLE_WEIGHT), |row| {
                Ok(Hit { key: row.get(0)?, title: row.get(1)?, snippet: row.get(2)?, score: row.get(3)? })
            })?;
            rows.collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn document(key: &str, title: &str, text: &str) -> Document {
        Document { key: key.into(), title: title.into(), modified: "1".into(), text: text.into() }
    }

    fn keys(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.key.as_str()).collect()
    }

    #[test]
    fn accents_case_and_plurals_do_not_matter() {
        let index = FullTextIndex::in_memory().unwrap();
        index.upsert(&document("a", "Énergie", "Les factures de l'été sont réglées.")).unwrap();
        index.upsert(&document("b", "Garden", "Tomatoes in June.")).unwrap();
        for query in ["facture", "FACTURES", "ete", "e\u{301}te\u{301}", "energie", "réglée"] {
            assert_eq!(keys(&index.search(query, 5).unwrap()), ["a"], "{query}");
        }
        assert_eq!(keys(&index.search("tomatoe \"(", 5).unwrap()), ["b"]);
        assert!(index.search("?!", 5).unwrap().is_empty());
    }

    #[test]
    fn the_title_and_rarer_words_rank_first() {
        let index = FullTextIndex::in_memory().unwrap();
        index.upsert(&document("text", "Notes", "The invoice came. Other things happened that day.")).unwrap();
        index.upsert(&document("title", "Invoice", "It came. Other things happened that day.")).unwrap();
        for number in 0..8 {
            index.upsert(&document(&format!("{number}"), "Other", "Things happened.")).unwrap();
        }
        let hits = index.search("invoice things", 3).unwrap();
        assert_eq!(keys(&hits)[..2], ["title", "text"]);
        assert!(hits[0].score > hits[1].score && hits.len() == 3);
    }

    #[test]
    fn replacing_and_removing_leaves_no_old_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.sqlite");
        {
            let index = FullTextIndex::open(&path).unwrap();
            index.upsert(&document("a", "one", "alpha")).unwrap();
            index.upsert(&Document { modified: "2".into(), ..document("a", "two", "beta") }).unwrap();
            index.upsert(&document("b", "three", "gamma")).unwrap();
        }
        let index = FullTextIndex::open(&path).unwrap();
        assert!(index.search("alpha one", 5).unwrap().is_empty());
        assert_eq!(keys(&index.search("beta", 5).unwrap()), ["a"]);
        assert_eq!(index.known().unwrap(), BTreeMap::from([("a".into(), "2".into()), ("b".into(), "1".into())]));
        assert!(index.remove("b").unwrap() && !index.remove("b").unwrap());
        assert!(index.search("gamma", 5).unwrap().is_empty());
    }

    #[test]
    fn a_snippet_shows_the_match_in_a_long_text() {
        let index = FullTextIndex::in_memory().unwrap();
        let text = format!("{} the needle is here {}", "hay ".repeat(500), "hay ".repeat(500));
        index.upsert(&document("a", "stack", &text)).unwrap();
        let hits = index.search("needle", 1).unwrap();
        assert!(hits[0].snippet.contains("needle") && hits[0].snippet.len() < 300, "{}", hits[0].snippet);
    }

    proptest! {
        #[test]
        fn any_text_is_a_safe_query(query in any::<String>(), text in any::<String>()) {
            let index = FullTextIndex::in_memory().unwrap();
            index.upsert(&document("a", &query, &text)).unwrap();
            index.search(&query, 3).unwrap();
        }
    }
}
