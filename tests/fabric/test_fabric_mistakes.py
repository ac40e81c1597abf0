"""What cannot be meant is refused, with its place and what to do."""

import re

import pytest
from fabric_runs import Fabric

import anabranch

TOGETHER = '[[traffic]]\nfrom = {}\ncollective = {{ operation = "{}", bytes = "{}" }}\n'
FLOW = '[[traffic]]\nname = "a"\nfrom = "host1.1.1"\nto = "host3.1.1"\nsize = "1 MB"\ntransport = "x"\n'


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        (FLOW + 'after = "b"\n', "traffic[0].after"),
        (FLOW + 'after = "a"\n', 'traffic[0].after: "a" waits for itself; leave it out'),
        (
            FLOW
            + FLOW.replace('"a"', '"b"')
            + 'after = "c"\n'
            + FLOW.replace('"a"', '"c"')
            + 'after = "b"\n',
            'traffic[1].after: "b" waits for itself: for "c", and that for "b"; none of them would begin',
        ),
        (
            # The first entry is in no circle: it only waits for one.
            FLOW.replace('"a"', '"first"')
            + 'after = "d"\n'
            + "".join(
                FLOW.replace('"a"', f'"{name}"') + f'after = "{other}"\n'
                for name, other in ("bc", "cd", "db")
            ),
            'traffic[1].after: "b" waits for itself: for "c", that for "d", and that for "b"',
        ),
        (FLOW.replace('size = "1 MB"\n', "") + FLOW.replace('"a"', '"b"') + 'after = "a"\n', "have no end"),
        (
            TOGETHER.format('"*"', "all-to-all", "1 MB") + 'size = "1 MB"\n',
            "size",
        ),
        (
            TOGETHER.format('["host1.1.1", "host9.9.9"]', "all-gather", "1 MB"),
            "host9.9.9",
        ),
        (
            '[[traffic]]\nfrom = "host1.1.1"\ncollective = { operation = "all-gather", bytes = "1 MB" }\n',
            "at least two nodes",
        ),
        (
            TOGETHER.format('["host1.1.1", "host1.1.1"]', "all-gather", "1 MB"),
            "names a node twice",
        ),
        ('[[traffic]]\nfrom = "*"\ncollective = { operation = "broadcast", bytes = "1 MB" }\n', "all-to-all"),
        ('[[traffic]]\nfrom = "*"\ncollective = { operation = "all-gather", bytes = "0 B" }\n', "bytes"),
        (FLOW + '[[event]]\nat = "0 s"\nnode = "core1.1"\nstate = "silent"\n', "only a link fails silently"),
    ],
)
def test_workloads_that_cannot_be_are_refused(fabric: Fabric, rest: str, words: str) -> None:
    with pytest.raises(anabranch.AnabranchError) as refused:
        fabric(rest).run()
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("transport", "words"),
    [
        ('path_selector = { algorithm = "oblivious", values = 48 }', "power of two"),
        ('path_selector = { algorithm = "reps", values = 0 }', "values"),
        ('path_selector = "ecmp"', "path_selector"),
        ('window = { algorithm = "nscc", gamma = 2.0 }', "gamma"),
        ('congestion_control = "cubic"', "protocol"),
        ('rto = "2 s"\nmax_rto = "1 s"', "max_rto"),
        ('ack_after = "-1 B"', "ack_after"),
    ],
)
def test_transports_that_cannot_be_are_refused(fabric: Fabric, transport: str, words: str) -> None:
    with pytest.raises(anabranch.AnabranchError) as refused:
        fabric(FLOW, transport=transport).run()
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        ('{ algorithm = "trim", limit = "42 packets", header_room = 0.0 }', "header_room"),
        ('{ algorithm = "trim", limit = "42 packets", mark_from = 0.9 }', "mark_all_from"),
        (
            '{ algorithm = "trim", limit = "42 packets", header_room = 0.01 }',
            "no room for a header; give 0.0239",
        ),
        ('{ algorithm = "trim", limit = "178 kB", last_hop_room = 0.0001 }', "no room for data; give"),
    ],
)
def test_queues_that_cannot_be_are_refused(fabric: Fabric, queue: str, words: str) -> None:
    with pytest.raises(anabranch.AnabranchError) as refused:
        fabric(FLOW, queue=queue).run()
    assert words in str(refused.value)


def test_values_that_planes_cannot_share_are_refused(fabric: Fabric) -> None:
    scenario = fabric(FLOW, transport='path_selector = { algorithm = "mrc", values = 63 }')
    planes = scenario.replace({"network.parameters": {"k": 4, "planes": 2}})
    with pytest.raises(anabranch.AnabranchError, match="63 values, which 2 links of host1"):
        planes.run()


@pytest.mark.parametrize("planes", [2, 3, 4, 6])
@pytest.mark.parametrize("selector", ["random", "oblivious", "bitmap", "reps", "mixed", "mrc"])
@pytest.mark.parametrize("values", [1, 63, 64, 4096])
def test_the_number_of_values_that_is_advised_is_taken(
    fabric: Fabric, planes: int, selector: str, values: int
) -> None:
    """Whatever planes cannot share: the next run follows the advice, and runs."""

    def run(choice: dict[str, object]) -> None:
        scenario = fabric(FLOW, transport=f"path_selector = {inline(choice)}")
        scenario.replace({"network.parameters": {"k": 4, "planes": planes}, "run.duration": "1 us"}).run()

    choice: dict[str, object] = {"algorithm": selector, "values": values}
    for _ in range(3):
        try:
            run(choice)
        except anabranch.AnabranchError as refused:
            message = str(refused)
            number = re.search(r"such as (\d+)|values = (\d+)", message)
            assert "must be a power of two" in message or number, message
            if "must be a power of two" in message:
                choice["values"] = 64
                continue
            assert number
            name = re.search(r'algorithm = "(\w+)"', message)
            choice = {
                "algorithm": name[1] if name else choice["algorithm"],
                "values": int(number[1] or number[2]),
            }
        else:
            return
    pytest.fail(f"refused three times: {choice}")


def inline(table: dict[str, object]) -> str:
    return (
        "{ "
        + ", ".join(
            f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
            for key, value in table.items()
        )
        + " }"
    )


def test_captures_and_logs_have_tcp_alone(fabric: Fabric) -> None:
    for rest, words in (
        ('[[capture]]\nhost = "host1.1.1"\nfile = "a.pcapng"\n', "no byte form"),
        ('[[capture]]\nlink = ["core1.1", "aggregation1.1"]\nfile = "a.pcapng"\n', "no byte form"),
    ):
        with pytest.raises(anabranch.AnabranchError, match=words):
            fabric(FLOW + rest).run()
