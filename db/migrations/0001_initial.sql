-- Version 1: devices, jobs, series, runs. SCHEMA.md says what each column means and in which unit.
-- This file is final once a database was written with it: a change is a new migration.

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Cursors carry a checksum over this, so that one of another database is refused.
INSERT INTO meta (key, value) VALUES ('cursor_salt', lower(hex(randomblob(16))));

CREATE TABLE device (
    id              TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 256),
    name            TEXT NOT NULL,
    ordinal         INTEGER NOT NULL CHECK (ordinal >= 0),
    source          TEXT NOT NULL CHECK (source IN ('measured', 'replayed', 'imported')),
    counters_status TEXT NOT NULL CHECK (length(counters_status) > 0),
    counters_why    TEXT,
    checked_at_ms   INTEGER NOT NULL CHECK (checked_at_ms BETWEEN -62135596800000 AND 253402300799999),
    device          TEXT NOT NULL CHECK (device GLOB '{*}'),
    environment     TEXT NOT NULL CHECK (environment GLOB '{*}'),
    CHECK ((counters_status = 'ok') = (counters_why IS NULL))
) STRICT;

CREATE TABLE job (
    id                 INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
    state              TEXT NOT NULL
                       CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled', 'interrupted')),
    device             TEXT NOT NULL REFERENCES device (id),
    principal          TEXT NOT NULL CHECK (length(principal) > 0),
    attempt            INTEGER NOT NULL CHECK (attempt IN (1, 2)),
    retry_on_interrupt INTEGER NOT NULL CHECK (retry_on_interrupt IN (0, 1)),
    cancel_requested   INTEGER NOT NULL CHECK (cancel_requested IN (0, 1)),
    created_at_ms      INTEGER NOT NULL CHECK (created_at_ms BETWEEN -62135596800000 AND 253402300799999),
    started_at_ms      INTEGER CHECK (started_at_ms BETWEEN -62135596800000 AND 253402300799999),
    ended_at_ms        INTEGER CHECK (ended_at_ms BETWEEN -62135596800000 AND 253402300799999),
    idempotency_key    TEXT CHECK (length(idempotency_key) BETWEEN 1 AND 128),
    body_sha256        TEXT CHECK (length(body_sha256) = 64),
    spec               TEXT NOT NULL CHECK (spec GLOB '{*}'),
    error              TEXT CHECK (error GLOB '{*}'),
    CHECK ((idempotency_key IS NULL) = (body_sha256 IS NULL)),
    CHECK ((ended_at_ms IS NULL) = (state IN ('queued', 'running'))),
    CHECK (state <> 'queued' OR started_at_ms IS NULL),
    CHECK (state NOT IN ('running', 'done', 'interrupted') OR started_at_ms IS NOT NULL),
    CHECK ((error IS NOT NULL) = (state IN ('failed', 'interrupted')) OR state = 'cancelled'),
    CHECK (attempt = 1 OR retry_on_interrupt = 1)
) STRICT;

CREATE UNIQUE INDEX job_by_key ON job (principal, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX job_by_state ON job (state, id);
CREATE INDEX job_queue ON job (device, id) WHERE state = 'queued';
CREATE INDEX job_open ON job (principal) WHERE state IN ('queued', 'running');

CREATE TRIGGER job_never_deleted_open BEFORE DELETE ON job WHEN OLD.state IN ('queued', 'running')
BEGIN SELECT RAISE(ABORT, 'an open job is never deleted'); END;
CREATE TRIGGER job_request_fixed BEFORE UPDATE OF id, device, principal, retry_on_interrupt, created_at_ms,
    idempotency_key, body_sha256, spec ON job
BEGIN SELECT RAISE(ABORT, 'what a job asked for never changes'); END;
CREATE TRIGGER job_state_legal BEFORE UPDATE OF state ON job
WHEN NOT ((OLD.state = 'queued' AND NEW.state IN ('running', 'failed', 'cancelled'))
       OR (OLD.state = 'running' AND NEW.state IN ('done', 'failed', 'cancelled', 'interrupted'))
       OR (OLD.state = 'interrupted' AND NEW.state = 'queued' AND OLD.attempt = 1 AND NEW.attempt = 2))
BEGIN SELECT RAISE(ABORT, 'a job cannot make this step'); END;

CREATE TABLE job_transcript (
    job_id INTEGER NOT NULL PRIMARY KEY REFERENCES job (id) ON DELETE CASCADE,
    text   BLOB NOT NULL
) STRICT;

-- What all runs of a list's filter have in common; '' is an unknown driver or CUDA version.
CREATE TABLE series (
    id        INTEGER NOT NULL PRIMARY KEY CHECK (id > 0),
    device    TEXT NOT NULL REFERENCES device (id),
    driver    TEXT NOT NULL,
    cuda      TEXT NOT NULL,
    suite     TEXT NOT NULL CHECK (length(suite) > 0),
    sizes     TEXT NOT NULL CHECK (sizes IN ('course', 'scaled')),
    source    TEXT NOT NULL CHECK (source IN ('measured', 'replayed', 'imported')),
    counters  TEXT NOT NULL CHECK (counters IN ('counter-backed', 'timed-only')),
    outcome   TEXT NOT NULL CHECK (outcome IN ('ok', 'refused', 'partial')),
    oldest_ms INTEGER NOT NULL,
    newest_ms INTEGER NOT NULL,
    CHECK (oldest_ms <= newest_ms),
    UNIQUE (device, driver, cuda, suite, sizes, source, counters, outcome)
) STRICT;

CREATE TRIGGER series_fixed BEFORE UPDATE OF id, device, driver, cuda, suite, sizes, source, counters, outcome ON series
BEGIN SELECT RAISE(ABORT, 'a series never changes'); END;

CREATE TABLE run (
    id                   INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
    series_id            INTEGER NOT NULL REFERENCES series (id),
    job_id               INTEGER UNIQUE REFERENCES job (id),
    date_ms              INTEGER NOT NULL CHECK (date_ms BETWEEN -62135596800000 AND 253402300799999),
    started_at_ms        INTEGER NOT NULL CHECK (started_at_ms BETWEEN -62135596800000 AND 253402300799999),
    recorded_at_ms       INTEGER CHECK (recorded_at_ms BETWEEN -62135596800000 AND 253402300799999),
    dram_copy_byte_per_s REAL CHECK (dram_copy_byte_per_s >= 0 AND dram_copy_byte_per_s < 9e999),
    fp32_fma_flop_per_s  REAL CHECK (fp32_fma_flop_per_s >= 0 AND fp32_fma_flop_per_s < 9e999),
    ridge_flop_per_byte  REAL CHECK (ridge_flop_per_byte >= 0 AND ridge_flop_per_byte < 9e999),
    why                  TEXT CHECK (why GLOB '{*}'),
    CHECK (why IS NOT NULL OR (dram_copy_byte_per_s IS NOT NULL AND fp32_fma_flop_per_s IS NOT NULL
                               AND ridge_flop_per_byte IS NOT NULL))
) STRICT;

-- The rowid, which is id, ends every index: both give (date, id) order without sorting. series_id is there so that a list
-- can judge a run without reading its row.
CREATE INDEX run_by_series ON run (series_id, date_ms);
CREATE INDEX run_by_date ON run (date_ms, id, series_id);

CREATE TABLE run_document (
    run_id   INTEGER NOT NULL PRIMARY KEY REFERENCES run (id),
    document TEXT NOT NULL CHECK (document GLOB '{*}')
) STRICT;

CREATE TABLE run_sample (
    run_id   INTEGER NOT NULL REFERENCES run (id),
    unit     TEXT NOT NULL CHECK (length(unit) BETWEEN 1 AND 64),
    state    TEXT NOT NULL CHECK (state IN ('warm', 'cold')),
    launches INTEGER NOT NULL CHECK (launches > 0),
    count    INTEGER NOT NULL CHECK (count BETWEEN 0 AND 256),
    times    BLOB NOT NULL CHECK (length(times) = 4 * count),
    UNIQUE (run_id, unit, state)
) STRICT;

-- Retention names a run here before it deletes it; the row stays as its tombstone.
CREATE TABLE run_retired (
    run_id        INTEGER NOT NULL PRIMARY KEY,
    retired_at_ms INTEGER NOT NULL,
    reason        TEXT NOT NULL CHECK (length(reason) > 0)
) STRICT;

CREATE TRIGGER run_never_updated BEFORE UPDATE ON run
BEGIN SELECT RAISE(ABORT, 'a stored run never changes'); END;
CREATE TRIGGER run_deleted_when_retired BEFORE DELETE ON run
WHEN NOT EXISTS (SELECT 1 FROM run_retired WHERE run_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'a stored run is deleted only by retention'); END;
-- REPLACE deletes without a DELETE trigger unless recursive_triggers is on: refused here in any connection.
CREATE TRIGGER run_never_replaced BEFORE INSERT ON run
WHEN EXISTS (SELECT 1 FROM run WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM run WHERE job_id = NEW.job_id)
BEGIN SELECT RAISE(ABORT, 'a stored run is never replaced'); END;

CREATE TRIGGER run_document_never_updated BEFORE UPDATE ON run_document
BEGIN SELECT RAISE(ABORT, 'a stored run never changes'); END;
CREATE TRIGGER run_document_deleted_when_retired BEFORE DELETE ON run_document
WHEN NOT EXISTS (SELECT 1 FROM run_retired WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored run is deleted only by retention'); END;
CREATE TRIGGER run_document_never_replaced BEFORE INSERT ON run_document
WHEN EXISTS (SELECT 1 FROM run_document WHERE run_id = NEW.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored run is never replaced'); END;

CREATE TRIGGER run_sample_never_updated BEFORE UPDATE ON run_sample
BEGIN SELECT RAISE(ABORT, 'a stored run never changes'); END;
CREATE TRIGGER run_sample_deleted_when_retired BEFORE DELETE ON run_sample
WHEN NOT EXISTS (SELECT 1 FROM run_retired WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored run is deleted only by retention'); END;
CREATE TRIGGER run_sample_never_replaced BEFORE INSERT ON run_sample
WHEN EXISTS (SELECT 1 FROM run_sample WHERE run_id = NEW.run_id AND unit = NEW.unit AND state = NEW.state)
BEGIN SELECT RAISE(ABORT, 'a stored run is never replaced'); END;
