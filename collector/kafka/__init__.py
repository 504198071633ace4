"""Read OTLP from Kafka, whose log is then the journal: offsets are committed behind what is undecided."""
