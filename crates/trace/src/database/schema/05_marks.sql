-- Named values that outlive a start: how far the memory has read each conversation, say.
CREATE TABLE marks (
    name  TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL,
    at    TEXT NOT NULL
) STRICT;

-- The heads of the journals, so that cutting the tails of both files is noticed.
CREATE TABLE journal_heads (
    name TEXT PRIMARY KEY NOT NULL,
    seq  INTEGER NOT NULL CHECK (seq >= 0),
    mac  TEXT NOT NULL,
    at   TEXT NOT NULL
) STRICT;
