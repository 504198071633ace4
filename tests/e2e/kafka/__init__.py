"""Tests against Apache Kafka's own broker."""
