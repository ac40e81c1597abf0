"""A small part of ``make attack``, and that its checks notice what they are for."""

import contextlib
import importlib
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import anabranch.results.result as result_module
from anabranch import Scenario, ScenarioError
from anabranch.media.page import embedded
from anabranch.media.page.data import table_data
from anabranch.media.pieces import DataTable
from anabranch.process.console import print_json
from anabranch.report import spreadsheet
from anabranch.report.html import latency_data, multipath_data, run_data
from anabranch.results.result import csv_bytes
from anabranch.study import execute, store
from anabranch.terminal import cli

ROOT = Path(__file__).parents[2]
Attack = Callable[[str], ModuleType]


MODULES = (
    "clocks",
    "dumbbells",
    "fits",
    "own_code",
    "planning",
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


@contextlib.contextmanager
def modules() -> Iterator[Attack]:
    """The modules of the attack, anew. What they replace in the process, as how studies run, is put back."""
    before = {name: sys.modules.pop(name) for name in MODULES if name in sys.modules}
    sys.path.insert(0, str(ROOT / "checks" / "attack"))
    run_locally = execute.run_locally
    try:
        yield importlib.import_module
    finally:
        vars(execute)["run_locally"] = run_locally
        sys.path.remove(str(ROOT / "checks" / "attack"))
        for name in MODULES:
            sys.modules.pop(name, None)
        sys.modules.update(before)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the mutants damage."""
    folder = tmp_path_factory.mktemp("attack") / "seeds"
    with modules() as attack:
        attack("mutants").write_seeds(folder)
    return folder


@pytest.fixture
def attack(seeds: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Attack]:
    """The modules of the attack, whose seeds are made once."""
    with modules() as attack:
        monkeypatch.setattr(attack("mutants"), "write_seeds", lambda folder: shutil.copytree(seeds, folder))
        yield attack


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
        for number in range(200):
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
            made.append((place, number, arguments, {f.name: _inside(f) for f in folder.glob("x.*")}))
    assert [one[1:] for one in made[:40]] == [other[1:] for other in made[40:]]


def _inside(file: Path) -> str | bytes:
    """What a file is or, of a regular one, has."""
    if file.is_symlink():
        return str(file.readlink())
    return file.read_bytes() if file.is_file() else stat.filemode(file.lstat().st_mode)


def test_the_files_of_a_case_without_an_end_are_not_copied(attack: Attack, tmp_path: Path) -> None:
    (tmp_path / "case").mkdir()
    os.mkfifo(tmp_path / "case" / "pipe")
    (tmp_path / "case" / "zeros").symlink_to("/dev/zero")
    (tmp_path / "case" / "x.toml").write_text("")
    attack("worker").copy_inputs(tmp_path / "case", tmp_path / "copy")
    assert sorted(file.name for file in (tmp_path / "copy").iterdir()) == ["x.toml", "zeros"]
    assert (tmp_path / "copy" / "zeros").is_symlink()


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("raise KeyError(1)", "traceback"),
        ("print('\\x1b[2J')", "traceback"),
        ("print('{}'); print('\\x1b[2J', file=sys.__stderr__)", "traceback"),
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
        "import os, signal, sys, time, types\nif 'multiprocessing' in ' '.join(sys.orig_argv):\n"
        # It draws nothing, and Matplotlib takes a second.
        "    sys.modules['anabranch.report.plots.every'] = types.ModuleType('every')\n"
        "    import anabranch.terminal.cli\n    from anabranch.process.signals import ending, exit_status\n"
        "    def main():\n        try:\n            with ending():\n"
        f"                {code}\n"
        "        except KeyboardInterrupt:\n            sys.exit(exit_status())\n"
        "    anabranch.terminal.cli.main = main\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(stand_in.parent))


def test_a_late_ctrl_c_is_not_the_programs(attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that meets the last lines of its main function, or the attack's own clean-up."""
    worker = attack("worker")
    names: dict[str, Any] = {}
    program = "def main():\n    raise KeyboardInterrupt\ndef inside():\n    main()\n"
    exec(compile(program, "/x/anabranch/terminal/cli.py", "exec"), names)  # noqa: S102 - a stand-in
    monkeypatch.setattr("anabranch.terminal.cli.main", names["main"])
    assert worker._ended(5.0) == ("status", 130)
    monkeypatch.setattr("anabranch.terminal.cli.main", names["inside"])
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
    assert any(complaint in entry for entry in invariants.complaints(rows["flows"], rows["links"], TWO))


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
            data = orders.enriched(draw, draws.scenario(draw))
            result = Scenario.from_data(data).run()
        except ScenarioError:
            continue
        results.append(orders.rows_of(result.tables))
        assert list(orders.violations(results[-1], trains=orders.has_trains(data))) == []
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
    remains = {fault: set(faults.left_lying(tmp_path, fault)) for fault in ("SIGKILL", "SIGTERM")}
    full = {f"left lying: {name}" for name in (".anabranch-fedcba9876543210", ".other")}
    assert remains["SIGKILL"] == full
    assert remains["SIGTERM"] == full | {"left lying: .anabranch-0123456789abcdef"}


FORMS = {
    "network": TWO["network"],
    "traffic": [
        {"from": "h0", "to": "h1", "flows": 2, "size": "100 kB", "transport": "newreno"},
        {"from": "h0", "to": "h1", "size": "20 kB", "transport": "mptcp"},
        {"from": "h0", "to": "h1", "application": {"kind": "ping"}},
    ],
    "run": {"duration": "1000 ms"},
}
"""Every table of a page has a row."""


def emptied(columns: list[Any]) -> list[Any]:
    return [
        column | {"data": {"kind": "f4", "base64": ""}} if "data" in column else column for column in columns
    ]


def exchanged(columns: list[Any]) -> list[Any]:
    """The first has the numbers of another."""
    first = next(place for place, column in enumerate(columns) if "data" in column)
    others = [column["data"] for column in columns[first + 1 :] if "data" in column]
    numbers = next(other for other in others if other != columns[first]["data"])
    return [*columns[:first], columns[first] | {"data": numbers}, *columns[first + 1 :]]


@pytest.mark.parametrize("table", ["flows", "links", "connections", "subflows", "datagram_flows"])
@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (emptied, "row 0: inf"),
        (lambda columns: columns[:-1], "is not there"),
        (exchanged, "row 0"),
    ],
)
def test_a_page_that_shows_other_numbers_is_noticed(
    attack: Attack, monkeypatch: pytest.MonkeyPatch, table: str, broken: Callable[[Any], Any], complaint: str
) -> None:
    orders_files = attack("orders_files")
    result = Scenario.from_data(FORMS).run()

    def page() -> str:
        return f'<script type="application/json" id="data">{embedded(run_data.run_document(result))}</script>'

    assert list(orders_files.differences_of_page(page(), result.tables)) == []
    for module in (run_data, multipath_data, latency_data):

        def written(shown: DataTable) -> dict[str, Any]:
            data = table_data(shown)
            return data | {"columns": broken(data["columns"])} if shown.name == table else data

        monkeypatch.setattr(module, "table_data", written)
    entries = list(orders_files.differences_of_page(page(), result.tables))
    assert any(line.startswith(f"page: {table}.") and complaint in line for line in entries), entries


def test_what_json_and_parquet_do_not_show_is_noticed(
    attack: Attack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    orders_files, scenario = attack("orders_files"), Scenario.from_data(FORMS)
    result = scenario.run()

    def complaints(name: str) -> list[str]:
        (tmp_path / name).mkdir()
        return list(orders_files.differences(scenario, result, tmp_path / name))

    assert complaints("whole") == []
    breaks: dict[str, Callable[[Any], Any]] = {
        "has 2 rows of 3": lambda document: document | {"flows": document["flows"][1:]},
        "row 0: flow is 2": lambda document: document | {"flows": document["flows"][::-1]},
        "has the tables": lambda document: {key: document[key] for key in document if key != "flows"},
        "has other columns": lambda document: (
            document | {"flows": [{"flow": row["flow"]} for row in document["flows"]]}
        ),
    }
    for number, (complaint, broken) in enumerate(breaks.items()):
        with monkeypatch.context() as patch:
            patch.setattr(cli, "print_json", lambda document, broken=broken: print_json(broken(document)))
            assert any(complaint in line for line in complaints(f"{number}")), complaint
    write = result_module.write_parquet
    monkeypatch.setattr(result_module, "write_parquet", lambda table, file: write(table.reverse(), file))
    assert "flows.parquet is not the table" in complaints("reversed")


def test_what_files_of_a_study_have_elsewhere_is_noticed(
    attack: Attack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Values of runs and cells that are in the files, and in the wrong row or column."""
    orders_files = attack("orders_files")
    # Losses are drawn, so that no two runs are the same.
    links = [link | {"loss": 0.05} for link in TWO["network"]["link"]]
    scenario = Scenario.from_data(FORMS | {"network": TWO["network"] | {"link": links}})
    frame, rows = spreadsheet._Sheets._frame, spreadsheet._Layout.rows

    def elsewhere(self: Any, name: str, table: pl.DataFrame) -> None:
        frame(
            self, name, table.select(pl.all().shift(1, fill_value=7)) if name == "Cells" else table.reverse()
        )

    def printed(document: Any) -> None:
        print_json({**document, "cells": [{**document["cells"][0], "runs": 7}]})

    monkeypatch.setattr(store, "csv_bytes", lambda table: csv_bytes(table.reverse()))
    monkeypatch.setattr(spreadsheet._Sheets, "_frame", elsewhere)
    monkeypatch.setattr(
        spreadsheet._Layout, "rows", lambda self, block: (row[::-1] for row in rows(self, block))
    )
    monkeypatch.setattr(cli, "print_json", printed)
    entries = list(orders_files.differences_of_study(scenario, tmp_path / "study"))
    for complaint in (
        "runs.csv, row 0: run is 1",
        "study.xlsx: Runs, row 0: run is 1",
        "study.xlsx: Cells, row 0: cell is 7",
        "study.xlsx: delivered in all (Mbps), mean is",
        "study --json, row 0: runs is 7",
    ):
        assert any(line.startswith(complaint) for line in entries), (complaint, entries)


def test_drops_of_links_that_no_flow_has_are_noticed(attack: Attack) -> None:
    orders = attack("orders")
    result = Scenario.from_data(TWO | {"run": {"duration": "1 s", "link_series": True}}).run()
    rows = orders.rows_of(result.tables)
    for change, trains, message in ((1, False, True), (1, True, True), (0, False, False)):
        links = [dict(row) for row in rows["links"]]
        links[0]["drops_queue"] += change
        entries = list(orders.violations({**rows, "links": links}, trains=trains))
        assert any(line.endswith(orders.DROPS_REASON) for line in entries) == message
    flows = [row | {"drops_random": 3, "drops_data": 3, "segments_sent": row["segments_sent"] + 3}
             for row in rows["flows"]]  # fmt: skip
    for trains in (False, True):
        entries = list(orders.violations({**rows, "flows": flows}, trains=trains))
        assert any(line.endswith(orders.DROPS_REASON) for line in entries) != trains


def run_attack(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "checks" / "attack"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603


def test_the_page_of_some_parts_says_so_and_has_their_sections(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    done = run_attack(
        "--parts", "scenarios", "--scenarios", 1, "--jobs", 1, "--folder", tmp_path, "--page", page
    )
    assert (done.returncode, done.stderr) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert f"attack --parts scenarios --scenarios 1 --jobs 1 --folder {tmp_path} --page {page}`" in text
    assert ", 1 process, " in text
    assert "Parts that were left out: inputs, orders, faults, lines, places, users.\n" in text
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## Random scenarios"]
    assert "Of 1 random scenario, 1 is clean." in text


def test_no_processes_are_refused() -> None:
    done = run_attack("--jobs", 0)
    assert done.returncode == 2
    assert "--jobs: 0 does nothing; take 1 or more" in done.stderr
