-- Version 4: more than one way of asking for an import may be one run. SCHEMA.md says what each column means. This file is
-- final once a database was written with it: a change is a new migration.

CREATE TABLE run_import_ways (
    sha256 TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO run_import_ways SELECT sha256, run_id FROM run_import;
DROP TABLE run_import;
ALTER TABLE run_import_ways RENAME TO run_import;

CREATE INDEX run_import_of_run ON run_import (run_id);
