"""The manual as a site, as far as it can be tried without Sphinx: pages, links and questions."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site() -> ModuleType:
    """docs/site/build.py."""
    spec = importlib.util.spec_from_file_location("site_build", ROOT / "docs" / "site" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def slugs(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found: dict[str, int] = {}
    names = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        names.add(slug if slug not in found else f"{slug}-{found[slug]}")
        found[slug] = found.get(slug, 0) + 1
    return names


def test_every_page_is_in_the_navigation(site: ModuleType) -> None:
    front = (ROOT / "docs" / "site" / "front.txt").read_text(encoding="utf-8")
    listed = {line for line in front.splitlines() if re.fullmatch(r"[\w/-]+", line)}
    names = {page.with_suffix("").as_posix() for page in site.pages()}
    by_pattern = {name for name in names if name.startswith("docs/reproductions/")}
    assert "docs/reproductions/*" in front
    assert names - by_pattern <= listed
    assert listed <= names | {"python"}


def test_every_link_between_pages_leads_somewhere(site: ModuleType) -> None:
    there = set(site.pages())
    count = 0
    for page in [Path("README.md"), *sorted(there)]:
        text = site.laid_out(page, there)
        prose = site._CODE.sub("", text)
        for target, anchor in re.findall(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)", prose):
            if re.match(r"[a-z]+:", target):
                continue
            file = (ROOT / page.parent / target).resolve() if target else ROOT / page
            assert file.exists(), f"{page}: {target}"
            if anchor and file.suffix == ".md":
                assert anchor in slugs(file), f"{page}: {target}#{anchor}"
            count += 1
    assert count > 500


def test_a_link_to_nowhere_is_found(
    site: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page.md").write_text("`[code](nowhere.md)` and [a page](nowhere.md)\n")
    monkeypatch.setattr(site, "ROOT", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"page\.md: nowhere\.md is not there"):
        site.laid_out(Path("page.md"), set())


def test_the_files_of_the_questions_are_examples_or_written_by_a_command() -> None:
    text = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    examples = {str(file.relative_to(ROOT / "examples")) for file in (ROOT / "examples").rglob("*")}
    for file in re.findall(r"`anabranch (?:run|routes|load|study|live) ([\w/.]+)", text):
        assert file in examples
