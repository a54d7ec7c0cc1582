-- What orchestrator-trace.jsonl says, by kind of event. Everything here can be read again.
CREATE TABLE agent.mark (
    bytes INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    -- The last bytes that were read: another file, or one that was cut, does not have them there.
    tail TEXT NOT NULL,
    unreadable INTEGER NOT NULL
);
INSERT INTO agent.mark VALUES (0, 0, '', 0);
CREATE TABLE agent.turn (
    turn TEXT NOT NULL PRIMARY KEY,
    thread TEXT NOT NULL,
    at TEXT NOT NULL,
    request TEXT,
    model TEXT,
    profile TEXT,
    think TEXT,
    selection TEXT,
    structure TEXT,
    offered INTEGER,
    "end" TEXT,
    answer TEXT,
    author TEXT,
    ms REAL,
    verdict TEXT
) WITHOUT ROWID;
CREATE TABLE agent.round (
    turn TEXT NOT NULL,
    at TEXT NOT NULL,
    number INTEGER NOT NULL,
    tools INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    prompt_tokens INTEGER,
    counted_tokens INTEGER,
    completion_tokens INTEGER,
    ms REAL NOT NULL,
    first_token_ms REAL,
    calls INTEGER NOT NULL,
    class TEXT
);
CREATE INDEX agent.round_turn ON round (turn);
CREATE TABLE agent.call (
    turn TEXT NOT NULL,
    at TEXT NOT NULL,
    number INTEGER NOT NULL,
    tool TEXT NOT NULL,
    tier TEXT NOT NULL,
    outcome TEXT NOT NULL,
    arguments TEXT NOT NULL,
    reason TEXT,
    result TEXT NOT NULL,
    ms REAL NOT NULL,
    untrusted INTEGER NOT NULL
);
CREATE INDEX agent.call_turn ON call (turn);
CREATE TABLE agent.confirmation (
    turn TEXT NOT NULL,
    at TEXT NOT NULL,
    number INTEGER NOT NULL,
    tool TEXT NOT NULL,
    tier TEXT NOT NULL,
    answer TEXT NOT NULL,
    ms REAL NOT NULL
);
CREATE INDEX agent.confirmation_turn ON confirmation (turn);
CREATE TABLE agent.verdict (
    turn TEXT NOT NULL,
    at TEXT NOT NULL,
    verdict TEXT NOT NULL
);
CREATE TABLE agent.retry (
    turn TEXT NOT NULL,
    at TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX agent.retry_turn ON retry (turn);
CREATE TABLE agent.delegation (
    turn TEXT NOT NULL,
    at TEXT NOT NULL,
    provider TEXT NOT NULL,
    characters INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    deduplicated INTEGER NOT NULL,
    outcome TEXT NOT NULL
);
CREATE INDEX agent.delegation_turn ON delegation (turn);
-- Every other kind of event, whole.
CREATE TABLE agent.event (
    turn TEXT NOT NULL,
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    detail TEXT NOT NULL
);
