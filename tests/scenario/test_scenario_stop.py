"""From ``stop`` on no flow of an entry begins."""

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.setup import resolve

TEXT = """
[network]
topology = "line"
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[[traffic]]
from = "source"
to = "sink"
{entry}
[run]
duration = "10 s"
"""
PS = 10**12


def starts(entry: str) -> dict[str, int]:
    """Name and start (ps) of each flow of an entry."""
    return {flow.name: flow.start for flow in resolve(Scenario.loads(TEXT.format(entry=entry))).flows}


@pytest.mark.parametrize("size", ["1 MB", "unlimited"])
def test_no_flow_arrives_at_the_stop_or_after_it(size: str) -> None:
    entry = f'flows = "unlimited"\ninter_arrival = "1 s"\nstart = "500 ms"\nsize = "{size}"\n'
    assert len(starts(entry)) == 10
    assert list(starts(entry + 'stop = "4.5 s"').values()) == [n * PS + PS // 2 for n in range(4)]
    flows = Scenario.loads(TEXT.format(entry=entry + 'stop = "4.5 s"')).run().flows
    assert flows["start_s"].to_list() == [0.5, 1.5, 2.5, 3.5]
    if size != "unlimited":
        assert flows["delivered_bytes"].to_list() == [1_000_000] * 4, "what has begun sends all of it"


def test_flows_with_random_starts_and_stops_keep_their_draws() -> None:
    entry = 'flows = 40\nstart = { distribution = "uniform", low = "0 s", high = "8 s" }\n'
    every = starts(entry)
    early = {name: start for name, start in every.items() if start < 4 * PS}
    assert len(every) == 40
    assert 1 <= len(early) < 40
    assert starts(entry + 'stop = "4 s"') == early
    random_stop = 'stop = { distribution = "uniform", low = "0 s", high = "8 s" }'
    flows = resolve(Scenario.loads(TEXT.format(entry=entry + random_stop))).flows
    assert 1 <= len(flows) < 40
    assert all(flow.stop is not None and flow.start < flow.stop for flow in flows)


def test_arrivals_that_the_stop_leaves_out_count_against_the_most_flows() -> None:
    late = 'stop = { distribution = "constant", value = "1 us" }'
    entry = 'flows = "unlimited"\nsize = "1 kB"\ninter_arrival = "1 ns"\n'
    with pytest.raises(ScenarioError, match="makes more than"):
        starts(entry + late)
    assert len(starts(entry + 'stop = "1 us"')) == 1000
