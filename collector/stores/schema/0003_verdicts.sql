-- Every revision of every verdict. One conversation id may be used by several tenants,
-- environments and variants: the episode id tells them apart.
CREATE TABLE IF NOT EXISTS scores (
  score_id String CODEC(ZSTD(1)),
  conversation_id String CODEC(ZSTD(1)),
  episode UInt32,
  revision UInt32,
  level LowCardinality(String),
  target String CODEC(ZSTD(1)),
  scorer LowCardinality(String),
  scorer_version LowCardinality(String),
  value Nullable(Float64),
  verdict LowCardinality(String),
  reason String CODEC(ZSTD(1)),
  evidence String CODEC(ZSTD(1)),
  cost_usd Float64,
  latency_s Float64,
  scored DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
  trace_id String CODEC(ZSTD(1)),
  agent LowCardinality(String),
  agent_version LowCardinality(String),
  environment LowCardinality(String),
  variant LowCardinality(String),
  episode_started DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
  episode_id String CODEC(ZSTD(1)),
  INDEX idx_scored scored TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY toDate(episode_started)
ORDER BY (conversation_id, episode, episode_id, scorer, scorer_version, level, target, revision)
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;

-- A scorer's newest revision of an episode replaces all its earlier verdicts on it, those
-- on targets that no longer exist included.
CREATE OR REPLACE VIEW scores_current AS
SELECT * FROM scores FINAL
WHERE (episode_id, scorer, scorer_version, revision) IN (
  SELECT episode_id, scorer, scorer_version, max(revision)
  FROM scores GROUP BY episode_id, scorer, scorer_version
);

-- The ledger; a revision's row replaces the first decision's.
CREATE TABLE IF NOT EXISTS decisions (
  conversation_id String CODEC(ZSTD(1)),
  episode UInt32,
  scorer LowCardinality(String),
  scorer_version LowCardinality(String),
  revision UInt32,
  decision LowCardinality(String),
  reason LowCardinality(String),
  targets UInt32,
  decided DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
  agent LowCardinality(String),
  agent_version LowCardinality(String),
  environment LowCardinality(String),
  variant LowCardinality(String),
  episode_started DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
  episode_id String CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(revision)
PARTITION BY toDate(episode_started)
ORDER BY (conversation_id, episode, episode_id, scorer)
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS outcomes (
  conversation_id String CODEC(ZSTD(1)),
  name LowCardinality(String),
  success Bool,
  observed DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(observed)
ORDER BY (conversation_id, name)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS labels (
  conversation_id String CODEC(ZSTD(1)),
  scorer LowCardinality(String),
  author String CODEC(ZSTD(1)),
  verdict LowCardinality(String),
  created DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(created)
ORDER BY (conversation_id, scorer, author)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
