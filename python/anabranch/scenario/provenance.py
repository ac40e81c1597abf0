"""The origin of a scenario or a study, which decides whether code that it names runs unasked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class Agreement:
    """The code of the user's own that may run."""

    everything: bool = False
    """Whatever the scenario names, and what that imports."""
    digests: frozenset[str] = frozenset()
    """Otherwise files with this content: SHA-256 in hexadecimal."""

    def allows(self, digest: str) -> bool:
        """Whether a file with this SHA-256 may run."""
        return self.everything or digest in self.digests


@dataclass(frozen=True, slots=True)
class Provenance:
    """The files that somebody has written a scenario or a study into, and what has been agreed to of them."""

    files: tuple[Path, ...] = ()
    """Absolute; none where the program that runs has built it."""
    trust: bool = False
    """Whether the caller trusts whatever code is named (``trust=True``, ``--trust``)."""
    agreement: Agreement | None = None
    """What has been agreed to already; None where nobody has looked at it yet."""
    settled: bool = False
    """Whether that has been decided elsewhere, for a process that works for another: nobody is asked here."""

    @classmethod
    def worker(cls, agreement: Agreement | None) -> Self:
        """Of a scenario that runs for another process, which has asked; None: no code is named."""
        return cls(agreement=agreement or Agreement(), settled=True)

    @classmethod
    def of_file(cls, file: Path) -> Self:
        """Of what was read from a file."""
        return cls((file.absolute(),))

    def with_trust(self) -> Provenance:
        """The provenance with the caller's trust."""
        return replace(self, trust=True)

    def with_agreement(self, agreement: Agreement) -> Provenance:
        """The provenance with what has been agreed to."""
        return replace(self, agreement=agreement)

    def joined(self, other: Provenance) -> Provenance:
        """Of what comes from both: it is trusted where the caller trusts either, as a whole."""
        files = tuple(dict.fromkeys((*self.files, *other.files)))
        return Provenance(files, self.trust or other.trust, self.agreement)


def agreed_together(provenances: Iterable[Provenance]) -> Provenance:
    """Of what comes from several that have their agreements: what may run of one may run."""
    agreements = [each.agreement for each in provenances if each.agreement is not None]
    digests = frozenset[str]().union(*(each.digests for each in agreements))
    return Provenance.worker(Agreement(any(each.everything for each in agreements), digests))
