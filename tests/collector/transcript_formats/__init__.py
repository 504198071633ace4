"""Test the transcript formats."""
