"""Real processes that are killed, starved and locked out."""
