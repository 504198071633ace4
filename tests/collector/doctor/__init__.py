"""Tests of what `outrider doctor` looks at."""
