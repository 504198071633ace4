-- When the conversation itself began: the detectors' time, whatever the delay of its decision.
ALTER TABLE observations ADD COLUMN IF NOT EXISTS started DateTime64(9, 'UTC') DEFAULT observed CODEC(Delta(8), ZSTD(1));

-- A stream's evidence over time, one row each ten minutes of traffic, for charts.
CREATE TABLE IF NOT EXISTS detector_points (
  stream String CODEC(ZSTD(1)),
  slice String CODEC(ZSTD(1)),
  at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
  evidence Float64,
  threshold Float64,
  observations UInt64,
  failures Float64
) ENGINE = ReplacingMergeTree(observations)
PARTITION BY toYYYYMM(at)
ORDER BY (stream, slice, at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
