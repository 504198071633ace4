"""Scorers that need no model and no key: one file per scorer."""
