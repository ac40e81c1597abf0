"""A study whose replications would all be the same run does it once."""

import pytest

from anabranch import Factor, Scenario, Study

TEXT = """
[network]
topology = "line"
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
queue = "20 packets"
[[traffic]]
from = "source"
to = "sink"
size = "20 kB"
[run]
duration = "200 ms"
"""


def study(text: str, levels: list[str]) -> Study:
    """Three replications of a scenario over queues."""
    factor = Factor(field="network.links.queue", levels=levels)
    return Study(scenario=Scenario.loads(text), factors=[factor], replications=3)


def test_where_nothing_is_random_each_cell_runs_once() -> None:
    result = study(TEXT, ["10 packets", "20 packets"]).run(jobs=1)
    assert (result.replications, result.runs.height) == (1, 2)
    assert result.cells["delivered_mbps_ci"].to_list() == [None, None]


@pytest.mark.parametrize(
    "change",
    [
        ('delay = "5 ms"', 'delay = "5 ms"\nloss = 1e-6'),
        ('delay = "5 ms"', 'delay = { distribution = "uniform", low = "1 ms", high = "5 ms" }'),
        (
            'size = "20 kB"',
            'size = "20 kB"\nstart = { distribution = "uniform", low = "0 ms", high = "50 ms" }',
        ),
        ('size = "20 kB"', 'size = "20 kB"\ntransport = "bbr"'),
        ('size = "20 kB"', 'application = { kind = "poisson", message = "1 kB", rate = "1 Mbps" }'),
    ],
)
def test_whatever_is_random_keeps_the_replications(change: tuple[str, str]) -> None:
    assert study(TEXT.replace(*change), ["10 packets"]).run(jobs=1).runs.height == 3


def test_one_random_level_keeps_the_replications_of_all() -> None:
    result = study(TEXT, ["10 packets", "fq-codel"]).run(jobs=1)
    assert result.runs.height == 6
    # Equal values tell nothing of how they scatter.
    assert result.cells["delivered_mbps_ci"][0] is None


CONTROLLED = """
[network]
topology = "dumbbell"
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
queue = "20 packets"
[controller]
application = "forwarding"
[controller.links]
capacity = "1 Gbps"
delay = "1 ms"
[[traffic]]
from = "left1"
to = "right1"
size = "20 kB"
[run]
duration = "500 ms"
"""
APPLICATIONS = {
    "forwarding": ('"forwarding"', "cubic", 1),
    "stretched": ('"sdn-paced"', "sdn-paced", 1),
    "published": ('{ algorithm = "sdn-paced", schedule = "published" }', "sdn-paced", 1),
    "window-clamp": ('"window-clamp"', "cubic", 1),
    "tcpbp": ('"tcpbp"\nstatistics_interval = "100 ms"', "cubic", 1),
    "subflow-round-robin": ('"subflow-round-robin"', "linux-cubic", 1),
    "subflow-round-robin of Multipath TCP": ('"subflow-round-robin"', "mptcp", 3),
    "drawn delay": (
        '"forwarding"\nprocessing_delay = { distribution = "exponential", mean = "1 ms" }',
        "cubic",
        3,
    ),
}


@pytest.mark.parametrize("name", list(APPLICATIONS))
def test_a_controller_that_draws_nothing_runs_each_cell_once(name: str) -> None:
    application, transport, runs = APPLICATIONS[name]
    text = CONTROLLED.replace('"forwarding"', application).replace(
        'size = "20 kB"', f'size = "20 kB"\ntransport = "{transport}"'
    )
    assert study(text, ["10 packets"]).run(jobs=1).runs.height == runs
    if runs == 1:
        # It is certain: what two replications measure is the same.
        first, second = (
            Scenario.loads(text).replace({"run.replication": number}).run().tables for number in (0, 1)
        )
        assert all(first[table].equals(second[table]) for table in first)


@pytest.mark.parametrize(("scheme", "runs"), [("ecmp", 1), ("disjoint", 1), ("tcpbp", 1)])
def test_schemes_with_one_path_for_each_pair_run_once(scheme: str, runs: int) -> None:
    routing = f'[routing]\nscheme = "{scheme}"\n'
    assert study(TEXT + routing, ["10 packets"]).run(jobs=1).runs.height == runs
    two = TEXT.replace('"line"', '"parallel"\nparameters.paths = 2')
    assert study(two + routing, ["10 packets"]).run(jobs=1).runs.height == (1 if scheme == "tcpbp" else 3)


def is_one_run(text: str) -> bool:
    """Whether two replications measure the same in all tables."""
    first, second = (
        Scenario.loads(text).replace({"run.replication": number}).run().tables for number in (0, 1)
    )
    return all(
        first[table]
        .drop("client_port", "server_port", strict=False)
        .equals(second[table].drop("client_port", "server_port", strict=False))
        for table in first
    )


def test_a_fixed_window_over_one_path_runs_once() -> None:
    text = TEXT.replace('size = "20 kB"', 'size = "20 kB"\ntransport = "sliding-window"')
    assert study(text, ["10 packets"]).run(jobs=1).runs.height == 1
    assert is_one_run(text)


@pytest.mark.parametrize(("balancing", "runs"), [("packet-round-robin", 1), ("packet", 3), ("flow", 3)])
def test_packets_in_turn_over_several_paths_run_once(balancing: str, runs: int) -> None:
    two = TEXT.replace('"line"', '"parallel"\nparameters.paths = [{ delay = "1 ms" }, { delay = "9 ms" }]')
    two += f'[routing]\nscheme = "disjoint"\nload_balancing = "{balancing}"\n'
    two = two.replace('size = "20 kB"', 'size = "20 kB"\nflows = 5')
    assert study(two, ["10 packets"]).run(jobs=1).runs.height == runs
    assert is_one_run(two) is (runs == 1)


def test_turns_of_subflows_over_several_paths_keep_the_replications() -> None:
    text = CONTROLLED.replace('"forwarding"', '"subflow-round-robin"').replace(
        '"dumbbell"', '"parallel"\nparameters.paths = 2'
    )
    text = text.replace('"left1"', '"source"').replace('"right1"', '"sink"')
    assert study(text, ["10 packets"]).run(jobs=1).runs.height == 3
