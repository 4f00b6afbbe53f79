"""A day of a fleet of agents beside a hub that comes and goes: told by one file, lived in another, checked in a third."""
