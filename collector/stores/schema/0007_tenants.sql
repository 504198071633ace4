-- A tenant is shown its own rows alone, so every table that it is shown says whose a row is. Rows
-- from before are nobody's, and shown to those who see all.
ALTER TABLE tool_calls ADD COLUMN IF NOT EXISTS tenant LowCardinality(String) AFTER variant;

ALTER TABLE scores ADD COLUMN IF NOT EXISTS tenant LowCardinality(String) AFTER variant;

ALTER TABLE decisions ADD COLUMN IF NOT EXISTS tenant LowCardinality(String) AFTER variant;

CREATE OR REPLACE VIEW scores_current AS
SELECT * FROM scores FINAL
WHERE (episode_id, scorer, scorer_version, revision) IN (
  SELECT episode_id, scorer, scorer_version, max(revision)
  FROM scores GROUP BY episode_id, scorer, scorer_version
);
