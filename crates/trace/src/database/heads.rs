//! The third witness of the journals: their heads (K52).

use super::columns::{count, integer};
use super::{Database, DatabaseError};
use crate::journal::{Head, HeadKeeper, Heads, Mac};

impl Database {
    /// The heads that were kept last, by the names of the journals.
    pub fn journal_heads(&self) -> Result<Heads, DatabaseError> {
        self.store.read("read the heads of the journals", |connection| {
            let mut statement = connection.prepare_cached("SELECT name, seq, mac FROM journal_heads")?;
            let rows = statement.query_map([], |row| {
                let mac: Mac = row.get::<_, String>(2)?.parse().map_err(|reason: String| {
                    rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, reason.into())
                })?;
                Ok((row.get(0)?, Head { seq: count(row.get(1)?), mac }))
            })?;
            rows.collect()
        })
    }

    /// Keeps the heads of journals, in place of those kept before.
    pub fn set_journal_heads(&self, heads: &Heads) -> Result<(), DatabaseError> {
        let now = self.now_text();
        self.store.write("keep the heads of the journals", |transaction| {
            let mut statement = transaction.prepare_cached(
                "INSERT INTO journal_heads (name, seq, mac, at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (name) DO UPDATE SET seq = ?2, mac = ?3, at = ?4",
            )?;
            for (name, head) in heads {
                statement.execute((name, integer(head.seq), head.mac.to_string(), &now))?;
            }
            Ok(())
        })
    }
}

impl Database {
    /// Forgets the kept heads: the journals were set aside on purpose.
    pub fn forget_journal_heads(&self) -> Result<(), DatabaseError> {
        self.store.write("forget the heads of the journals", |transaction| {
            transaction.execute("DELETE FROM journal_heads", [])?;
            Ok(())
        })
    }
}

impl HeadKeeper for Database {
    fn known(&self) -> Result<Heads, String> {
        self.journal_heads().map_err(|error| error.to_string())
    }

    fn keep(&self, heads: &Heads) -> Result<(), String> {
        self.set_journal_heads(heads).map_err(|error| error.to_string())
    }

    fn forget(&self) -> Result<(), String> {
        self.forget_journal_heads().map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_replaced_name_by_name() {
        let database = Database::in_memory().unwrap();
        assert!(database.journal_heads().unwrap().is_empty());
        let head = |seq, digit: &str| Head { seq, mac: digit.repeat(64).parse().unwrap() };
        database.set_journal_heads(&Heads::from([("a".into(), head(1, "a")), ("b".into(), head(2, "b"))])).unwrap();
        // Lower too: a journal whose tail was lost begins again from where it is.
        database.keep(&Heads::from([("a".into(), head(0, "c"))])).unwrap();
        let expected = Heads::from([("a".into(), head(0, "c")), ("b".into(), head(2, "b"))]);
        assert_eq!(database.known().unwrap(), expected);
        database.forget().unwrap();
        assert!(database.known().unwrap().is_empty());
    }
}
