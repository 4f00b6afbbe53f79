"""What is written outside of the home, so that the system and the agents know of Memory Plane."""
