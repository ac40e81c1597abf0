"""Rules of CONTRIBUTING.md that a machine can hold: lengths, markers, machine paths, links and commands."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

ROOT = Path(__file__).parents[2]
MOST_LINES = 600
MOST_FUNCTION_LINES = 70

SKIPPED = {"target", "dist", "__pycache__", "node_modules"}
SOURCE = {".rs", ".py", ".cc", ".toml", ".md"}
# In pieces, so that this file passes.
MARKERS = r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX")) + r")\b|\b(unimplemented|to" + r"do)!"
MACHINE_PATHS = r"(?<![\w.$}])/(work|root|home|Users)/|/tmp/" + "bash"


def files(*suffixes: str) -> list[Path]:
    """The project's own files with these suffixes, builds and hidden folders left out."""
    entries = []
    folders = [ROOT]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            if path.is_dir():
                if not path.name.startswith(".") and path.name not in SKIPPED and path != ROOT / "results":
                    folders.append(path)
            elif path.suffix in suffixes:
                entries.append(path)
    return entries


def relative(file: Path) -> str:
    """A file's name for messages."""
    return file.relative_to(ROOT).as_posix()


def is_test(file: Path) -> bool:
    """Whether a file holds nothing but tests, whose tables may be long."""
    return "tests" in file.parts or file.name == "tests.rs" or file.name.startswith("test_")


def python_functions(source: str) -> Iterator[tuple[str, int]]:
    """Name and lines of every function."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


RUST_NOISE = re.compile(
    r"""//[^\n]*                         # comments
    | /\*.*?\*/
    | b?r(?P<hashes>\#*)".*?"(?P=hashes) # raw strings
    | b?"(?:\\.|[^"\\])*"                # strings
    | b?'(?:\\[^']+|[^'\\])'             # characters, but no lifetimes
    """,
    re.VERBOSE | re.DOTALL,
)


def rust_functions(source: str) -> Iterator[tuple[str, int]]:
    """Name and lines of every function outside ``mod tests``, found by counting braces."""
    # Noise goes, its line breaks stay.
    text = RUST_NOISE.sub(lambda match: "\n" * match.group().count("\n"), source)
    tests = re.search(r"#\[cfg\(test\)\]\s*mod \w+ \{", text)
    text = text[: tests.start()] if tests else text
    for start in re.finditer(r"\bfn\s+(\w+)", text):
        opening = re.compile(r"[{;]").search(text, start.end())
        # An array type such as [u8; 4] in the signature is no end of a declaration.
        while opening and opening.group() == ";" and _inside_brackets(text[start.end() : opening.start()]):
            opening = re.compile(r"[{;]").search(text, opening.end())
        if opening is None or opening.group() == ";":
            continue
        depth, end = 0, opening.start()
        for brace in re.finditer(r"[{}]", text[opening.start() :]):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                end = opening.start() + brace.start()
                break
        yield start.group(1), text.count("\n", start.start(), end) + 1


def _inside_brackets(text: str) -> bool:
    return text.count("[") > text.count("]")


def anchors(markdown: str) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", markdown, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(markdown: str) -> list[str]:
    """The targets of all links, those in code left out."""
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def broken_links(file: Path) -> list[str]:
    """The relative links of a document that lead nowhere."""
    broken = []
    for link in links(file.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        target = file if not path else file.parent / path
        wrong = not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8"))
        )
        if wrong:
            broken.append(link)
    return broken


def make_targets() -> set[str]:
    """The targets that the Makefile describes."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z0-9-]*):[^=\n]*##", text, re.MULTILINE))


def code_in(markdown: str) -> str:
    """Everything in a document that is set as code."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", markdown, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^(?: {4}|\t)(.*)$", markdown, re.MULTILINE)
    inline = re.findall(r"`([^`\n]+)`", markdown)
    return "\n".join([*blocks, *indented, *inline])


def test_no_file_is_too_long() -> None:
    outcome = files(*SOURCE - {".md"}, ".sh")
    assert len(outcome) > 100
    lengths = {relative(file): len(file.read_text(encoding="utf-8").splitlines()) for file in outcome}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_no_function_is_too_long() -> None:
    long, seen = {}, {".py": 0, ".rs": 0}
    for file in files(".py", ".rs"):
        if is_test(file):
            continue
        functions = python_functions if file.suffix == ".py" else rust_functions
        for name, lines in functions(file.read_text(encoding="utf-8")):
            seen[file.suffix] += 1
            if lines > MOST_FUNCTION_LINES:
                long[f"{relative(file)}: {name}"] = lines
    assert min(seen.values()) > 100, seen
    assert long == {}


def test_long_functions_are_found() -> None:
    body = "    x += 1;\n" * 70
    rust = "fn short(a: [u8; 4]) {}\n/* fn no() { */\nfn long<'a>() -> [u8; 2] {\n let c = '{';\n"
    rust += body + "}\n"
    assert list(rust_functions(rust)) == [("short", 1), ("long", 73)]
    python = "def long():\n" + "    x = 1\n" * 70
    assert list(python_functions(python)) == [("long", 71)]


PUBLIC_RUST_TYPE = re.compile(r"^\s*pub (?:struct|enum|trait|type|union) (\w+)", re.MULTILINE)
# What Python and pages see of the engine has the engine's names, the library's face repeats those of its
# parts, and the tables of a scenario have the names that their users know.
FACES = (
    "crates/python/src",
    "crates/wasm/src/page",
    "crates/scenario/src",
    "python/anabranch/api",
    "python/anabranch/study/model.py",
)


def types_of_one_name(sources: dict[str, str]) -> list[str]:
    """Public types that share their name with another one of the same language, with their files."""
    places: dict[tuple[str, str], list[str]] = {}
    for place, source in sources.items():
        if place.endswith(".rs"):
            names = PUBLIC_RUST_TYPE.findall(source)
        else:
            classes = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
            names = [node.name for node in classes if not node.name.startswith("_")]
        for name in names:
            places.setdefault((Path(place).suffix, name), []).append(place)
    return [f"{name}: {', '.join(entry)}" for (_, name), entry in places.items() if len(entry) > 1]


def test_no_two_public_types_have_one_name() -> None:
    sources = {relative(file): file.read_text(encoding="utf-8") for file in files(".rs", ".py")}
    public = {
        place: source
        for place, source in sources.items()
        if re.match(r"crates/\w+/src/|python/anabranch/", place) and not place.startswith(FACES)
    }
    assert types_of_one_name(public) == []


def test_types_of_one_name_are_found() -> None:
    sources = {
        "a.rs": "pub struct Link {\n}\n",
        "b.rs": "mod x {\n    pub enum Link {}\n}",
        "c.py": "class Link: pass",
    }
    assert types_of_one_name(sources) == ["Link: a.rs, b.rs"]


@pytest.mark.parametrize(
    ("rule", "sample"), [(MARKERS, "# TO" + "DO: later"), (MACHINE_PATHS, "see /" + "home/me/net.toml")]
)
def test_no_markers_and_no_paths_of_a_machine(rule: str, sample: str) -> None:
    assert re.search(rule, sample)
    entries = [ROOT / "Makefile", ROOT / ".ci" / "run", *files(*SOURCE, ".sh", ".json")]
    assert len(entries) > 150
    matches = {
        relative(file): match.group()
        for file in entries
        if (match := re.search(rule, file.read_text(encoding="utf-8")))
    }
    assert matches == {}


def test_every_relative_link_leads_somewhere() -> None:
    documents = files(".md")
    assert len(documents) >= 6
    assert sum(len(links(file.read_text(encoding="utf-8"))) for file in documents) > 15
    assert {relative(file): broken for file in documents if (broken := broken_links(file))} == {}


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text("# One\n[a](b.md) [b](#one) [c](#two) [d](https://example.org/x) `[e](f.md)`\n")
    assert broken_links(document) == ["b.md", "#two"]


def test_files_that_the_recipes_name_exist() -> None:
    there = [f"/{relative(file)}" for file in files(*SOURCE)]
    named = set()
    for document in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        inline = re.findall(r"`([^`\n]+)`", (ROOT / document).read_text(encoding="utf-8"))
        named |= {code for code in inline if re.fullmatch(r"[\w./-]+\.(rs|py|md|toml)", code)}
    # What `make validate` writes need not be there, and NAME stands for what is to be added.
    named = {name for name in named if "NAME" not in name and name != "docs/validation.md"}
    assert len(named) > 40
    assert [name for name in sorted(named) if not any(file.endswith(f"/{name}") for file in there)] == []


def test_commands_in_the_documents_exist() -> None:
    from anabranch.terminal.cli import app  # noqa: PLC0415 - the other rules hold without the package

    commands = set(typer.main.get_command(app).list_commands(None))  # type: ignore[attr-defined]
    called: dict[str, set[str]] = {"make": set(), "anabranch": set()}
    for file in files(".md"):
        code = code_in(file.read_text(encoding="utf-8"))
        for program in called:
            called[program] |= set(re.findall(rf"(?<![\w.-])(?<!from ){program} ([a-z][a-z0-9-]*)", code))
    assert {"demo", "test"} <= called["make"]
    assert {"run", "routes", "topology", "schema"} <= called["anabranch"]
    assert called["make"] - make_targets() == set()
    assert called["anabranch"] - commands == set()


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    commands = [line for line in script if line and not line.startswith(("#", "set ", "cd ", "export "))]
    compiled = "make --jobs=2 setup test-binaries"
    assert commands == ["make test-tools", compiled, "make test SKIPS=none"]
    assert "make test" in code_in((ROOT / "README.md").read_text(encoding="utf-8")).splitlines()
    assert "set -euo pipefail" in script


def test_one_version() -> None:
    cargo = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    version = re.findall(r'^version = "(.*)"$', cargo, re.MULTILINE)
    assert len(version) == 1
    assert f"## {version[0]}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_file_of_rust_tests_is_in_the_program_of_its_crate() -> None:
    """The tests of a crate are one program, in which a file that is not listed would not run."""
    seen = 0
    for main in ROOT.glob("crates/*/tests/main.rs"):
        listed = re.findall(r"^mod (\w+);$", main.read_text(encoding="utf-8"), re.MULTILINE)
        files = {path.stem for path in main.parent.glob("*.rs")} - {"main"}
        folders = {path.parent.name for path in main.parent.glob("*/mod.rs")}
        assert (main, sorted(listed)) == (main, sorted(files | folders))
        seen += len(files)
    assert seen > 50
    stray = [path for path in ROOT.glob("crates/*/tests") if not (path / "main.rs").is_file()]
    assert stray == []
