"""A hub that is started in the background: what kept it from starting is told as if it ran in the foreground."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory_plane import presence
from memory_plane.errors import ConfigurationError
from memory_plane.settings import Settings
from memory_plane.surfaces import background


@pytest.mark.skipif(os.name != "posix", reason="hubs in the background of POSIX systems")
def test_hub_that_its_settings_keep_from_starting_says_so(home: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"the hub did not start: hub\.host: '0\.0\.0\.0' is beyond"):
        background.start(Settings.load(), "--host", "0.0.0.0", "--port", "0")
    assert presence.free(home)
