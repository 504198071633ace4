"""Semantic conventions: one file per dialect."""
