"""Show a person what the agents' quality is, why, and in which conversations."""
