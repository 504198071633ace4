"""Constraints on a reply that a program can verify."""
