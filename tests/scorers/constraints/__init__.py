"""Test the rule scorers, one file per rule."""
