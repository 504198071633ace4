-- Nothing was ever written to these two before. What is learned of a conversation comes when it
-- comes, so it is joined when it is read: by the conversation's id, else by the trace.
ALTER TABLE outcomes
  MODIFY COLUMN IF EXISTS success Nullable(Bool),
  ADD COLUMN IF NOT EXISTS outcome_id String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS number Nullable(Float64),
  ADD COLUMN IF NOT EXISTS text String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS source LowCardinality(String),
  ADD COLUMN IF NOT EXISTS call_id String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS tool LowCardinality(String),
  ADD COLUMN IF NOT EXISTS id String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS trace_id String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS span_id String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS episode UInt32,
  ADD COLUMN IF NOT EXISTS tenant LowCardinality(String),
  ADD COLUMN IF NOT EXISTS environment LowCardinality(String),
  ADD COLUMN IF NOT EXISTS variant LowCardinality(String),
  ADD COLUMN IF NOT EXISTS received DateTime64(9, 'UTC'),
  ADD INDEX IF NOT EXISTS idx_trace_id trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
  MODIFY ORDER BY (conversation_id, name, outcome_id);

ALTER TABLE labels
  ADD COLUMN IF NOT EXISTS label_id String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS value Nullable(Float64),
  ADD COLUMN IF NOT EXISTS category LowCardinality(String),
  ADD COLUMN IF NOT EXISTS level LowCardinality(String),
  ADD COLUMN IF NOT EXISTS target String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS source LowCardinality(String),
  ADD COLUMN IF NOT EXISTS comment String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS id String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS trace_id String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS span_id String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS episode UInt32,
  ADD COLUMN IF NOT EXISTS tenant LowCardinality(String),
  ADD COLUMN IF NOT EXISTS environment LowCardinality(String),
  ADD COLUMN IF NOT EXISTS variant LowCardinality(String),
  ADD COLUMN IF NOT EXISTS received DateTime64(9, 'UTC'),
  ADD INDEX IF NOT EXISTS idx_trace_id trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
  MODIFY ORDER BY (conversation_id, scorer, author, label_id);
