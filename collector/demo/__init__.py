"""Play a shop's support agent and its customers, and send what they do as live traffic."""
