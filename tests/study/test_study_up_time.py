"""Measures over lifetimes and up-times, with numbers by hand (Gholizadeh 2019, section 5.1.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anabranch import Metric, Scenario, Study
from anabranch.errors import StudyError
from anabranch.plans.routes import plan
from anabranch.setup import resolve
from anabranch.study.up_time import MEASURES, with_measures

DUMBBELL = """
[network]
topology = "dumbbell"
parameters = { hosts = 2, bottleneck_capacity = "10 Mbps" }
links = { capacity = "100 Mbps", delay = "5 ms" }
[[traffic]]
from = ["left1", "left2"]
to = ["right1", "right2"]
pairs = "in-order"
transport = "cubic"
size = "1 MB"
[run]
duration = "10 s"
%s
"""

TWO_WAYS = """
[network]
node = [{ name = "a", kind = "host" }, { name = "z", kind = "host" }, { name = "r" }, { name = "s" }]
link = [
    { between = ["a", "r"], new = true }, { between = ["r", "z"], new = true },
    { between = ["a", "s"], new = true }, { between = ["s", "z"], new = true },
]
links = { capacity = "10 Mbps", delay = "5 ms" }
[routing]
scheme = %s
[[traffic]]
from = "a"
to = "z"
transport = "cubic"
[run]
duration = "10 s"
"""


def measured(text: str, flows: dict[str, list[float]], queues: dict[str, float]) -> dict[str, dict[str, Any]]:
    """All measures of a made run of 10 s, from its flows and the mean queues of links by name."""
    setup = resolve(Scenario.loads(text))
    names = [link.name for link in setup.links]
    tables: dict[str, dict[str, Any]] = {
        "flows": {name: np.array(values) for name, values in flows.items()},
        "links": {"queue_mean_packets": np.array([queues.get(name, 0.0) for name in names])},
    }
    wanted = [
        Metric(name=column, table=table, column=column)
        for table, columns in MEASURES.items()
        for column in columns
    ]
    measures = with_measures(wanted, tables, setup, plan(setup, None).plan, 10.0)
    links = {
        column: dict(zip(names, measures["links"][column].tolist(), strict=True))
        for column in MEASURES["links"]
    }
    return {**links, "throughput_percent": dict(enumerate(measures["flows"]["throughput_percent"].tolist()))}


def test_numbers_by_hand() -> None:
    """1000 segments of 1448 bytes are packets of 12 Mbit together: 1.2 s at 10 Mbps.

    The first flow lives for 2 s, the second for 4 s, and 1 s lies between: 60 %, 30 %, and 24 Mbit in 7 s.
    """
    measures = measured(
        DUMBBELL % "",
        {
            "start_s": [1.0, 4.0],
            # FINs leave with the last data: the second counts until they have arrived.
            "fin_s": [2.0, 3.5],
            "completion_s": [1.9, 4.0],
            "delivered_bytes": [1_448_000.0, 1_448_000.0],
        },
        {"router-left->router-right": 2.1, "left1->router-left": 0.5},
    )
    there, back = "router-left->router-right", "router-right->router-left"
    assert measures["throughput_percent"] == pytest.approx({0: 60.0, 1: 30.0})
    up, share, queue = (
        measures[name] for name in ("up_time_s", "acknowledged_percent", "queue_mean_up_packets")
    )
    assert (up[there], up[back], up["left1->router-left"], up["left2->router-left"]) == (7.0, 7.0, 2.0, 4.0)
    assert share[there] == pytest.approx(100 * 24 / 70)
    # ACKs go back, and acknowledge nothing themselves.
    assert share[back] == 0
    assert share["left1->router-left"] == pytest.approx(100 * 12 / 200)
    # 2.1 packets over 10 s are 3 over 7 s.
    assert (queue[there], queue["left1->router-left"]) == pytest.approx((3.0, 2.5))


def test_what_has_not_ended_lives_until_the_run_does_and_half_a_segment_has_headers_too() -> None:
    nan = float("nan")
    flows = {
        "start_s": [2.0, 12.0],
        "fin_s": [nan, nan],
        "completion_s": [nan, nan],
        "delivered_bytes": [724.0, 0.0],
    }
    measures = measured(DUMBBELL % "", flows, {})
    # 776 bytes at 10 Mbps in 8 s; the other one has not begun, and its links are not up.
    assert measures["throughput_percent"][0] == pytest.approx(100 * 776 * 8 / 10e6 / 8)
    assert np.isnan(measures["throughput_percent"][1])
    assert measures["up_time_s"]["router-left->router-right"] == 8.0
    assert np.isnan(measures["up_time_s"]["left2->router-left"])


@pytest.mark.parametrize("scheme", ['{ algorithm = "disjoint", k = 2 }', '"ecmp"'])
def test_where_a_flow_may_have_gone_two_ways_nothing_is_known(scheme: str) -> None:
    flows = {"start_s": [0.0], "fin_s": [1.0], "completion_s": [1.0], "delivered_bytes": [1e6]}
    measures = measured(TWO_WAYS % scheme, flows, {})
    assert all(np.isnan(value) for column in measures.values() for value in column.values())
    # By one of them all is known: hop by hop as well.
    one_way = measured((TWO_WAYS % scheme).replace('"s", "z"', '"s", "r"'), flows, {})
    assert one_way["up_time_s"]["r->z"] == 1.0


def test_pings_keep_links_up() -> None:
    ping = """
[[traffic]]
from = "left2"
to = "right2"
application = { kind = "ping" }
start = "2 s"
stop = "9 s"
"""
    flows = {
        "start_s": [1.0, 1.0],
        "fin_s": [1.0, 1.0],
        "completion_s": [1.0, 1.0],
        "delivered_bytes": [0.0, 0.0],
    }
    measures = measured(DUMBBELL % ping, flows, {})
    up = measures["up_time_s"]
    assert (up["router-right->router-left"], up["left1->router-left"]) == (8.0, 1.0)


def test_a_study_names_them_like_columns() -> None:
    """Of real runs: the shares follow from the columns of the tables, and of two alike flows are alike."""
    metrics = [
        Metric(name="share", column="throughput_percent", statistic="sum"),
        Metric(name="fairness", column="throughput_percent", statistic="jain"),
        Metric(name="up_s", table="links", column="up_time_s", statistic="max"),
        Metric(name="completion_s", column="completion_s", statistic="max"),
        Metric(
            name="used",
            table="links",
            column="acknowledged_percent",
            where={"name": "router-left->router-right"},
        ),
        Metric(name="busy", table="links", column="utilization", where={"name": "router-left->router-right"}),
    ]
    row = Study(scenario=Scenario.loads(DUMBBELL % ""), metrics=metrics).run().runs.row(0, named=True)
    assert row["up_s"] == pytest.approx(row["completion_s"], rel=0.01)
    # What is acknowledged is what the link was busy with, but for retransmissions, SYNs and FINs.
    assert 0.95 < row["used"] / (100 * row["busy"] * 10 / row["up_s"]) <= 1.0
    assert row["used"] <= row["share"] < 130
    assert 0.5 < row["fairness"] <= 1


def test_a_misspelt_one_has_its_nearest_name() -> None:
    metric = Metric(name="x", table="links", column="acknowledge_percent")
    with pytest.raises(StudyError, match="acknowledged_percent"):
        Study(scenario=Scenario.loads(DUMBBELL % ""), metrics=[metric]).run()
