"""Runs of ns-3 itself for what Chang 2024 prints of NewReno, CUBIC and BBR, stored by `make validate-ns3`."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from anabranch_publications.papers.findings import Refutation, refutes

FILE = Path(__file__).with_name("ns3.json")
"""Written by checks/validation/ns3_claims.py."""


@dataclass(frozen=True, slots=True)
class ClaimInNs3:
    """A printed claim, and what the newest version of ns-3 that the thesis can have had gives."""

    figure: str
    setting: str
    transport: str
    published: str
    least: float
    """From which number on the claim holds."""
    most: float | None
    """Up to which number it holds; None without a bound."""
    numbers: tuple[float, ...]
    """Of each seed: throughput in Mbps of IP bytes, or the ratio that the setting names."""

    @property
    def given(self) -> bool:
        """Whether some seed gives what is printed."""
        most = math.inf if self.most is None else self.most
        return any(self.least <= number <= most for number in self.numbers)


@dataclass(frozen=True, slots=True)
class ClaimsInNs3:
    """All claims in one version of ns-3."""

    version: str
    source: str
    date: str
    claims: tuple[ClaimInNs3, ...]

    @classmethod
    def load(cls, path: Path = FILE) -> ClaimsInNs3:
        """The claims in a file.

        Raises:
            OSError: if it cannot be read.
            ValueError: if it has other fields.
        """
        data = json.loads(path.read_text(encoding="utf-8"))
        try:
            rows = [ClaimInNs3(**{**row, "numbers": tuple(row["numbers"])}) for row in data["claims"]]
            return cls(**{**data, "claims": tuple(rows)})
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path}: not what ns3_claims.py writes ({error}); run it again") from error

    def save(self, path: Path = FILE) -> None:
        """Writes the file, a claim a line."""
        head = {key: value for key, value in asdict(self).items() if key != "claims"}
        lines = [f' "{key}": {json.dumps(value)},' for key, value in head.items()]
        rows = ",\n".join("  " + json.dumps(asdict(claim)) for claim in self.claims)
        path.write_text("\n".join(["{", *lines, ' "claims": [', rows, " ]", "}", ""]), encoding="utf-8")

    def of(self, figure: str, transport: str) -> list[ClaimInNs3]:
        """The claims of a figure on a transport, one for each set-up that was tried."""
        return [claim for claim in self.claims if (claim.figure, claim.transport) == (figure, transport)]


@cache
def measured() -> ClaimsInNs3:
    """Returns the claims that are stored."""
    return ClaimsInNs3.load()


@refutes
def not_in_ns3(figure: str, transport: str) -> Refutation:
    """Whether no seed gives what a figure prints of a transport, in the author's own simulator."""
    stored = measured()
    tried = stored.of(figure, transport)
    texts = [
        f"{statistics.median(claim.numbers):.3g} ({min(claim.numbers):.3g} to {max(claim.numbers):.3g}) over "
        f"{claim.setting}"
        for claim in tried
    ]
    holds = bool(tried) and not any(claim.given for claim in tried)
    text = f"{transport} in ns-3 {stored.version} itself has {'; '.join(texts)} (make validate-ns3)"
    return Refutation(holds, text)
