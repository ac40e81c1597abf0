"""Traffic of other programs' files in a scenario: units, nodes, flows, sizes, series, one matrix alone."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from anabranch import Scenario, ScenarioError
from anabranch.report.views.loads import load_document
from anabranch.setup import Needed, Setup, resolve

S = 10**12
"""Picoseconds."""
DATA = Path(__file__).parents[1] / "topology" / "traffic_data"
NETWORK = """
[network]
node = [{ name = "a" }, { name = "b" }, { name = "c" }]
link = [
  { between = ["a", "b"], new = true, capacity = "10 Mbps", delay = "1 ms" },
  { between = ["b", "c"], new = true, capacity = "10 Mbps", delay = "1 ms" },
]
[routing]
scheme = "shortest"
"""
RUN = '[run]\nduration = "10 s"\n'
UDP = 'application = { kind = "udp", packet = "1 kB" }\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    return tmp_path


def resolved(folder: Path, text: str, needed: Needed = Needed.NOTHING) -> Setup:
    return resolve(Scenario.loads(text, origin="x.toml", base=folder), needed)


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        resolved(folder, text)
    return [str(problem) for problem in caught.value.problems]


def demand(matrix: str) -> str:
    return f"{NETWORK}[routing.demand]\nmatrix = {{ {matrix} }}\n"


def traffic(entry: str) -> str:
    return f'{NETWORK}{RUN}[[traffic]]\nname = "m"\n{entry}\n'


def rates(setup: Setup) -> dict[str, float]:
    """Rates of datagrams by pair, in bits per second."""
    return {
        setup.nodes[flow.origin].name + setup.nodes[flow.to].name: flow.source.core()["rate"]
        for flow in setup.datagrams
    }


@pytest.mark.parametrize(
    "name", ["triangle.xml", "triangle.native", "triangle.n2p", "triangle.totem.xml", "triangle.demands"]
)
def test_a_matrix_needs_no_unit_where_its_file_has_one(name: str, folder: Path) -> None:
    setup = resolved(folder, traffic(f'matrix = {{ from = "file:{name}" }}\n{UDP}'))
    assert rates(setup) == {"ab": 1.5e6, "ca": 0.25e6}
    assert any(name in note for note in setup.provenance)


def test_a_unit_that_contradicts_the_file_is_refused_with_both(folder: Path) -> None:
    text = traffic(f'matrix = {{ from = "file:triangle.xml", unit = "1 Gbps" }}\n{UDP}')
    assert problems(folder, text) == [
        'traffic[0].matrix.unit: is "1 Gbps", but the unit of "triangle.xml" (SNDlib XML) is "MBITPERSEC", '
        "1 Mbps; leave unit out"
    ]
    same = traffic(f'matrix = {{ from = "file:triangle.xml", unit = "1000 kbps" }}\n{UDP}')
    assert rates(resolved(folder, same)) == {"ab": 1.5e6, "ca": 0.25e6}


def test_a_unit_is_missing_only_where_nobody_says_it(folder: Path) -> None:
    text = traffic(f'matrix = {{ from = "file:triangle-1.n2p" }}\n{UDP}')
    assert problems(folder, text) == [
        'traffic[0].matrix.unit: is missing; "triangle-1.n2p" (Net2Plan) does not say what 1 means: '
        'for example unit = "1 Mbps"'
    ]
    scaled = text.replace("1.n2p", '1.n2p", unit = "2 Mbps').replace('2 Mbps" }', '2 Mbps" }')
    assert rates(resolved(folder, scaled)) == {"ab": 3e6, "ca": 0.5e6}
    # With a total numbers need no unit.
    total = traffic(f'matrix = {{ from = "file:triangle-1.n2p", total = "7 Mbps" }}\n{UDP}')
    assert rates(resolved(folder, total)) == {"ab": 6e6, "ca": 1e6}


def test_the_unit_of_a_topology_counts_too(folder: Path) -> None:
    text = (folder / "triangle.xml").read_text(encoding="utf-8")
    link = '<link id="ab"><source>{}</source><target>{}</target></link>'
    links = "<links>" + link.format("a", "b") + link.format("b", "c") + "</links>"
    (folder / "net.xml").write_text(text.replace("<links></links>", links), encoding="utf-8")
    network = '[network]\ntopology = "file:net.xml"\n[network.links]\ncapacity = "10 Mbps"\n'
    scenario = f'{network}{RUN}[[traffic]]\nmatrix = {{ from = "topology"UNIT }}\n{UDP}'
    assert rates(resolved(folder, scenario.replace("UNIT", ""))) == {"ab": 1.5e6, "ca": 0.25e6}
    wrong = problems(folder, scenario.replace("UNIT", ', unit = "1 kbps"'))
    assert wrong == [
        'traffic[0].matrix.unit: is "1 kbps", but the unit of file:net.xml is "MBITPERSEC", 1 Mbps; '
        "leave unit out"
    ]


def test_a_matrix_for_other_nodes_names_the_nearest(folder: Path) -> None:
    text = traffic(f'matrix = {{ from = "file:triangle.xml" }}\n{UDP}').replace('"a"', '"aa"')
    assert problems(folder, text) == ['triangle.xml: no node "a" in this scenario; nearest: "aa"']
    wide = (folder / "abilene.X").name
    messages = problems(folder, traffic(f'matrix = {{ from = "file:{wide}", number = 1 }}\n{UDP}'))
    assert len(messages) == 6
    assert messages[0].startswith('abilene.X: no node "ATLAM5" in this scenario')
    assert messages[5] == 'abilene.X: and so for 7 other nodes of "abilene.X"'


def test_numbers_are_places_only_where_the_format_says_so(folder: Path) -> None:
    """The same numbers in a CSV are names, which are not there."""
    (folder / "n.csv").write_text("from,to,rate_mbps\n0,1,1.5\n", encoding="utf-8")
    messages = problems(folder, traffic(f'matrix = {{ from = "file:n.csv" }}\n{UDP}'))
    there = 'in this scenario; nodes: "a", "b", "c"'
    assert messages == [f'n.csv, line 2: no node "{node}" {there}' for node in (0, 1)]
    (folder / "far.demands").write_text("DEMANDS 1\nd 0 7 5\n", encoding="utf-8")
    messages = problems(folder, traffic(f'matrix = {{ from = "file:far.demands" }}\n{UDP}'))
    assert messages == ['far.demands: "7" is a number among the nodes of this scenario, from 0 to 2']


def test_a_rate_beyond_every_link_is_a_mistake(folder: Path) -> None:
    (folder / "h.demands").write_text("DEMANDS 1\nd 0 1 1e14\n", encoding="utf-8")
    messages = problems(folder, demand('from = "file:h.demands"'))
    assert messages[0] == 'h.demands: "a" to "b" is 100000 Tbps, more than 1 Pbps; look at unit and scale'


@pytest.mark.parametrize(("rate", "words"), [("1e308", "no finite rate"), ("1e12", "2000000 Tbps")])
def test_a_rate_of_the_network_itself_is_bounded_too(folder: Path, rate: str, words: str) -> None:
    """A number and its unit may have no finite product, or one beyond what the core counts with.

    Two demands of a pair add up.
    """
    sndlib = (DATA.parent / "data" / "triangle.xml").read_text(encoding="utf-8")
    made = re.sub("<demandValue>.*?</demandValue>", f"<demandValue>{rate}</demandValue>", sndlib)
    (folder / "h.xml").write_text(made, encoding="utf-8")
    links = 'links = { capacity = "1 Gbps", delay = "1 ms" }'
    matrix = f'matrix = {{ from = "topology", unit = "1 Mbps" }}\n{UDP}'
    text = f'{RUN}[network]\ntopology = "file:h.xml"\n{links}\n[[traffic]]\n{matrix}'
    messages = problems(folder, text)
    assert f"is {words}, more than 1 Pbps; look at unit and scale" in messages[0]


@pytest.mark.parametrize("name", ["flows.csv", "flows.hpcc", "flows.cm"])
def test_flows_one_by_one(name: str, folder: Path) -> None:
    setup = resolved(folder, traffic(f'flow_list = "file:{name}"\ntransport = "newreno"'))
    ends = [(setup.nodes[flow.origin].name, setup.nodes[flow.to].name) for flow in setup.flows]
    assert ends == [("a", "b"), ("c", "a")]
    assert [flow.source.core()["bytes"] for flow in setup.flows] == [1500, 20000]
    assert [flow.start for flow in setup.flows] == [0, 2_500_000_000]
    assert [flow.name for flow in setup.flows] == ["m.0", "m.1"]


def test_listed_flows_run_as_they_stand(folder: Path) -> None:
    table = Scenario.loads(traffic('flow_list = "file:flows.csv"'), base=folder).run().flows
    assert table["delivered_bytes"].to_list() == [1500, 20000]
    assert table["completion_s"].null_count() == 0


def test_flows_that_begin_after_the_end_are_counted(folder: Path) -> None:
    (folder / "late.csv").write_text(
        "from,to,size_bytes,start_s\na,b,9,1\na,c,9,10\nc,b,9,99\n", encoding="utf-8"
    )
    setup = resolved(folder, traffic('flow_list = "file:late.csv"'))
    assert len(setup.flows) == 1
    assert setup.never_begun == {"m": 2}


LIST_MISTAKES = [
    ('flow_list = "flows.csv"', 'flow_list: "flows.csv" is not like "file:flows.csv"'),
    ('flow_list = "file:triangle.xml"', 'flow_list: "triangle.xml" (SNDlib XML) is no list of flows'),
    ('flow_list = "file:tm.csv"', 'flow_list: "tm.csv" is a CSV of rates, and no list of flows'),
    ('flow_list = "file:flows.csv"\nfrom = "a"', "from: the list says who sends how much"),
    ('flow_list = "file:flows.csv"\nsize = "1 kB"', "size: the list says who sends"),
    ('flow_list = "file:none.csv"', 'flow_list: "none.csv" cannot be read: No such file'),
    ('from = "a"\nto = "b"\nsize = "file:flows.csv"', '"flows.csv" (CSV of flows) is no distribution'),
    (f'matrix = {{ from = "file:flows.csv" }}\n{UDP}', '"flows.csv" (CSV of flows) has no traffic matrix'),
    (f'matrix = {{ from = "file:m.pkl" }}\n{UDP}', "is a pickle of Python, which could run any"),
    (f'matrix = {{ from = "file:abilene.X", number = 3 }}\n{UDP}', "matrix.number: 3 is above 2"),
    (f'matrix = {{ from = "file:triangle.xml", number = 2 }}\n{UDP}', "matrix.number: 2 is above 1"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "message"), LIST_MISTAKES)
def test_mistakes_of_files_stand_at_their_fields(entry: str, message: str, folder: Path) -> None:
    (folder / "tm.csv").write_text("from,to,rate_mbps\na,b,1\n", encoding="utf-8")
    (folder / "m.pkl").write_bytes(b"\x80\x04\x95")
    messages = problems(folder, traffic(entry))
    assert any(message in line for line in messages), messages


def test_sizes_of_a_file_follow_its_distribution(folder: Path) -> None:
    """By hand: the mean is 0.15 * 5 + 0.05 * 15 + 0.8 * 15010 kB, the middles of its lines."""
    setup = resolved(folder, traffic('from = "a"\nto = "b"\nflows = 4000\nsize = "file:sizes.txt"'))
    sizes = np.array([flow.source.core()["bytes"] for flow in setup.flows])
    mean, spread = 0.15 * 5e3 + 0.05 * 15e3 + 0.8 * 15.01e6, 9e6 / np.sqrt(len(sizes))
    assert abs(sizes.mean() - mean) < 4 * spread
    assert abs((sizes <= 10_000).mean() - 0.15) < 4 * np.sqrt(0.15 * 0.85 / len(sizes))
    inline = traffic(
        'from = "a"\nto = "b"\nflows = 4000\nsize = { distribution = "cumulative", '
        'values = ["0 B", "10 kB", "20 kB", "30 MB"], probabilities = [0.0, 0.15, 0.2, 1.0] }'
    )
    assert resolved(folder, inline).flows == setup.flows


def test_sizes_of_a_file_arrive_by_a_matrix(folder: Path) -> None:
    """1.5 Mbps of flows of 100 kB on average are 18.75 arrivals a second."""
    (folder / "s.txt").write_text("0 0\n200000 100\n", encoding="utf-8")
    text = traffic('matrix = { from = "file:triangle.xml" }\nsize = "file:s.txt"')
    setup = resolved(folder, text.replace('"10 s"', '"400 s"'))
    count = sum(setup.nodes[flow.origin].name == "a" for flow in setup.flows)
    assert abs(count - 1.5e6 / 8e5 * 400) < 4 * np.sqrt(750)


def test_one_matrix_and_no_traffic_give_loads_and_routes(folder: Path) -> None:
    """By hand: a to b 1.5, c to a 0.25 over b: of 10 Mbps each."""
    scenario = Scenario.loads(demand('from = "file:triangle.demands"'), base=folder)
    loads = scenario.worst_case()
    assert {link.link: link.load for link in loads.links} == pytest.approx(
        {"a->b": 0.15, "b->a": 0.025, "b->c": 0.0, "c->b": 0.025}
    )
    assert loads.matrix_name == "file:triangle.demands"
    assert json.loads(json.dumps(load_document(loads)))["matrix"] == "file:triangle.demands"
    pairs = [(pair.source, pair.destination) for pair in scenario.routes().pairs if pair.carries == "data"]
    assert pairs == [("a", "b"), ("c", "a")]


def test_a_network_alone_is_asked_for_traffic_or_a_matrix(folder: Path) -> None:
    scenario = Scenario.loads(NETWORK, base=folder)
    with pytest.raises(ScenarioError, match=r"routing\.demand: is missing; loads are those of a matrix"):
        scenario.worst_case()
    with pytest.raises(ScenarioError, match="traffic: is missing, and so is routing"):
        scenario.routes()
    with pytest.raises(ScenarioError) as caught:
        scenario.run()
    assert [problem.place for problem in caught.value.problems] == ["traffic", "run"]
    assert "traffic" not in scenario.data()
    assert "run" not in scenario.data()
    assert Scenario.from_data(scenario.data()) == scenario


def test_a_series_names_which_matrix_is_meant(folder: Path) -> None:
    messages = problems(folder, demand('from = "file:triangle.yates.txt"'))
    assert messages == [
        "routing.demand.matrix.from: has 2 matrices; say which of them, from 1 to 2: number = 1"
    ]
    second = Scenario.loads(demand('from = "file:triangle.yates.txt", number = 2'), base=folder).worst_case()
    assert second.max_load == pytest.approx(0.3)
    assert second.matrix_name == "file:triangle.yates.txt, matrix 2"


def test_matrices_hold_one_after_the_other(folder: Path) -> None:
    """3 Mbps in place of 1.5 from a to b, and nothing from c, as the second matrix begins."""
    entry = f'matrix = {{ from = "file:triangle.yates.txt", interval = "4 s" }}\n{UDP}start = "1 s"'
    setup = resolved(folder, traffic(entry))
    entries = [
        (
            setup.nodes[flow.origin].name,
            flow.source.core()["rate"],
            flow.start / 1e12,
            (flow.stop or 0) / 1e12,
        )
        for flow in setup.datagrams
    ]
    assert entries == [("a", 1.5e6, 1, 5), ("c", 0.25e6, 1, 5), ("a", 3e6, 5, 9)]


def test_a_series_without_times_needs_an_interval(folder: Path) -> None:
    messages = problems(folder, traffic(f'matrix = {{ from = "file:triangle.yates.txt" }}\n{UDP}'))
    assert messages == [
        "traffic[0].matrix.interval: is missing; the file does not say how long each of its matrices holds"
    ]


def test_transfers_of_a_series_arrive_by_the_matrix_that_holds(folder: Path) -> None:
    """0.8 Mbps of 1 kB each are 100 a second; 0.4 Mbps are 50."""
    (folder / "two.txt").write_text("0 800000 0 0\n0 400000 0 0\n", encoding="utf-8")
    (folder / "two.hosts").write_text("a\nb\n", encoding="utf-8")
    entry = 'matrix = { from = "file:two.txt", interval = "50 s" }\nsize = "1 kB"'
    setup = resolved(folder, traffic(entry).replace('"10 s"', '"100 s"'))
    starts = np.array([flow.start for flow in setup.flows]) / 1e12
    first, second = (starts < 50).sum(), (starts >= 50).sum()
    assert abs(first - 5000) < 4 * np.sqrt(5000)
    assert abs(second - 2500) < 4 * np.sqrt(2500)
    assert len({flow.name for flow in setup.flows}) == len(starts)
