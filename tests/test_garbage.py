from __future__ import annotations

import subprocess
import sys


def run(code: str) -> str:
    """Return what a process of its own prints, since the collector is the whole process's."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_server_looks_at_nothing_old_and_still_collects_what_is_new() -> None:
    code = """
import gc, weakref
from memory_plane import garbage

class Knot:
    def __init__(self):
        self.self = self

garbage.start()
old = Knot()
garbage.settle()
looked_at = len(gc.get_objects())
new = weakref.ref(Knot())
gc.collect()
print(gc.get_freeze_count() > 1000 > looked_at, new() is None, gc.isenabled())
"""
    assert run(code) == "True True True"


def test_ending_process_leaves_cycles_to_the_system() -> None:
    code = """
import atexit, gc
from memory_plane import garbage

class Knot:
    def __init__(self):
        self.self = self
    def __del__(self):
        print("collected")

gc.disable()
knot = Knot()
del knot
garbage.leave()
gc.collect()
print("end")
"""
    assert run(code) == "end"
