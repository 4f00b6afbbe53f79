"""Sources that a memory can be filled from, one a module."""
