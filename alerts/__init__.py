"""Turn scores into metrics, alarms and what a person reads."""
