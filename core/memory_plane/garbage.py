"""When Python looks for garbage: seldom while a command starts, briefly while one serves, not at all at the end."""

import gc

_STARTING, _SERVING = 200_000, 2_000


def start() -> None:
    """Let a start make its modules: they stay, and going through them even five times costs a tenth of it."""
    gc.set_threshold(_STARTING)


def settle() -> None:
    """Begin to serve: what is there by now stays, so that no request waits a tenth of a second for a look at it.

    The garbage of a start is kept too: it is a hundredth of that, and to find it costs a twentieth of the start.
    """
    gc.freeze()
    gc.set_threshold(_SERVING)


def leave() -> None:
    """End a process: the system frees all at once, and looking for cycles first takes a sixth of a short command."""
    gc.freeze()
