"""Measure the detectors beside others on traffic whose failure rate is known."""
