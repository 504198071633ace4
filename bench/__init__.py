"""Measure what Outrider costs, beside others that take the same bytes."""
