"""Scenarios of live runs, and what their tests share."""

from collections.abc import Callable
from typing import Any

from anabranch import Scenario
from anabranch.results.result import Result

LATEST_US = 5_000.0
"""Tests share their machine with others: what they allow is more than what a measurement may."""
TRIES = 4

LiveRun = Callable[..., Result]


def paths(capacity: str, delays_ms: list[float], traffic: list[dict[str, Any]], **tables: Any) -> Scenario:
    """Two hosts, and paths of one capacity between them."""
    parallel = [{"capacity": capacity, "delay": f"{delay} ms"} for delay in delays_ms]
    network = {"topology": "parallel", "parameters": {"paths": parallel}, "links": {"queue": "60 packets"}}
    ends = {"from": "source", "to": "sink"}
    flows = [{**ends, **entry} for entry in traffic]
    run = {"duration": "1 s"}
    return Scenario.model_validate({"network": network, "traffic": flows, "run": run, **tables})
