"""Live runs of a reproduction: what the machine must have, and runs that are valid."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Final

from anabranch import Scenario
from anabranch.errors import LiveError
from anabranch.results.result import Result

TRIES: Final = 3
"""A run that is not valid by its self-check is repeated, so often at most."""


def check_live(*, mptcp: bool = False) -> None:
    """Makes sure that the machine can make live runs over real switches, before anything is made.

    Args:
        mptcp: whether Multipath TCP is needed.

    Raises:
        LiveError: if something is missing, with what to do about it.
    """
    if not sys.platform.startswith("linux"):
        raise LiveError(f"live runs need Linux, and this is {sys.platform}; leave --live out")
    from anabranch.live.machine import check_machine  # noqa: PLC0415 - needs Linux
    from anabranch.live.switches.run import check_switches  # noqa: PLC0415 - needs Linux

    check_machine(["cubic"], mptcp=mptcp)
    check_switches()


@dataclass(slots=True)
class LiveRuns:
    """The live runs of a figure, and how well they kept to the clock."""

    results: list[Result] = field(default_factory=list)
    repeated: int = 0
    plain: int = 0
    """Runs repeated because Linux made plain TCP of a connection of Multipath TCP."""
    loads: list[float] = field(default_factory=list)

    def run(self, document: Mapping[str, Any]) -> Result:
        """A run over switches of Open vSwitch; the last one of up to ``TRIES`` counts.

        It is repeated where it was not valid by its self-check, and where a connection fell back to plain TCP
        because its first packets were lost: nothing can be said of Multipath TCP then.

        Raises:
            LiveError: if the system ends it.
        """
        from anabranch.live import run  # noqa: PLC0415 - needs Linux

        scenario = Scenario.from_data(dict(document))
        for attempt in range(TRIES):
            result = run(scenario, switches="ovs")
            self.loads += [result.summary["live"]["load_before"][0], result.summary["live"]["load_after"][0]]
            live = result.summary["live"]
            if live["valid"] and not live["fallen_back"]:
                break
            if attempt < TRIES - 1:
                self.repeated += not live["valid"]
                self.plain += live["valid"]
        self.results.append(result)
        return result

    def note(self) -> str:
        """The machine, and the self-check over all runs."""
        checks = [result.summary["live"]["check"] for result in self.results]
        late_us = max(check["lateness_p99_us"] for check in checks)
        share = max(check["cpu_share_max"] for check in checks)
        # What stands behind the number is the builder's.
        kernel = platform.release().split("-")[0]
        invalid = sum(not result.summary["live"]["valid"] for result in self.results)
        plain = f" and {self.plain} as a connection fell back to plain TCP" if self.plain else ""
        return (
            f"Linux {kernel} ({platform.machine()}), {switch_version()}, os-ken "
            f"{version('os-ken')}, {os.cpu_count()} cores at a load of {min(self.loads):.1f} to "
            f"{max(self.loads):.1f}. {len(self.results)} runs, of which {invalid} are not valid by the "
            f"self-check, after {self.repeated} repetitions{plain}; 99 % of packets at most "
            f"{late_us:.0f} us late, the network's thread at {share:.0%} of a core in its busiest second."
        )


def switch_version() -> str:
    """The version that Open vSwitch states."""
    said = subprocess.run(["ovs-vsctl", "--version"], capture_output=True, text=True, check=True)  # noqa: S607 - our own
    return "Open vSwitch " + said.stdout.split("\n", 1)[0].split()[-1]
