"""One flow on an idle path: closed forms."""

import pytest
from fabric_runs import Fabric, idle_path_us

SELECTORS = ("flow", "random", "oblivious", "bitmap", "reps", "mixed", "mrc")


def flow(to: str, size: int) -> str:
    return f'[[traffic]]\nfrom = "host1.1.1"\nto = "{to}"\nsize = "{size} B"\ntransport = "x"\n'


def test_the_closed_form_is_that_of_the_golden_rows() -> None:
    """uet-htsim 40ccb05: 176.200, 53.050, 826.224 and 215.556 us, to the last digit."""
    rows = {(2_000_000, 100): 176.200, (2_000_000, 400): 53.050, (10_000_000, 100): 826.224}
    rows[10_000_000, 400] = 215.556
    for (size, gbps), measured in rows.items():
        assert idle_path_us(size, gbps, 6) == pytest.approx(measured, abs=6e-4)


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("gbps", [100, 400])
@pytest.mark.parametrize(("to", "hops"), [("host1.1.2", 2), ("host1.2.1", 4), ("host3.1.1", 6)])
def test_a_flow_alone_takes_the_time_of_its_bytes(
    fabric: Fabric, selector: str, gbps: int, to: str, hops: int
) -> None:
    """To the last picosecond but for the rounding of serialisations, whichever paths it takes."""
    scenario = fabric(flow(to, 2_000_000), gbps=gbps, transport=f'path_selector = "{selector}"')
    result = scenario.run()
    assert result.spray_flows["acknowledged_s"][0] * 1e6 == pytest.approx(
        idle_path_us(2_000_000, gbps, hops), rel=1e-6
    )
    assert result.flows["retransmissions"][0] == 0
    assert result.links["trims"].sum() == 0


def test_the_round_trip_has_no_queue_of_the_own_host(fabric: Fabric) -> None:
    """A base RTT of 14.0227 us, which every packet of the flow has: none waits in its own host.

    The last packet is shorter, overtakes the one before on another path, and is in its way where they meet:
    2074 B, 0.166 us.
    """
    flows = fabric(flow("host3.1.1", 2_000_000)).run().flows
    base_us = 12 + 6 * (4150 + 64) * 8 / 100e3
    last_us = (2_000_000 - 489 * 4086 + 64) * 8 / 100e3
    assert base_us - 1e-3 <= flows["rtt_max_ms"][0] * 1e3 <= base_us + last_us


def test_a_host_turns_to_its_flows_one_after_another(fabric: Fabric) -> None:
    """Four flows of a host share its line evenly: all take as long as their bytes together."""
    size = 1_000_000
    rest = "".join(flow(f"host{pod}.1.{n}", size) for pod in (2, 3) for n in (1, 2))
    result = fabric(rest, transport="path_selector = 'random'").run()
    line_us = 4 * (size + 64 * -(-size // 4086)) * 8 / 100e3
    times_us = [1e6 * time for time in result.flows["completion_s"]]
    assert max(times_us) == pytest.approx(line_us + 6 + 5 * 0.332, rel=0.01)
    assert min(times_us) > 0.98 * max(times_us)
