"""The page and the tables for those who decide: numbers by hand, on a square of four routers."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.media.pieces import plain_cell
from anabranch.plans.brief import Brief, brief_of
from anabranch.plans.measures import PriceList, measures, read_prices
from anabranch.report.brief_page import brief_page
from anabranch.report.views.brief import brief_cards, brief_tables, brief_words

SQUARE = (("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"))


def square(folder: Path, *more: str, rates: str = "a,b,40\nb,c,40\n") -> Scenario:
    """Four routers in a ring of 100 Mbps; a sends to b, and b to c; each link has the cost 10."""
    (folder / "tm.csv").write_text(f"from,to,rate_mbps\n{rates}")
    nodes = "".join(f'[[network.node]]\nname = "{name}"\n' for name in "abcd")
    links = "".join(f'[[network.link]]\nbetween = ["{a}", "{b}"]\nnew = true\n' for a, b in SQUARE)
    text = (
        f'title = "Square"\n{nodes}{links}{"".join(more)}[network.links]\ncapacity = "100 Mbps"\n'
        'delay = "1 ms"\nweight = 10\n[routing]\nscheme = "ecmp"\nmetric = "weight"\n'
        '[routing.demand]\nmatrix = { from = "file:tm.csv" }\n'
    )
    file = folder / f"s{len(more)}.toml"
    file.write_text(text)
    return Scenario.load(file)


def upgrade(a: str, b: str, what: str) -> str:
    """Another setting of a link."""
    return f'[[network.link]]\nbetween = ["{a}", "{b}"]\n{what}\n'


PLAN = (upgrade("c", "d", 'capacity = "200 Mbps"'), upgrade("d", "a", "weight = 7"))
PRICES = PriceList({100.0: 5.0, 200.0: 8000.0}, "EUR")


def made(folder: Path, rates: str = "a,b,40\nb,c,40\n") -> Brief:
    """The brief of the square and its plan, with half as much more traffic each year."""
    present, planned = square(folder, rates=rates), square(folder, *PLAN, rates=rates)
    return brief_of(present, planned, growth_a_year=0.5, failures="links", prices=PRICES)


def test_growth_and_failures_by_hand(tmp_path: Path) -> None:
    """Without a-b its 40 Mbps go by d and c to b; b->c has 40 besides. So c->b has 40, and nothing more
    than 0.4 is loaded with all links up, nor in any failure."""
    brief = made(tmp_path)
    tables = {table.name: list(table.by_row()) for table in brief_tables(brief)}
    assert list(tables) == ["plan", "growth", "failures", "capacity", "costs"]
    # Files have what the terminal has.
    assert [[plain_cell(cell) for cell in row] for row in tables["plan"]][:2] == [
        ["highest load", "40 %", "40 %"],
        ["worst failure", "40 %", "40 %"],
    ]
    first = tables["growth"][0]
    # Link, capacity, load, load in a failure, state then, by which, years, years in it.
    assert first[1:4] == (100.0, pytest.approx(0.4), pytest.approx(0.4))
    years = math.log(1 / 0.4) / math.log(1.5)
    assert first[6] == pytest.approx(years)
    # Of both directions one.
    assert len({frozenset(str(row[0]).split("->")) for row in tables["growth"]}) == len(SQUARE)
    assert len(tables["growth"]) == len(SQUARE)
    assert len(tables["failures"]) == len(SQUARE)
    text = " ".join(brief_words(brief))
    assert "Today the highest load is 40 %" in text
    assert f"the first link is full in {years:.2g} years" in text
    assert "Of 4 failures (links) none overloads a link, none cuts pairs off" in text


def test_overloads_of_failures_are_counted(tmp_path: Path) -> None:
    """a sends 60 Mbps to b and 60 to d: without either link the other carries 120, by the plan as well."""
    brief = made(tmp_path, "a,b,60\na,d,60\n")
    text = " ".join(brief_words(brief))
    assert "Today the highest load is 60 %" in text
    assert "Of 4 failures (links) 2 overload a link, none cuts pairs off; the highest load is 120 %" in text
    assert "and in the worst failure at once" in text
    cards = {card.label: card.value.replace("\N{NO-BREAK SPACE}", " ") for card in brief_cards(brief)}
    assert cards["worst failure"] == "120 % → 120 %"
    assert cards["failures that overload"] == "2 → 2"
    # No link is full today: that is in 1.3 years, ln(1 / 0.6) / ln(1.5).
    assert cards["first link is full"] == "in 1.3 years → in 1.3 years"
    assert cards["first link is full in a failure"] == "at once → at once"
    assert cards["price"] == "8,000 EUR"


def test_lines_above_the_picture_are_named(tmp_path: Path) -> None:
    """150 Mbps from a to b, and 150 from a to d: without either link the other carries 300 of 100."""
    brief = made(tmp_path, "a,b,150\na,d,150\n")
    message = (
        "Above the picture from the beginning: today, worst failure (300 %); planned, worst failure (300 %)."
    )
    assert message in brief_page(brief)
    assert "Above the picture" not in brief_page(made(tmp_path))


def test_measures_are_the_differences(tmp_path: Path) -> None:
    measured = measures(square(tmp_path), square(tmp_path, *PLAN), PRICES)
    assert [(one.link, one.before, one.after) for one in measured.costs] == [("d->a", 10, 7), ("a->d", 10, 7)]
    assert [(one.link, one.before_mbps, one.after_mbps, one.price) for one in measured.capacities] == [
        ("c->d", 100.0, 200.0, 8000.0)
    ]
    assert (measured.price, measured.unpriced, measured.currency) == (8000.0, (), "EUR")
    without = measures(square(tmp_path), square(tmp_path, *PLAN), None)
    assert (without.price, len(without.unpriced)) == (0.0, 1)
    back = measures(square(tmp_path, *PLAN), square(tmp_path), PRICES)
    # Less capacity than before costs nothing.
    assert [one.price for one in back.capacities] == [0.0]
    assert measures(square(tmp_path), square(tmp_path), PRICES).capacities == ()
    new = '[[network.link]]\nbetween = ["a", "c"]\nnew = true\n'
    (bought,) = measures(square(tmp_path), square(tmp_path, new), PRICES).capacities
    assert (bought.link, bought.before_mbps, bought.after_mbps, bought.price) == ("a->c", 0.0, 100.0, 5.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("capacity_gbps,price\n", "has no price"),
        ("capacity_gbps,price\n10,x\n", 'prices.csv, line 2: price is "x"; it is a number from 0 on'),
        ("capacity_gbps,price\n0,5\n", 'line 2: capacity_gbps is "0"; it is a number above 0'),
        ("capacity_gbps,price\n10,5\n10,6\n", "line 3: 10 Gbps has a price already"),
        ("a,b\n1,2\n", "is no header with the columns capacity_gbps,price"),
    ],
)
def test_prices_that_are_none_are_told(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "prices.csv").write_text(text)
    with pytest.raises(ScenarioError) as told:
        read_prices(tmp_path / "prices.csv")
    assert words in str(told.value)
    (tmp_path / "prices.csv").write_text("capacity_gbps,price_chf\n0.1,5\n0.2,9\n")
    prices = read_prices(tmp_path / "prices.csv")
    assert (prices.currency, prices.of(200.0), prices.of(300.0)) == ("CHF", 9.0, None)


def test_the_page_has_all_of_it_and_fetches_nothing(tmp_path: Path) -> None:
    page = brief_page(made(tmp_path))
    for words in (
        "Square: what breaks, when it is full, what to do",
        "The highest load by year",
        "What to buy",
        "What to configure",
        "The 4 worst of 4 failures",
    ):
        assert words in page
    assert 'src="http' not in page
    alone = brief_page(brief_of(square(tmp_path), None, growth_a_year=None, failures="links", prices=None))
    assert "no plan was given (--plan)" in alone
    assert "The highest load by year" not in alone


def test_the_command(tmp_path: Path) -> None:
    square(tmp_path)
    square(tmp_path, *PLAN)
    (tmp_path / "prices.csv").write_text("capacity_gbps,price_eur\n0.2,8000\n")

    def anabranch(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "anabranch", "brief", *arguments]
        return subprocess.run(  # noqa: S603 - our own
            command, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False
        )

    options = ("--plan", "s2.toml", "--prices", "prices.csv", "--growth", "50")
    done = anabranch("s0.toml", *options, "--xlsx", "b.xlsx", "--page", "b.html", "--csv", "tables")
    assert (done.returncode, done.stderr) == (0, "")
    assert "What is to be bought costs 8,000 EUR." in done.stdout
    assert sorted(path.name for path in (tmp_path / "tables").glob("*.csv")) == [
        "capacity.csv", "costs.csv", "failures.csv", "growth.csv", "plan.csv",
    ]  # fmt: skip
    assert (tmp_path / "b.xlsx").stat().st_size > 5000
    document = json.loads(anabranch("s0.toml", *options, "--json").stdout)
    assert document["capacity"] == [
        {"link": "c->d", "capacity_before_mbps": 100.0, "capacity_after_mbps": 200.0, "price": 8000.0}
    ]
    wrong = anabranch("s0.toml", "--prices", "prices.csv")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--prices: changes nothing without --plan" in wrong.stderr
