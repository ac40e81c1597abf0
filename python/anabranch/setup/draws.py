"""Random draws of the setup: what shapes the network and the traffic before a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.scenario.leaves import UniformVariate, Variate
from anabranch.scenario.quantity import Quantity
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.variate import Distribution, as_core

LARGEST_DRAW = 2.0**60
"""Bytes or picoseconds (13 days): a heavy tail may reach beyond any run, and must fit 64 bits there."""

UNIT_INTERVAL = UniformVariate(low=0.0, high=1.0)
_VARIATES: Final[Mapping[str, type[Variate]]] = {kind.distribution: kind for kind in get_args(Variate)}


def variate(value: Quantity | Distribution) -> Variate:
    """A fixed quantity or a distribution as a setup has it: numbers in base units."""
    said = as_core(value)
    return _VARIATES[said.pop("distribution")](**said)


class Draws:
    """Random draws by name: each stream hangs on the seed, the replication, a stable name and a purpose."""

    def __init__(self, scenario: Scenario) -> None:
        self._seed = scenario.run_settings.seed
        self._replication = scenario.run_settings.replication

    def many(self, of: Variate, name: str, purpose: str, count: int) -> NDArray[np.float64]:
        """The first ``count`` draws of a stream, in base units."""
        return _core.draw(json.dumps(of.core()), self._seed, self._replication, name, purpose, count)

    def each(
        self,
        value: Quantity | Distribution,
        entry: str,
        purpose: str,
        numbers: NDArray[np.uint32],
    ) -> NDArray[np.int64]:
        """What :meth:`one` gives for each of the flows of an entry, by their numbers."""
        if isinstance(value, Quantity):
            return np.full(len(numbers), int(value), dtype=np.int64)
        drawn = _core.draw_each(
            json.dumps(variate(value).core()), self._seed, self._replication, entry, purpose, numbers
        )
        # Halves go to the even number, as Python rounds them.
        return np.rint(np.minimum(drawn, LARGEST_DRAW)).astype(np.int64)

    def one(self, value: Quantity | Distribution, name: str, purpose: str) -> int:
        """A fixed quantity itself, or the one draw of a stream, to the nearest base unit."""
        if isinstance(value, Quantity):
            return int(value)
        drawn = float(self.many(variate(value), name, purpose, 1)[0])
        return round(min(drawn, LARGEST_DRAW))
