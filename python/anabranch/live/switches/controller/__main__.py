"""A controller of OpenFlow 1.3 beside the switches of a live run."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from os_ken import cfg
from os_ken.base.app_manager import AppManager, lookup_service_brick

from anabranch.live.switches.controller.forwarding import ForwardingController
from anabranch.live.switches.controller.planned import PlannedRoutes
from anabranch.live.switches.controller.stateful import StatefulController
from anabranch.live.switches.controller.switchboard import SwitchApplication, Switchboard
from anabranch.live.switches.controller.tcpbp import TcpbpController
from anabranch.live.switches.layout import SwitchLayout
from anabranch.live.switches.vswitch import CONTROLLER

APPLICATIONS: dict[str, Callable[[Switchboard, dict[str, Any]], SwitchApplication]] = {
    "forwarding": ForwardingController,
    "plan": PlannedRoutes,
    "subflow-round-robin": StatefulController,
    "tcpbp": TcpbpController,
}
"""By the name that ``[controller]`` has for it, or the load balancing; ``plan`` for all other runs."""


def _await_begin() -> None:
    """Hears of time zero, and begins then."""
    line = sys.stdin.readline()
    if not line:
        return
    begin_ns = json.loads(line)["begin_ns"]
    time.sleep(max(begin_ns - time.monotonic_ns(), 0) / 1e9)
    lookup_service_brick(Switchboard.__name__).begin()


def main() -> None:
    """Serves until it is ended from outside."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
    configuration = json.loads(sys.stdin.readline())
    host, port = CONTROLLER
    cfg.CONF([f"--ofp-listen-host={host}", f"--ofp-tcp-listen-port={port}"], project="os_ken")
    Switchboard.layout = SwitchLayout.read(configuration["layout"])
    make = APPLICATIONS[configuration["application"]["algorithm"]]
    Switchboard.make = staticmethod(lambda board: make(board, configuration))
    threading.Thread(target=_await_begin, name="begin", daemon=True).start()
    AppManager.run_apps([Switchboard.__module__])


if __name__ == "__main__":
    main()
