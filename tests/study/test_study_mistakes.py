"""Everything that can be wrong with a study, each with its place and a remedy, before anything runs."""

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

from anabranch import Factor, Metric, Scenario, Study, StudyError
from anabranch.study.check import design
from anabranch.study.model import Output

from .conftest import SCENARIO, STUDY, Anabranch, Write

FACTOR = '[[factor]]\nfield = "network.links.queue"\nlevels = '


def messages(file: Path) -> list[str]:
    """What is said about a study file."""
    with pytest.raises(StudyError) as caught:
        design(Study.load(file))
    return caught.value.lines()


MISTAKES = {
    "no such key": (
        "replication = 2",
        'study.toml: replication: no such key; nearest: "replications"',
    ),
    "no such field": (
        FACTOR.replace("queue", "que") + '["1 packets"]',
        'factor[0].field: "network.links.que" is no field of a scenario; nearest: "network.links.queue"',
    ),
    "no such table": (
        FACTOR.replace("network", "netwrk") + '["1 packets"]',
        'factor[0].field: "netwrk.links.queue" is no field of a scenario; nearest: "network"',
    ),
    "no list": (
        FACTOR.replace("links", "links[0]") + '["1 packets"]',
        'factor[0].field: "network.links[0].queue" is no field of a scenario: network.links is no list',
    ),
    "a list": (
        '[[factor]]\nfield = "traffic.size"\nlevels = ["1 kB"]',
        '"traffic.size" is no field of a scenario; traffic is a list, so write traffic[0].size',
    ),
    "no such entry": (
        '[[factor]]\nfield = "traffic[3].size"\nlevels = ["1 kB"]',
        'factor[0].levels[0]: traffic[3].size = "1 kB": leads to no place in this scenario; ',
    ),
    "no field at all": (
        '[[factor]]\nfield = "network..queue"\nlevels = ["1 kB"]',
        'factor[0].field: "network..queue" is not a field; write one like network.links.capacity or '
        "traffic[0].flows",
    ),
    "the wrong unit": (
        FACTOR + '["5 packets", "5 km"]\nlabel = "queue"',
        'factor[0].levels[1]: queue = "5 km": network.links.queue: "5 km" has no unit of a queue\'s room; '
        'write packets ("100 packets"), a size ("64 kB"), a time at the capacity of the link ("20 ms"), '
        'bandwidth-delay products ("1 BDP") or "unlimited"',
    ),
    "an infinite number": (
        '[[factor]]\nfield = "network.links.loss"\nlevels = [0.1, inf]',
        "factor[0].levels[1]: network.links.loss = inf: inf is not a number that can be used; ",
    ),
    "a number that is not one": (
        '[[factor]]\nfield = "run.seed"\nlevels = [1, nan]',
        "factor[0].levels[1]: run.seed = nan: ",
    ),
    "a number beyond all floats": (
        f'[[factor]]\nfield = "run.seed"\nlevels = [1, 1{"0" * 400}]',
        "factor[0].levels[1]: run.seed",
    ),
    "no unit": (
        FACTOR + '["5 packets", 7]\nlabel = "queue"',
        "factor[0].levels[1]: queue = 7: network.links.queue: ",
    ),
    "a wrong first level": (
        FACTOR + '["5 km", "5 packets"]',
        'factor[0].levels[0]: network.links.queue = "5 km": "5 km" has no unit of a queue\'s room; ',
    ),
    "a level that the network does not have": (
        '[[factor]]\nfield = "network.parameters.hosts"\nlevels = [2, 1]',
        'factor[0].levels[1]: network.parameters.hosts = 1: traffic[0].from[1]: no node "left2" in dumbbell',
    ),
    "no such parameter": (
        '[[factor]]\nfield = "network.parameters.hostss"\nlevels = [2]',
        "factor[0].levels[0]: network.parameters.hostss = 2: network.parameters: dumbbell: there is no "
        'parameter "hostss"; nearest: "hosts"',
    ),
    "two factors on one field": (
        (FACTOR + '["1 packets"]\n') * 2,
        'factor[1]: "network.links.queue" is set by factor[0] as well; a field belongs to one factor',
    ),
    "a field and the table around it": (
        FACTOR + '["1 packets"]\n[[factor]]\nfield = "network.links"\nlevels = [{ queue = "2 packets" }]',
        'factor[1]: "network.links" and "network.links.queue" of factor[0] overlap: one would undo the other',
    ),
    "the same within a factor": (
        '[[factor]]\nlabel = "x"\n[[factor.level]]\nlabel = "a"\n'
        'set = { "network.links" = {}, "network.links.queue" = "1 packets" }',
        'factor[0]: "network.links.queue" and "network.links" of this factor overlap: one would undo ',
    ),
    "the replication as a factor": (
        '[[factor]]\nfield = "run.replication"\nlevels = [1, 2]',
        'factor[0]: "run.replication" is set by the study itself, from 0 up; write replications = ...',
    ),
    "no levels": (FACTOR + "[]", "factor[0].levels: is empty; a factor has at least one level"),
    "neither levels nor range": (
        FACTOR.removesuffix("levels = "),
        "factor[0].levels: give either levels or range",
    ),
    "duplicate levels": (
        '[[factor]]\nfield = "network.links.delay"\nlevels = ["1 ms", "2 ms", "1000 us"]',
        'factor[0].levels[2]: "1000 us" is the same as level 0, "1 ms"; each level stands once',
    ),
    "duplicate labels": (
        '[[factor]]\nlabel = "x"\n' + '[[factor.level]]\nlabel = "a"\nset = { "run.seed" = 1 }\n' * 2,
        'factor[0].level[1]: "a" is the same as level 0, "a"; each level stands once',
    ),
    "a range of mixed kinds": (
        '[[factor]]\nfield = "network.links.delay"\nrange = { from = "1 ms", to = "2 ms", step = 1 }',
        "factor[0].range: from, to and step must be of one kind, such as three times",
    ),
    "a step backwards": (
        '[[factor]]\nfield = "network.links.delay"\nrange = { from = "1 ms", to = "2 ms", step = "-1 ms" }',
        "factor[0].range: step must be above zero",
    ),
    "a range without end": (
        '[[factor]]\nfield = "network.links.delay"\nrange = { from = "0 ps", to = "1 s", step = "1 ps" }',
        "factor[0].range: makes 1,000,000,000,001 levels; at most 100,000 are allowed. Is the step right?",
    ),
    "a range backwards": (
        '[[factor]]\nfield = "network.links.delay"\nrange = { from = "2 ms", to = "1 ms", step = "1 us" }',
        "factor[0].range: to is below from",
    ),
    "no runs": ("replications = 0", "replications: 0 must be at least 1"),
    "too many runs": (
        "replications = 1000000\n" + FACTOR + '["1 packets", "2 packets"]',
        "study.toml: 2 levels x 1000000 replications make 2,000,000 runs; at most 1,000,000 are allowed",
    ),
    "no such table of the result": (
        '[[metric]]\nname = "x"\ntable = "flow"\ncolumn = "completion_s"',
        'metric[0].table: table "flow" is not known; nearest: "flows"; there are ',
    ),
    "no such column": (
        '[[metric]]\nname = "x"\ncolumn = "completion"',
        'metric[0].column: there is no column "completion"; nearest: "completion_s"; there are ',
    ),
    "no such key of the summary": (
        '[[metric]]\nname = "x"\ntable = "summary"\ncolumn = "jain"',
        'metric[0].column: the summary has no key "jain"; ',
    ),
    "a statistic of text": (
        '[[metric]]\nname = "x"\ncolumn = "transport"',
        'metric[0].column: "transport" holds text; of that there is only a count',
    ),
    "no such statistic": (
        '[[metric]]\nname = "x"\ncolumn = "completion_s"\nstatistic = "p0"',
        'metric[0].statistic: "p0" is not known; there are "mean", "median", ',
    ),
    "a condition of the wrong kind": (
        '[[metric]]\nname = "x"\ncolumn = "completion_s"\nwhere = { transport = 3 }',
        'metric[0].where: "transport" holds text, and 3 is none',
    ),
    "a condition on a measurement": (
        '[[metric]]\nname = "x"\ncolumn = "completion_s"\nwhere = { start_s = 3 }',
        'metric[0].where: "start_s" holds measured numbers, which are hardly ever equal',
    ),
    "a metric with the name of a column": (
        '[[metric]]\nname = "status"\ncolumn = "completion_s"',
        'metric[0].name: makes the column "status", which is a column of every study; give another',
    ),
    "two metrics of one name": (
        '[[metric]]\nname = "a_ci"\ncolumn = "completion_s"\n[[metric]]\nname = "a"\ncolumn = "start_s"',
        'metric[1].name: makes the column "a_ci", which is that of metric[0].name; give another',
    ),
}


@pytest.mark.parametrize(("text", "expected"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_has_a_place_and_a_remedy(write: Write, text: str, expected: str) -> None:
    lines = messages(write(f'scenario = "two.toml"\n{text}'))
    assert all(line.startswith("study.toml: ") for line in lines)
    assert expected in lines[0]


def test_a_level_of_the_wrong_unit_is_told_what_is_right(write: Write) -> None:
    (line,) = messages(write(f'scenario = "two.toml"\n{FACTOR}["5 packets", "5 km"]'))
    with pytest.raises(Exception, match="5 km") as caught:
        Scenario.loads(SCENARIO, {"network.links.queue": "5 km"})
    # The scenario's own words.
    place, words = str(caught.value).split(": ", 1)
    assert line == f'study.toml: factor[0].levels[1]: {place} = "5 km": {words}'


def test_every_mistake_is_told_at_once(write: Write) -> None:
    text = f'scenario = "two.toml"\n{FACTOR}["5 km", "6 km", "7 packets"]\n'
    text += '[[factor]]\nfield = "run.seed"\nlevels = [1, "two"]'
    places = [line.split(": ")[1] for line in messages(write(text))]
    assert places == ["factor[0].levels[0]", "factor[0].levels[1]", "factor[1].levels[1]"]


@pytest.mark.parametrize("run", ['"1 s"', '[{ duration = "1 s" }]', "3"])
def test_a_run_that_is_no_table_is_told(write: Write, run: str) -> None:
    before, table, _ = SCENARIO.partition("[run]")
    assert table
    lines = messages(write(scenario=f"run = {run}\n{before}"))
    assert any("run: " in line and line.endswith("is not a table") for line in lines)


def test_what_is_wrong_with_the_scenario_itself(write: Write) -> None:
    (line,) = messages(write(scenario=SCENARIO.replace('"left1"', '"lefft1"')))
    assert line.startswith('study.toml: scenario.traffic[0].from[0]: no node "lefft1" in dumbbell')
    (line,) = messages(write(scenario="[network"))
    assert line.startswith("study.toml: scenario: two.toml: line 1, column 9: not valid TOML")
    (line,) = messages(write(STUDY.replace("two.toml", "three.toml")))
    assert "three.toml: cannot be read: No such file or directory" in line
    (line,) = messages(write(scenario=SCENARIO + '[[capture]]\nfile = "x.pcapng"\nhost = "left1"\n'))
    assert line == "study.toml: scenario.capture: a study keeps no captures; leave it out"
    (line,) = messages(write(STUDY.replace('"two.toml"', "3")))
    assert line.startswith("study.toml: scenario: 3 is neither a file name")


def test_a_series_that_is_not_sampled_cannot_be_measured(write: Write) -> None:
    metric = '[[metric]]\nname = "x"\ntable = "link_series"\ncolumn = "queue_packets"\n'
    (line,) = messages(write(f'scenario = "two.toml"\n{metric}', SCENARIO + "link_series = false\n"))
    assert line.endswith("; the scenario has run.link_series = false")


def test_a_mistake_ends_with_status_2_and_nothing_written(
    anabranch: Anabranch, write: Write, tmp_path: Path
) -> None:
    done = anabranch("study", write(STUDY.replace("links.queue", "links.que")))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("study.toml:6:9: factor[0].field: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["missing.toml"], "missing.toml: cannot be read: No such file or directory\n"),
        (["study.toml", "--jobs", "2", "--dask", "tcp://x:1"], "jobs: the cluster says how many workers"),
        (["study.toml", "--jobs", "0"], "Invalid value for '--jobs'"),
        (["study.toml", "--out", "two.toml"], "two.toml: exists and is not a folder; choose another name\n"),
    ],
)
def test_mistakes_of_the_call(
    anabranch: Anabranch, write: Write, arguments: list[str], expected: str
) -> None:
    write()
    done = anabranch("study", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_the_schema_of_a_study_is_printed(anabranch: Anabranch) -> None:
    import json  # noqa: PLC0415 - here only

    import jsonschema  # noqa: PLC0415 - here only

    schema = json.loads(anabranch("schema", "--study").stdout)
    study = tomllib.loads(STUDY)
    jsonschema.validate(study, schema)
    jsonschema.validate({**study, "scenario": tomllib.loads(SCENARIO)}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**study, "scenario": {"network": 3}}, schema)


@pytest.mark.parametrize(("asked", "refused"), [(True, True), (None, False), (False, False)])
def test_a_spreadsheet_that_is_asked_for_needs_what_writes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: bool | None, refused: bool
) -> None:
    monkeypatch.setattr("anabranch.study.execute.find_spec", lambda _: None)
    study = Study(scenario=Scenario.loads(SCENARIO), output=Output(spreadsheet=asked, figures=[]))
    if refused:
        with pytest.raises(
            StudyError, match=r'output\.spreadsheet: needs XlsxWriter: pip install "xlsxwriter>='
        ):
            study.run(jobs=1, out=tmp_path / "out")
        assert not (tmp_path / "out").exists()
        return
    study.run(jobs=1, out=tmp_path / "out")
    assert (tmp_path / "out" / "report.html").is_file()
    assert not (tmp_path / "out" / "study.xlsx").exists()


def test_a_device_is_no_topology_file(write: Write) -> None:
    scenario = SCENARIO.replace('topology = "dumbbell"', 'topology = "file:/dev/zero"')
    with pytest.raises(StudyError, match='"/dev/zero" cannot be read: it is not a file'):
        Study.load(write(scenario=scenario)).run(jobs=1)


def test_a_series_of_nothing_that_is_there_cannot_be_measured(write: Write) -> None:
    metric = '[[metric]]\nname = "x"\ntable = "datagram_series"\ncolumn = "flow"\n'
    (line,) = messages(write(f'scenario = "two.toml"\n{metric}', SCENARIO))
    assert line.endswith("; the scenario has run.flow_series = false, or no ping or udp")


@pytest.mark.parametrize(
    ("table", "where", "message"),
    [
        ("flows", {"name": "web.9"}, 'no row of flows has name = "web.9"'),
        ("flows", {"name": ["web.0", "wbe.1"]}, 'no row of flows has name = "wbe.1"; nearest: "web.1"'),
        ("flows", {"flow": 7}, 'no row of flows has flow = "7"'),
        ("flows", {"from": "left1", "to": "left1"}, 'has to = "left1"'),
        ("links", {"from": "left1", "to": "right1"}, 'no row of links has from = "left1" and to = "right1"'),
        ("links", {"name": "left1->right1"}, 'no row of links has name = "left1->right1"'),
        ("flow_series", {"flow": 5}, 'no row of flow_series has flow = "5"'),
        ("link_series", {"link": 1000}, 'no row of link_series has link = "1000"'),
    ],
)
def test_a_metric_whose_rows_are_nowhere_is_refused(table: str, where: dict[str, Any], message: str) -> None:
    column = {"flows": "goodput_mbps", "links": "packets", "flow_series": "cwnd_bytes"}
    study = _of_pairs(table, column.get(table, "queue_packets"), where, "10 Mbps")
    with pytest.raises(StudyError) as caught:
        study.run(jobs=1)
    assert "metric[0].where: " in str(caught.value)
    assert message in str(caught.value)


def test_a_metric_whose_rows_are_in_another_cell_is_kept() -> None:
    """A level may bring them, and what is measured, such as a count of losses, is known only at the end."""
    study = _of_pairs("links", "packets", {"name": "left2->router-left"}, "10 Mbps")
    study = study.model_copy(update={"factors": [Factor(field="network.parameters.hosts", levels=[1, 2])]})
    values = study.run(jobs=1).cells["found"].to_list()
    assert values[0] is None
    assert values[1] is not None
    assert study.run(jobs=1).warnings == [
        '1 of 2 cells, the first where network.parameters.hosts = 1: no row is what "found" wants'
    ]


@pytest.mark.parametrize(
    ("table", "column", "where"),
    [
        ("flows", "goodput_mbps", {"retransmissions": 12345}),
        ("flows", "goodput_mbps", {"failure": "no answer came in time"}),
        ("subflows", "throughput_mbps", {"subflow": 7}),
        ("subflows", "throughput_mbps", {"state": "nonsense"}),
        ("connections", "subflows", {"subflows": 7}),
    ],
)
def test_a_metric_of_whose_rows_a_run_has_none_is_refused_when_it_is_known(
    table: str, column: str, where: dict[str, Any], tmp_path: Path
) -> None:
    study = _of_pairs(table, column, where, "10 Mbps", transport="linux-mptcp")
    with pytest.raises(StudyError, match=f"no row of {table} has .* in any run") as caught:
        study.run(jobs=1, out=tmp_path / "out")
    assert "metric[0].where: " in str(caught.value)
    assert (tmp_path / "out" / "journal.jsonl").read_text().count('"status": "ok"') == 1


@pytest.mark.parametrize(
    ("table", "where"),
    [
        ("flows", {"retransmissions": 12345}),
        ("flows", {"failure": "no answer"}),
        ("subflows", {"subflow": 7}),
    ],
)
def test_a_count_of_nothing_is_0_and_told(table: str, where: dict[str, Any]) -> None:
    result = _of_pairs(table, "flow", where, "10 Mbps", statistic="count", transport="linux-mptcp").run(
        jobs=1
    )
    assert result.cells["found"].to_list() == [0]
    assert [warning.partition(": ")[2] for warning in result.warnings] == ['no row is what "found" wants']
    with pytest.raises(StudyError, match="no row of subflows has state"):
        _of_pairs("subflows", "flow", {"state": "nonsense"}, "10 Mbps", statistic="count",
                  transport="linux-mptcp").run(jobs=1)  # fmt: skip


@pytest.mark.parametrize("column", ["completion_s", "fin_s", "handshake_s", "setup_s"])
@pytest.mark.parametrize("scale", [-1.0, 0.0, math.inf, math.nan])
def test_a_scale_that_turns_bounds_round_is_refused(column: str, scale: float) -> None:
    with pytest.raises((StudyError, ValueError), match="scale"):
        Metric(name="m", column=column, scale=scale)
    assert Metric(name="m", column=column, scale=-1.0, statistic="count").scale == -1
    assert Metric(name="m", column="goodput_mbps", scale=-1.0).scale == -1


def _of_pairs(
    table: str,
    column: str,
    where: dict[str, Any],
    capacity: str,
    statistic: str = "mean",
    transport: str = "cubic",
) -> Study:
    scenario = Scenario.loads(
        '[network]\ntopology = "dumbbell"\n[network.links]\ncapacity = "10 Mbps"\ndelay = "1 ms"\n'
        '[[traffic]]\nname = "web"\nfrom = "left1"\nto = "right1"\nsize = "10 kB"\nflows = 2\n'
        f'transport = "{transport}"\n'
        '[run]\nduration = "100 ms"\nflow_series = true\nlink_series = true\n'
    )
    metric = Metric(name="found", table=table, column=column, where=where, statistic=statistic)
    factor = Factor(field="network.links.capacity", levels=[capacity])
    return Study(scenario=scenario, factors=[factor], metrics=[metric], replications=1)
