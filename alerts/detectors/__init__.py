"""Detect that an agent got worse, with a budget for false alarms."""
