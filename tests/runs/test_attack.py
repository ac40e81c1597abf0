"""A small part of ``make attack``, and that its checks notice what they are for."""

import importlib
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from anabranch import Scenario, ScenarioError

ROOT = Path(__file__).parents[2]
Attack = Callable[[str], ModuleType]


@pytest.fixture
def attack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Attack]:
    """The modules of the attack."""
    monkeypatch.syspath_prepend(str(ROOT / "attack"))
    names = (
        "clocks",
        "own_code",
        "received",
        "worker",
        "mutation",
        "mutants",
        "inputs",
        "draws",
        "invariants",
        "orders",
        "orders_files",
    )
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)


def test_three_mutants_of_each_kind_are_no_defects(attack: Attack, tmp_path: Path) -> None:
    inputs, mutants = attack("inputs"), attack("mutants")
    of_kind: dict[str, list[int]] = {}
    for number in range(20_000, 20_300):
        of_kind.setdefault(mutants.kind_of(number), []).append(number)
    numbers = sorted(number for numbers in of_kind.values() for number in numbers[:3])
    verdicts = list(inputs.attack(numbers, "1", tmp_path, 2))
    assert [f"{v.number}: {v.outcome} {v.detail}" for v in verdicts if v.outcome in inputs.DEFECTS] == []
    assert sorted(verdict.number for verdict in verdicts) == numbers
    assert of_kind.keys() == mutants.SHARES.keys()
    assert Counter(verdict.outcome for verdict in verdicts)["done"] >= 5


def test_what_is_mutated_works(attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file that a scenario names, own code of each kind, folders and packed captures, as they are."""
    mutants, mutation, worker = attack("mutants"), attack("mutation"), attack("worker")
    own_code, received = attack("own_code"), attack("received")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.setattr(mutation, "of_bytes", lambda _, content, __: content)
    monkeypatch.setattr(mutation, "of_words", lambda _, content, __: content)
    monkeypatch.setattr(mutation, "changed", lambda _, content, *__: content)
    monkeypatch.setattr(own_code, "_changed", lambda _, source, __: source.encode())
    seeds = tmp_path / mutants.SEEDS
    mutants.write_seeds(seeds)
    (tmp_path / "scratch").mkdir()
    made = mutants.Mutants(tmp_path / "scratch")
    refused = []
    for kind, wanted in (("files", len(mutants._NAMED)), ("own code", 5), ("both ends", 2)):
        seen: set[str] = set()
        for number in range(60):
            folder = tmp_path / f"{kind}-{number}"
            folder.mkdir()
            arguments = made._prepare[kind](random.Random(f"{number}"), folder)  # noqa: S311 - a test
            names = "".join(sorted(file.name for file in folder.iterdir()))
            title = next(iter(folder.glob("received/mine.toml")), folder / "none")
            what = title.read_text()[:60] if title.is_file() else names + arguments[1]
            fits = kind != "own code" or ("--trust" in arguments and arguments[0] == "run")
            if what in seen or not fits:
                continue
            seen.add(what)
            outcome, detail = worker.call(arguments, folder)
            refused += [(kind, number, arguments, detail)] * (outcome != "done")
            if len(seen) == wanted:
                break
        assert len(seen) == wanted
    assert refused == []
    assert sorted(received.PACKED) == ["gzip", "plain", "zstd"]


def test_a_mutant_is_the_same_every_time(attack: Attack, tmp_path: Path) -> None:
    made = []
    mutants = attack("mutants")
    mutants.write_seeds(tmp_path / mutants.SEEDS)
    for place in ("one", "two"):
        writer = mutants.Mutants(tmp_path / place)
        for number in range(40):
            folder = tmp_path / place / str(number)
            folder.mkdir(parents=True)
            draw = random.Random(f"1 {number}")  # noqa: S311 - a test
            arguments = writer.write(number, draw, folder)
            made.append((place, number, arguments, {f.name: f.read_bytes() for f in folder.glob("x.*")}))
    assert [one[1:] for one in made[:40]] == [other[1:] for other in made[40:]]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("raise KeyError(1)", "traceback"),
        ("print('\\x1b[2J')", "traceback"),
        ("sys.exit(3)", "traceback"),
        ("sys.exit(2)", "traceback"),
        ("bytearray(3 * 2**30)", "memory"),
        ("open('large', 'wb').truncate(3 * 2**30); print('{}')", "output"),
        ("os.abort()", "crash"),
        ("signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)", "hang"),
        ("time.sleep(60)", "interrupted"),
        ("while True: pass", "interrupted"),
        ("print('{}')", "done"),
    ],
)
def test_every_defect_is_noticed(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, outcome: str
) -> None:
    """A program in place of ours that does what none should."""
    _stand_in(tmp_path, monkeypatch, code)
    worker, inputs = attack("worker"), attack("inputs")
    monkeypatch.setattr(worker, "ANSWER_S", 3.0)
    (verdict,) = inputs.attack([0], "1", tmp_path / "out", 1)
    assert verdict.outcome == outcome, verdict.detail
    assert any((tmp_path / "out").glob(f"{outcome}-0/arguments.json")) == (outcome in inputs.DEFECTS)


def _stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Has processes of the attack run a statement in place of the command line."""
    stand_in = tmp_path / "path" / "sitecustomize.py"
    stand_in.parent.mkdir()
    stand_in.write_text(
        "import os, signal, sys, time\nif 'multiprocessing' in ' '.join(sys.orig_argv):\n"
        "    import anabranch.cli\n    from anabranch.signals import ending, exit_status\n"
        "    def main():\n        try:\n            with ending():\n"
        f"                {code}\n"
        "        except KeyboardInterrupt:\n            sys.exit(exit_status())\n"
        "    anabranch.cli.main = main\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(stand_in.parent))


def test_a_late_ctrl_c_is_not_the_programs(attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that meets the last lines of its main function, or the attack's own clean-up."""
    worker = attack("worker")
    names: dict[str, Any] = {}
    program = "def main():\n    raise KeyboardInterrupt\ndef inside():\n    main()\n"
    exec(compile(program, "/x/anabranch/cli.py", "exec"), names)  # noqa: S102 - a stand-in
    monkeypatch.setattr("anabranch.cli.main", names["main"])
    assert worker._ended(5.0) == ("status", 130)
    monkeypatch.setattr("anabranch.cli.main", names["inside"])
    assert worker._ended(5.0)[0] == "traceback"
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_what_hangs_beside_others_is_tried_again_alone(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program hangs once, as one that others have starved seems to, and answers the next time."""
    code = (
        f"os.mkdir({str(tmp_path / 'once')!r}); signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"
    )
    _stand_in(
        tmp_path, monkeypatch, f"os.path.isdir({str(tmp_path / 'once')!r}) or exec({code!r}); print('{{}}')"
    )
    worker, inputs = attack("worker"), attack("inputs")
    monkeypatch.setattr(worker, "ANSWER_S", 1.0)
    monkeypatch.setattr(worker, "SOON_WALL", 0)
    verdicts = list(inputs.attack([0, 1], "1", tmp_path / "out", 2))
    assert [verdict.outcome for verdict in verdicts] == ["done", "done"]


def test_a_limit_of_processor_time_is_not_one_of_real_time(attack: Attack) -> None:
    clocks = attack("clocks")
    with clocks.at_most(0.2):
        time.sleep(0.6)
    with pytest.raises(clocks.TooLongError, match=r"0\.2 s of processor time"), clocks.at_most(0.2):
        _spin()
    with pytest.raises(clocks.TooLongError, match=r"0\.5 s of real time") as late, clocks.at_most(0.05):
        time.sleep(5)
    assert late.value.by_wall


def _spin() -> None:
    while True:
        pass


def test_a_sleeper_is_told_from_who_works(attack: Attack) -> None:
    clocks = attack("clocks")
    works = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    sleeps = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        time.sleep(1)
        watched = [clocks.Activity(process.pid) for process in (works, sleeps)]
        time.sleep(1)
        (_, idle_s), (used_s, asleep_s) = [activity.look() for activity in watched]
        assert idle_s < 0.5
        assert used_s == 0
        assert asleep_s > 0.9
    finally:
        works.kill()
        sleeps.kill()
        works.wait()
        sleeps.wait()


def test_what_was_slow_is_done_again_after_the_others(attack: Attack) -> None:
    clocks = attack("clocks")
    outcomes = list(clocks.alone_again(abs, [-1, 2, -3], 2, lambda outcome: outcome == 1))
    assert (sorted(outcomes), outcomes[-1]) == ([1, 2, 3], 1)


def test_random_scenarios_are_clean(attack: Attack) -> None:
    invariants = attack("invariants")
    findings = [invariants.Finding(number) for number in range(0, 24, 2)]
    for finding in findings:
        invariants.check(f"test {finding.number}", finding)
    assert [(finding.number, complaint) for finding in findings for complaint in finding.complaints] == []
    assert sum(finding.studied for finding in findings) == 4


def test_the_maximum_flow_is_the_minimum_cut(attack: Attack) -> None:
    """Cormen et al., Introduction to Algorithms, figure 26.1: 23 from s to t."""
    edges = "s-a:16 s-c:13 a-b:12 c-a:4 b-c:9 c-d:14 d-b:7 b-t:20 d-t:4"
    capacities: dict[str, dict[str, float]] = {}
    for edge in edges.split():
        ends, capacity = edge.split(":")
        capacities.setdefault(ends[0], {})[ends[2]] = float(capacity)
    assert attack("invariants").maximum_flow(capacities, "s", "t") == 23


TWO: dict[str, Any] = {
    "network": {
        "node": [{"name": "r0", "kind": "router"}, *({"name": f"h{n}", "kind": "host"} for n in (0, 1))],
        "link": [
            {
                "between": [f"h{n}", "r0"],
                "new": True,
                "capacity": "5 Mbps",
                "delay": "5 ms",
                "queue": "5 packets",
            }
            for n in (0, 1)
        ],
    },
    "traffic": [{"from": "h0", "to": "h1", "size": "100 kB", "transport": "newreno"}],
    "run": {"duration": "1000 ms"},
}


@pytest.mark.parametrize(
    ("table", "column", "change", "complaint"),
    [
        ("flows", "segments_sent", 1, "segments were sent"),
        ("flows", "packets_in_flight", 1, "segments were sent"),
        ("flows", "drops_random", 1, "causes"),
        ("flows", "delivered_bytes", 10**6, "through a cut of 5.0 Mbps"),
        ("flows", "delivered_bytes", 1, "complete with 100001"),
        ("flows", "goodput_mbps", 0.1, "goodput"),
        ("flows", "completion_s", -0.1, "and it takes 0.1"),
        ("flows", "completion_s", 1.0, "after the run"),
        ("flows", "rtt_min_ms", -2.0, "and the way takes 20"),
        ("links", "utilization", 1.0, "utilization"),
        ("links", "utilization", -0.15, "its bytes say"),
        ("links", "bytes", 10**6, "over 5.0 Mbps"),
        ("links", "drops_queue", 1, "drops_queue"),
    ],
)
def test_every_invariant_can_fail(
    attack: Attack, table: str, column: str, change: float, complaint: str
) -> None:
    invariants = attack("invariants")
    result = Scenario.from_data(TWO).run()
    rows = {"flows": result.flows.to_dicts(), "links": result.links.to_dicts()}
    assert list(invariants.complaints(rows["flows"], rows["links"], TWO)) == []
    rows[table][0][column] += change
    assert any(complaint in found for found in invariants.complaints(rows["flows"], rows["links"], TWO))


def test_columns_have_their_orders_and_sums(attack: Attack) -> None:
    """A few of the scenarios of the attack, one of them with its files and as a study."""
    orders = attack("orders")
    assert [orders._checked("2", number) for number in range(12)] == [[]] * 12


def test_every_relation_between_columns_notices_what_breaks_it(attack: Attack) -> None:
    """A column is made larger, or smaller, in the tables of runs that keep every relation."""
    orders, draws = attack("orders"), attack("draws")
    results = []
    for number in range(40):
        draw = random.Random(f"3 orders {number}")  # noqa: S311 - a test
        try:
            result = Scenario.from_data(orders.enriched(draw, draws.scenario(draw))).run()
        except ScenarioError:
            continue
        results.append(orders.rows_of(result.tables))
        assert list(orders.violations(results[-1])) == []
    # What is broken: table, column, and by how much.
    broken: dict[object, tuple[str, str, float]] = {}
    for order in orders.ORDERS:
        broken[order] = (order.table, order.columns[0], 1e12)
    for total in orders.TOTALS:
        broken[total] = (total.table, total.parts[0], 1e12)
    for ratio in orders.RATIOS:
        broken[ratio] = (ratio.table, ratio.ratio, 1e12)
    for across in orders.ACROSS:
        broken[across] = (across.table, across.column, -1e12 if across.relation == ">=" else 1e12)
    for rise in orders.RISES:
        broken[rise] = (rise.table, rise.column, 1e12)
    unnoticed = [
        relation for relation, where in broken.items() if not _is_noticed(orders, results, relation, where)
    ]
    assert unnoticed == []


def _is_noticed(orders: ModuleType, results: list[Any], relation: Any, where: tuple[str, str, float]) -> bool:
    table, column, by = where
    for tables in results:
        rows = [dict(row) for row in tables.get(table, ())]
        for row in rows[: 1 if isinstance(relation, orders.Rise) else None]:
            if row[column] is not None:
                row[column] = None if getattr(relation, "aggregate", "") == "count" else row[column] + by
        if any(line.endswith(relation.reason) for line in orders.violations({**tables, table: rows})):
            return True
    return False


def test_an_empty_folder_that_a_kill_has_left_is_no_defect(attack: Attack, tmp_path: Path) -> None:
    faults = attack("faults")
    for name in (".anabranch-0123456789abcdef", ".anabranch-fedcba9876543210", ".other"):
        (tmp_path / name).mkdir()
    (tmp_path / ".anabranch-fedcba9876543210" / "ticket.json").write_text("{}")
    told = {fault: set(faults.left_lying(tmp_path, fault)) for fault in ("SIGKILL", "SIGTERM")}
    full = {f"left lying: {name}" for name in (".anabranch-fedcba9876543210", ".other")}
    assert told["SIGKILL"] == full
    assert told["SIGTERM"] == full | {"left lying: .anabranch-0123456789abcdef"}
