"""The exceptions of this package."""

from typing import Final

from anabranch.errors import AnabranchError

_MAX_PART: Final = 400


class PlacedError(AnabranchError, ValueError):
    """Something that could not be had, with its place and a remedy; the message is one readable line.

    `where` is the place (a file with its line, a parameter of a generator, a name), `what` is what is wrong
    there and `remedy` what would be right. Any of `where` and `remedy` may be empty.
    """

    def __init__(self, where: str, what: str, remedy: str = "") -> None:
        self.where = _one_line(where)
        self.what = _one_line(what)
        self.remedy = _one_line(remedy)
        message = f"{self.where}: {self.what}" if self.where else self.what
        super().__init__(f"{message}; {self.remedy}" if self.remedy else message)

    def __reduce__(self) -> tuple[type["PlacedError"], tuple[str, str, str]]:
        """Keep the three parts when the exception crosses a process boundary."""
        return (type(self), (self.where, self.what, self.remedy))


class TopologyError(PlacedError):
    """A topology that could not be had."""


def _one_line(text: str) -> str:
    """The text without line breaks and other control characters, cut where it is absurdly long."""
    cut = text if len(text) <= _MAX_PART else f"{text[:_MAX_PART]}..."
    return "".join(c if c.isprintable() else " " for c in " ".join(cut.split()))
