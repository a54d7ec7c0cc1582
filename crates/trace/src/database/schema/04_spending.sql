-- The ledger of money and credits. A reservation counts as spent until it is settled (`actual` is
-- what it came to) or released (`actual` is 0).
CREATE TABLE spending (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    kind     TEXT NOT NULL CHECK (kind IN ('usd', 'web_credits')),
    day      TEXT NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    at       TEXT NOT NULL,
    reserved INTEGER NOT NULL CHECK (reserved >= 0),
    actual   INTEGER CHECK (actual >= 0)
) STRICT;
CREATE INDEX spending_by_day ON spending (kind, day);

-- The latest day anything was reserved on: the ledger's clock, which never goes back.
CREATE TABLE spending_day (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    day TEXT NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]')
) STRICT;
