//! A query reads, and does nothing else: SQLite asks here before every step of a statement.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, Error, Statement};

use super::QueryError;
use super::hint::sql_error;

/// Longest statement, in bytes.
const SQL_BYTES: i32 = 1 << 20;
/// Longest value, in bytes: one call of a function must not take the memory of the machine.
const VALUE_BYTES: i32 = 64 << 20;

/// How statements begin that do something else than read.
const WRITERS: [&str; 19] = [
    "ALTER",
    "ANALYZE",
    "ATTACH",
    "BEGIN",
    "COMMIT",
    "CREATE",
    "DELETE",
    "DETACH",
    "DROP",
    "END",
    "INSERT",
    "PRAGMA",
    "REINDEX",
    "RELEASE",
    "REPLACE",
    "ROLLBACK",
    "SAVEPOINT",
    "UPDATE",
    "VACUUM",
];

/// What a statement touches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Databases it reads from.
    pub(crate) databases: BTreeSet<String>,
    /// Functions it calls.
    pub(crate) functions: BTreeSet<String>,
    refused: Option<String>,
}

/// Closes a connection for everything but reading. What is attached must be attached before.
pub(crate) fn close(connection: &mut Connection) -> Result<Arc<Mutex<Seen>>, QueryError> {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let asked = Arc::clone(&seen);
    let shut = || {
        connection.pragma_update(None, "query_only", true)?;
        // "latest" would be a text where no column is called so.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
        connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES)?;
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            let mut seen = asked.lock().unwrap_or_else(PoisonError::into_inner);
            answer(&context, &mut seen)
        }))
    };
    shut().map_err(QueryError::Database)?;
    Ok(seen)
}

fn answer(context: &AuthContext<'_>, seen: &mut Seen) -> Authorization {
    let refused = match context.action {
        AuthAction::Select | AuthAction::Recursive => return Authorization::Allow,
        AuthAction::Read { .. } => {
            seen.databases.extend(context.database_name.map(str::to_owned));
            return Authorization::Allow;
        }
        AuthAction::Function { function_name } if !function_name.eq_ignore_ascii_case("load_extension") => {
            seen.functions.insert(function_name.to_ascii_lowercase());
            return Authorization::Allow;
        }
        AuthAction::Function { function_name } => format!("{function_name}()"),
        AuthAction::Pragma { pragma_name, .. } => format!("PRAGMA {pragma_name}"),
        AuthAction::Attach { .. } => "ATTACH".to_owned(),
        AuthAction::Detach { .. } => "DETACH".to_owned(),
        AuthAction::Insert { table_name } => format!("INSERT into {table_name}"),
        AuthAction::Update { table_name, .. } => format!("UPDATE of {table_name}"),
        AuthAction::Delete { table_name } => format!("DELETE from {table_name}"),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "a transaction".to_owned(),
        AuthAction::CreateVtable { module_name, .. } => format!("CREATE VIRTUAL TABLE with {module_name}"),
        AuthAction::AlterTable { table_name, .. } => format!("ALTER TABLE {table_name}"),
        AuthAction::Analyze { .. } => "ANALYZE".to_owned(),
        AuthAction::Reindex { .. } => "REINDEX".to_owned(),
        AuthAction::DropTable { table_name }
        | AuthAction::DropTempTable { table_name }
        | AuthAction::DropVtable { table_name, .. } => format!("DROP TABLE {table_name}"),
        AuthAction::DropView { view_name } | AuthAction::DropTempView { view_name } => format!("DROP VIEW {view_name}"),
        AuthAction::DropIndex { index_name, .. } | AuthAction::DropTempIndex { index_name, .. } => {
            format!("DROP INDEX {index_name}")
        }
        AuthAction::DropTrigger { trigger_name, .. } | AuthAction::DropTempTrigger { trigger_name, .. } => {
            format!("DROP TRIGGER {trigger_name}")
        }
        _ => "CREATE".to_owned(),
    };
    // Creating a table inserts into the schema: the last step of several names it best.
    if seen.refused.is_none() {
        seen.refused = Some(refused);
    }
    Authorization::Deny
}

/// Prepares one statement that reads.
pub(crate) fn prepare<'c>(
    connection: &'c Connection,
    seen: &Mutex<Seen>,
    sql: &str,
) -> Result<Statement<'c>, QueryError> {
    let seen = || seen.lock().unwrap_or_else(PoisonError::into_inner);
    *seen() = Seen::default();
    let prepared = connection.prepare(sql);
    if let Some(what) = seen().refused.clone() {
        return Err(QueryError::Refused { what });
    }
    match prepared {
        Ok(statement) if statement.readonly() && statement.column_count() > 0 => Ok(statement),
        Ok(_) => Err(QueryError::Refused { what: first_word(sql) }),
        Err(Error::Empty) => Err(QueryError::Empty),
        Err(Error::MultipleStatement) => Err(QueryError::Several),
        // Some statements are found wrong before SQLite asks: a view, for one, cannot be written to.
        Err(_) if WRITERS.contains(&first_word(sql).as_str()) => Err(QueryError::Refused { what: first_word(sql) }),
        Err(error) => Err(sql_error(error, sql)),
    }
}

/// What was refused since the last statement was prepared.
pub(crate) fn refused(seen: &Mutex<Seen>) -> Option<QueryError> {
    let what = seen.lock().unwrap_or_else(PoisonError::into_inner).refused.clone()?;
    Some(QueryError::Refused { what })
}

/// The statement's name, such as `VACUUM`.
fn first_word(sql: &str) -> String {
    let word: String = sql.trim_start().chars().take_while(char::is_ascii_alphabetic).take(20).collect();
    if word.is_empty() { "this".to_owned() } else { word.to_ascii_uppercase() }
}
