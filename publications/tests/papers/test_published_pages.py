"""The pages of the last full run in docs/reproductions: their counts, and what made their predictions."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch_publications.papers import PAPERS
from anabranch_publications.papers.findings import EXPERIMENTS, KINDS, VERDICTS

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "docs" / "reproductions"
PAGE = (PUBLISHED / "README.md").read_text(encoding="utf-8")


def cells(text: str) -> Iterator[list[str]]:
    """The rows of all tables."""
    for line in text.splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def findings(text: str) -> Counter[tuple[str, str]]:
    """Findings of a page by kind and verdict: rows with a kind and, in their last cell, a verdict."""
    outcome: Counter[tuple[str, str]] = Counter()
    for row in cells(text):
        kinds = [cell for cell in row if cell in KINDS]
        verdict = row[-1].split(":")[0]
        if kinds and verdict in VERDICTS:
            outcome[kinds[0], verdict] += 1
    return outcome


def stated(text: str) -> dict[tuple[str, str], int]:
    """The counts that a page says in words."""
    entries = {}
    for kind, name in KINDS.items():
        match = re.search(
            rf"of (\d+) {name} (\d+) agree, (\d+) differ as predicted(?:, (\d+) are refuted)?"
            r" and (\d+) differ",
            text,
        )
        assert match is not None, name
        total, *counts = (int(count or 0) for count in match.groups())
        assert total == sum(counts)
        entries |= {(kind, verdict): count for verdict, count in zip(VERDICTS, counts, strict=True)}
    return entries


def made() -> list[str]:
    """Papers of the last run that have counts."""
    return [key for key in PAPERS if f"| [{key}]({key}.md) |" in PAGE]


def test_the_counts_are_those_of_the_rows() -> None:
    counted = findings(PAGE)
    assert sum(counted.values()) > 100
    assert {pair: count for pair, count in stated(PAGE).items() if count} == dict(counted)


@pytest.mark.parametrize("key", made())
def test_each_paper_has_its_own_page_with_as_many(key: str) -> None:
    text = (PUBLISHED / f"{key}.md").read_text(encoding="utf-8")
    counted = {pair: count for pair, count in stated(text).items() if count}
    assert counted == dict(findings(text))
    _, after = PAGE.split(f"\n## {key}: ", 1)
    assert counted == dict(findings(after.split("\n## ", 1)[0]))


def test_the_page_on_trust_quotes_the_counts() -> None:
    (sentence,) = re.findall(
        r"of \d+ printed claims \d+ agree, \d+ differ as predicted(?:, \d+ are refuted)? and \d+ differ;",
        PAGE,
    )
    # What it says wraps where its lines end.
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert sentence.rstrip(";") in " ".join(page.split())


def test_what_made_each_prediction_is_in_the_repository() -> None:
    names = set(re.findall(r" predicted by ([\w.]+): ", PAGE))
    assert len(names) >= 3
    assert names <= set(EXPERIMENTS)
