"""Tests of the semantic conventions."""
