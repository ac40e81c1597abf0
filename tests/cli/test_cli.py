"""The command line: what it prints, where it writes, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from anabranch import Result, Scenario, __version__, run

from .conftest import EXAMPLES, SMALL, Anabranch


def test_the_version_is_that_of_the_core(anabranch: Anabranch) -> None:
    done = anabranch("--version")
    assert (done.returncode, done.stdout) == (0, f"anabranch {__version__}\n")


def test_a_run_leaves_a_result_folder(anabranch: Anabranch, small: Path, tmp_path: Path) -> None:
    done = anabranch("run", small)
    assert done.returncode == 0, done.stderr
    # A pipe gets no progress.
    assert done.stderr == ""
    assert "left1" in done.stdout
    result = Result.load(tmp_path / "results" / "small")
    assert result.summary["seed"] == 1
    assert result.flows["name"].to_list() == ["traffic[0].0"]
    # 1448 of 1500 bytes are payload, 9.65 Mbps; slow start takes its part of two seconds.
    assert result.flows["goodput_mbps"].item() == pytest.approx(9.4, abs=0.3)
    assert not (tmp_path / "results" / "small" / "figures").exists()


def test_figures_of_a_run_are_drawn_when_asked_for(anabranch: Anabranch, small: Path, tmp_path: Path) -> None:
    done = anabranch("run", small, "--figures", "png", "--no-page")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results" / "small"
    assert (folder / "figures" / "goodput.png").read_bytes().startswith(b"\x89PNG")
    assert not (folder / "report.html").exists()
    assert "figures/goodput.png" in json.loads((folder / "manifest.json").read_text())["files"]


def test_a_form_that_no_figure_has_is_refused_before_the_run(
    anabranch: Anabranch, small: Path, tmp_path: Path
) -> None:
    done = anabranch("run", small, "--figures", "gif")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "figures: no form 'gif'; choose from png, pdf, svg\n"
    assert not (tmp_path / "results").exists()


def test_the_page_of_a_result_is_written_anew(anabranch: Anabranch, small: Path, tmp_path: Path) -> None:
    assert anabranch("run", small).returncode == 0
    page = tmp_path / "results" / "small" / "report.html"
    before = page.read_bytes()
    assert b"two hosts" in before
    page.unlink()
    done = anabranch("report", "results/small")
    assert (done.returncode, done.stdout) == (0, "results/small/report.html\n")
    assert page.read_bytes() == before
    wrong = anabranch("report", "results")
    assert wrong.returncode == 2
    assert wrong.stderr == "results: is a folder of results; give one of them: results/small\n"


def test_a_run_can_be_read_by_programs(anabranch: Anabranch, small: Path, tmp_path: Path) -> None:
    done = anabranch("run", small, "--json", "--out", tmp_path / "out", "--seed", "7")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["summary"]["seed"] == 7
    assert document["flows"][0]["completion_s"] is None
    assert document["folder"] == str(tmp_path / "out")


def test_fields_can_be_set(anabranch: Anabranch, small: Path, tmp_path: Path) -> None:
    arguments = ("--set", "traffic[0].size=10 kB", "--set", "traffic[0].transport=newreno", "--out", "out")
    done = anabranch("run", small, *arguments)
    assert done.returncode == 0, done.stderr
    flows = Result.load(tmp_path / "out").flows
    assert flows["delivered_bytes"].item() == 10_000
    assert flows["transport"].item() == "newreno"
    kept = Scenario.load(tmp_path / "out" / "scenario.toml")
    assert kept.traffic[0].transport == "newreno"


def test_the_command_line_and_python_measure_the_same_bytes(
    anabranch: Anabranch, small: Path, tmp_path: Path
) -> None:
    assert anabranch("run", small, "--out", tmp_path / "a").returncode == 0
    run(Scenario.load(small), out=tmp_path / "b")
    tables = sorted(file.name for file in (tmp_path / "a").glob("*.parquet"))
    assert len(tables) >= 5
    for name in [*tables, "scenario.toml"]:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_a_mistake_ends_with_status_2_and_no_traceback(
    anabranch: Anabranch, small: Path, tmp_path: Path
) -> None:
    small.write_text(SMALL.replace('"left1"', '"lefft1"'))
    done = anabranch("run", small)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith('small.toml:11:8: traffic[0].from: no node "lefft1" in dumbbell')
    assert done.stderr.endswith('nearest: "left1"\n')
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "missing.toml"], "missing.toml: cannot be read: No such file or directory\n"),
        (["run", "small.toml", "--set", "x"], "--set: 'x' is not FIELD=VALUE, such as run.seed=2\n"),
        (["run", "small.toml", "--seed", "-1"], "small.toml: run.seed: -1 must be at least 0\n"),
        (["topology", "show", "zoo/Abilen"], 'no graph "Abilen" in the Topology Zoo; nearest: "Abilene"\n'),
    ],
)
def test_mistakes_of_the_call_end_with_status_2(
    anabranch: Anabranch, small: Path, arguments: list[str], message: str
) -> None:
    assert small.name == "small.toml"
    done = anabranch(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


@pytest.mark.parametrize("arguments", [["fly"], ["run"], ["run", "a", "b"], ["routes", "--fast"]])
def test_unknown_commands_and_options_end_with_status_2(anabranch: Anabranch, arguments: list[str]) -> None:
    done = anabranch(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr


def test_what_is_no_result_is_not_overwritten(anabranch: Anabranch, small: Path, tmp_path: Path) -> None:
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "chapter1.tex").write_text("years of work")
    done = anabranch("run", small, "--out", precious)
    assert done.returncode == 2
    assert done.stderr == (
        f"{precious}: has what Anabranch did not write there: chapter1.tex; choose another name, or give "
        "--replace (replace=True), which replaces an earlier result and leaves all else where it is\n"
    )
    assert (precious / "chapter1.tex").read_text() == "years of work"


def test_an_earlier_result_is_replaced(anabranch: Anabranch, small: Path, tmp_path: Path) -> None:
    for seed in ("1", "2"):
        assert anabranch("run", small, "--out", "out", "--seed", seed).returncode == 0
    assert Result.load(tmp_path / "out").summary["seed"] == 2
    # Nothing half-made is left beside it.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "small.toml"]


def test_routes_are_shown_with_their_numbers(anabranch: Anabranch) -> None:
    done = anabranch("routes", EXAMPLES / "abilene.toml", "--set", "routing.scheme=disjoint")
    assert done.returncode == 0, done.stderr
    # Delays from Chang 2024: 23.76 and 28.88 ms.
    assert "Seattle > Denver > Kansas City > Indianapolis > Atlanta" in done.stdout
    assert "23.76" in done.stdout
    assert "Seattle > Sunnyvale > Los Angeles > Houston > Atlanta" in done.stdout
    assert "28.88" in done.stdout
    assert done.stdout.count("0.5000") == 2


def test_forwarding_is_checked_on_demand(anabranch: Anabranch) -> None:
    # Hops are a sum, with which every node agrees.
    done = anabranch("routes", EXAMPLES / "abilene.toml", "--check-forwarding")
    assert (done.returncode, done.stderr) == (0, "")
    assert "hop by hop by hops: every packet takes the path that its source wants" in done.stdout
    done = anabranch("routes", EXAMPLES / "abilene.toml", "--check-forwarding", "--json")
    forwarding = json.loads(done.stdout)["forwarding"]
    assert forwarding == {"agrees": True, "loops": 0, "metric": "hops", "search": "exact", "astray": []}


def test_equal_cost_routes_are_shown_hop_by_hop(anabranch: Anabranch) -> None:
    done = anabranch("routes", EXAMPLES / "abilene.toml", "--set", "routing.scheme=ecmp", "--json")
    assert done.returncode == 0, done.stderr
    pair = json.loads(done.stdout)["pairs"][0]
    assert (pair["source"], pair["destination"], pair["paths"]) == ("Seattle", "Atlanta", [])
    share = {hop["node"]: hop["share"] for hop in pair["hop_by_hop"]}
    # Splitting equally at each hop puts 3/4 of it on Houston - Atlanta (spec 5, checked facts).
    assert share == {
        "Seattle": 1.0,
        "Denver": 0.5,
        "Sunnyvale": 0.5,
        "Kansas City": 0.5,
        "Los Angeles": 0.5,
        "Houston": 0.75,
        "Indianapolis": 0.25,
    }


@pytest.mark.parametrize(
    ("arguments", "name", "folder", "fewest", "wrong"),
    [
        (
            ["schema"],
            "scenario",
            EXAMPLES,
            12,
            {"network": {}, "traffic": [{"flows": 0}], "run": {"duration": "1 s"}},
        ),
        (["schema", "--study"], "study", EXAMPLES / "studies", 4, {"title": "without a scenario"}),
    ],
)
def test_a_schema_says_what_it_is_and_the_examples_meet_it_as_they_are_written(
    anabranch: Anabranch, arguments: list[str], name: str, folder: Path, fewest: int, wrong: object
) -> None:
    done = anabranch(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    schema = json.loads(done.stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"].endswith(f"/{__version__}/{name}.json")
    assert schema["title"].lower() == name
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    files = sorted(folder.glob("*.toml"))
    assert len(files) >= fewest
    for file in files:
        validator.validate(tomllib.loads(file.read_text(encoding="utf-8")))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(wrong)


def test_topologies_are_listed_and_shown(anabranch: Anabranch) -> None:
    listed = json.loads(anabranch("topology", "list", "--json").stdout)
    # The Zoo whole; 203 of its graphs, simplified, and 26 of SNDlib come with topohub.
    of = Counter(entry["name"].partition("/")[0] for entry in listed)
    assert (of["zoo"], of["topohub"], of["sndlib"]) == (276, 203, 26)
    shown = json.loads(anabranch("topology", "show", "zoo/Abilene", "--json").stdout)
    assert (len(shown["nodes"]), len(shown["links"])) == (11, 14)
    assert "Kansas City" in anabranch("topology", "show", "zoo/Abilene").stdout


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m anabranch topology list | head -n 1"
    done = subprocess.run(  # noqa: S602 - our own program, in a pipe
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""


def test_ctrl_c_stops_at_once_and_keeps_what_was_measured(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    # A simulated day, so that it cannot end by itself before it is stopped.
    small.write_text(SMALL.replace('"2 s"', '"24 h"\nsample_interval = "10 s"'))
    command = [sys.executable, "-m", "anabranch", "run", str(small), "--out", str(out), "--json"]
    process = subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    time.sleep(6)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    stdout, stderr = process.communicate(timeout=60)
    # "At once" leaves room for writing the folder on a busy machine.
    assert time.monotonic() - begin < 20
    assert process.returncode == 130
    assert stderr == f"interrupted; what was measured until then is in {out}\n"
    assert json.loads(stdout)["summary"]["interrupted"] is True
    result = Result.load(out)
    assert result.interrupted
    assert result.flows["delivered_bytes"].item() > 0
    assert 0 < result.flow_series["time_s"].max() < 86_400  # type: ignore[operator]
