-- Version 6: labels of jobs and runs, runs that were withdrawn, and what people say of their wrong predictions. SCHEMA.md says
-- what each column means. This file is final once a database was written with it: a change is a new migration.

-- ---- labels ----

-- A commit, a kernel's version, a ticket: given with the job or the import. A job's stands in its specification too, and is
-- taken from there (a generated column would need json_extract, which 3.40 does not take in a schema that is not trusted).
ALTER TABLE job ADD COLUMN label TEXT CHECK (length(label) BETWEEN 1 AND 64);
CREATE INDEX job_by_label ON job (label, id) WHERE label IS NOT NULL;
DROP TRIGGER job_request_fixed;
CREATE TRIGGER job_request_fixed BEFORE UPDATE OF id, device, principal, retry_on_interrupt, created_at_ms,
    idempotency_key, body_sha256, spec, label ON job
BEGIN SELECT RAISE(ABORT, 'what a job asked for never changes'); END;

ALTER TABLE run ADD COLUMN label TEXT CHECK (length(label) BETWEEN 1 AND 64);
-- Who sent an import; of a job's run the job says it.
ALTER TABLE run ADD COLUMN principal TEXT CHECK (length(principal) > 0);

-- Partial: a run without a label costs nothing, and most have none. The two are for a list's two ways (list.c).
CREATE INDEX run_by_label ON run (label, date_ms, id, series_id) WHERE label IS NOT NULL;
CREATE INDEX run_by_label_series ON run (label, series_id, date_ms) WHERE label IS NOT NULL;

-- ---- withdrawn runs ----

-- Each time that somebody withdrew a run; it is withdrawn while one of them has not been taken back.
CREATE TABLE withdrawal (
    id             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
    run_id         INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    reason         TEXT NOT NULL CHECK (length(reason) BETWEEN 1 AND 512),
    principal      TEXT NOT NULL CHECK (length(principal) > 0),
    at_ms          INTEGER NOT NULL CHECK (at_ms BETWEEN -62135596800000 AND 253402300799999),
    back_principal TEXT CHECK (length(back_principal) > 0),
    back_at_ms     INTEGER CHECK (back_at_ms BETWEEN -62135596800000 AND 253402300799999),
    CHECK ((back_principal IS NULL) = (back_at_ms IS NULL))
) STRICT;
CREATE INDEX withdrawal_of_run ON withdrawal (run_id);
CREATE UNIQUE INDEX withdrawal_now ON withdrawal (run_id) WHERE back_at_ms IS NULL;

CREATE TRIGGER withdrawal_kept BEFORE UPDATE ON withdrawal
WHEN OLD.back_at_ms IS NOT NULL OR NEW.back_at_ms IS NULL OR NEW.id <> OLD.id OR NEW.run_id <> OLD.run_id
  OR NEW.reason <> OLD.reason OR NEW.principal <> OLD.principal OR NEW.at_ms <> OLD.at_ms
BEGIN SELECT RAISE(ABORT, 'a withdrawal is only taken back, once'); END;
CREATE TRIGGER withdrawal_deleted_when_retired BEFORE DELETE ON withdrawal
WHEN NOT EXISTS (SELECT 1 FROM run_retired WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a withdrawal is deleted only with its run'); END;
CREATE TRIGGER withdrawal_never_replaced BEFORE INSERT ON withdrawal
WHEN EXISTS (SELECT 1 FROM withdrawal WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM withdrawal WHERE run_id = NEW.run_id AND back_at_ms IS NULL)
BEGIN SELECT RAISE(ABORT, 'a withdrawal is never replaced'); END;

-- series_day counts the runs that are not withdrawn, and trends are made of them.
CREATE TRIGGER withdrawal_uncounted AFTER INSERT ON withdrawal
BEGIN
    DELETE FROM series_day WHERE runs = 1
        AND (series_id, day) = (SELECT series_id, day FROM run_fact WHERE run_id = NEW.run_id);
    UPDATE series_day SET runs = runs - 1
        WHERE (series_id, day) = (SELECT series_id, day FROM run_fact WHERE run_id = NEW.run_id);
    INSERT INTO trend_stale (series_id, method_version, day) SELECT series_id, method_version, day FROM run_fact
        WHERE run_id = NEW.run_id AND eligible = 1 ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER withdrawal_counted_again AFTER UPDATE ON withdrawal
BEGIN
    INSERT INTO series_day (series_id, day, runs) SELECT series_id, day, 1 FROM run_fact WHERE run_id = NEW.run_id
        ON CONFLICT (series_id, day) DO UPDATE SET runs = runs + 1;
    INSERT INTO trend_stale (series_id, method_version, day) SELECT series_id, method_version, day FROM run_fact
        WHERE run_id = NEW.run_id AND eligible = 1 ON CONFLICT DO NOTHING;
END;

-- A run that is deleted was counted unless it is withdrawn. Its withdrawals may be gone before its facts or after them.
DROP TRIGGER run_fact_uncounted;
CREATE TRIGGER run_fact_uncounted BEFORE DELETE ON run_fact
WHEN NOT EXISTS (SELECT 1 FROM withdrawal WHERE run_id = OLD.run_id AND back_at_ms IS NULL)
BEGIN
    DELETE FROM series_day WHERE series_id = OLD.series_id AND day = OLD.day AND runs = 1;
    UPDATE series_day SET runs = runs - 1 WHERE series_id = OLD.series_id AND day = OLD.day;
    INSERT INTO trend_stale (series_id, method_version, day) SELECT OLD.series_id, OLD.method_version, OLD.day
        WHERE OLD.eligible = 1 ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER withdrawal_gone BEFORE DELETE ON withdrawal
WHEN OLD.back_at_ms IS NULL AND EXISTS (SELECT 1 FROM run_fact WHERE run_id = OLD.run_id)
BEGIN
    INSERT INTO series_day (series_id, day, runs) SELECT series_id, day, 1 FROM run_fact WHERE run_id = OLD.run_id
        ON CONFLICT (series_id, day) DO UPDATE SET runs = runs + 1;
END;

-- ---- why a prediction was wrong ----

-- The version of what was said of a run's predictions: one more with each change, also one that leaves nothing said.
CREATE TABLE prediction_said (
    run_id        INTEGER NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    version       INTEGER NOT NULL CHECK (version > 0),
    principal     TEXT NOT NULL CHECK (length(principal) > 0),
    changed_at_ms INTEGER NOT NULL CHECK (changed_at_ms BETWEEN -62135596800000 AND 253402300799999)
) STRICT;
CREATE TABLE prediction_wrong (
    run_id  INTEGER NOT NULL REFERENCES prediction_said (run_id) ON DELETE CASCADE,
    unit_id INTEGER NOT NULL,
    text    TEXT NOT NULL CHECK (length(text) BETWEEN 1 AND 1024),
    PRIMARY KEY (run_id, unit_id),
    FOREIGN KEY (run_id, unit_id) REFERENCES prediction (run_id, unit_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
