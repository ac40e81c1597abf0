"""A controller of OpenFlow 1.3 beside the switches of a live run."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from os_ken import cfg
from os_ken.base.app_manager import AppManager, lookup_service_brick

from anabranch.live.switches.controller.governed import GovernedSwitches
from anabranch.live.switches.controller.planned import PlannedRoutes
from anabranch.live.switches.controller.switchboard import SwitchApplication, Switchboard
from anabranch.live.switches.controller.tell import tell
from anabranch.live.switches.layout import SwitchLayout
from anabranch.live.switches.vswitch import CONTROLLER
from anabranch.own.running import guarded
from anabranch.scenario.provenance import Agreement, Provenance
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve


def _listen() -> None:
    """Hears of time zero, and begins then; says what there is to say when it hears of the end."""
    if line := sys.stdin.readline():
        begin_ns = json.loads(line)["begin_ns"]
        time.sleep(max(begin_ns - time.monotonic_ns(), 0) / 1e9)
        lookup_service_brick(Switchboard.__name__).begin(begin_ns)
    if sys.stdin.readline():
        tell("tables", **lookup_service_brick(Switchboard.__name__).tables())


def _own_code(given: dict[str, Any] | None) -> tuple[Sequence[object], Agreement | None]:
    """What makes algorithms of the user's own, and what may run: the run's process has asked for that."""
    if given is None:
        return (), None
    base = None if given["base"] is None else Path(given["base"])
    provenance = Provenance.worker(Agreement(given["everything"], frozenset(given["digests"])))
    scenario = Scenario.from_data(given["data"], origin=given["origin"], base=base, provenance=provenance)
    setup = resolve(scenario, Needed.ALL)
    return setup.own_code, setup.agreement


def main() -> None:
    """Serves until it is ended from outside."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
    configuration = json.loads(sys.stdin.readline())
    # What others say is none of the lines that the run reads.
    os.dup2(2, 1)
    host, port = CONTROLLER
    cfg.CONF([f"--ofp-listen-host={host}", f"--ofp-tcp-listen-port={port}"], project="os_ken")
    Switchboard.layout = SwitchLayout.read(configuration["layout"])
    classes, agreement = _own_code(configuration.get("scenario"))

    def make(board: Switchboard) -> SwitchApplication:
        if "plan" in configuration:
            return PlannedRoutes(board, configuration)
        return GovernedSwitches(board, configuration, classes)

    Switchboard.make = staticmethod(make)
    threading.Thread(target=_listen, name="listen", daemon=True).start()
    with guarded(agreement):
        AppManager.run_apps([Switchboard.__module__])


if __name__ == "__main__":
    main()
