"""Flows of a traffic matrix: how many, of what rate, and every way to get the matrix wrong."""

from __future__ import annotations

import itertools
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anabranch import Scenario, ScenarioError
from anabranch.setup import Setup, resolve
from anabranch.study import Study

# Links of 1, 2 and 4 Mbps: the nodes have 5, 3 and 6 Mbps.
NETWORK = """
[network]
node = [{ name = "a" }, { name = "b" }, { name = "c" }]
link = [
  { between = ["a", "b"], new = true, capacity = "1 Mbps", delay = "1 ms" },
  { between = ["b", "c"], new = true, capacity = "2 Mbps", delay = "1 ms" },
  { between = ["c", "a"], new = true, capacity = "4 Mbps", delay = "1 ms" },
]
[routing]
scheme = "shortest"
[run]
duration = "10 s"
"""
RATE = 'application = { kind = "constant-rate", message = "1 kB" }\n'
UDP = 'application = { kind = "udp", packet = "1 kB" }\n'


def text(matrix: str, what: str = RATE, extra: str = "") -> str:
    return f'{NETWORK}[[traffic]]\nname = "m"\nmatrix = {{ {matrix} }}\n{what}{extra}'


def resolved(toml: str, **fields: str) -> Setup:
    overrides = {name.replace("__", "."): value for name, value in fields.items()}
    return resolve(Scenario.loads(toml, overrides, origin="x.toml"))


def rates_bps(setup: Setup) -> dict[str, list[float]]:
    """The rates of the flows of each pair, from the gaps between messages of 1 kB."""
    entries: dict[str, list[float]] = defaultdict(list)
    flows = [*setup.flows, *setup.datagrams]
    for flow in flows:
        pair = f"{setup.nodes[flow.origin].name}{setup.nodes[flow.to].name}"
        source: Any = flow.source.core()
        if source["kind"] == "udp":
            entries[pair].append(source["rate"])
        else:
            assert source["gap"]["distribution"] == "constant"
            entries[pair].append(8e3 * 1e12 / source["gap"]["value"])
    return dict(entries)


def test_uniform_shares_the_total_among_pairs_and_flows() -> None:
    rates = rates_bps(resolved(text('from = "uniform", total = "12 Mbps"', UDP, "flows = 2\n")))
    assert rates == {a + b: [1e6, 1e6] for a, b in itertools.permutations("abc", 2)}


def test_gravity_is_in_proportion_to_the_capacities_of_both_ends() -> None:
    rates = rates_bps(resolved(text('from = "gravity", total = "12.6 Mbps"')))
    # 5 * 3 + 5 * 6 + 3 * 6 = 63, and as much back.
    by_hand = {"ab": 1.5e6, "ba": 1.5e6, "ac": 3e6, "ca": 3e6, "bc": 1.8e6, "cb": 1.8e6}
    assert {pair: sum(entry) for pair, entry in rates.items()} == pytest.approx(by_hand)


def test_gravity_with_drawn_weights_keeps_the_total_and_its_form() -> None:
    gravity = text('from = "gravity", total = "10 Mbps", weights = "exponential"')
    one, again, other = (
        {pair: sum(entry) for pair, entry in rates_bps(resolved(gravity, run__replication=number)).items()}
        for number in ("0", "0", "1")
    )
    assert one == again != other
    assert sum(one.values()) == pytest.approx(10e6)
    # T = u_i v_j, so that the two ways around the triangle have one product.
    assert one["ab"] * one["bc"] * one["ca"] == pytest.approx(one["ac"] * one["cb"] * one["ba"])


def test_a_file_and_a_total(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("from,to,rate\na,b,1 Mbps\nb,c,3 Mbps\n", encoding="utf-8")
    file = tmp_path / "x.toml"
    for extra, factor in (("", 1), (", scale = 2.0", 2), (', total = "2 Mbps"', 0.5)):
        file.write_text(text(f'from = "file:d.csv"{extra}'), encoding="utf-8")
        scenario = Scenario.load(file)
        assert rates_bps(resolve(scenario)) == {
            "ab": pytest.approx([1e6 * factor]), "bc": pytest.approx([3e6 * factor])
        }  # fmt: skip
    kept = tmp_path / "kept"
    kept.mkdir()
    assert scenario.kept_in(kept).traffic[0].matrix.source == "file:inputs/d.csv"  # type: ignore[union-attr]
    assert (kept / "inputs" / "d.csv").is_file()


def test_the_matrix_of_sndlib() -> None:
    """Palo-Alto to San-Diego is 52 in nobel-us, which lists 91 pairs."""
    network = NETWORK[: NETWORK.index("node")] + 'topology = "sndlib/nobel-us"\n'
    rest = '[network.links]\ncapacity = "1 Gbps"\n' + NETWORK[NETWORK.index("[routing]") :]
    matrix = 'matrix = { from = "topology", unit = "1 kbps", direction = "both" }'
    rates = rates_bps(resolved(f"{network}{rest}[[traffic]]\n{matrix}\n{RATE}"))
    assert len(rates) == 182
    assert rates["Palo-AltoSan-Diego"] == rates["San-DiegoPalo-Alto"] == pytest.approx([52e3])


def test_a_pair_has_a_flow_for_each_part_of_its_rate(tmp_path: Path) -> None:
    csv = "from,to,rate_kbps\na,b,100\nb,c,2000\nc,a,2001\na,c,0\n"
    (tmp_path / "d.csv").write_text(csv, encoding="utf-8")
    file = tmp_path / "x.toml"
    file.write_text(text('from = "file:d.csv", rate_per_flow = "1 Mbps"', ""), encoding="utf-8")
    setup = resolve(Scenario.load(file))
    ends = [f"{setup.nodes[flow.origin].name}{setup.nodes[flow.to].name}" for flow in setup.flows]
    assert ends == ["ab", "bc", "bc", "ca", "ca", "ca"]
    assert {flow.source.kind for flow in setup.flows} == {"unlimited"}
    assert [flow.name for flow in setup.flows] == [f"m.{number}" for number in range(6)]
    file.write_text(text('from = "file:d.csv", rate_per_flow = "1 Mbps"'), encoding="utf-8")
    rates = rates_bps(resolve(Scenario.load(file)))
    assert rates == {"ab": [100e3], "bc": [1e6] * 2, "ca": pytest.approx([667e3] * 3)}


def test_transfers_arrive_at_the_rate_of_the_entry() -> None:
    """2 Mbps of 1 kB are 250 a second for each of six pairs: Poisson, so that 30,000 differ by 173."""
    setup = resolved(text('from = "uniform", total = "12 Mbps"', 'size = "1 kB"\n'), run__duration='"20 s"')
    assert abs(len(setup.flows) - 30_000) < 4 * 173
    starts = np.sort(setup.flows.start.astype(float))
    assert starts[0] > 0
    gaps = np.diff(np.sort(setup.flows.start[setup.flows.origin == 0].astype(float))) / 1e12
    # Exponential: the standard deviation is the mean, 2 ms for two pairs together.
    assert gaps.mean() == pytest.approx(0.002, rel=0.05)
    assert gaps.std() == pytest.approx(0.002, rel=0.05)
    assert {flow.source.bytes for flow in setup.flows[:50]} == {1000}


def test_few_transfers_are_drawn_for_each_pair_by_itself() -> None:
    """A fifth of a transfer for each of six pairs: Poisson of mean 1.2, whose variance is its mean."""
    toml = text('from = "uniform", total = "9.6 kbps"', 'size = "1 kB"\n')
    counts = [
        len(resolved(toml, run__duration='"1 s"', run__replication=str(number)).flows)
        for number in range(400)
    ]
    assert abs(np.mean(counts) - 1.2) < 4 * (1.2 / 400) ** 0.5
    assert np.var(counts) == pytest.approx(1.2, rel=0.35)


def test_a_matrix_within_bounds_is_drawn_for_each_replication() -> None:
    bounds = '[routing.demand]\ningress = "3 Mbps"\negress = "3 Mbps"\n'
    toml = text('from = "bounds"', RATE, bounds)
    entries = []
    for number in ("0", "0", "1"):
        rates = {pair: sum(one) for pair, one in rates_bps(resolved(toml, run__replication=number)).items()}
        entries.append(rates)
        assert len(rates) == 6
        for node in "abc":
            assert sum(bps for pair, bps in rates.items() if pair[0] == node) <= 3e6 * (1 + 1e-9)
            assert sum(bps for pair, bps in rates.items() if pair[1] == node) <= 3e6 * (1 + 1e-9)
    assert entries[0] == entries[1] != entries[2]


def test_a_study_varies_the_total(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'replications = 1\n[[factor]]\nfield = "traffic[0].matrix.total"\nlevels = ["1 Mbps", "3 Mbps"]\n'
        '[[metric]]\ntable = "flows"\ncolumn = "goodput_mbps"\nname = "goodput_mbps"\nstatistic = "sum"\n'
        + "".join(
            line.replace("[[", "[[scenario.").replace("[n", "[scenario.n").replace("[r", "[scenario.r") + "\n"
            for line in text('from = "uniform", total = "2 Mbps"').splitlines()
        ),
        encoding="utf-8",
    )
    cells = Study.load(tmp_path / "s.toml").run(jobs=1, out=tmp_path / "out").cells
    measured = next(column for column in cells.columns if "goodput" in column)
    assert cells[measured].to_list() == pytest.approx([1.0, 3.0], rel=0.03)


@pytest.mark.parametrize(
    ("matrix", "what", "message"),
    [
        (
            'from = "gravity"',
            RATE,
            'traffic[0].matrix.total: is missing; say what all rates of "gravity" add up',
        ),
        ('from = "uniform", total = "0 bps"', RATE, "traffic[0].matrix.total: "),
        ('from = "bounds", total = "1 Mbps"', RATE, "traffic[0].matrix.total: a matrix within bounds has"),
        ('from = "bounds", scale = 2.0', RATE, "traffic[0].matrix.scale: 2 is above 1"),
        ('from = "bounds"', RATE, 'traffic[0].matrix.from: "bounds" needs [routing.demand]'),
        ('from = "gravity", total = "1 Mbps", scale = 2.0', RATE, "traffic[0].matrix.scale: total says"),
        (
            'from = "gravity", total = "1 Mbps", unit = "1 Mbps"',
            RATE,
            "traffic[0].matrix.unit: is for matrices",
        ),
        (
            'from = "uniform", total = "1 Mbps", weights = "capacity"',
            RATE,
            "traffic[0].matrix.weights: is for",
        ),
        (
            'from = "gravty", total = "1 Mbps"',
            RATE,
            'traffic[0].matrix.from: "gravty" is neither "topology", "gr',
        ),
        ('from = "topology"', RATE, "traffic[0].matrix.from: this scenario has no traffic matrix"),
        (
            'from = "topology", unit = "1 bps"',
            RATE,
            "traffic[0].matrix.from: this scenario has no traffic matrix",
        ),
        ('from = "file:no.csv"', RATE, 'traffic[0].matrix.from: "no.csv" cannot be read'),
        ('from = "uniform", total = "1 bps"', RATE, "traffic[0].matrix: has no entry above zero"),
        ('from = "uniform", total = "1 Mbps"', "", "traffic[0].matrix.rate_per_flow: is missing"),
        (
            'from = "uniform", total = "1 Mbps"',
            'size = "1 kB"\nflows = 3\n',
            "traffic[0].flows: as many transfers",
        ),
        (
            'from = "uniform", total = "1 Mbps"',
            'size = { distribution = "pareto", scale = "1 kB", shape = 0.9 }\n',
            "traffic[0].size: its mean is infinite",
        ),
        (
            'from = "uniform", total = "1 Mbps", rate_per_flow = "1 kbps"',
            f"{RATE}flows = 2\n",
            "traffic[0].flows: rate_per_flow says how many",
        ),
        (
            'from = "uniform", total = "1 Mbps"',
            f'{RATE}to = "a"\n',
            "traffic[0].to: the matrix says who sends",
        ),
        (
            'from = "uniform", total = "1 Mbps"',
            'application = { kind = "udp", packet = "1 kB", rate = "1 Mbps" }\n',
            "traffic[0].application.rate: the matrix says how much",
        ),
        (
            'from = "uniform", total = "1 Mbps"',
            'application = { kind = "ping" }\n',
            'traffic[0].application: "ping" has no rate',
        ),
    ],
)
def test_mistakes(matrix: str, what: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        resolved(text(matrix, what))
    assert str(caught.value).startswith(f"x.toml: {message}"), str(caught.value)


@pytest.mark.parametrize("kind", ['"constant-rate", message = "1 kB"', '"udp", packet = "1 kB"'])
def test_without_a_matrix_an_application_has_a_rate(kind: str) -> None:
    entry = f'[[traffic]]\nfrom = "a"\nto = "b"\napplication = {{ kind = {kind} }}\n'
    with pytest.raises(
        ScenarioError, match=r"traffic\[0\]\.application\.rate: give .* or the entry a matrix"
    ):
        resolved(NETWORK + entry)


def test_every_mistake_in_a_file_has_its_line(tmp_path: Path) -> None:
    rows = ("a,z,1", "a,b,-1", "a,b,fast", "b,b,1", "b,1")
    (tmp_path / "d.csv").write_text("\n".join(("from,to,rate_mbps", *rows)), encoding="utf-8")
    (tmp_path / "h.csv").write_text("node,kind,since\na,b,1 Mbps\n", encoding="utf-8")
    file = tmp_path / "x.toml"
    file.write_text(text('from = "file:d.csv"'), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.load(file))
    assert [problem.place for problem in caught.value.problems] == [f"d.csv, line {n}" for n in range(2, 7)]
    file.write_text(text('from = "file:h.csv"'), encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"h.csv, line 1: .*is not from,to and one of rate, rate_kbps"):
        resolve(Scenario.load(file))


def test_many_pairs_without_a_path_are_counted() -> None:
    apart = NETWORK.replace("[routing]", "").replace('scheme = "shortest"', "")
    nodes = "node = [" + ", ".join(f'{{ name = "n{n}" }}' for n in range(9)) + "]\n[network.links]\n"
    apart = "[network]\n" + nodes + 'capacity = "1 Mbps"\n[run]\nduration = "1 s"\n'
    with pytest.raises(ScenarioError) as caught:
        resolved(f'{apart}[[traffic]]\nmatrix = {{ from = "uniform", total = "1 Mbps" }}\n{UDP}')
    assert len(caught.value.problems) == 11
    assert str(caught.value).endswith("and so for 62 other pairs and directions")


def test_a_scenario_with_a_matrix_reads_back() -> None:
    for what in (RATE, UDP, 'size = "1 kB"\n'):
        scenario = Scenario.loads(text('from = "uniform", total = "1 Mbps"', what))
        assert Scenario.loads(scenario.toml()) == scenario
