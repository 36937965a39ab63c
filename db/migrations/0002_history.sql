-- Version 2: history. Documents deflated; narrow rows and rollups beside them; notes, predictions, imports. SCHEMA.md says
-- what each column means. deflated(X) is the store's own function (pack.c), there while migrations run.
-- This file is final once a database was written with it: a change is a new migration.

-- ---- imports may have sizes of their own ----

CREATE TABLE series_wider (
    id        INTEGER NOT NULL PRIMARY KEY CHECK (id > 0),
    device    TEXT NOT NULL REFERENCES device (id),
    driver    TEXT NOT NULL,
    cuda      TEXT NOT NULL,
    suite     TEXT NOT NULL CHECK (length(suite) > 0),
    sizes     TEXT NOT NULL CHECK (sizes IN ('course', 'scaled', 'other')),
    source    TEXT NOT NULL CHECK (source IN ('measured', 'replayed', 'imported')),
    counters  TEXT NOT NULL CHECK (counters IN ('counter-backed', 'timed-only')),
    outcome   TEXT NOT NULL CHECK (outcome IN ('ok', 'refused', 'partial')),
    oldest_ms INTEGER NOT NULL,
    newest_ms INTEGER NOT NULL,
    CHECK (oldest_ms <= newest_ms),
    UNIQUE (device, driver, cuda, suite, sizes, source, counters, outcome)
) STRICT;
INSERT INTO series_wider SELECT * FROM series;
DROP TABLE series;
ALTER TABLE series_wider RENAME TO series;
CREATE TRIGGER series_fixed BEFORE UPDATE OF id, device, driver, cuda, suite, sizes, source, counters, outcome ON series
BEGIN SELECT RAISE(ABORT, 'a series never changes'); END;

-- ---- documents, deflated: 61 kB of a whole run become 12 (2026-11-29) ----

CREATE TABLE run_document_deflated (
    run_id   INTEGER NOT NULL PRIMARY KEY REFERENCES run (id),
    bytes    INTEGER NOT NULL CHECK (bytes BETWEEN 2 AND 16777216),
    deflated BLOB NOT NULL CHECK (length(deflated) > 0)
) STRICT;
INSERT INTO run_document_deflated (run_id, bytes, deflated)
    SELECT run_id, length(CAST(document AS BLOB)), deflated(document) FROM run_document;

-- NULL: the text as it is.
ALTER TABLE job_transcript ADD COLUMN bytes INTEGER CHECK (bytes >= 0);
UPDATE job_transcript SET bytes = length(text), text = deflated(text);

-- ---- what comparisons and trends need of a run, without its document ----

-- Kernels and ceilings by number.
CREATE TABLE unit (
    id   INTEGER NOT NULL PRIMARY KEY CHECK (id > 0),
    name TEXT NOT NULL CHECK (length(name) > 0),
    kind TEXT NOT NULL CHECK (kind IN ('kernel', 'ceiling')),
    UNIQUE (name, kind)
) STRICT;

CREATE TABLE run_fact (
    run_id           INTEGER NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    series_id        INTEGER NOT NULL, -- as in run
    date_ms          INTEGER NOT NULL CHECK (date_ms BETWEEN -62135596800000 AND 253402300799999),
    day              INTEGER NOT NULL CHECK (date_ms BETWEEN day * 86400000 AND day * 86400000 + 86399999),
    eligible         INTEGER NOT NULL CHECK (eligible IN (0, 1)),
    flags            INTEGER NOT NULL CHECK (flags BETWEEN 0 AND 7),
    method_version   INTEGER NOT NULL,
    ecc              INTEGER CHECK (ecc IN (0, 1)),
    mig              TEXT,
    power_limit_w    REAL CHECK (power_limit_w >= 0 AND power_limit_w < 9e999),
    cuda_driver      TEXT,
    cubin            TEXT,
    build            TEXT NOT NULL,
    floor_dram_bytes REAL CHECK (floor_dram_bytes >= 0 AND floor_dram_bytes < 9e999)
) STRICT;
CREATE INDEX run_fact_draws ON run_fact (series_id, method_version, date_ms) WHERE eligible = 1;

CREATE TABLE run_row (
    run_id             INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    unit_id            INTEGER NOT NULL REFERENCES unit (id),
    state              TEXT NOT NULL CHECK (state IN ('warm', 'cold', 'mixed')),
    launches           INTEGER NOT NULL CHECK (launches >= 0),
    time_s             REAL CHECK (time_s >= 0 AND time_s < 9e999),
    value              REAL CHECK (value >= 0 AND value < 9e999),
    sm_hz              REAL CHECK (sm_hz >= 0 AND sm_hz < 9e999),
    memory_hz          REAL CHECK (memory_hz >= 0 AND memory_hz < 9e999),
    ask_bytes          INTEGER CHECK (ask_bytes >= 0),
    dram_bytes         REAL CHECK (dram_bytes >= 0 AND dram_bytes < 9e999),
    settled_bytes      REAL CHECK (settled_bytes >= 0 AND settled_bytes < 9e999),
    dram_per_ask       REAL CHECK (dram_per_ask >= 0 AND dram_per_ask < 9e999),
    percent_of_ceiling REAL CHECK (percent_of_ceiling >= 0 AND percent_of_ceiling < 9e999),
    flags              INTEGER NOT NULL CHECK (flags BETWEEN 0 AND 127),
    bound              TEXT CHECK (bound IN ('memory', 'compute', 'latency')),
    PRIMARY KEY (run_id, unit_id, state)
) STRICT, WITHOUT ROWID;

-- ---- rollups ----

-- Runs of a series on a UTC day: with the series' words, by device, driver and CUDA.
CREATE TABLE series_day (
    series_id INTEGER NOT NULL REFERENCES series (id),
    day       INTEGER NOT NULL,
    runs      INTEGER NOT NULL CHECK (runs > 0),
    PRIMARY KEY (series_id, day)
) STRICT, WITHOUT ROWID;

-- Eligible runs of a kernel or ceiling and state on a UTC day, with the newest of them (rollup.c).
CREATE TABLE trend_day (
    series_id      INTEGER NOT NULL REFERENCES series (id),
    method_version INTEGER NOT NULL,
    unit_id        INTEGER NOT NULL REFERENCES unit (id),
    state          TEXT NOT NULL CHECK (state IN ('warm', 'cold', 'mixed')),
    day            INTEGER NOT NULL,
    runs           INTEGER NOT NULL CHECK (runs > 0),
    newest         BLOB NOT NULL CHECK (length(newest) BETWEEN 36 AND 864 AND length(newest) % 36 = 0),
    PRIMARY KEY (series_id, method_version, unit_id, state, day)
) STRICT, WITHOUT ROWID;

-- Days whose trend_day rows have to be made anew from run_row: after a deletion, and after this migration.
CREATE TABLE trend_stale (
    series_id      INTEGER NOT NULL REFERENCES series (id),
    method_version INTEGER NOT NULL,
    day            INTEGER NOT NULL,
    PRIMARY KEY (series_id, method_version, day)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER run_fact_counted AFTER INSERT ON run_fact
BEGIN
    INSERT INTO series_day (series_id, day, runs) VALUES (NEW.series_id, NEW.day, 1)
        ON CONFLICT (series_id, day) DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER run_fact_uncounted AFTER DELETE ON run_fact
BEGIN
    DELETE FROM series_day WHERE series_id = OLD.series_id AND day = OLD.day AND runs = 1;
    UPDATE series_day SET runs = runs - 1 WHERE series_id = OLD.series_id AND day = OLD.day;
    INSERT INTO trend_stale (series_id, method_version, day) SELECT OLD.series_id, OLD.method_version, OLD.day
        WHERE OLD.eligible = 1 ON CONFLICT DO NOTHING;
END;

-- ---- the runs that are there ----

INSERT INTO run_fact (run_id, series_id, date_ms, day, eligible, flags, method_version, ecc, mig, power_limit_w,
                      cuda_driver, cubin, build, floor_dram_bytes)
    SELECT run_id, series_id, date_ms, day, flags = 0 AND outcome = 'ok', flags,
           json_extract(environment, '$.method_version'), json_extract(environment, '$.ecc'),
           json_extract(environment, '$.mig'), json_extract(environment, '$.power_limit_w'),
           json_extract(environment, '$.cuda_driver_version'), json_extract(environment, '$.cubin'),
           json_extract(environment, '$.build'), floor
    FROM (SELECT run.id AS run_id, series_id, date_ms, outcome,
                 (date_ms - ((date_ms % 86400000) + 86400000) % 86400000) / 86400000 AS day,
                 json_extract(document, '$.environment') AS environment,
                 json_extract(document, '$.counters.floor_dram_bytes') AS floor,
                 (SELECT coalesce(sum(CASE value WHEN 'shared' THEN 1 WHEN 'throttled' THEN 2 WHEN 'driver_changed' THEN 4
                                      ELSE 0 END), 0) FROM json_each(document, '$.flags')) AS flags
          FROM run JOIN series ON series.id = series_id JOIN run_document ON run_document.run_id = run.id);

INSERT INTO unit (name, kind)
    SELECT json_extract(k.value, '$.kernel'), 'kernel' FROM run_document, json_each(document, '$.kernels') AS k
    UNION SELECT json_extract(c.value, '$.name'), 'ceiling' FROM run_document, json_each(document, '$.ceilings') AS c;

INSERT INTO run_row (run_id, unit_id, state, launches, time_s, value, sm_hz, memory_hz, ask_bytes, dram_bytes, settled_bytes,
                     dram_per_ask, percent_of_ceiling, flags, bound)
    SELECT run_id, unit.id, s.key, json_extract(s.value, '$.time_s.launches'), json_extract(s.value, '$.time_s.median'),
           NULL, json_extract(s.value, '$.sm_hz'), json_extract(s.value, '$.memory_hz'), json_extract(k.value, '$.ask_bytes'),
           json_extract(s.value, '$.bytes.dram'), json_extract(s.value, '$.bytes.dram_settled'),
           json_extract(s.value, '$.dram_per_ask'), json_extract(s.value, '$.percent_of_ceiling'),
           (SELECT coalesce(sum(CASE value WHEN 'clock_moved' THEN 1 WHEN 'throttled' THEN 2 WHEN 'not_steady' THEN 4
                                WHEN 'at_floor' THEN 8 WHEN 'cache_resident' THEN 16 WHEN 'writeback_unpaid' THEN 32
                                WHEN 'above_ceiling' THEN 64 ELSE 0 END), 0) FROM json_each(s.value, '$.flags')),
           json_extract(s.value, '$.bound')
    FROM run_document, json_each(document, '$.kernels') AS k, json_each(k.value) AS s
         JOIN unit ON unit.name = json_extract(k.value, '$.kernel') AND unit.kind = 'kernel'
    WHERE s.key IN ('warm', 'cold');

INSERT INTO run_row (run_id, unit_id, state, launches, time_s, value, sm_hz, memory_hz, ask_bytes, dram_bytes, settled_bytes,
                     dram_per_ask, percent_of_ceiling, flags, bound)
    SELECT run_id, unit.id, json_extract(c.value, '$.state'), json_extract(c.value, '$.time_s.launches'),
           json_extract(c.value, '$.time_s.median'),
           json_extract(c.value, '$.value'), json_extract(c.value, '$.sm_hz'), json_extract(c.value, '$.memory_hz'),
           CASE json_extract(c.value, '$.unit') WHEN 'byte_per_s' THEN json_extract(c.value, '$.work') END,
           json_extract(c.value, '$.dram'), NULL, json_extract(c.value, '$.dram_per_ask'), NULL,
           (SELECT coalesce(sum(CASE value WHEN 'clock_moved' THEN 1 WHEN 'throttled' THEN 2 WHEN 'not_steady' THEN 4
                                WHEN 'at_floor' THEN 8 WHEN 'cache_resident' THEN 16 WHEN 'writeback_unpaid' THEN 32
                                WHEN 'above_ceiling' THEN 64 ELSE 0 END), 0) FROM json_each(c.value, '$.flags')),
           NULL
    FROM run_document, json_each(document, '$.ceilings') AS c
         JOIN unit ON unit.name = json_extract(c.value, '$.name') AND unit.kind = 'ceiling';

INSERT INTO trend_stale (series_id, method_version, day)
    SELECT DISTINCT series_id, method_version, day FROM run_fact WHERE eligible = 1;

DROP TABLE run_document;
ALTER TABLE run_document_deflated RENAME TO run_document;

-- ---- what people say about runs ----

CREATE TABLE note (
    run_id        INTEGER NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    version       INTEGER NOT NULL CHECK (version > 0),
    text          TEXT NOT NULL,
    principal     TEXT NOT NULL CHECK (length(principal) > 0),
    changed_at_ms INTEGER NOT NULL CHECK (changed_at_ms BETWEEN -62135596800000 AND 253402300799999)
) STRICT;
CREATE TABLE accepted (
    run_id  INTEGER NOT NULL REFERENCES note (run_id) ON DELETE CASCADE,
    unit_id INTEGER NOT NULL REFERENCES unit (id),
    state   TEXT NOT NULL CHECK (state IN ('warm', 'cold', 'mixed')),
    PRIMARY KEY (run_id, unit_id, state)
) STRICT, WITHOUT ROWID;
CREATE INDEX accepted_by_unit ON accepted (unit_id, state, run_id);

CREATE TABLE prediction (
    run_id       INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    unit_id      INTEGER NOT NULL REFERENCES unit (id),
    said         TEXT NOT NULL CHECK (said IN ('above', 'near', 'below')),
    state        TEXT NOT NULL CHECK (state IN ('warm', 'cold', 'mixed')),
    dram_per_ask REAL CHECK (dram_per_ask >= 0 AND dram_per_ask < 9e999),
    found        TEXT CHECK (found IN ('above', 'near', 'below')),
    why          TEXT CHECK (length(why) > 0),
    PRIMARY KEY (run_id, unit_id),
    CHECK ((dram_per_ask IS NULL) = (found IS NULL) AND (found IS NULL) = (why IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- What was said with the jobs that are there, scored as said.c does it.
INSERT INTO note (run_id, version, text, principal, changed_at_ms)
    SELECT run.id, 1, json_extract(job.spec, '$.note'), job.principal, job.ended_at_ms
    FROM run JOIN job ON job.id = run.job_id WHERE length(json_extract(job.spec, '$.note')) > 0;
INSERT INTO prediction (run_id, unit_id, said, state, dram_per_ask, found, why)
    SELECT id, unit_id, said, state, ratio,
           CASE WHEN ratio > 1.15 THEN 'above' WHEN ratio < 0.85 THEN 'below' WHEN ratio IS NOT NULL THEN 'near' END,
           CASE WHEN ratio IS NULL THEN 'not known in this run' END
    FROM (SELECT run.id AS id, unit.id AS unit_id, p.value AS said,
                 CASE WHEN cold.dram_per_ask IS NOT NULL THEN 'cold' WHEN warm.dram_per_ask IS NOT NULL THEN 'warm'
                      WHEN cold.run_id IS NULL AND warm.run_id IS NOT NULL THEN 'warm' ELSE 'cold' END AS state,
                 coalesce(cold.dram_per_ask, warm.dram_per_ask) AS ratio
          FROM run JOIN job ON job.id = run.job_id, json_each(job.spec, '$.predictions') AS p
               JOIN unit ON unit.name = p.key AND unit.kind = 'kernel'
               LEFT JOIN run_row AS cold ON cold.run_id = run.id AND cold.unit_id = unit.id AND cold.state = 'cold'
               LEFT JOIN run_row AS warm ON warm.run_id = run.id AND warm.unit_id = unit.id AND warm.state = 'warm');

-- The bytes that a run was imported from: the same bytes are the same run.
CREATE TABLE run_import (
    sha256 TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
    run_id INTEGER NOT NULL UNIQUE REFERENCES run (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- ---- what never changes ----

CREATE TRIGGER run_document_never_updated BEFORE UPDATE ON run_document
BEGIN SELECT RAISE(ABORT, 'a stored run never changes'); END;
CREATE TRIGGER run_document_deleted_when_retired BEFORE DELETE ON run_document
WHEN NOT EXISTS (SELECT 1 FROM run_retired WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored run is deleted only by retention'); END;
CREATE TRIGGER run_document_never_replaced BEFORE INSERT ON run_document
WHEN EXISTS (SELECT 1 FROM run_document WHERE run_id = NEW.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored run is never replaced'); END;

CREATE TRIGGER run_fact_never_updated BEFORE UPDATE ON run_fact
BEGIN SELECT RAISE(ABORT, 'a stored run never changes'); END;
CREATE TRIGGER run_fact_deleted_when_retired BEFORE DELETE ON run_fact
WHEN NOT EXISTS (SELECT 1 FROM run_retired WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored run is deleted only by retention'); END;
CREATE TRIGGER run_fact_never_replaced BEFORE INSERT ON run_fact
WHEN EXISTS (SELECT 1 FROM run_fact WHERE run_id = NEW.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored run is never replaced'); END;

CREATE TRIGGER run_row_never_updated BEFORE UPDATE ON run_row
BEGIN SELECT RAISE(ABORT, 'a stored run never changes'); END;
CREATE TRIGGER run_row_deleted_when_retired BEFORE DELETE ON run_row
WHEN NOT EXISTS (SELECT 1 FROM run_retired WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored run is deleted only by retention'); END;
CREATE TRIGGER run_row_never_replaced BEFORE INSERT ON run_row
WHEN EXISTS (SELECT 1 FROM run_row WHERE run_id = NEW.run_id AND unit_id = NEW.unit_id AND state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'a stored run is never replaced'); END;

CREATE TRIGGER prediction_never_updated BEFORE UPDATE ON prediction
BEGIN SELECT RAISE(ABORT, 'a scored prediction never changes'); END;
CREATE TRIGGER prediction_deleted_when_retired BEFORE DELETE ON prediction
WHEN NOT EXISTS (SELECT 1 FROM run_retired WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a scored prediction is deleted only with its run'); END;
CREATE TRIGGER prediction_never_replaced BEFORE INSERT ON prediction
WHEN EXISTS (SELECT 1 FROM prediction WHERE run_id = NEW.run_id AND unit_id = NEW.unit_id)
BEGIN SELECT RAISE(ABORT, 'a scored prediction is never replaced'); END;
