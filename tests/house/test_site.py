"""The manual as a site, as far as it can be tried without Sphinx: pages, links and questions."""

import base64
import html
import importlib.util
import re
import sys
import tomllib
import zlib
from pathlib import Path
from types import ModuleType
from urllib.parse import parse_qs

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site() -> ModuleType:
    """docs/site/build.py."""
    # Its neighbours are imported by their names, as where it is started.
    sys.path.append(str(ROOT / "docs" / "site"))
    spec = importlib.util.spec_from_file_location("site_build", ROOT / "docs" / "site" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def slugs(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    entries: dict[str, int] = {}
    names = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        names.add(slug if slug not in entries else f"{slug}-{entries[slug]}")
        entries[slug] = entries.get(slug, 0) + 1
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


def test_figures_and_commands_of_the_manual_run_in_it(site: ModuleType) -> None:
    there = set(site.pages())
    entries: dict[str, list[dict[str, list[str]]]] = {}
    for name in ("docs/classroom.md", "docs/guide.md"):
        text = site.with_live(Path(name), site.laid_out(Path(name), there))
        places = [html.unescape(place) for place in re.findall(r'data-live="([^"]*)"', text)]
        assert all(place.startswith("../studio/index.html#") for place in places)
        entries[name] = [parse_qs(place.split("#", 1)[1]) for place in places]
    classroom = {f"classroom/{file.name}" for file in (ROOT / "examples" / "classroom").glob("*.toml")}
    assert {shown["example"][0] for shown in entries["docs/classroom.md"]} == classroom
    scenario = entries["docs/guide.md"][-1]["scenario"][0]
    deflated = base64.urlsafe_b64decode(scenario + "=" * (-len(scenario) % 4))
    data = tomllib.loads(zlib.decompress(deflated, wbits=-15).decode())
    assert len(entries["docs/guide.md"]) >= 5
    assert data["routing"]["scheme"] == "disjoint"
    assert data["traffic"][0]["transport"] == "mprc"
    assert data["network"]["topology"] == "zoo/Abilene"


def test_a_command_that_a_page_cannot_do_has_no_studio(site: ModuleType) -> None:
    del site
    of_command = sys.modules["live"].of_command
    assert of_command("anabranch run examples/first.toml --out results/first") == (
        "first.toml",
        "example=first.toml",
    )
    for line in (
        "anabranch run first.toml",
        "anabranch load examples/first.toml",
        "anabranch run examples/first.toml --cores 2",
        "anabranch run examples/live.toml",
    ):
        assert of_command(line) is None, line
