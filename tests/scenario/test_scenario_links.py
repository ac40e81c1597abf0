"""Links: measured losses, jitter, and what is refused of them."""

import pickle

import pytest

from anabranch import Scenario, ScenarioError

TEXT = """
[network]
topology = "line"
[network.parameters]
capacity = "1 Mbps"
delay = "3 ms"
[network.links]
{setting}
[[traffic]]
from = "source"
to = "sink"
[run]
duration = "10 s"
"""
CONSTANT = (
    'network.links.jitter: "600 us" is the same for every packet, and jitter is random; add it to delay, '
    "or write "
    '{ distribution = "uniform", low = "0 s", high = "600 us" }'
)


def test_a_measured_loss_reaches_the_core() -> None:
    """The third and the fifth packet with data, of those that the link sends."""
    scenario = Scenario.loads(TEXT.replace("{setting}", 'loss = { algorithm = "trace", packets = [3, 5] }'))
    assert scenario.run().flows["drops_random"].to_list() == [2]


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ('jitter = "0.6 ms"', CONSTANT),
        ('jitter = { distribution = "constant", value = "0.6 ms" }', CONSTANT),
        (
            'loss = { algorithm = "trace", packets = [3, 17, 9] }',
            "network.links.loss.packets: 9 stands behind 17; the numbers must rise, from 1 on",
        ),
        (
            'loss = "trace"',
            'network.links.loss: "trace" needs packets; write { algorithm = "trace", packets = ... }',
        ),
    ],
)
def test_what_a_link_cannot_have_is_refused(setting: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        Scenario.loads(TEXT.replace("{setting}", setting))
    assert [str(each) for each in refusal.value.problems] == [problem]


def test_a_jitter_of_nothing_is_none() -> None:
    Scenario.loads(TEXT.replace("{setting}", 'jitter = "0 s"'))


def test_a_refusal_survives_the_way_between_processes() -> None:
    with pytest.raises(ScenarioError) as refusal:
        Scenario.loads(TEXT.replace("{setting}", 'jitter = "1 ms"'))
    copy = pickle.loads(pickle.dumps(refusal.value))
    assert (str(copy), copy.problems) == (str(refusal.value), refusal.value.problems)
