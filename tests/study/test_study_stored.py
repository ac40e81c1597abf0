"""What a study's folder has is checked in its values as in its form."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anabranch import Study, StudyError, StudyResult

from .conftest import SCENARIO, STUDY, Anabranch, Write, contents

DEEP = "[" * 100_000
WRONG_METRICS = {
    "text": '"fast"',
    "infinity": "Infinity",
    "minus infinity": "-Infinity",
    "not a number": "NaN",
    "too large": "1e999",
    "too many digits": "1" + "0" * 400,
    "more than any run has": "1e200",
    "bool": "true",
    "list": "[1.0]",
    "table": "{}",
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study that is done."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "study.toml").write_text(STUDY)
    (folder / "two.toml").write_text(SCENARIO)
    Study.load(folder / "study.toml").run(jobs=1, out=folder / "out")
    return folder / "out"


@pytest.fixture
def out(done: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return shutil.copytree(done, tmp_path / "out")


def lines(folder: Path) -> list[str]:
    return (folder / "journal.jsonl").read_text().splitlines()


def with_line(folder: Path, number: int, line: str) -> None:
    kept = lines(folder)
    kept[number] = line
    (folder / "journal.jsonl").write_text("\n".join(kept) + "\n")


def changed(line: str, **values: Any) -> str:
    return json.dumps({**json.loads(line), **values})


def test_runs_whose_metric_cannot_be_are_done_again(write: Write, out: Path) -> None:
    """Each in a line of its own: there are as many runs as ways to be wrong, and more."""
    before = contents(out)
    for number, value in enumerate(WRONG_METRICS.values()):
        entry = json.loads(lines(out)[number])
        entry["metrics"]["fct_us"] = "HERE"
        with_line(out, number, json.dumps(entry).replace('"HERE"', value))
    calls: list[tuple[int, int, int]] = []
    result = Study.load(write()).run(jobs=1, out=out, progress=lambda *at: calls.append(at))
    assert calls[0] == (12 - len(WRONG_METRICS), 0, 12)
    assert [why.split(": ")[0] for why in result.repeated] == [
        f"line {number}" for number in range(1, len(WRONG_METRICS) + 1)
    ]
    assert len(lines(out)) == 12 + len(WRONG_METRICS)
    assert contents(out) == before
    # It is told once: each run has a line that holds now.
    assert Study.load(write()).run(jobs=1, out=out).repeated == ()


# Two flows are asked for, and both are done, so that nothing is left open.
WRONG_TOGETHER: list[dict[str, float | None]] = [
    {"fct_us_done": 9.2234e18},
    {"fct_us_done": 1.5},
    {"fct_us_done": 3.0},
    {"fct_us_flows": -1.0},
    {"fct_us_flows": None},
    {"fct_us_flows": 9.2234e18},
    {"asked_in_run": 9.2234e18},
    {"fct_us_more_than": 2.0},
    {"fct_us": None, "fct_us_more_than": 2.0},
    {"fct_us": None},
    {"fct_us": -1.0},
    {"late_in_run": -1.0},
    {"late_in_run": 3.0},
    {"unfinished_in_run": 2.5},
    {"unfinished_in_run": None},
]


@pytest.mark.parametrize("chosen", [WRONG_TOGETHER[::2], WRONG_TOGETHER[1::2]])
def test_counts_and_bounds_that_cannot_be_together(
    chosen: list[dict[str, float | None]], write: Write, out: Path
) -> None:
    before = contents(out)
    for number, columns in enumerate(chosen):
        entry = json.loads(lines(out)[number])
        with_line(out, number, changed(lines(out)[number], metrics={**entry["metrics"], **columns}))
    result = Study.load(write()).run(jobs=1, out=out)
    assert len(result.repeated) == len(chosen)
    for number, why in enumerate(result.repeated, 1):
        assert re.match(rf"line {number}: (fct_us|asked_in_run|late_in_run|unfinished_in_run): ", why)
    assert contents(out) == before


WRONG_VALUES = [
    ('table = "links"\ncolumn = "drops_queue"\nstatistic = "sum"', -3.0),
    ('column = "goodput_mbps"\nstatistic = "jain"', 7.0),
    ('column = "goodput_mbps"\nstatistic = "jain"', -0.1),
    ('table = "summary"\ncolumn = "jain_index"', 1.5),
]


def test_values_that_a_metric_cannot_have(write: Write, tmp_path: Path) -> None:
    study = STUDY[: STUDY.index("[[metric]]")].replace("replications = 2\n", "")
    for number, (metric, _) in enumerate(WRONG_VALUES):
        study += f'[[metric]]\nname = "m{number}"\n{metric}\n'
    file, out = write(study), tmp_path / "made"
    Study.load(file).run(jobs=1, out=out)
    for number, (_, value) in enumerate(WRONG_VALUES):
        metrics = json.loads(lines(out)[number])["metrics"] | {f"m{number}": value}
        with_line(out, number, changed(lines(out)[number], metrics=metrics))
    repeated = Study.load(file).run(jobs=1, out=out).repeated
    assert [why.rpartition(": ")[0] for why in repeated] == [
        f"line {number + 1}: m{number}" for number in range(len(WRONG_VALUES))
    ]


CONTRADICTIONS: list[dict[str, Any]] = [
    {"status": "failed"},
    {"status": 3},
    {"reason": "it broke"},
    {"reason": 7},
    {"status": "failed", "reason": "it broke"},
    {"metrics": {}},
    {"metrics": None},
    {"metrics": []},
]


def test_lines_that_contradict_themselves_are_left_out(write: Write, out: Path, anabranch: Anabranch) -> None:
    file = write()
    before = contents(out)
    for number, values in enumerate(CONTRADICTIONS):
        with_line(out, number, changed(lines(out)[number], **values))
    again = anabranch("study", file, "--out", out, "--jobs", "1")
    assert again.returncode == 0, again.stderr
    for number in range(len(CONTRADICTIONS)):
        assert f"journal.jsonl, line {number + 1}: " in again.stderr
    assert again.stderr.count("the run was done again") == len(CONTRADICTIONS)
    assert "Traceback" not in again.stderr
    assert contents(out) == before


def test_metrics_of_another_study_are_left_out_and_a_whole_line_stays(write: Write, out: Path) -> None:
    entry = json.loads(lines(out)[0])
    with_line(out, 0, changed(lines(out)[0], metrics={**entry["metrics"], "further": 1.0}))
    with_line(out, 1, lines(out)[1] + "\n" + lines(out)[1])
    result = Study.load(write()).run(jobs=1, out=out)
    assert [why.partition(":")[0] for why in result.repeated] == ["line 1"]


@pytest.mark.parametrize("line", [DEEP, '{"run": true}', '{"run": 1.0}', '{"run": -1}'])
def test_a_line_of_no_run_is_refused(line: str, write: Write, out: Path) -> None:
    with_line(out, 2, line)
    with pytest.raises(StudyError, match="line 3: is of no run of this study"):
        Study.load(write()).run(jobs=1, out=out)


WRONG_STUDIES: dict[str, Any] = {
    "title": 3,
    "confidence": "0.95",
    "replications": True,
    "runs": -1,
    "cells": 1.5,
    "factors": [{"name": "x"}],
    "metrics": {"name": "x"},
    "live": "yes",
    "parts": [],
    "fingerprint": None,
}


@pytest.mark.parametrize("key", [*WRONG_STUDIES, "nan", "deep", "twice", "cut", "levels", "missing metric"])
def test_a_changed_study_json_is_one_message(key: str, write: Write, out: Path) -> None:
    file = out / "study.json"
    text = file.read_text()
    data = json.loads(text)
    match key:
        case "nan":
            text = text.replace(f'"confidence": {data["confidence"]}', '"confidence": NaN')
        case "deep":
            text = text.replace('"title": ', f'"deep": {DEEP}, "title": ')
        case "twice":
            text = text.replace('"title": ', '"title": "other", "title": ')
        case "cut":
            text = text[: len(text) // 2]
        case "levels":
            text = json.dumps({**data, "factors": [{**data["factors"][0], "levels": [None]}]})
        case "missing metric":
            text = json.dumps({**data, "metrics": [{"name": "absent", "label": "absent"}]})
        case _:
            text = json.dumps({**data, key: WRONG_STUDIES[key]})
    file.write_text(text)
    if key not in ("parts", "fingerprint"):
        with pytest.raises(StudyError) as caught:
            StudyResult.load(out)
        assert len(caught.value.lines()) == 1
    # Where it is unclear whose journal this is, nothing is run or written.
    if key in ("parts", "fingerprint", "nan", "deep", "twice", "cut"):
        before = contents(out)
        if key == "parts":
            file.write_text(json.dumps({**data, "fingerprint": "", "parts": []}))
            before = contents(out)
        with pytest.raises(StudyError):
            Study.load(write()).run(jobs=1, out=out)
        assert contents(out) == before


def _tables() -> dict[str, Any]:
    metric = pl.col("^.*_us$")
    return {
        "text": lambda t: t.with_columns(pl.lit("x").alias("run")),
        "infinity": lambda t: t.with_columns(pl.lit(float("inf")).alias(t.columns[-1])),
        "nan": lambda t: t.with_columns(pl.lit(float("nan")).alias(t.columns[-1])),
        "too large": lambda t: t.with_columns(pl.lit(1e308).alias(t.columns[-1])),
        "more done than there are": lambda t: t.with_columns(pl.col("fct_us_flows") - 1.0),
        "negative": lambda t: t.with_columns(-pl.col("run") - 1),
        "fewer": lambda t: t.head(3),
        "without": lambda t: t.drop(t.columns[-1]),
        "metric": lambda t: t.with_columns(metric.cast(pl.String)),
    }


@pytest.mark.parametrize("change", list(_tables()))
def test_changed_tables_of_a_study_are_one_message(change: str, out: Path) -> None:
    file = out / "runs.parquet"
    _tables()[change](pl.read_parquet(file)).write_parquet(file)
    with pytest.raises(StudyError, match=r"damaged, or was changed|in the tables"):
        StudyResult.load(out)
