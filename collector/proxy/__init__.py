"""Stand between a client and its model provider: pass every byte on, and capture beside it."""
