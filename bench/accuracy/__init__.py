"""Measure the scorers on labelled conversations and write docs/accuracy.md."""
