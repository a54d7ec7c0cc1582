//! Queries over a store and a journal, and attempts to do more than read.

use std::fs;
use std::sync::atomic::Ordering;

use super::testing::{FIRST, OTHER, SECOND, World, turn, write_run};
use super::*;
use crate::{Cell, Kind, TextStyle};

fn frame(world: &World, sql: &str) -> Frame {
    Query::open(&world.sources(), sql, Limits::default()).unwrap().frame().unwrap()
}

fn fails(world: &World, sql: &str) -> QueryError {
    match Query::open(&world.sources(), sql, Limits::default()) {
        Err(error) => error,
        Ok(query) => query.frame().map(|frame| panic!("{sql}: {frame:?}")).unwrap_err(),
    }
}

/// The first row, by commas.
fn row(world: &World, sql: &str) -> String {
    let frame = frame(world, sql);
    let cells: Vec<String> = frame.names().iter().map(|name| frame.get(0, name).to_string()).collect();
    cells.join(",")
}

#[test]
fn every_view_has_the_columns_that_are_documented() {
    let connection = connect(&Names::default()).unwrap();
    complete(&connection).unwrap();
    let mut statement = connection.prepare("SELECT name FROM sqlite_temp_schema WHERE type = 'view'").unwrap();
    let views: BTreeSet<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let documented: BTreeSet<String> = tables().iter().map(|table| table.name.to_owned()).collect();
    assert_eq!(views, documented);
    for table in tables() {
        let statement = connection.prepare(&format!("SELECT * FROM {}", table.name)).unwrap();
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(statement.column_names().collect::<Vec<_>>(), columns, "{}", table.name);
        for (column, found) in table.columns.iter().zip(statement.columns()) {
            let declared = match found.decl_type() {
                Some("INTEGER") => Kind::Int,
                Some("REAL") => Kind::Float,
                Some("TEXT") => Kind::Text,
                // Computed: looked at in the next test.
                _ => continue,
            };
            assert_eq!(column.kind, declared, "{}.{}", table.name, column.name);
        }
    }
}

#[test]
fn every_column_holds_what_its_documentation_says() {
    let world = World::new();
    for table in tables() {
        let frame = frame(&world, &format!("SELECT * FROM {}", table.name));
        assert!(frame.rows() > 0, "{} is empty", table.name);
        for column in table.columns {
            for at in 0..frame.rows() {
                let found = frame.get(at, column.name).kind();
                assert!(found.is_none_or(|kind| kind == column.kind), "{}.{}: {found:?}", table.name, column.name);
            }
        }
    }
}

#[test]
fn passes_cells_and_failures_agree_with_what_was_written() {
    let world = World::new();
    assert_eq!(row(&world, "SELECT count(*) FROM passes"), "138");
    assert_eq!(
        row(&world, "SELECT run, bench, state, planned, passes, seed, elapsed_s FROM runs LIMIT 1"),
        format!("{FIRST},tools,complete,60,60,{},30.5", u64::MAX)
    );
    let cell = "SELECT passed, total, invalid, rate, distinct_outputs, median_total_ms, low, high FROM cells \
                WHERE run = latest('tools') AND configuration = 'large, \"two\"' AND [case] = ";
    assert_eq!(row(&world, &format!("{cell} 'bad'")).split(",0.2").next().unwrap(), "5,10,0,0.5,2,5.5");
    assert_eq!(row(&world, &format!("{cell} 'odd\u{1b}'")).split(",0.7").next().unwrap(), "9,9,1,1.0,2,6.0");
    let failures = frame(
        &world,
        "SELECT class, class_kind, sum(passes) AS n FROM failures WHERE bench = 'tools' GROUP BY class ORDER BY n",
    );
    assert_eq!(
        (failures.get(0, "class"), failures.get(0, "class_kind"), failures.get(0, "n")),
        (Cell::Text("INVALID_transport"), Cell::Text("invalid"), Cell::Int(4))
    );
    assert_eq!((failures.get(1, "class"), failures.get(1, "n")), (Cell::Text("no_call"), Cell::Int(30)));
    assert_eq!(
        row(&world, "SELECT family, kind, request, tools, expects, scenario FROM cases WHERE [case] = 'good'"),
        "delegation,target,ask good,[\"read_file\"],no call,0"
    );
    assert_eq!(row(&world, "SELECT temperature, context, memory FROM configurations"), "0.3,2048,recent");
}

#[test]
fn turns_have_what_their_events_say() {
    let world = World::new();
    let columns = "request, [end], rounds, calls, failed_calls, confirmations, retries, prompt_tokens, completion_tokens, cost_usd, verdict, ms";
    assert_eq!(
        row(&world, &format!("SELECT {columns} FROM turns")),
        "é\nwhat?,natural,2,1,1,1,1,10,8,0.25,corrected,1234.5"
    );
    assert_eq!(
        row(&world, "SELECT tool, outcome, json_extract(arguments, '$.path'), untrusted, thread FROM calls"),
        "write_file,error,x,1,thread-1"
    );
    assert_eq!(row(&world, "SELECT count(*), min(verdict) FROM verdicts"), "4,corrected");
    assert_eq!(row(&world, "SELECT event, detail FROM events"), "compression,{\"messages\":4,\"summarised\":true}");
    assert_eq!(row(&world, "SELECT length(at), at LIKE '20%Z' FROM turns"), "24,1");
}

#[test]
fn latest_and_baseline_are_functions() {
    let world = World::new();
    assert_eq!(
        row(&world, "SELECT latest(), latest('tools'), latest('none'), baseline('tools')"),
        format!("{OTHER},{SECOND},,{FIRST}")
    );
    assert_eq!(row(&world, "SELECT count(*) FROM passes WHERE run = latest()"), "18");
    assert!(fails(&world, "SELECT baseline('rounds')").to_string().contains("no baseline of bench rounds"));
    let query = Query::open(&world.sources(), "SELECT * FROM passes WHERE run = 'latest'", Limits::default()).unwrap();
    assert!(query.notes()[0].contains("latest()"), "{:?}", query.notes());
}

#[test]
fn what_was_added_is_seen_and_what_was_removed_is_not() {
    let world = World::new();
    let passes = "SELECT count(*), count(DISTINCT run), count(kind) FROM passes";
    assert_eq!(row(&world, passes), "138,3,138");
    write_run(&world.runs(), "20261130-130000-dddd", "tools", "2026-11-30T13:00:00.000Z", 1);
    assert_eq!(row(&world, passes), "144,4,144");
    fs::remove_dir_all(world.runs().join(FIRST)).unwrap();
    assert_eq!(row(&world, passes), "84,3,84");
    assert_eq!(row(&world, "SELECT count(*) FROM turns"), "2");
    world.append(&turn("turn-3", tenpass_trace::TurnEnd::Natural));
    assert_eq!(row(&world, "SELECT count(*), sum(rounds) FROM turns"), "3,6");
    // Set aside: another journal begins.
    fs::remove_file(world.journal()).unwrap();
    assert_eq!(row(&world, "SELECT count(*) FROM turns"), "0");
    world.append(&turn("turn-9", tenpass_trace::TurnEnd::Natural));
    assert_eq!(row(&world, "SELECT count(*), max(turn) FROM turns"), "1,turn-9");
}

#[test]
fn a_damaged_line_or_run_is_named_and_the_rest_is_there() {
    let world = World::new();
    let journal = fs::read_to_string(world.journal()).unwrap().replacen("\"event\":\"retry\"", "\"event\":\"rery\"", 1);
    fs::write(world.journal(), journal).unwrap();
    let query = Query::open(&world.sources(), "SELECT count(*) AS n FROM retries", Limits::default()).unwrap();
    assert!(query.notes()[0].starts_with("1 lines of the journal cannot be read"), "{:?}", query.notes());
    assert_eq!(query.frame().unwrap().get(0, "n"), Cell::Int(1));
    fs::write(world.runs().join(FIRST).join("manifest.json"), "{").unwrap();
    fs::write(world.runs().join(SECOND).join("passes.jsonl"), "{}\n").unwrap();
    let query = Query::open(&world.sources(), "SELECT count(*) AS n FROM passes", Limits::default()).unwrap();
    assert!(
        query.notes().iter().any(|note| note.contains(FIRST) && note.contains("manifest.json")),
        "{:?}",
        query.notes()
    );
    assert!(
        query.notes().iter().any(|note| note.contains(SECOND) && note.contains("passes.jsonl")),
        "{:?}",
        query.notes()
    );
    assert_eq!(query.frame().unwrap().get(0, "n"), Cell::Int(18));
}

#[test]
fn nothing_there_is_an_empty_table_and_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let sources = Sources {
        runs: folder.path().join("runs"),
        journal: folder.path().join("agent/j.jsonl"),
        ..Sources::default()
    };
    for table in tables() {
        let query = Query::open(&sources, &format!("SELECT * FROM {}", table.name), Limits::default()).unwrap();
        assert_eq!(query.frame().unwrap().rows(), 0, "{}", table.name);
        let mut out = Vec::new();
        query.write(Output::Parquet, &mut out).unwrap();
        assert!(out.starts_with(b"PAR1"));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "looking makes nothing");
}

#[test]
fn a_statement_that_would_do_more_than_read_is_refused() {
    let world = World::new();
    row(&world, "SELECT (SELECT count(*) FROM passes), (SELECT count(*) FROM turns)");
    let listed = |folder: &std::path::Path| -> BTreeSet<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let before = (listed(&world.runs()), listed(&world.agent()));
    let target = world.folder.path().join("made.sqlite");
    let target = target.display();
    let refused = [
        "DELETE FROM store.run".to_owned(),
        "INSERT INTO store.run (name) VALUES ('x')".to_owned(),
        "UPDATE agent.turn SET verdict = 'accepted'".to_owned(),
        "UPDATE idx.pass SET success = 1 RETURNING success".to_owned(),
        "WITH x AS (SELECT 1) DELETE FROM agent.turn".to_owned(),
        "REPLACE INTO main.class VALUES ('a', 'b')".to_owned(),
        "DELETE FROM passes".to_owned(),
        "insert into runs values (1)".to_owned(),
        "DROP VIEW passes".to_owned(),
        "DROP TABLE idx.pass".to_owned(),
        "CREATE TABLE x (a)".to_owned(),
        "CREATE TEMP TABLE x AS SELECT * FROM passes".to_owned(),
        "CREATE TEMP VIEW x AS SELECT 1".to_owned(),
        "CREATE VIRTUAL TABLE x USING fts5(a)".to_owned(),
        "ALTER TABLE store.run ADD COLUMN x".to_owned(),
        format!("ATTACH '{target}' AS x"),
        format!("ATTACH 'file:{target}?mode=rwc' AS x"),
        format!("VACUUM INTO '{target}'"),
        format!("VACUUM store INTO '{target}'"),
        "VACUUM".to_owned(),
        "DETACH store".to_owned(),
        "PRAGMA query_only = 0".to_owned(),
        "PRAGMA writable_schema = 1".to_owned(),
        "PRAGMA table_info(runs)".to_owned(),
        "SELECT * FROM pragma_table_info('runs')".to_owned(),
        "EXPLAIN DELETE FROM store.run".to_owned(),
        "BEGIN IMMEDIATE".to_owned(),
        "COMMIT".to_owned(),
        "SAVEPOINT x".to_owned(),
        "REINDEX".to_owned(),
        "ANALYZE".to_owned(),
        "SELECT load_extension('x')".to_owned(),
        "SELECT Load_Extension('x', 'y')".to_owned(),
    ];
    for sql in &refused {
        let error = fails(&world, sql);
        assert!(matches!(error, QueryError::Refused { .. }), "{sql}: {error}");
        let shown = error.to_string();
        assert!(shown.ends_with(" is refused: a query only reads") && shown.lines().count() == 1, "{shown}");
    }
    for sql in ["SELECT 1; DELETE FROM store.run", "SELECT 1; SELECT 2"] {
        let error = fails(&world, sql);
        assert!(matches!(error, QueryError::Several | QueryError::Refused { .. }), "{sql}: {error}");
    }
    for sql in ["", "  ", "-- only words\n", ";"] {
        assert!(matches!(fails(&world, sql), QueryError::Empty), "{sql:?}");
    }
    for sql in [
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('x', 'y')",
        "SELECT edit('x')",
        "SELECT fts3_tokenizer('a', 'b')",
    ] {
        fails(&world, sql);
    }
    assert_eq!((listed(&world.runs()), listed(&world.agent())), before, "no file was made");
    assert!(!world.folder.path().join("made.sqlite").exists());
    assert_eq!(row(&world, "SELECT (SELECT count(*) FROM passes), (SELECT count(*) FROM turns)"), "138,2");
}

#[test]
fn reading_in_every_shape_is_allowed() {
    let world = World::new();
    for sql in [
        "SELECT 1;",
        "  -- words\nSELECT 1",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n",
        "VALUES (1), (2)",
        "EXPLAIN QUERY PLAN SELECT * FROM passes",
        "EXPLAIN SELECT 1",
        "SELECT run, row_number() OVER (PARTITION BY bench ORDER BY started) FROM runs",
        "SELECT * FROM json_each('[1,2]')",
        "SELECT a.run FROM runs a JOIN runs b ON a.run < b.run",
        "SELECT date(started), strftime('%H', started) FROM runs",
    ] {
        assert!(frame(&world, sql).rows() > 0, "{sql}");
    }
}

#[test]
fn mistakes_have_a_place_and_a_suggestion() {
    let world = World::new();
    let said = |sql: &str| {
        let error = fails(&world, sql);
        format!("{error}; {}", error.hint())
    };
    assert_eq!(said("SELECT clas FROM passes"), "no such column: clas, at character 8; did you mean class?");
    assert_eq!(said("SELECT *\nFROM pases"), "no such table: pases; did you mean passes?");
    assert_eq!(
        said("SELECT run FROM runs WHERE run = latest"),
        "no such column: latest, at character 34; did you mean latest()?"
    );
    assert!(said("SELECT run FROM runs WHERE bench = \"tools\"").ends_with("a text stands in single quotes: 'tools'"));
    assert!(said("SELECT case FROM cells").contains("write [case]"), "{}", said("SELECT case FROM cells"));
    assert!(said("SELECT medain(total_ms) FROM passes").contains("did you mean median?"));
    assert!(said("SELECT").starts_with("incomplete input"));
}

#[test]
fn a_query_that_takes_too_long_or_is_stopped_ends() {
    let world = World::new();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let limits = Limits { time: Some(Duration::from_millis(30)), ..Limits::default() };
    let error = Query::open(&world.sources(), endless, limits).and_then(|query| query.frame()).unwrap_err();
    assert!(matches!(error, QueryError::TimedOut { .. }), "{error}");
    let limits = Limits::default();
    let query = Query::open(&world.sources(), endless, limits.clone()).unwrap();
    limits.stop.store(true, Ordering::Relaxed);
    assert!(matches!(query.frame().unwrap_err(), QueryError::Stopped));
    assert!(matches!(Query::open(&world.sources(), "SELECT * FROM passes", limits).unwrap_err(), QueryError::Stopped));
    let error = fails(&world, "SELECT zeroblob(1000000000)");
    assert!(error.to_string().contains("too big"), "{error}");
}

#[test]
fn answers_are_written_in_every_format() {
    let world = World::new();
    let written = |sql: &str, output| {
        let mut out = Vec::new();
        Query::open(&world.sources(), sql, Limits::default()).unwrap().write(output, &mut out).unwrap();
        out
    };
    let sql = "SELECT [case], configuration, rate, NULL AS none, x'00ff' AS bytes FROM cells WHERE run = latest() ORDER BY 1, 2";
    let csv = written(sql, Output::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_slice());
    assert_eq!(reader.headers().unwrap(), vec!["case", "configuration", "rate", "none", "bytes"]);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[0], vec!["bad", "large, \"two\"", "0.3333333333333333", "", "00ff"]);
    let json: serde_json::Value = serde_json::from_slice(&written(sql, Output::Json)).unwrap();
    assert_eq!(json[5]["case"], "odd\u{1b}");
    assert_eq!((&json[0]["none"], &json[1]["rate"]), (&serde_json::Value::Null, &serde_json::json!(0.0)));
    let json: serde_json::Value =
        serde_json::from_slice(&written("SELECT passed, total FROM cells", Output::Json)).unwrap();
    assert!(json[0]["total"].is_u64());
    let text = String::from_utf8(written(sql, Output::Text(TextStyle::default()))).unwrap();
    assert!(text.contains("odd\\u{1B}") && text.contains("0.3333  –"), "{text}");
    assert!(written(sql, Output::Parquet).starts_with(b"PAR1"));
}

#[test]
fn a_long_answer_of_computed_columns_gets_the_kind_of_all_its_rows() {
    use polars_io::SerReader;
    let world = World::new();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000) \
               SELECT i AS whole, CASE WHEN i < 69999 THEN i ELSE 0.5 END AS mixed, NULL AS none, \
               CASE WHEN i = 70000 THEN 'é' END AS late FROM n";
    let mut out = Vec::new();
    let query = Query::open(&world.sources(), sql, Limits::default()).unwrap();
    assert_eq!(query.write(Output::Parquet, &mut out).unwrap(), 70_000);
    let read = polars_io::parquet::read::ParquetReader::new(std::io::Cursor::new(out)).finish().unwrap();
    let types: Vec<String> = read.dtypes().iter().map(ToString::to_string).collect();
    assert_eq!(types, ["i64", "f64", "str", "str"]);
    assert_eq!(read.height(), 70_000);
    assert_eq!(read.column("late").unwrap().null_count(), 69_999);
}

#[test]
fn rates_spread_over_configurations() {
    let world = World::new();
    let wide = frame(&world, "SELECT [case], configuration, rate FROM cells WHERE run = latest('tools')");
    let wide = wide.pivot("case", "configuration", "rate").unwrap();
    assert_eq!(wide.columns()[1..], [("small", Kind::Float), ("large, \"two\"", Kind::Float)]);
    assert_eq!((wide.get(1, "case"), wide.get(1, "small")), (Cell::Text("bad"), Cell::Float(0.0)));
    let twice = frame(&world, "SELECT [case], configuration, rate FROM cells").pivot("case", "configuration", "rate");
    assert!(twice.unwrap_err().hint().contains("WHERE run = latest()"));
}

#[test]
#[cfg(unix)]
fn a_store_that_cannot_be_written_is_read_all_the_same() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let lock = |mode| {
        for folder in [world.runs(), world.agent()] {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    lock(0o500);
    // The superuser may write everywhere: then there is nothing to see here.
    let closed = fs::write(world.runs().join("probe"), "").is_err();
    let answer = row(&world, "SELECT (SELECT count(*) FROM passes), (SELECT count(*) FROM turns)");
    lock(0o700);
    assert_eq!(answer, "138,2");
    assert!(!closed || !world.runs().join("query.sqlite").exists());
}
