-- The full-text index of a folder of documents.
CREATE TABLE documents (
    id       INTEGER PRIMARY KEY,
    key      TEXT NOT NULL UNIQUE,
    title    TEXT NOT NULL,
    modified TEXT NOT NULL,
    text     TEXT NOT NULL
) STRICT;

CREATE VIRTUAL TABLE documents_text USING fts5 (
    title, text, content = 'documents', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TRIGGER documents_insert AFTER INSERT ON documents BEGIN
    INSERT INTO documents_text (rowid, title, text) VALUES (new.id, new.title, new.text);
END;

CREATE TRIGGER documents_delete AFTER DELETE ON documents BEGIN
    INSERT INTO documents_text (documents_text, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
END;

CREATE TRIGGER documents_update AFTER UPDATE ON documents BEGIN
    INSERT INTO documents_text (documents_text, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
    INSERT INTO documents_text (rowid, title, text) VALUES (new.id, new.title, new.text);
END;
