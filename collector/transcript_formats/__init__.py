"""Read one row of a transcript file, one file a format."""
