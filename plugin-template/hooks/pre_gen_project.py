"""Refuse a name from which nothing valid could follow, before any file is written."""

import re
import sys

NAME = "{{ cookiecutter.name }}"
DISTRIBUTION = "{{ cookiecutter.distribution }}"
EXPECTED = "memory-plane-" + NAME.replace("_", "-")

if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", NAME):
    sys.exit(f"{NAME!r} is no name for a plugin; use lower-case words, digits and single underscores, as in 'my_agent'")
if DISTRIBUTION != EXPECTED:
    sys.exit(f"the distribution of plugin {NAME!r} is called {EXPECTED!r}, not {DISTRIBUTION!r}")
