"""A day of a fleet of agents beside a hub that comes and goes: written, lived through, and looked at."""
