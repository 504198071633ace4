CREATE TABLE IF NOT EXISTS observations (
  producer String CODEC(ZSTD(1)),
  sequence UInt64,
  conversation_id String CODEC(ZSTD(1)),
  episode UInt32,
  scorer LowCardinality(String),
  scorer_version LowCardinality(String),
  shortfall Float64,
  weight Float64,
  stratum LowCardinality(String),
  agent LowCardinality(String),
  agent_version LowCardinality(String),
  environment LowCardinality(String),
  variant LowCardinality(String),
  tenant LowCardinality(String),
  pair_id String CODEC(ZSTD(1)),
  observed DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY toDate(observed)
ORDER BY (producer, sequence)
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS totals (
  producer String CODEC(ZSTD(1)),
  name LowCardinality(String),
  labels String CODEC(ZSTD(1)),
  value Float64,
  updated DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(updated)
ORDER BY (producer, name, labels)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS detector_state (
  stream String CODEC(ZSTD(1)),
  slice String CODEC(ZSTD(1)),
  state String CODEC(ZSTD(1)),
  updated DateTime64(9, 'UTC')
) ENGINE = ReplacingMergeTree(updated)
ORDER BY (stream, slice)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS alert_events (
  event_id String CODEC(ZSTD(1)),
  at DateTime64(9, 'UTC'),
  kind LowCardinality(String),
  stream String CODEC(ZSTD(1)),
  slice String CODEC(ZSTD(1)),
  detail String CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (at, event_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS dead_letters (
  letter_id String CODEC(ZSTD(1)),
  at DateTime64(9, 'UTC'),
  table_name LowCardinality(String),
  reason String CODEC(ZSTD(1)),
  row String CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
ORDER BY letter_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
