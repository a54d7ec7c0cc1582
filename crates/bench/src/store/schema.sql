-- The index of all runs of a store. Everything here can be rebuilt from the runs' files.
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- Which files were indexed, and how far.
    passes_file TEXT NOT NULL DEFAULT '',
    passes_bytes INTEGER NOT NULL DEFAULT 0,
    passes_lines INTEGER NOT NULL DEFAULT 0,
    outcomes_file TEXT NOT NULL DEFAULT '',
    outcomes_bytes INTEGER NOT NULL DEFAULT 0,
    outcomes_lines INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE case_name (
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (run, position)
) WITHOUT ROWID;
CREATE TABLE pass (
    run INTEGER NOT NULL,
    configuration INTEGER NOT NULL,
    case_position INTEGER NOT NULL,
    pass INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    cold INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    first_token_ms REAL,
    total_ms REAL NOT NULL,
    prompt_tokens INTEGER,
    cached_tokens INTEGER,
    completion_tokens INTEGER,
    output INTEGER NOT NULL,
    -- From outcomes.jsonl; NULL until its line was read.
    outcome_offset INTEGER,
    outcome_length INTEGER,
    success INTEGER,
    class TEXT,
    recovered INTEGER,
    first_call_ms REAL,
    PRIMARY KEY (run, configuration, case_position, pass)
) WITHOUT ROWID;
-- Lines of passes.jsonl that are not a pass's result: failed attempts, faults measured again.
CREATE TABLE earlier (
    run INTEGER NOT NULL,
    configuration INTEGER NOT NULL,
    case_position INTEGER NOT NULL,
    pass INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (run, configuration, case_position, pass, attempt)
) WITHOUT ROWID;
