"""Means and confidence intervals of a study, against published tables of Student's t."""

import math

import polars as pl
import pytest

from anabranch.errors import StudyError
from anabranch.study.result import FactorInfo, MetricInfo, StudyResult
from anabranch.study.student import half_width, t_quantile


# NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2: critical values of Student's t.
@pytest.mark.parametrize(
    ("probability", "degrees", "expected"),
    [
        (0.90, 1, 3.078), (0.95, 1, 6.314), (0.975, 1, 12.706), (0.99, 1, 31.821),
        (0.975, 2, 4.303), (0.975, 4, 2.776), (0.975, 9, 2.262), (0.995, 4, 4.604), (0.999, 4, 7.173),
        (0.95, 10, 1.812), (0.975, 29, 2.045), (0.99, 60, 2.390), (0.975, 100, 1.984),
    ],
)  # fmt: skip
def test_quantiles_are_those_of_the_table(probability: float, degrees: int, expected: float) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(expected, abs=6e-4)


def test_with_one_degree_it_is_the_cauchy_distribution() -> None:
    for probability in (0.6, 0.9, 0.975, 0.9995):
        assert t_quantile(probability, 1) == pytest.approx(math.tan(math.pi * (probability - 0.5)), rel=1e-9)


def test_the_interval_of_a_textbook_sample() -> None:
    # Five values with mean 3 and variance 2.5: 2.776 * sqrt(2.5 / 5).
    assert half_width([1.0, 2.0, 3.0, 4.0, 5.0], 0.95) == pytest.approx(2.7764 * math.sqrt(0.5), abs=1e-4)
    assert half_width([1.0], 0.95) is None
    assert half_width([1.0, 2.0], 0.95) is None
    assert half_width([2.0, 2.0, 2.0], 0.95) is None


def _result() -> StudyResult:
    runs = pl.DataFrame(
        {
            "run": list(range(8)),
            "cell": [0] * 4 + [1] * 4,
            "replication": [0, 1, 2, 3] * 2,
            "queue": ["a"] * 4 + ["b"] * 4,
            "status": ["ok"] * 5 + ["failed"] * 3,
            "reason": [None] * 5 + ["no way"] * 3,
            "time_s": [1.0, 2.0, None, 3.0, 7.0, None, None, None],
        }
    )
    return StudyResult.from_runs(
        title="t",
        confidence=0.9,
        replications=4,
        factors=[FactorInfo("queue", "queue", "categorical", None, ("a", "b"))],
        metrics=[MetricInfo("time_s", "time (s)")],
        runs=runs,
        tables={"flows": pl.DataFrame({"run": [0, 0, 4], "delivered_bytes": [5, 6, 7]})},
    )


def test_cells_are_summed_up_over_what_there_is() -> None:
    cells = _result().cells
    assert cells.columns == [
        "cell",
        "queue",
        "runs",
        "failed",
        "time_s",
        "time_s_ci",
        "time_s_min",
        "time_s_max",
    ]
    first, second = cells.to_dicts()
    # t(0.95, 2) = 2.920 and s = 1, over sqrt(3).
    assert first.pop("time_s_ci") == pytest.approx(2.920 / math.sqrt(3), abs=1e-3)
    assert first == {
        "cell": 0, "queue": "a", "runs": 4, "failed": 0, "time_s": 2.0, "time_s_min": 1.0, "time_s_max": 3.0,
    }  # fmt: skip
    assert second == {
        "cell": 1, "queue": "b", "runs": 4, "failed": 3,
        "time_s": 7.0, "time_s_ci": None, "time_s_min": 7.0, "time_s_max": 7.0,
    }  # fmt: skip


def test_sql_joins_runs_and_tables() -> None:
    answer = _result().query(
        "select queue, sum(delivered_bytes) from flows join runs using (run) group by 1 order by 1"
    )
    assert answer.rows() == [("a", 11), ("b", 7)]
    assert _result().query("select count(*) from cells").item() == 2


def test_a_query_that_cannot_be_answered_says_why() -> None:
    with pytest.raises(StudyError, match=r'^query: unable to find column "nothing"; valid columns: .*$'):
        _result().query("select nothing from flows")
    with pytest.raises(StudyError, match=r"^query: sql parser error: Expected: end of statement"):
        _result().query("delete all the things")


def test_further_metrics_come_from_frames_and_queries() -> None:
    bytes_of, of_frame = MetricInfo("bytes", "bytes"), MetricInfo("half_s", "half")
    outcome = _result().with_metrics(
        {
            bytes_of: "select run, sum(delivered_bytes) from flows group by run",
            of_frame: pl.DataFrame({"run": [4], "value": [3.5]}),
        }
    )
    assert outcome.runs["bytes"].to_list() == [11.0, None, None, None, 7.0, None, None, None]
    assert outcome.runs["half_s"].to_list() == [None, None, None, None, 3.5, None, None, None]
    assert outcome.cells["half_s"].to_list() == [None, 3.5]
    with pytest.raises(StudyError, match=r"^bytes: has 3 columns, not run and value$"):
        _result().with_metrics({bytes_of: "select run, cell, time_s from runs"})
