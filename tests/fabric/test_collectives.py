"""Flows that wait for others, and collective operations."""

import re

import pytest
from fabric_runs import Fabric, idle_path_us

from anabranch import Result
from anabranch.media.pieces import DataTable
from anabranch.report.html.page import run_report
from anabranch.report.html.run_data import run_document
from anabranch.report.views.cards import cards
from anabranch.report.views.run import run_pieces, run_tables

NEAR = '"*"'
HOSTS = 16


def collective(operation: str, size: str, more: str = "") -> str:
    return (
        '[[traffic]]\nname = "c"\nfrom = "*"\ntransport = "x"\n'
        f'collective = {{ operation = "{operation}", bytes = "{size}"{more} }}\n'
    )


def _shown(result: Result) -> DataTable:
    """The table of collectives on a terminal."""
    pieces = run_pieces("c", result)
    (table,) = [piece for piece in pieces if isinstance(piece, DataTable) and piece.name == "collectives"]
    return table


def receipt_us(size: int, hops: int) -> float:
    """Until the last byte has arrived, which is a way of a header earlier than its acknowledgment."""
    return idle_path_us(size, 100, hops) - hops * (64 * 8 / 100e3 + 1)


def test_a_flow_begins_when_the_one_before_it_is_complete(fabric: Fabric) -> None:
    """Two flows of 1 MB between the same hosts, one after the other: twice the closed form."""
    rest = "".join(
        f'[[traffic]]\nname = "{name}"\nfrom = "host1.1.1"\nto = "host3.1.1"\nsize = "1 MB"\n'
        f'transport = "x"\n{after}'
        for name, after in (("a", ""), ("b", 'after = "a"\n'), ("c", 'after = ["a", "b"]\nstart = "1 ms"\n'))
    )
    flows = fabric(rest).run().flows
    one = receipt_us(1_000_000, 6) / 1e6
    assert flows["completion_s"].to_list() == pytest.approx([one] * 3, rel=1e-3)
    assert flows["start_s"].to_list() == pytest.approx([0, one, 1e-3], rel=1e-3)


@pytest.mark.parametrize(
    ("operation", "steps"), [("ring-all-reduce", 30), ("all-gather", 15), ("reduce-scatter", 15)]
)
def test_a_ring_takes_the_sum_of_its_steps(fabric: Fabric, operation: str, steps: int) -> None:
    """Neighbours in the order of hosts never share a link.

    A part of 1 MB passes over 2, 4 or 6 links from a host to the next; chains that cross more borders take
    longer, and a part waits at no link. Each chain takes the sum of its steps, by the closed form.
    """
    result = fabric(collective(operation, "16 MB")).run()
    hops = [6 if n % 4 == 3 else 4 if n % 2 else 2 for n in range(HOSTS)]
    chains = [sum(receipt_us(1_000_000, hops[(c + s) % HOSTS]) for s in range(steps)) for c in range(HOSTS)]
    row = result.collectives.row(0, named=True)
    assert (row["hosts"], row["steps"], row["flows"], row["unfinished_flows"]) == (
        HOSTS,
        steps,
        HOSTS * steps,
        0,
    )
    assert row["completion_s"] * 1e6 == pytest.approx(max(chains), rel=0.02)
    steps_table = result.collective_steps
    assert len(steps_table) == steps
    assert steps_table["start_s"].is_sorted()


def test_an_all_to_all_takes_the_time_of_its_bytes(fabric: Fabric) -> None:
    """15 parts of 250 kB leave each host; one after another each takes its closed form."""
    at_once = fabric(collective("all-to-all", "4 MB"), transport="path_selector = 'random'").run().collectives
    packets = -(-250_000 // 4086)
    line_us = 15 * (250_000 + 64 * packets) * 8 / 100e3
    assert line_us < at_once["completion_s"][0] * 1e6 < 1.1 * line_us
    in_turn = fabric(collective("all-to-all", "4 MB", ", at_once = false")).run().collectives
    parts_us = sum(receipt_us(250_000, hops) for hops in [2, 4, 4, *[6] * 12])
    assert parts_us * 0.95 < in_turn["completion_s"][0] * 1e6 < parts_us * 1.5


def test_compute_time_stands_between_steps(fabric: Fabric) -> None:
    """30 steps with 10 us between them: 29 times 10 us longer."""
    without = fabric(collective("ring-all-reduce", "1.6 MB")).run().collectives["completion_s"][0]
    slower = fabric(collective("ring-all-reduce", "1.6 MB", ', compute = "10 us"')).run().collectives
    assert slower["completion_s"][0] - without == pytest.approx(29 * 10e-6, rel=1e-3)


def test_a_collective_runs_over_tcp(fabric: Fabric) -> None:
    """Each step has a handshake, so that it is slower."""
    rest = collective("all-gather", "1.6 MB").replace('"x"', '"dctcp-fabric"')
    queue = '{ algorithm = "threshold", limit = "100 packets", mark_at = "22 packets" }'
    tcp = fabric(rest, queue=queue).run().collectives
    spray = fabric(collective("all-gather", "1.6 MB")).run().collectives
    assert tcp["unfinished_flows"][0] == 0
    assert tcp["completion_s"][0] > spray["completion_s"][0]


def test_what_is_not_complete_is_said(fabric: Fabric) -> None:
    """A run that ends early: no completion, and how many flows are missing."""
    scenario = fabric(collective("ring-all-reduce", "160 MB"))
    result = scenario.replace({"run.duration": "100 us"}).run()
    row = result.collectives.row(0, named=True)
    assert row["completion_s"] is None
    assert row["unfinished_flows"] == 480
    # What waits has no start yet.
    assert result.flows["start_s"].null_count() == 464
    (card,) = [card for card in cards(result) if card.label == "Collective"]
    assert (card.value, "480 of 480 flows unfinished" in card.note) == ("not complete", True)
    assert "unfinished" in "".join(about.label for about in _shown(result).columns)


def test_page_terminal_and_workbook_show_a_collective(fabric: Fabric) -> None:
    """Each shows the completion that the table has; the page has each step besides."""
    result = fabric(collective("all-gather", "16 MB")).run()
    row = result.collectives.row(0, named=True)
    page = run_report(result)
    assert re.findall(r'<section id="collectives">', page) == ['<section id="collectives">']
    operations, steps = run_document(result)["collectives"]
    assert (operations["rows"], steps["rows"]) == (1, HOSTS - 1)
    shown = _shown(result)
    named = dict(zip([about.name for about in shown.columns], shown.values, strict=True))
    assert (list(named["completion_s"]), list(named["slowest_chain"])) == (
        [row["completion_s"]],
        [row["slowest_chain"]],
    )
    assert {"collectives", "collective_steps"} <= {table.name for table in run_tables(result)}
    (card,) = [card for card in cards(result) if card.label == "Collective"]
    assert card.value == f"{row['completion_s'] * 1e3:.3g} ms"


def test_a_run_without_collectives_has_no_section_of_them(fabric: Fabric) -> None:
    result = fabric(
        '[[traffic]]\nname = "a"\nfrom = "host1.1.1"\nto = "host3.1.1"\nsize = "1 MB"\ntransport = "x"\n'
    ).run()
    assert 'id="collectives"' not in run_report(result)
    assert all("ollective" not in card.label for card in cards(result))
