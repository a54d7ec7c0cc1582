-- Conversations and their messages. `last_at` is the time of the last message; `dropped` counts the
-- messages that the rolling cap removed from the front.
CREATE TABLE threads (
    id         TEXT PRIMARY KEY NOT NULL,
    title      TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_at    TEXT NOT NULL,
    dropped    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX threads_by_last_at ON threads (last_at);

-- `thinking` is for display only: nothing that goes to a model reads it.
CREATE TABLE messages (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    thread       TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    turn         TEXT NOT NULL,
    at           TEXT NOT NULL,
    role         TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    content      TEXT NOT NULL,
    thinking     TEXT,
    tool_calls   TEXT,
    tool_name    TEXT,
    tool_call_id TEXT,
    interrupted  INTEGER NOT NULL DEFAULT 0 CHECK (interrupted IN (0, 1))
) STRICT;
CREATE INDEX messages_by_thread ON messages (thread, id);

CREATE VIRTUAL TABLE messages_text USING fts5 (
    content, content = 'messages', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);

-- Only what the person and the model wrote is searched: results of tools come from outside.
CREATE TRIGGER messages_insert AFTER INSERT ON messages WHEN new.role IN ('user', 'assistant') BEGIN
    INSERT INTO messages_text (rowid, content) VALUES (new.id, new.content);
END;

CREATE TRIGGER messages_delete AFTER DELETE ON messages WHEN old.role IN ('user', 'assistant') BEGIN
    INSERT INTO messages_text (messages_text, rowid, content) VALUES ('delete', old.id, old.content);
END;
