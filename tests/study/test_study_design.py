"""From a study to its cells: order, levels as numbers or names, columns, and the study read back."""

import tempfile
import tomllib
from pathlib import Path

import pytest

from anabranch import Factor, Level, Metric, Range, Scenario, Study
from anabranch.scenario import Rate
from anabranch.study.check import design
from anabranch.study.levels import as_text, column_name, measure, numbers, spread

from .conftest import SCENARIO, STUDY, Write

EXAMPLES = Path(__file__).parents[2] / "examples"


def _study(*factors: Factor, replications: int = 1) -> Study:
    scenario = Scenario.loads(SCENARIO)
    return Study(scenario=scenario, factors=list(factors), replications=replications)


def test_the_first_factor_is_the_slowest(write: Write) -> None:
    built = design(Study.load(write()))
    assert (built.cells, built.runs) == (6, 12)
    assert [built.levels(cell) for cell in range(6)] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    scenario = built.scenario(built.levels(5), None)
    assert str(scenario.network.links.queue) == "50 packets"
    assert scenario.traffic[0].transport == "bbr"
    # What no factor sets stays.
    assert str(scenario.network.links.capacity) == "100 Mbps"
    assert built.data["network"]["links"] == {"capacity": "100 Mbps", "delay": "1 ms"}


def test_factors_know_what_they_are(write: Write) -> None:
    queue, transport = design(Study.load(write())).factor_infos
    assert (queue.name, queue.label, queue.kind, queue.unit) == (
        "queue_packets",
        "queue",
        "continuous",
        "packets",
    )
    assert queue.levels == (5.0, 50.0)
    assert (transport.name, transport.label) == ("transport", "traffic[0].transport")
    assert (transport.kind, transport.unit) == ("categorical", None)
    assert transport.levels == ("newreno", "cubic", "bbr")


def test_levels_of_one_dimension_are_numbers_in_the_unit_of_the_first() -> None:
    factors = [
        Factor(field="network.links.delay", levels=["500 us", "1 ms", "0.002 s"]),
        Factor(field="run.seed", label="seed", range=Range(first=1, last=4, step=1)),
        Factor(field="network.links.queue", levels=["10 packets", "20 kB"]),
        Factor(field="network.links.capacity", levels=[Rate("100 Mbps"), "1 Gbps"]),
    ]
    delay, seed, queue, capacity = design(_study(*factors)).factor_infos
    assert (delay.name, delay.unit, delay.levels) == ("delay_us", "us", (500.0, 1000.0, 2000.0))
    assert (seed.name, seed.unit, seed.levels) == ("seed", None, (1.0, 2.0, 3.0, 4.0))
    # Packets and bytes cannot stand on one axis.
    assert (queue.name, queue.kind, queue.levels) == ("queue", "categorical", ("10 packets", "20 kB"))
    assert (capacity.name, capacity.levels) == ("capacity_mbps", (100.0, 1000.0))


def test_ranges_are_exact_and_hold_both_ends() -> None:
    assert spread("0 us", "2000 us", "500 us") == ["0 us", "500 us", "1000 us", "1500 us", "2000 us"]
    assert spread(1, 7, 3) == [1, 4, 7]
    # In doubles, three times 0.1 is more than 0.3.
    assert spread(0.1, 0.3, 0.1) == [0.1, 0.2, 0.3]
    assert spread("1 ms", "2 ms", "0.5 ms") == ["1 ms", "1.5 ms", "2 ms"]
    assert spread("1 s", "2 s", "600 ms") == ["1 s", "1.6 s"]


def test_texts_and_names() -> None:
    assert (
        as_text({"distribution": "exponential", "mean": "1 s"})
        == '{ distribution = "exponential", mean = "1 s" }'
    )
    assert (as_text(True), as_text(0.1), as_text("unlimited")) == ("true", "0.1", "unlimited")
    assert column_name("traffic[0].inter_arrival", "us") == "traffic_0_inter_arrival_us"
    assert column_name("delay ms", "ms") == "delay_ms"
    assert column_name("speed", "km/ms") == "speed_km_per_ms"
    assert numbers([measure("5 ms"), measure("5 packets")]) is None


def test_a_factor_may_set_several_fields_together() -> None:
    text = (
        STUDY.replace('scenario = "two.toml"', "")
        + """
    [[factor]]
    label = "network"
    [[factor.level]]
    label = "slow"
    set = { "network.links.capacity" = "20 Mbps", "traffic[0].size" = "10 kB" }
    [[factor.level]]
    label = "far"
    set = { "network.links.delay" = "9 ms" }
    """
    )
    built = design(Study.from_data({**tomllib.loads(text), "scenario": tomllib.loads(SCENARIO)}))
    info = built.factor_infos[2]
    assert (info.name, info.kind, info.levels) == ("network", "categorical", ("slow", "far"))
    slow, far = (built.scenario((0, 0, level), None) for level in (0, 1))
    assert (str(slow.network.links.capacity), str(slow.network.links.delay)) == ("20 Mbps", "1 ms")
    assert (str(far.network.links.capacity), str(far.network.links.delay)) == ("100 Mbps", "9 ms")


def test_names_that_are_numbers_make_a_continuous_factor() -> None:
    levels = [
        Level(label=label, settings={"traffic[0].size": label, "run.seed": seed})
        for seed, label in enumerate(("1 kB", "2.5 kB", "10 kB"))
    ]
    built = design(_study(Factor(label="size", level=levels)))
    (factor,) = built.factor_infos
    assert (factor.name, factor.kind, factor.unit) == ("size_kb", "continuous", "kB")
    assert factor.levels == (1.0, 2.5, 10.0)
    assert [level["label"] for level in built.dimensions[0].data()["level"]] == ["1 kB", "2.5 kB", "10 kB"]


def test_without_factors_there_are_replications() -> None:
    built = design(_study(replications=3))
    assert (built.cells, built.runs, built.levels(0)) == (1, 3, ())


def test_the_base_may_lack_what_a_factor_gives() -> None:
    data = tomllib.loads(SCENARIO)
    del data["run"]["duration"]
    study = Study(scenario=data, factors=[Factor(field="run.duration", levels=["1 s", "2 s"])])
    assert design(study).cells == 2


def test_columns_of_the_same_name_get_their_whole_field() -> None:
    scenario = SCENARIO + '\n[[traffic]]\nfrom = "left1"\nto = "right2"\n'
    factors = [Factor(field=f"traffic[{n}].transport", levels=["cubic", "bbr"]) for n in (0, 1)]
    built = design(Study(scenario=Scenario.loads(scenario), factors=factors))
    assert [info.name for info in built.factor_infos] == ["transport", "traffic_1_transport"]


def test_the_resolved_study_reads_back_to_the_same(write: Write, tmp_path: Path) -> None:
    text = STUDY + '[metric.where]\nname = ["pair.0"]\n'
    text += '[[factor]]\nlabel = "both"\n[[factor.level]]\nlabel = "x"\nset = { "traffic[0].flows" = 1 }\n'
    study = Study.load(write(text))
    study.run(jobs=1, out=tmp_path / "out")
    again = Study.load(tmp_path / "out" / "study.toml")
    assert design(again).fingerprint() == design(study).fingerprint()


def test_a_topology_file_comes_along(write: Write, tmp_path: Path) -> None:
    ring = (EXAMPLES / "ring.graphml").read_bytes()
    (tmp_path / "ring.graphml").write_bytes(ring)
    example = (EXAMPLES / "ring.toml").read_text()
    file = write('scenario = "two.toml"\n[[factor]]\nfield = "run.seed"\nlevels = [1, 2]', example)
    before = design(Study.load(file)).fingerprint()
    result = Study.load(file).run(jobs=1, out=tmp_path / "out")
    assert result.runs["status"].to_list() == ["ok", "ok"]
    assert (tmp_path / "out" / "topologies" / "ring.graphml").read_bytes() == ring
    assert design(Study.load(tmp_path / "out" / "study.toml")).fingerprint() == before
    (tmp_path / "ring.graphml").write_bytes(ring.replace(b"</graphml>", b"\n</graphml>"))
    assert design(Study.load(file)).fingerprint() != before


def test_workers_leave_no_files_behind(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ring.graphml").write_bytes((EXAMPLES / "ring.graphml").read_bytes())
    file = write(
        'scenario = "two.toml"\n[[factor]]\nfield = "run.seed"\nlevels = [1, 2]',
        (EXAMPLES / "ring.toml").read_text(),
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for jobs in (1, 2):
        result = Study.load(file).run(jobs=jobs)
        assert result.runs["status"].to_list() == ["ok", "ok"]
        assert not list(temporary.iterdir())


def test_everything_that_moves_results_is_in_the_fingerprint() -> None:
    study = _study(Factor(field="run.seed", levels=[1, 2]))
    changes = [
        {"replications": 2},
        {"keep": "tables"},
        {"factors": [Factor(field="run.seed", levels=[1, 3])]},
        {"metrics": [Metric(name="n", column="completion_s", statistic="count")]},
        {"scenario": Scenario.loads(SCENARIO, {"run.seed": "9", "network.links.delay": "2 ms"})},
    ]
    prints = {design(study.model_copy(update=change)).fingerprint() for change in ({}, *changes)}
    assert len(prints) == 1 + len(changes)
    # These only change how the same runs are told of.
    renamed = study.model_copy(update={"title": "x", "confidence": 0.5})
    assert design(renamed).fingerprint() == design(study).fingerprint()


@pytest.mark.parametrize("kind", ["path", "data", "object"])
def test_a_scenario_comes_as_a_file_a_table_or_an_object(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO)
    given = {"path": file, "data": tomllib.loads(SCENARIO), "object": Scenario.load(file)}[kind]
    study = Study(scenario=given, metrics=[Metric(name="n", column="completion_s", statistic="count")])
    assert study.run(jobs=1).runs["n"].to_list() == [2.0]
