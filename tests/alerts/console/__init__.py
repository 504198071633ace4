"""Test the console."""
