"""Ways in: one file per protocol."""
