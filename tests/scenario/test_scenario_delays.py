"""Delays of links that are drawn: in their range, by the mean, and where other links leave them alone."""

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.setup import Setup, resolve

from .conftest import BASE

US, MS = 10**6, 10**9


def fabric(network: str, topology: str = "dumbbell", parameters: str = "hosts = 3\nmiddle = 4") -> Setup:
    ends = {
        "dumbbell": ("left1", "right1"),
        "leaf-spine": ("host1.1", "host2.1"),
        "parking-lot": ("source", "sink"),
    }
    text = f"""
[network]
topology = "{topology}"
{network}
[network.parameters]
{parameters}
[[traffic]]
from = "{ends[topology][0]}"
to = "{ends[topology][1]}"
[run]
duration = "1 s"
"""
    return resolve(Scenario.loads(text, origin="x.toml"))


def delays(setup: Setup) -> dict[str, int]:
    return {link.name: link.delay for link in setup.links}


LINKS = 'links = { capacity = "1 Gbps", delay = "7 ns" }\n'
RANDOM = (
    'links = { capacity = "1 Gbps", delay = { distribution = "uniform", low = "1 us", high = "10 us" } }\n'
)
NORMAL = 'access = { delay = { distribution = "gaussian", mean = "5 us", standard_deviation = "1 us" } }\n'


@pytest.mark.parametrize(("name", "low", "high"), [("LAN", US, 10 * US), ("WAN", MS, 10 * MS)])
@pytest.mark.parametrize(
    ("topology", "parameters", "between"),
    [
        ("dumbbell", "hosts = 3\nmiddle = 40", 41),
        ("leaf-spine", "spines = 4\nleaves = 8", 32),
        ("parking-lot", "hops = 30", 30),
    ],
)
def test_a_delay_class_is_that_of_the_links_between_switches(
    name: str, low: int, high: int, topology: str, parameters: str, between: int
) -> None:
    setup = fabric(f'delay_class = "{name}"\n{LINKS}', topology, parameters)
    drawn = [delay for delay in delays(setup).values() if delay != 7000]
    assert len(drawn) == 2 * between
    assert len(set(drawn)) == between
    assert all(low <= delay <= high for delay in drawn)
    # Of 30 uniform draws or more, all in one half of the range happens once in 2**29 seeds.
    assert min(drawn) < (low + high) / 2 < max(drawn)


def test_both_directions_of_a_edge_are_of_one_length() -> None:
    drawn = delays(fabric(RANDOM))
    assert len(drawn) == 22
    for name, delay in drawn.items():
        a, b = name.split("->")
        assert drawn[f"{b}->{a}"] == delay


def test_links_at_hosts_have_settings_of_their_own() -> None:
    drawn = delays(fabric(LINKS + NORMAL))
    access = [
        delay for name, delay in drawn.items() if "left1" in name or "right" in name.split("router-right")[0]
    ]
    assert drawn["router-left->router-middle1"] == 7000
    assert len(set(drawn.values())) == 7
    # Ten standard deviations.
    assert all(abs(delay - 5 * US) < 10 * US for delay in access)


def test_another_link_moves_no_draw() -> None:
    few = delays(fabric(RANDOM, parameters="hosts = 3"))
    many = delays(fabric(RANDOM, parameters="hosts = 9"))
    assert len(many) > len(few)
    assert {name: many[name] for name in few} == few


def test_seed_and_replication_change_the_draws() -> None:
    text = BASE.replace(
        'capacity = "10 Mbps"',
        'capacity = "10 Mbps"\ndelay = { distribution = "exponential", mean = "5 ms" }',
    )
    seen = {
        tuple(
            delays(
                resolve(Scenario.loads(text, {"run.seed": str(seed), "run.replication": str(number)}))
            ).values()
        )
        for seed in (1, 2)
        for number in (0, 1)
    }
    assert len(seen) == 4


def test_parameters_of_a_generator_win_over_the_settings_of_access_links() -> None:
    drawn = delays(fabric(LINKS + NORMAL, parameters='access_delay = "3 us"\nhosts = 2'))
    assert set(drawn.values()) == {3 * US, 7000}


def test_a_single_link_may_have_a_distribution_of_its_own() -> None:
    delay = '{ distribution = "constant", value = "9 us" }'
    single = f'link = [{{ between = ["router-left", "left1"], delay = {delay} }}]\n'
    drawn = delays(fabric(LINKS + single))
    assert [name for name, delay in drawn.items() if delay == 9 * US] == [
        "left1->router-left",
        "router-left->left1",
    ]


def test_uniform_by_mean_and_standard_deviation_has_these() -> None:
    text = BASE.replace(
        'to = "Atlanta"',
        'to = "Atlanta"\nflows = 3000\nsize = { distribution = "uniform", mean = "1 MB", '
        'standard_deviation = "500 kB" }',
    )
    sizes = [flow.source.bytes for flow in resolve(Scenario.loads(text)).flows]
    mean = sum(sizes) / len(sizes)
    deviation = (sum((size - mean) ** 2 for size in sizes) / len(sizes)) ** 0.5
    # Five standard errors: 500 kB / sqrt(3000) = 9.1 kB; for the deviation of a uniform variate less.
    assert mean == pytest.approx(1e6, abs=46e3)
    assert deviation == pytest.approx(5e5, abs=46e3)
    # A uniform variate of deviation s is 2 sqrt(3) s wide.
    assert min(sizes) >= 1e6 - 3**0.5 * 5e5 - 1
    assert max(sizes) <= 1e6 + 3**0.5 * 5e5 + 1


def test_a_delay_class_beside_a_parameter_for_the_same_links_is_refused() -> None:
    with pytest.raises(ScenarioError) as caught:
        fabric(f'delay_class = "LAN"\n{LINKS}', parameters='bottleneck_delay = "1 ms"')
    assert caught.value.lines() == [
        "x.toml: network.delay_class: the parameters of dumbbell(hosts=1) give the links between its nodes a "
        "delay; leave out one of the two"
    ]
