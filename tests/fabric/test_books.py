"""Trims in the books, and what links and flows say of them."""

import pytest
from fabric_runs import Fabric

import anabranch

INCAST = """[[traffic]]
from = [
    "host2.1.1", "host2.1.2", "host3.1.1", "host3.2.1", "host4.1.1", "host4.1.2", "host4.2.1", "host4.2.2",
]
to = "host1.1.1"
size = "500 kB"
transport = "x"
"""


@pytest.mark.parametrize("selector", ["flow", "reps", "mixed", "mrc"])
def test_trims_of_links_and_of_flows_are_the_same(fabric: Fabric, selector: str) -> None:
    """Each trim makes one NACK and one retransmission, and each byte arrives once; the books close."""
    result = fabric(INCAST, transport=f'path_selector = "{selector}"').run()
    trims = result.links["trims"].sum()
    assert trims > 100
    assert result.spray_flows["trims"].sum() == trims
    assert result.flows["retransmissions"].sum() == trims
    assert result.flows["drops_queue"].sum() == 0
    assert result.flows["delivered_bytes"].to_list() == [500_000] * 8
    assert result.flows["spurious_retransmissions"].sum() == 0


def test_an_incast_takes_the_time_of_its_bytes_on_the_last_link(fabric: Fabric) -> None:
    """All bytes through one link, 323 us, and some 12 us to come there; NSCC is at most a tenth above."""
    result = fabric(INCAST).run()
    packets = -(-500_000 // 4086)
    line_us = 8 * (500_000 + 64 * packets) * 8 / 100e3
    makespan_us = result.flows["completion_s"].max() * 1e6
    assert line_us < makespan_us < 1.1 * (line_us + 12)
    last_hop = result.spray_flows["trims_last_hop"].sum()
    assert last_hop == result.links.filter(result.links["to"] == "host1.1.1")["trims"].sum()


def test_a_run_is_the_same_again_and_on_two_cores(fabric: Fabric) -> None:
    """One core works off such a run, however many are asked for; the same seed gives the same tables."""
    one = fabric(INCAST).run()
    two = fabric(INCAST).run(cores=2)
    assert one.flows.equals(two.flows)
    assert one.links.equals(two.links)
    other = fabric(INCAST, seed=2).run()
    assert not one.flows.equals(other.flows)


def test_a_link_that_loses_all_is_left_by_those_who_hear_of_it(fabric: Fabric) -> None:
    """`reps` leaves a silent link; a flow with one value that leads over it never ends."""
    silent = '[[event]]\nat = "0 s"\nlink = ["core1.1", "aggregation1.1"]\nstate = "silent"\n'
    rest = '[[traffic]]\nfrom = "*"\npairs = "permutation"\nsize = "200 kB"\ntransport = "x"\n'
    result = fabric(rest + silent, transport='path_selector = "reps"').run()
    assert result.flows["completion_s"].null_count() == 0
    assert result.flows["drops_down"].sum() > 0
    stuck = fabric(rest + silent, transport='path_selector = "flow"').run()
    assert 0 < stuck.flows["completion_s"].null_count() < 16
    again = fabric(
        rest + silent + '[[event]]\nat = "2 ms"\nlink = ["core1.1", "aggregation1.1"]\nstate = "up"\n',
        transport='path_selector = "flow"',
    ).run()
    assert again.flows["completion_s"].null_count() == 0


def test_planes_share_a_flow_evenly() -> None:
    """A host with a link into each of two planes has both for a flow; with one line down, the other."""
    text = """[network]
topology = "leaf-spine"
parameters = {{ spines = 2, leaves = 2, hosts_per_leaf = 2, planes = 2 }}
[network.links]
capacity = "100 Gbps"
delay = "1 us"
queue = {{ algorithm = "trim", limit = "42 packets" }}
[routing]
scheme = "ecmp"
[[traffic]]
from = "host1.1"
to = "host2.1"
size = "10 MB"
transport = "mrc"
{event}
[run]
duration = "20 ms"
until = "done"
"""
    both = anabranch.Scenario.loads(text.format(event="")).run()
    line_us = (10_000_000 + 64 * -(-10_000_000 // 4096)) * 8 / 200e3
    assert both.flows["completion_s"][0] * 1e6 == pytest.approx(line_us, rel=0.03)
    from_host = both.links.filter(both.links["from"] == "host1.1")["bytes"].to_list()
    assert min(from_host) > 0.98 * max(from_host)
    event = '[[event]]\nat = "0 s"\nlink = ["host1.1", "plane1-leaf1"]\nstate = "down"\n'
    one = anabranch.Scenario.loads(text.format(event=event)).run()
    assert one.flows["completion_s"][0] * 1e6 == pytest.approx(2 * line_us, rel=0.05)
    assert one.flows["drops_data"][0] == 0


def test_logs_and_sequences_pass_sprayed_flows_over(fabric: Fabric) -> None:
    other = '[[traffic]]\nfrom = "host1.1.1"\nto = "host4.2.2"\nsize = "20 kB"\ntransport = "newreno"\n'
    for field in ("log", "sequences"):
        both = fabric(INCAST + other)
        result = both.replace({f"run.{field}": "*"}).run()
        if field == "log":
            assert set(result.tables["log"]["flow"]) == {8}
        with pytest.raises(anabranch.ScenarioError, match=r'"traffic\[0\]\.0" is sprayed; '):
            both.replace({f"run.{field}": ["traffic[0].0"]}).run()
        with pytest.raises(anabranch.ScenarioError, match=rf"run\.{field}: every flow is sprayed; "):
            fabric(INCAST).replace({f"run.{field}": "*"}).run()
