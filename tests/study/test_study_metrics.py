"""Statistics against numpy and closed forms, and which rows a metric looks at."""

from pathlib import Path

import numpy as np
import pytest

from anabranch import Metric, Study
from anabranch.results.censored import STATISTICS, statistic
from anabranch.study.check import design
from anabranch.study.metrics import values

TABLES = {
    "flows": {
        "flow": np.array([0, 1, 2, 3], dtype=np.uint64),
        "name": ["web.0", "web.1", "bulk.0", "bulk.1"],
        "completion_s": np.array([4.0, 1.0, np.nan, 3.0]),
        "completion_more_than_s": np.full(4, np.nan),
    }
}


@pytest.mark.parametrize("percent", [1, 25, 50, 95, 99])
def test_percentiles_are_those_of_numpy(percent: int) -> None:
    values = list(np.random.default_rng(percent).exponential(size=101))
    assert statistic(f"p{percent}", values) == pytest.approx(float(np.percentile(values, percent)), rel=1e-12)


def test_statistics_of_known_numbers() -> None:
    entries = {name: statistic(name, [3.0, 1.0, 2.0, 6.0]) for name in STATISTICS}
    # Jain: (3 + 1 + 2 + 6)^2 / (4 * (9 + 1 + 4 + 36)).
    assert entries == {
        "mean": 3.0, "median": 2.5, "min": 1.0, "max": 6.0, "sum": 12.0, "count": 4.0, "jain": 144 / 200,
        "first": 3.0,
    }  # fmt: skip
    assert {name: statistic(name, []) for name in STATISTICS if name != "count"} == dict.fromkeys(
        set(STATISTICS) - {"count"}
    )
    assert statistic("count", []) == 0
    assert statistic("jain", [0.0, 0.0]) is None
    # Exact: the small ones are not lost among the large ones.
    assert statistic("sum", [1e16, 1.0, -1e16, 1.0]) == 2.0


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, 8.0),
        ({"name": "web.1"}, 1.0),
        ({"name": ["web.1", "bulk.1"]}, 4.0),
        ({"flow": [0, 3]}, 7.0),
        ({"flow": [0, 3], "name": "web.0"}, 4.0),
        ({"name": "bulk.0"}, None),
    ],
)
def test_rows_are_chosen_and_nulls_left_out(where: dict[str, object], expected: float | None) -> None:
    metric = Metric(name="x", column="completion_s", statistic="sum", where=where)
    assert values(metric, TABLES, {})[0] == expected


def test_scale_and_summary() -> None:
    longest = Metric(name="x", column="completion_s", statistic="max", scale=1e6)
    assert values(longest, TABLES, {}) == (4e6, None, 3, 3)
    jain = Metric(name="x", table="summary", column="jain_index")
    assert values(jain, TABLES, {"jain_index": 0.5}) == (0.5,)
    assert values(jain, TABLES, {"jain_index": None}) == (None,)


def test_the_examples_are_studies() -> None:
    expected = {
        # Four transports, three delays, two ways of the ACKs, five replications.
        "acks": (4 * 3 * 2 * 5, ["categorical", "continuous", "categorical"]),
        # Nine transports with their ways to spread, three states of a fabric, five replications.
        "fabric": (9 * 3 * 5, ["categorical", "categorical"]),
        # Three queues, two transports; simulated, replications would be the same run.
        "live": (3 * 2, ["continuous", "categorical"]),
        # Transports over four round-trip times with five losses each, five seeds.
        "model_errors": (5 * 4 * 5 * 5, ["categorical", "categorical"]),
        "model_errors_bbr": (2 * 4 * 5 * 5, ["categorical", "categorical"]),
        # Seven networks, four values of K, three of each of three other numbers, three replications.
        "mprc_sensitivity": (7 * 4 * 3**3 * 3, ["categorical"] + 4 * ["continuous"]),
        "queues": (5 * 2 * 10, ["continuous", "categorical"]),
        "rrul": (5 * 5, ["categorical"]),
        # Transports over shares by capacity and equal ones, three replications.
        "unequal_paths": (7 * 2 * 3, ["categorical", "categorical"]),
    }
    files = sorted((Path(__file__).parents[2] / "examples" / "studies").glob("*.toml"))
    assert [file.stem for file in files] == sorted(expected)
    for file in files:
        built = design(Study.load(file))
        assert (built.runs, [info.kind for info in built.factor_infos]) == expected[file.stem]
