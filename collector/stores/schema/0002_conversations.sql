-- One row per episode and revision. The last five columns are content: empty unless kept.
CREATE TABLE IF NOT EXISTS conversations (
  conversation_id String CODEC(ZSTD(1)),
  episode UInt32,
  revision UInt32,
  episode_id String CODEC(ZSTD(1)),
  explicit Bool,
  agent LowCardinality(String),
  agent_version LowCardinality(String),
  environment LowCardinality(String),
  variant LowCardinality(String),
  tenant LowCardinality(String),
  pair_id String CODEC(ZSTD(1)),
  user_hash String CODEC(ZSTD(1)),
  started DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
  ended DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
  decided DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
  end_reason LowCardinality(String),
  truncated Bool,
  first_message UInt32,
  message_count UInt32,
  turn_count UInt32,
  tool_call_count UInt32,
  llm_call_count UInt32,
  document_count UInt32,
  span_count UInt32,
  input_tokens UInt64,
  output_tokens UInt64,
  cache_read_tokens UInt64,
  cache_write_tokens UInt64,
  reasoning_tokens UInt64,
  cost_usd Nullable(Float64),
  models Array(LowCardinality(String)),
  providers Array(LowCardinality(String)),
  trace_ids Array(String) CODEC(ZSTD(1)),
  failed_scorers Array(LowCardinality(String)),
  kept Bool,
  probability Float64,
  sampling_rule LowCardinality(String),
  system_prompt String CODEC(ZSTD(1)),
  tools String CODEC(ZSTD(1)),
  messages String CODEC(ZSTD(1)),
  llm_calls String CODEC(ZSTD(1)),
  documents String CODEC(ZSTD(1)),
  INDEX idx_agent agent TYPE set(100) GRANULARITY 4,
  INDEX idx_started started TYPE minmax GRANULARITY 1,
  INDEX idx_trace_ids trace_ids TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY toDate(started)
ORDER BY (conversation_id, episode, episode_id, revision)
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS turns (
  conversation_id String CODEC(ZSTD(1)),
  episode UInt32,
  revision UInt32,
  turn UInt32,
  first_message UInt32,
  end_message UInt32,
  started DateTime64(9, 'UTC'),
  ended DateTime64(9, 'UTC'),
  episode_started DateTime64(9, 'UTC'),
  decided DateTime64(9, 'UTC'),
  episode_id String CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY toDate(episode_started)
ORDER BY (conversation_id, episode, episode_id, revision, turn)
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS tool_calls (
  conversation_id String CODEC(ZSTD(1)),
  episode UInt32,
  revision UInt32,
  position UInt32,
  call_id String CODEC(ZSTD(1)),
  name LowCardinality(String),
  arguments String CODEC(ZSTD(1)),
  result Nullable(String) CODEC(ZSTD(1)),
  is_error Nullable(Bool),
  asked_at Int32,
  answered_at Int32,
  trace_id String CODEC(ZSTD(1)),
  span_id String CODEC(ZSTD(1)),
  started DateTime64(9, 'UTC'),
  ended DateTime64(9, 'UTC'),
  requestor LowCardinality(String),
  simulated Bool,
  agent LowCardinality(String),
  agent_version LowCardinality(String),
  environment LowCardinality(String),
  variant LowCardinality(String),
  episode_started DateTime64(9, 'UTC'),
  decided DateTime64(9, 'UTC'),
  episode_id String CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY toDate(episode_started)
ORDER BY (conversation_id, episode, episode_id, revision, position)
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;
