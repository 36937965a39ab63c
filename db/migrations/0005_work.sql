-- Version 5: how much work a row is and how it was launched, so that other work under one name is not judged as a change; room for
-- the flags of imports. SCHEMA.md says what each column means. This file is final once a database was written with it: a
-- change is a new migration.

-- Each work once: a few for every kernel or ceiling, however many runs. The first is that of rows that know nothing of it.
CREATE TABLE work (
    id        INTEGER NOT NULL PRIMARY KEY,
    flop      INTEGER CHECK (flop >= 0),
    ask_bytes INTEGER CHECK (ask_bytes >= 0),
    dims      TEXT CHECK (length(dims) > 0)
) STRICT;
CREATE UNIQUE INDEX work_once ON work (coalesce(flop, -1), coalesce(ask_bytes, -1), coalesce(dims, ''));
INSERT INTO work (id) VALUES (1);

-- Likewise the ways in which rows were launched.
CREATE TABLE launch (
    id       INTEGER NOT NULL PRIMARY KEY,
    grid     TEXT CHECK (length(grid) > 0),
    block    TEXT CHECK (length(block) > 0),
    function TEXT CHECK (length(function) > 0),
    shape    TEXT CHECK (length(shape) > 0)
) STRICT;
CREATE UNIQUE INDEX launch_once
    ON launch (coalesce(grid, ''), coalesce(block, ''), coalesce(function, ''), coalesce(shape, ''));
INSERT INTO launch (id) VALUES (1);

ALTER TABLE run_row ADD COLUMN work_id INTEGER NOT NULL DEFAULT 1 REFERENCES work (id);
ALTER TABLE run_row ADD COLUMN launch_id INTEGER NOT NULL DEFAULT 1 REFERENCES launch (id);

-- ---- the rows that are there: what their documents say ----

-- state: '' of kernels, whose states are of one work
CREATE TABLE found (
    run_id    INTEGER NOT NULL,
    unit_id   INTEGER NOT NULL,
    state     TEXT NOT NULL,
    place     INTEGER NOT NULL, -- in the document's list
    flop      INTEGER NOT NULL, -- -1 and '': unknown
    ask_bytes INTEGER NOT NULL,
    dims      TEXT NOT NULL,
    grid      TEXT NOT NULL,
    block     TEXT NOT NULL,
    function  TEXT NOT NULL,
    shape     TEXT NOT NULL,
    PRIMARY KEY (run_id, unit_id, state)
) STRICT, WITHOUT ROWID;

-- A shape of a kernel that only says its grid and block is no dims. Of kernels that come several times the first counts, as in run_row.
INSERT INTO found
    SELECT run_id, unit.id, '', k.key, coalesce(json_extract(k.value, '$.flop'), -1),
           coalesce(json_extract(k.value, '$.ask_bytes'), -1),
           CASE WHEN json_extract(k.value, '$.launch.shape') GLOB 'grid *' THEN ''
                ELSE coalesce(json_extract(k.value, '$.launch.shape'), '') END,
           coalesce(json_extract(k.value, '$.launch.grid[0]') || ' x ' || json_extract(k.value, '$.launch.grid[1]') || ' x ' ||
                    json_extract(k.value, '$.launch.grid[2]'), ''),
           coalesce(json_extract(k.value, '$.launch.block[0]') || ' x ' || json_extract(k.value, '$.launch.block[1]') || ' x ' ||
                    json_extract(k.value, '$.launch.block[2]'), ''),
           coalesce(json_extract(k.value, '$.import.function'), ''), ''
    FROM run_document CROSS JOIN json_each(inflated(deflated, bytes), '$.kernels') AS k
         CROSS JOIN unit ON unit.name = json_extract(k.value, '$.kernel') AND unit.kind = 'kernel'
    WHERE true
    ON CONFLICT DO UPDATE SET place = excluded.place, flop = excluded.flop, ask_bytes = excluded.ask_bytes, dims = excluded.dims,
        grid = excluded.grid, block = excluded.block, function = excluded.function, shape = excluded.shape
        WHERE excluded.place < place;

-- A ceiling's shape is its launch.
INSERT INTO found
    SELECT run_id, unit.id, json_extract(c.value, '$.state'), c.key,
           CASE json_extract(c.value, '$.unit') WHEN 'flop_per_s' THEN coalesce(json_extract(c.value, '$.work'), -1) ELSE -1 END,
           CASE json_extract(c.value, '$.unit') WHEN 'byte_per_s' THEN coalesce(json_extract(c.value, '$.work'), -1) ELSE -1 END,
           '', '', '', '', coalesce(json_extract(c.value, '$.shape'), '')
    FROM run_document CROSS JOIN json_each(inflated(deflated, bytes), '$.ceilings') AS c
         CROSS JOIN unit ON unit.name = json_extract(c.value, '$.name') AND unit.kind = 'ceiling'
    WHERE true
    ON CONFLICT DO UPDATE SET place = excluded.place, flop = excluded.flop, ask_bytes = excluded.ask_bytes, dims = excluded.dims,
        grid = excluded.grid, block = excluded.block, function = excluded.function, shape = excluded.shape
        WHERE excluded.place < place;

INSERT INTO work (flop, ask_bytes, dims)
    SELECT DISTINCT nullif(flop, -1), nullif(ask_bytes, -1), nullif(dims, '') FROM found WHERE true ON CONFLICT DO NOTHING;
INSERT INTO launch (grid, block, function, shape)
    SELECT DISTINCT nullif(grid, ''), nullif(block, ''), nullif(function, ''), nullif(shape, '') FROM found
    WHERE true ON CONFLICT DO NOTHING;

DROP TRIGGER run_row_never_updated;
UPDATE run_row SET work_id = known.work_id, launch_id = known.launch_id
    FROM (SELECT found.run_id, found.unit_id, found.state, work.id AS work_id, launch.id AS launch_id
          -- +: without its column's affinity a value is looked up in the index of an expression
          FROM found CROSS JOIN work ON coalesce(work.flop, -1) = +found.flop AND coalesce(work.ask_bytes, -1) = +found.ask_bytes
                                        AND coalesce(work.dims, '') = +found.dims
               CROSS JOIN launch ON coalesce(launch.grid, '') = +found.grid AND coalesce(launch.block, '') = +found.block
                                    AND coalesce(launch.function, '') = +found.function
                                    AND coalesce(launch.shape, '') = +found.shape) AS known
    WHERE run_row.run_id = known.run_id AND run_row.unit_id = known.unit_id AND known.state IN ('', run_row.state);
CREATE TRIGGER run_row_never_updated BEFORE UPDATE ON run_row
BEGIN SELECT RAISE(ABORT, 'a stored run never changes'); END;
DROP TABLE found;

-- ---- flags of imports: as many as fit 32 bits ----

CREATE TABLE run_row_import_wide (
    run_id  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    unit_id INTEGER NOT NULL REFERENCES unit (id),
    state   TEXT NOT NULL CHECK (state IN ('warm', 'cold', 'mixed')),
    flags   INTEGER NOT NULL CHECK (flags BETWEEN 1 AND 4294967295),
    PRIMARY KEY (run_id, unit_id, state)
) STRICT, WITHOUT ROWID;
INSERT INTO run_row_import_wide SELECT run_id, unit_id, state, flags FROM run_row_import;
DROP TABLE run_row_import;
ALTER TABLE run_row_import_wide RENAME TO run_row_import;

CREATE TRIGGER run_row_import_never_updated BEFORE UPDATE ON run_row_import
BEGIN SELECT RAISE(ABORT, 'a stored run never changes'); END;
CREATE TRIGGER run_row_import_deleted_when_retired BEFORE DELETE ON run_row_import
WHEN NOT EXISTS (SELECT 1 FROM run_retired WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored run is deleted only by retention'); END;
CREATE TRIGGER run_row_import_never_replaced BEFORE INSERT ON run_row_import
WHEN EXISTS (SELECT 1 FROM run_row_import WHERE run_id = NEW.run_id AND unit_id = NEW.unit_id AND state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'a stored run is never replaced'); END;

-- ---- trends: days by work, and by how times were taken ----

DROP TABLE trend_day;
CREATE TABLE trend_day (
    series_id      INTEGER NOT NULL REFERENCES series (id),
    method_version INTEGER NOT NULL,
    unit_id        INTEGER NOT NULL REFERENCES unit (id),
    state          TEXT NOT NULL CHECK (state IN ('warm', 'cold', 'mixed')),
    day            INTEGER NOT NULL,
    work_id        INTEGER NOT NULL REFERENCES work (id),
    profiler_time  INTEGER NOT NULL CHECK (profiler_time IN (0, 1)),
    runs           INTEGER NOT NULL CHECK (runs > 0),
    newest         BLOB NOT NULL CHECK (length(newest) BETWEEN 36 AND 864 AND length(newest) % 36 = 0),
    PRIMARY KEY (series_id, method_version, unit_id, state, day, work_id, profiler_time)
) STRICT, WITHOUT ROWID;
INSERT INTO trend_stale (series_id, method_version, day)
    SELECT DISTINCT series_id, method_version, day FROM run_fact WHERE eligible = 1 ON CONFLICT DO NOTHING;
