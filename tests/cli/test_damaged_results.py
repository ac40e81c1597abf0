"""A result folder with a damaged file is told in one message, whatever the damage."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from anabranch import Result, Scenario, Study
from anabranch.errors import ResultError
from anabranch.report.plots.plot import fitted
from anabranch.terminal.cli import app

from .conftest import SMALL

RUN = SMALL.replace("[[traffic]]", '[[traffic]]\nsize = "30 kB"\ntransport = "mptcp"').replace(
    "2 s", "200 ms"
)


FILES = {
    "run": ("connections.parquet", "flows.parquet", "summary.json", "scenario.toml"),
    "study": ("cells.parquet", "study.json"),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    scenario = Scenario.loads(RUN)
    scenario.run(out=folder / "run", page=False)
    Study(scenario=scenario, replications=1).run(jobs=1, out=folder / "study")
    return folder


def damaged(file: Path) -> Iterator[bytes]:
    """The contents of a file, cut, overwritten, and with a table that does not belong to the others."""
    content = file.read_bytes()
    yield content[: len(content) // 2]
    yield content[:4] + b"\x9a" * 24 + content[28:]
    if file.suffix == ".parquet":
        table = pl.read_parquet(file)
        for other in (table.clear(), table.select(table.columns[:1]), table.with_columns(pl.all().shift(-1))):
            other.write_parquet(file)
            yield file.read_bytes()
    else:
        yield content.replace(b"1", b"[]")
        yield content.replace(b'"', b"\x00")


@pytest.mark.parametrize("kind", ["run", "study"])
def test_a_damaged_folder_is_one_message(results: Path, tmp_path: Path, kind: str) -> None:
    copy = tmp_path / kind
    telling = 0
    for name in FILES[kind]:
        original = results / kind / name
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(results / kind, copy)
        for content in list(damaged(copy / original.name)):
            (copy / original.name).write_bytes(content)
            done = CliRunner().invoke(app, ["report", str(copy)])
            assert done.exit_code in (0, 2), (original.name, done.exception)
            if done.exit_code == 2:
                telling += 1
                assert done.output.startswith(str(copy)), done.output
                assert done.output.count("\n") == 1
    assert telling >= 5


def test_what_cannot_belong_together_is_told_with_the_reason(results: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(results / "run", tmp_path / "run")
    file = copy / "connections.parquet"
    pl.read_parquet(file).with_columns(pl.col("flow") + 7).write_parquet(file)
    done = CliRunner().invoke(app, ["report", str(copy)])
    assert done.exit_code == 2
    assert "cannot be shown (" in done.output
    assert "damaged, or was changed; run it again" in done.output


def test_a_long_title_is_cut_in_a_moment() -> None:
    """Its widths were looked up letter by letter: 10,000 letters took minutes."""
    assert fitted("short", 100.0, 8.0) == "short"
    cut = fitted("(" * 1_000_000, 200.0, 8.0)
    assert "..." in cut
    assert 20 < len(cut) < 100
    assert sys.getsizeof(fitted("wide" * 100, 1.0, 8.0)) < 100


WRONG_VALUES = {
    "seed": (True, -1, 1.5, "1", 2**70, None),
    "ended_s": ("1", -1, None, [1], True),
    "jain_index": ("high", 2, -0.1, False),
    "delivered_mbps": ("fast", -3, [], {}),
    "warnings": ("one", [1], {"a": 1}, None),
    "network": ([None], 3),
    "packet_hops": (-5, 0.5, "many"),
    "interrupted": (1, "no"),
    "version": (3, None),
    "format_version": ("1", -1, True),
}


@pytest.mark.parametrize("key", list(WRONG_VALUES))
def test_a_value_of_a_summary_that_cannot_be_is_told(key: str, results: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(results / "run", tmp_path / "run")
    summary = json.loads((copy / "summary.json").read_text())
    assert Result.load(copy).flows.height > 0
    for value in WRONG_VALUES[key]:
        (copy / "summary.json").write_text(json.dumps({**summary, key: value}))
        with pytest.raises(ResultError, match=rf"summary\.json: {key}.*damaged, or was changed"):
            Result.load(copy)


@pytest.mark.parametrize(
    "text",
    [
        '"jain_index": NaN',
        '"jain_index": Infinity',
        '"jain_index": 1e999',
        f'"x": {"[" * 100_000}',
        '"x": 1,"x": 2',
    ],
)
def test_what_is_no_json_in_a_summary_is_told(text: str, results: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(results / "run", tmp_path / "run")
    summary = json.loads((copy / "summary.json").read_text())
    del summary["jain_index"]
    (copy / "summary.json").write_text("{" + text + "," + json.dumps(summary)[1:])
    done = CliRunner().invoke(app, ["report", str(copy)])
    assert done.exit_code == 2
    assert done.output.startswith(f"{copy}/summary.json: ")
    assert done.output.count("\n") == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_in_a_table_that_is_none_is_told(value: float, results: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(results / "run", tmp_path / "run")
    file = copy / "flows.parquet"
    pl.read_parquet(file).with_columns(pl.lit(value).alias("goodput_mbps")).write_parquet(file)
    with pytest.raises(ResultError, match=r"flows\.parquet: column goodput_mbps"):
        Result.load(copy)
    counts = pl.read_parquet(results / "run" / "flows.parquet")
    counts.with_columns((-pl.lit(3)).cast(pl.Int64).alias("retransmissions")).write_parquet(file)
    with pytest.raises(ResultError, match=r"flows\.parquet: column retransmissions"):
        Result.load(copy)
