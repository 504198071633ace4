"""Test the demonstration's traffic."""
