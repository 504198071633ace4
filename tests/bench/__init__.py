"""Tests of the benchmark's own parts; what it measures is not theirs to say."""
