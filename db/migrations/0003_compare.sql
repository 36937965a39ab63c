-- Version 3: what comparisons say of runs that they leave out, and of rows that an import brought. SCHEMA.md says what each
-- column means. This file is final once a database was written with it: a change is a new migration.

-- Flags that only imports give a row; run_row has the others. No version before this one could import.
CREATE TABLE run_row_import (
    run_id  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    unit_id INTEGER NOT NULL REFERENCES unit (id),
    state   TEXT NOT NULL CHECK (state IN ('warm', 'cold', 'mixed')),
    flags   INTEGER NOT NULL CHECK (flags BETWEEN 1 AND 15),
    PRIMARY KEY (run_id, unit_id, state)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER run_row_import_never_updated BEFORE UPDATE ON run_row_import
BEGIN SELECT RAISE(ABORT, 'a stored run never changes'); END;
CREATE TRIGGER run_row_import_deleted_when_retired BEFORE DELETE ON run_row_import
WHEN NOT EXISTS (SELECT 1 FROM run_retired WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored run is deleted only by retention'); END;
CREATE TRIGGER run_row_import_never_replaced BEFORE INSERT ON run_row_import
WHEN EXISTS (SELECT 1 FROM run_row_import WHERE run_id = NEW.run_id AND unit_id = NEW.unit_id AND state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'a stored run is never replaced'); END;

-- The runs of a series that no comparison takes by itself.
CREATE INDEX run_fact_left_out ON run_fact (series_id, date_ms) WHERE eligible = 0;
