"""Tests of the receivers."""
