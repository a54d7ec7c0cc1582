-- Every answer of a provider, so that none is paid for twice.
CREATE TABLE provider_answers (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    thread      TEXT NOT NULL,
    at          TEXT NOT NULL,
    provider    TEXT NOT NULL,
    task        TEXT NOT NULL,
    signature   TEXT NOT NULL,
    result      TEXT NOT NULL,
    cost_micros INTEGER NOT NULL CHECK (cost_micros >= 0)
) STRICT;
CREATE INDEX provider_answers_by_thread ON provider_answers (thread, id);
CREATE INDEX provider_answers_by_signature ON provider_answers (signature, id);

CREATE VIRTUAL TABLE provider_answers_text USING fts5 (
    task, result, content = 'provider_answers', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TRIGGER provider_answers_insert AFTER INSERT ON provider_answers BEGIN
    INSERT INTO provider_answers_text (rowid, task, result) VALUES (new.id, new.task, new.result);
END;

CREATE TRIGGER provider_answers_delete AFTER DELETE ON provider_answers BEGIN
    INSERT INTO provider_answers_text (provider_answers_text, rowid, task, result)
    VALUES ('delete', old.id, old.task, old.result);
END;
