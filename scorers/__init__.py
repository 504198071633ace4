"""Judge conversations: conversation in, score, skip or failure out."""
