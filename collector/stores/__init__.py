"""Where decided episodes are written."""
