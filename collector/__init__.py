"""Receive, journal, decode, normalise, assemble, redact, sample and store; the process shell."""
