"""Tests of the LLM proxy."""
