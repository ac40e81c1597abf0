"""When a command looks for garbage: where there can be some, neither among what imports make nor at the exit.

Nearly all objects of imports stay. Looking at them over and over was a fifth of a short command.
"""

from __future__ import annotations

import atexit
import gc

_FIRST_COLLECTION = 200_000
"""Objects that a command makes before garbage is first looked for; a short one with its page has 120,000."""
_USUAL = gc.get_threshold()


def spare_collections() -> None:
    """Puts the first collection off until long commands arrive at it; from there on, all is as usual."""
    gc.set_threshold(_FIRST_COLLECTION)
    gc.callbacks.append(_collect_as_usual)
    # Files are closed where they are written; nothing waits for a collection at the exit.
    atexit.register(gc.freeze)


def _collect_as_usual(phase: str, _: object) -> None:
    if phase == "stop":
        gc.callbacks.remove(_collect_as_usual)
        gc.freeze()
        gc.set_threshold(*_USUAL)
