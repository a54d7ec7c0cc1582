-- One row a turn: what was asked and what was shown. `verdict` is NULL until somebody judges:
-- silence is never approval.
CREATE TABLE exchanges (
    turn           TEXT PRIMARY KEY NOT NULL,
    thread         TEXT NOT NULL,
    at             TEXT NOT NULL,
    user           TEXT NOT NULL,
    answer         TEXT NOT NULL,
    author         TEXT NOT NULL,
    model_digest   TEXT,
    "end"          TEXT NOT NULL,
    verdict        TEXT CHECK (verdict IN ('accepted', 'rejected', 'corrected')),
    correction     TEXT,
    verdict_source TEXT CHECK (verdict_source IN ('thumb', 'typed', 'confirmation')),
    judged_at      TEXT,
    CHECK ((verdict IS NULL) = (verdict_source IS NULL) AND (verdict IS NULL) = (judged_at IS NULL)),
    CHECK ((verdict IS 'corrected') = (correction IS NOT NULL))
) STRICT;
CREATE INDEX exchanges_by_thread ON exchanges (thread, at);
CREATE INDEX exchanges_by_time ON exchanges (at);

-- Turns with tools, whole, as the server saw them. Only natural ends can be in here at all.
CREATE TABLE tool_turns (
    turn     TEXT PRIMARY KEY NOT NULL,
    thread   TEXT NOT NULL,
    at       TEXT NOT NULL,
    model    TEXT NOT NULL,
    request  TEXT NOT NULL,
    tools    TEXT NOT NULL,
    answer   TEXT NOT NULL,
    "end"    TEXT NOT NULL CHECK ("end" = 'natural'),
    label    TEXT CHECK (label IN ('accepted', 'rejected'))
) STRICT;

-- What may be learned from: ended by itself and judged. A person's verdict goes before the label
-- that follows from confirmations.
CREATE VIEW exportable_exchanges AS
    SELECT turn, thread, at, user, answer, author, model_digest, "end", verdict, correction, verdict_source, judged_at
    FROM exchanges
    WHERE "end" = 'natural' AND verdict IS NOT NULL;

CREATE VIEW exportable_tool_turns AS
    SELECT tool_turns.turn, tool_turns.thread, tool_turns.at, tool_turns.model, tool_turns.request, tool_turns.tools,
           tool_turns.answer, tool_turns."end", tool_turns.label,
           coalesce(exchanges.verdict, tool_turns.label) AS verdict,
           exchanges.correction,
           coalesce(exchanges.verdict_source, 'confirmation') AS verdict_source
    FROM tool_turns LEFT JOIN exchanges ON exchanges.turn = tool_turns.turn
    WHERE tool_turns."end" = 'natural'
      AND coalesce(exchanges."end", 'natural') = 'natural'
      AND coalesce(exchanges.verdict, tool_turns.label) IS NOT NULL;

-- Tokens of the requests a turn made.
CREATE TABLE usage (
    id                INTEGER PRIMARY KEY,
    at                TEXT NOT NULL,
    thread            TEXT NOT NULL,
    turn              TEXT NOT NULL,
    author            TEXT NOT NULL,
    requests          INTEGER NOT NULL CHECK (requests >= 0),
    prompt_tokens     INTEGER NOT NULL CHECK (prompt_tokens >= 0),
    completion_tokens INTEGER NOT NULL CHECK (completion_tokens >= 0),
    cost_micros       INTEGER NOT NULL CHECK (cost_micros >= 0)
) STRICT;
CREATE INDEX usage_by_time ON usage (at);
