//! SQLite's errors with the place and what was probably meant.

use rusqlite::Error;

use super::QueryError;
use super::functions::FUNCTIONS;
use super::tables::TABLES;

/// SQLite's functions that are worth a suggestion.
const COMMON: [&str; 18] = [
    "abs",
    "avg",
    "coalesce",
    "count",
    "date",
    "datetime",
    "group_concat",
    "ifnull",
    "json_extract",
    "julianday",
    "length",
    "lower",
    "max",
    "min",
    "round",
    "strftime",
    "sum",
    "upper",
];

/// An error of preparing `sql`.
pub(crate) fn sql_error(error: Error, sql: &str) -> QueryError {
    match error {
        Error::SqlInputError { msg, offset, .. } => {
            // SQLite's own guess is in the hint.
            let msg = msg.split(" - should this be").next().unwrap_or(&msg).to_owned();
            let place = usize::try_from(offset).ok().map(|offset| place(sql, offset)).unwrap_or_default();
            QueryError::Sql { hint: hint(&msg, sql), message: msg, place }
        }
        Error::SqliteFailure(_, Some(message)) => {
            QueryError::Sql { hint: hint(&message, sql), message, place: String::new() }
        }
        other => QueryError::Database(other),
    }
}

/// Where it is, counted from 1.
fn place(sql: &str, offset: usize) -> String {
    let before = sql.get(..offset).unwrap_or(sql);
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    if sql.trim_end().contains('\n') {
        format!(", at line {}, character {column}", line + 1)
    } else {
        format!(", at character {column}")
    }
}

fn hint(message: &str, sql: &str) -> String {
    let tables = || TABLES.iter().map(|table| table.name);
    let unknown = |prefix: &str| message.strip_prefix(prefix).map(|name| name.rsplit('.').next().unwrap_or(name));
    if let Some(name) = unknown("no such table: ") {
        let all: Vec<&str> = tables().collect();
        return near(name, tables()).unwrap_or_else(|| format!("there are: {}", all.join(", ")));
    }
    if let Some(name) = unknown("no such column: ") {
        return hint_for_column(name.trim_matches('"'), sql);
    }
    if let Some(name) = unknown("no such function: ") {
        let own = FUNCTIONS.iter().filter_map(|(call, _)| call.split('(').next());
        let all = "`tenpass query --tables` lists those beside SQLite's own".to_owned();
        return near(name, own.chain(COMMON)).unwrap_or(all);
    }
    let word = |word: &str| {
        sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|other| other.eq_ignore_ascii_case(word))
    };
    if message.contains("syntax error") || message.contains("incomplete input") {
        if bare_case(sql) && !word("when") {
            return "case is a word of SQL: write [case] for the column".to_owned();
        }
        return "the language is that of SQLite; `tenpass query --tables` shows what there is".to_owned();
    }
    "`tenpass query --tables` shows what there is".to_owned()
}

/// Whether the word `case` stands there as it is, neither in brackets nor in quotes.
fn bare_case(sql: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '[' | ']' | '"' | '`' | '\'');
    sql.split(|c| !is_part(c)).any(|word| word.eq_ignore_ascii_case("case"))
}

fn hint_for_column(name: &str, sql: &str) -> String {
    let mentioned = |table: &str| {
        sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word.eq_ignore_ascii_case(table))
    };
    let columns = |all: bool| {
        let tables = TABLES.iter().filter(move |table| all || mentioned(table.name));
        tables.flat_map(|table| table.columns.iter().map(|column| column.name))
    };
    if let Some((call, _)) = FUNCTIONS.iter().find(|(call, _)| call.split('(').next() == Some(name)) {
        return format!("did you mean {call}?");
    }
    if sql.contains(&format!("\"{name}\"")) {
        return format!("a text stands in single quotes: '{name}'");
    }
    near(name, columns(false)).or_else(|| near(name, columns(true))).unwrap_or_else(|| {
        let mut all: Vec<&str> = columns(false).collect();
        all.dedup();
        if all.is_empty() {
            "`tenpass query --tables` shows what there is".to_owned()
        } else {
            format!("there are: {}", all.join(", "))
        }
    })
}

/// The nearest of the names, when one is near.
fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let scored = names.map(|other| (strsim::jaro_winkler(&name, other), other));
    let best = scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, other)| format!("did you mean {other}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_lines() {
        assert_eq!(place("SELECT clas FROM x", 7), ", at character 8");
        assert_eq!(place("SELECT 'é', clas FROM x", 13), ", at character 13");
        assert_eq!(place("SELECT a,\n  clas\nFROM x", 12), ", at line 2, character 3");
        assert_eq!(place("SELECT", 99), ", at character 7");
    }

    #[test]
    fn what_was_probably_meant() {
        assert_eq!(hint("no such column: clas", "SELECT clas FROM passes"), "did you mean class?");
        assert_eq!(hint("no such column: p.clas", "SELECT p.clas FROM passes p"), "did you mean class?");
        assert_eq!(hint("no such table: pases", ""), "did you mean passes?");
        assert!(hint("no such table: xyz", "").starts_with("there are: runs, "));
        assert_eq!(hint("no such function: avrage", ""), "did you mean avg?");
        assert_eq!(hint("no such column: latest", "SELECT * FROM runs WHERE run = latest"), "did you mean latest()?");
        assert_eq!(
            hint("no such column: tools", "SELECT * FROM runs WHERE bench = \"tools\""),
            "a text stands in single quotes: 'tools'"
        );
        assert_eq!(
            hint("near \"FROM\": syntax error", "SELECT case FROM cells"),
            "case is a word of SQL: write [case] for the column"
        );
        assert!(!hint("incomplete input", "SELECT [case] FROM cells WHERE").contains("word of SQL"));
        assert!(!hint("incomplete input", "SELECT \"case\" FROM cells WHERE").contains("word of SQL"));
    }
}
