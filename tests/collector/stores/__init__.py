"""Test the store."""
