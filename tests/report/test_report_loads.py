"""Routes and worst-case loads as CSV, spreadsheet and page, before and after a change of routing."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from html_runs import EVIL
from reader import Reader
from workbook import read_workbook

from anabranch import Scenario
from anabranch.errors import ResultError
from anabranch.media.columns import Column
from anabranch.media.files import check_spreadsheet, save_csv, save_spreadsheet
from anabranch.media.json import records
from anabranch.media.pieces import Badge, Bars, DataTable
from anabranch.plans.worst_loads import LoadChanges, WorstLoads, compare_loads, worst_loads
from anabranch.report.load_page import load_page, save_load_page
from anabranch.report.views.loads import load_document, load_tables
from anabranch.report.views.routes import route_tables

# One pair, 8 Mbps: over the link a - c alone, or in halves over it and over b. Links have 10 Mbps, a - b 5.
TRIANGLE = """
title = "Triangle"
[network]
node = [{ name = "a" }, { name = "b" }, { name = "c" }]
link = [
  { between = ["a", "b"], new = true, capacity = "5 Mbps" },
  { between = ["b", "c"], new = true },
  { between = ["a", "c"], new = true },
]
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[routing]
scheme = "SCHEME"
[routing.demand]
pair = { from = "file:demand.csv" }
[[traffic]]
from = "a"
to = "c"
[run]
duration = "1 s"
"""


def scenario(folder: Path, scheme: str, name: str = "", **replaced: str) -> Path:
    (folder / "demand.csv").write_text("from,to,rate\na,c,8 Mbps\n", encoding="utf-8")
    file = folder / f"{name or scheme}.toml"
    text = TRIANGLE.replace("SCHEME", scheme)
    for old, new in replaced.items():
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")
    return file


def loads_of(file: Path) -> WorstLoads:
    return worst_loads(Scenario.load(file), failures="links")


@pytest.fixture
def changes(tmp_path: Path) -> LoadChanges:
    """From the shortest path to two halves."""
    return compare_loads(loads_of(scenario(tmp_path, "disjoint")), loads_of(scenario(tmp_path, "shortest")))


def rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


def test_before_and_after_by_hand(changes: LoadChanges) -> None:
    """4 of 5 Mbps on a - b, 4 of 10 on the two others; alone, 8 of 10, or 8 of 5 where the other is down."""
    links = {one.name: (one.before, one.after) for one in changes.links}
    assert links["a->c"] == pytest.approx((0.8, 0.4))
    assert links["a->b"] == pytest.approx((0.0, 0.8))
    assert links["b->c"] == pytest.approx((0.0, 0.4))
    assert links["c->a"] == (0, 0)
    failures = {one.name: (one.before, one.after) for one in changes.failures}
    assert failures["a->c"] == pytest.approx((1.6, 1.6))
    assert failures["a->b"] == pytest.approx((0.8, 0.8))


def test_a_load_without_the_traffic_of_cut_off_pairs_is_no_gain(tmp_path: Path) -> None:
    """A robust plan of one path leaves the pair without a route; shortest paths are planned anew."""
    before = loads_of(scenario(tmp_path, "robust-single"))
    changes = compare_loads(loads_of(scenario(tmp_path, "shortest")), before)
    failure = {one.name: one for one in changes.failures}["a->c"]
    assert (failure.before, failure.after) == pytest.approx((0, 1.6))
    assert (failure.cut_before, failure.cut_after) == (1, 0)
    html = load_page(changes.after, changes)
    assert "Before, 1 failure cut pairs off, after, 0" in html
    table = load_tables(changes.after, "a->c", changes)[-1]
    assert [column.heading for column in table.columns][-2:] == ["cut off before", "cut off after"]
    first = next(iter(table.by_row()))
    assert first[0] == "a->c"
    assert first[-2:] == (1, 0)


def test_tables_as_files(changes: LoadChanges, tmp_path: Path) -> None:
    tables = load_tables(changes.after, "a->b", changes)
    files = save_csv(tables, tmp_path / "csv")
    assert [file.name for file in files] == [
        "links.csv", "failures.csv", "matrix.csv", "change_of_links.csv", "change_of_failures.csv"
    ]  # fmt: skip
    first = rows(files[0])[0]
    assert first == {
        "link": "a->b", "from": "a", "to": "b", "capacity_mbps": "5", "load_percent": "80",
        "state": "has room", "headroom_percent": "25", "failed_load_percent": "160", "failed_by": "a->c",
    }  # fmt: skip
    worst = rows(files[1])[0]
    assert (worst["down"], worst["load_percent"], worst["state"]) == ("a->c", "160", "overloaded")
    assert rows(files[2]) == [
        {"from": "a", "to": "c", "traffic_mbps": "8", "share_over_the_link_percent": "50"}
    ]
    change = {row["link"]: row for row in rows(files[3])}
    assert (change["a->c"]["change_points"], change["a->c"]["verdict"]) == ("-40", "less")
    assert (change["a->b"]["change_points"], change["a->b"]["verdict"]) == ("80", "more")
    assert change["c->b"]["verdict"] == "as before"


def test_the_spreadsheet_has_charts_over_its_cells(changes: LoadChanges, tmp_path: Path) -> None:
    tables = load_tables(changes.after, "a->b", changes)
    file = save_spreadsheet("Loads", tables, tmp_path / "x.xlsx")
    again = save_spreadsheet("Loads", tables, tmp_path / "y.xlsx")
    assert file.read_bytes() == again.read_bytes()
    book = read_workbook(file)
    assert list(book.cells) == ["links", "failures", "matrix", "change_of_links", "change_of_failures"]
    heads = [book.one(f"links!${column}$3") for column in "ABCDEF"]
    assert heads == ["link", "from", "to", "capacity (Mbps)", "load (%)", "state"]
    assert (book.one("links!$A$4"), book.one("links!$E$4")) == ("a->b", pytest.approx(80))
    links, failures, by_link, by_failure = book.charts
    assert book.at(links.series[0].categories)[0] == "a->b"
    assert book.at(links.series[0].values) == pytest.approx([80, 40, 40, 0, 0, 0])
    assert book.at(failures.series[0].values) == pytest.approx([160, 80, 80])
    assert [book.one(series.name) for series in by_link.series] == ["before (%)", "after (%)"]
    assert dict(zip(book.at(by_link.series[1].categories), book.at(by_link.series[1].values), strict=True))[
        "a->b"
    ] == pytest.approx(80)
    assert (links.axes, by_link.axes) == (["link", "load (%)"], ["link"])
    assert (links.legend, by_link.legend) == (False, True)
    assert len(by_failure.series) == 2


def test_texts_stay_texts(tmp_path: Path) -> None:
    """No formula of a name, no second row of a line break."""
    columns = (Column("name", "name"), Column("traffic_mbps", "traffic", "Mbps"))
    rows = [(f'=1+1"{EVIL}\n,', 1.5), ("none", None), ("nan", float("nan"))]
    table = DataTable.of_rows("t", "evil", columns, rows, chart=Bars("name", ("traffic_mbps",)))
    (file,) = save_csv([table], tmp_path)
    entries = list(csv.reader(StringIO(file.read_bytes().decode(), newline="")))
    # An apostrophe keeps a spreadsheet from running it.
    assert entries == [["name", "traffic_mbps"], [f"'=1+1\"{EVIL}\n,", "1.5"], ["none", ""], ["nan", ""]]
    book = read_workbook(save_spreadsheet("t", [table], tmp_path / "t.xlsx"))
    assert str(book.one("t!$A$4")).startswith("=1+1")
    assert book.formulas == 0


def test_routes_as_files(tmp_path: Path) -> None:
    routes = Scenario.load(scenario(tmp_path, "disjoint")).routes()
    paths, lengths = save_csv(route_tables(routes), tmp_path / "csv")
    data = [row for row in rows(paths) if row["carries"] == "data"]
    wanted = ("path", "weight", "hops", "delay_ms", "bottleneck_mbps")
    assert [tuple(row[name] for name in wanted) for row in data] == [
        ("a > c", "0.5", "1", "1", "10"), ("a > b > c", "0.5", "2", "2", "5")
    ]  # fmt: skip
    assert [(row["hops"], row["paths"]) for row in rows(lengths)] == [("1", "2"), ("2", "2")]
    hop_by_hop = Scenario.load(scenario(tmp_path, "ecmp")).routes()
    (hops,) = save_csv(route_tables(hop_by_hop), tmp_path / "hops")
    assert (hops.name, rows(hops)[0]) == (
        "next_hops.csv", {"from": "a", "to": "c", "at": "a", "next": "c", "share": "1"}
    )  # fmt: skip


def test_the_page_says_what_happens(changes: LoadChanges) -> None:
    html = re.sub(r"\s+", " ", load_page(changes.after, changes, warnings=["Mind the gap."]))
    for sentence in (
        "No link can be overloaded while all links are up: the most that traffic within the bounds can load "
        "any link is 80 % of its capacity, on a-&gt;b (5 Mbps).",
        "1 of 3 failures of a single link can overload another one: the worst is a-&gt;c (both directions), "
        "with 160 % on a-&gt;b. None of them cuts a pair off.",
        "The worst case stays the same, from 80 % with shortest to 80 % with disjoint; 1 link can be loaded "
        "less than before, 2 more.",
        "Note: Mind the gap.",
    ):
        assert sentence in html
    assert not re.findall(r'(?:src|href)="(?!data:|#)', html)


def test_a_pair_that_is_cut_off_is_named(tmp_path: Path) -> None:
    """Without b, one failure leaves no way from a to c."""
    file = scenario(tmp_path, "shortest", "line")
    text = file.read_text(encoding="utf-8")
    text = text.replace('  { between = ["a", "b"], new = true, capacity = "5 Mbps" },\n', "")
    file.write_text(text, encoding="utf-8")
    loads = loads_of(file)
    html = load_page(loads)
    assert "But 1 of 2 failures cut pairs off: these pairs have no route" in html
    failures = next(named for named in load_tables(loads, "a->c") if named.name == "failures")
    assert {row[0]: (row[4], row[5]) for row in failures.by_row()}["a->c"] == (1, "a - c")
    badges = {row[0]: row[2] for row in failures.by_row()}
    assert badges["a->c"] == Badge("cuts pairs off", "bad")


def test_names_of_a_scenario_are_no_html(tmp_path: Path) -> None:
    file = scenario(tmp_path, "shortest", "evil", **{'"a"': json.dumps(EVIL)})
    (tmp_path / "demand.csv").write_text(f'from,to,rate\n"{EVIL.replace(chr(34), chr(34) * 2)}",c,8 Mbps\n')
    html = load_page(loads_of(file))
    assert EVIL not in html


def test_a_reader_filters_what_is_overloaded(changes: LoadChanges, reader: Reader, tmp_path: Path) -> None:
    reader.open(save_load_page(tmp_path / "report.html", changes.after, changes))
    shown = "#section-failures tbody tr:visible td:first-child"
    assert len(reader.texts(shown)) == 3
    reader.page.locator("#section-failures select").select_option("overloaded")
    assert reader.texts(shown) == ["a->c"]
    assert reader.page.locator("#section-change img").count() == 2
    assert reader.wrong == []


def test_a_spreadsheet_without_its_package_is_refused_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch.media.files.find_spec", lambda _: None)
    with pytest.raises(ResultError, match=r"--xlsx needs XlsxWriter: pip install"):
        check_spreadsheet()


@pytest.fixture
def anabranch(tmp_path: Path) -> Callable[..., Any]:
    def call(*arguments: str | Path) -> Any:
        command = [sys.executable, "-m", "anabranch", *map(str, arguments)]
        environment = {**os.environ, "NO_COLOR": "1"}
        return subprocess.run(  # noqa: S603 - our own program
            command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, env=environment
        )

    return call


def test_the_command_writes_all_of_it(anabranch: Callable[..., Any], tmp_path: Path) -> None:
    scenario(tmp_path, "disjoint")
    done = anabranch(
        "load", "disjoint.toml", "--set", "routing.scheme=shortest", "--against", "disjoint.toml",
        "--csv", "t", "--xlsx", "t.xlsx", "--page", "t.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("tables in t\nspreadsheet in t.xlsx\npage in t.html\n")
    assert "worst case 0.8000 before, 0.8000 after" in done.stdout
    change = {row["link"]: row["change_points"] for row in rows(tmp_path / "t" / "change_of_links.csv")}
    # --set holds for the first scenario alone.
    assert (change["a->c"], change["a->b"]) == ("40", "-80")
    assert "after" in (tmp_path / "t.html").read_text(encoding="utf-8")
    assert (tmp_path / "t.xlsx").is_file()


def test_another_network_or_demand_is_told(anabranch: Callable[..., Any], tmp_path: Path) -> None:
    scenario(tmp_path, "disjoint")
    line = '  { between = ["a", "b"], new = true, capacity = "5 Mbps" },\n'
    scenario(tmp_path, "shortest", "less", **{line: ""})
    done = anabranch("load", "disjoint.toml", "--against", "less.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        '--against: is of another network: only the scenario has the link "a->b" (and 1 more)\n'
    )
    scenario(
        tmp_path, "shortest", "other", **{'{ from = "file:demand.csv" }': '"1 Mbps"', "10 Mbps": "20 Mbps"}
    )
    done = anabranch("load", "disjoint.toml", "--against", "other.toml")
    assert done.returncode == 0
    assert "warning: --against: its routing.demand is another one" in done.stderr
    assert 'warning: --against: "b->c" and 3 more links had another capacity' in done.stderr
    done = anabranch("load", "disjoint.toml", "--against", "no.toml")
    assert done.returncode == 2
    assert done.stderr.startswith("no.toml: cannot be read: No such file or directory")


def test_the_document_has_the_rows_of_the_tables_under_its_keys(tmp_path: Path) -> None:
    """Of a load a document has the share, as Python has it; a table for people shows it in percent."""
    loads = loads_of(scenario(tmp_path, "shortest"))
    document = load_document(loads)
    tables = {table.name: table for table in load_tables(loads, loads.worst.link)}
    rows = {row["link"]: row for row in records(tables["links"])}
    assert [one["link"] for one in document["links"]] == [one.link for one in loads.links]
    for one in document["links"]:
        row = rows[one["link"]]
        assert (
            one["load"]
            == row["load_percent"]
            == next(expected.load for expected in loads.links if expected.link == one["link"])
        )
        assert {key: one[key] for key in ("from", "to", "capacity_mbps")} == {
            key: row[key] for key in ("from", "to", "capacity_mbps")
        }
        # The matrix behind a link loads it so: each of its entries that crosses it, by its share.
        crossing = sum(entry.mbps * entry.share for entry in loads.matrix(one["link"]))
        assert crossing / one["capacity_mbps"] == pytest.approx(one["load"])
        assert len(one["matrix"]) == len(loads.matrix(one["link"]))
    assert len(document["failures"]) == len(loads.failures or ()) > 0
    assert records(tables["links"], {"link": "name"})[0].keys() == {"name"}
