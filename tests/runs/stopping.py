"""A process that ends in the middle of its work on a folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.results.folders import replacement
from anabranch.results.folders.directory import Directory
from anabranch.results.folders.staging import Staging


class Stopped(BaseException):
    """The end of the process."""


class Stopping:
    """Ends the work at its n-th step that changes a name, with nothing tidied up."""

    def __init__(self, patch: pytest.MonkeyPatch, stop: int) -> None:
        self.steps, self._stop = 0, stop
        for call in ("move", "link", "make", "create", "remove"):
            patch.setattr(Directory, call, self._counted(getattr(Directory, call)))
        patch.setattr(replacement, "_exchanged", self._counted(replacement._exchanged))
        # A process that ends tidies nothing up; its locks go.
        patch.setattr(Staging, "remove", lambda staging: staging.inside.close())

    def _counted(self, call: Callable[..., object]) -> Callable[..., object]:
        def step(*given: object, **options: object) -> object:
            self.steps += 1
            if self.steps == self._stop:
                raise Stopped
            return call(*given, **options)

        return step


def is_unknown(folder: Path) -> bool:
    """Whether it is a staging folder whose process ended before it wrote the ticket: nobody may remove it."""
    return folder.name.startswith(".anabranch-") and folder.is_dir() and not list(folder.iterdir())
