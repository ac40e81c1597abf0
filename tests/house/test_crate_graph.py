"""What may use what: the crates and the Python parts against the tables in ARCHITECTURE.md."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from rust_modules import edges_of, modules_of

ROOT = Path(__file__).parents[2]
PREFIX = "anabranch-"
PACKAGE = "anabranch"
COMPILED = "_core"
SOURCES = {PACKAGE: ROOT / "python", "anabranch_publications": ROOT / "publications"}
"""Where the packages of the distributions are."""
PART_PREFIX = {PACKAGE: "", "anabranch_publications": "publications."}
"""What the names of their parts begin with in the table."""
DEPENDENCY_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


@dataclass(frozen=True, order=True)
class Edge:
    """Somebody uses somebody; `deferred` if only inside a function or for type checking."""

    user: str
    used: str
    deferred: bool = False

    def __str__(self) -> str:
        return f"{self.user} -> {f'({self.used})' if self.deferred else self.used}"


Allowed = Mapping[str, frozenset[Edge]]


def allowed_edges(kind: str, text: str) -> Allowed:
    """The edges of the fenced table of this kind, by user."""
    blocks = re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1, f"ARCHITECTURE.md has {len(blocks)} tables of {kind}"
    table: dict[str, frozenset[Edge]] = {}
    for line in blocks[0].splitlines():
        user, arrow, targets = (part.strip() for part in line.partition("->"))
        assert arrow, f"no arrow in the line {line!r} of the table of {kind}"
        assert user not in table, f"{user} has two lines in the table of {kind}"
        names = [name.strip() for name in targets.split(",") if name.strip()]
        table[user] = frozenset(Edge(user, name.strip("()"), name.startswith("(")) for name in names)
    return table


def complaints(parts: set[str], edges: set[Edge], allowed: Allowed) -> list[str]:
    """What does not agree with the table."""
    entries = [f"{part} is not in the table" for part in sorted(parts - allowed.keys())]
    entries += [f"{part} is in the table, but not there" for part in sorted(allowed.keys() - parts)]
    for edge in sorted(edges):
        permits = allowed.get(edge.user, frozenset())
        # What may be imported with the module may be imported later, too, but not the other way round.
        if edge not in permits and Edge(edge.user, edge.used) not in permits:
            entries.append(f"{edge} is not allowed")
    return entries


def circle(allowed: Allowed) -> list[str]:
    """The parts that use each other in a circle, brackets included; empty if there is none."""
    left = {user: {edge.used for edge in edges} for user, edges in allowed.items()}
    while done := {user for user, used in left.items() if not used & left.keys()}:
        left = {user: used for user, used in left.items() if user not in done}
    return sorted(left)


def manifests() -> dict[str, dict[str, object]]:
    """The manifest of every crate, by folder."""
    files = sorted((ROOT / "crates").glob("*/Cargo.toml"))
    return {file.parent.name: tomllib.loads(file.read_text(encoding="utf-8")) for file in files}


def crate_edges(crate: str, manifest: Mapping[str, object]) -> set[Edge]:
    """The crates of ours that a manifest names, whatever for and for whichever platform."""
    targets = manifest.get("target", {})
    assert isinstance(targets, dict)
    edges = set()
    for table in (manifest, *targets.values()):
        for kind in DEPENDENCY_TABLES:
            for key, value in table.get(kind, {}).items():
                name = value.get("package", key) if isinstance(value, dict) else key
                if name.startswith(PREFIX):
                    edges.add(Edge(crate, name.removeprefix(PREFIX)))
    return edges


def python_parts() -> dict[str, list[Path]]:
    """The source files of every part of the Python packages."""
    parts: dict[str, list[Path]] = {COMPILED: []}
    for package, folder in SOURCES.items():
        for path in sorted((folder / package).iterdir()):
            if path.suffix == ".py" and path.stem != COMPILED:
                parts[PART_PREFIX[package] + path.stem] = [path]
            elif (path / "__init__.py").is_file():
                parts[PART_PREFIX[package] + path.name] = sorted(path.rglob("*.py"))
    return parts


def package_of(file: Path) -> list[str]:
    """Names of the packages that a source file is in, from the outermost."""
    (folder,) = (folder for folder in SOURCES.values() if file.is_relative_to(folder))
    return list(file.relative_to(folder).parts[:-1])


def imports(node: ast.AST, package: list[str], deferred: bool = False) -> Iterator[tuple[str, bool]]:
    """Everything of ours that is imported below a node, as dotted names, and whether deferred."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Import(names=names):
                yield from ((alias.name, deferred) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package[: len(package) - level + 1] if level else []
                base = ".".join([*above, *([module] if module else [])])
                yield from ((f"{base}.{alias.name}", deferred) for alias in names)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                yield from imports(child, package, True)
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=orelse):
                yield from imports(ast.Module(body, []), package, True)
                yield from imports(ast.Module(orelse, []), package, deferred)
            case _:
                yield from imports(child, package, deferred)


def python_edges(part: str, source: str, package: list[str], parts: set[str]) -> set[Edge]:
    """The other parts that a source file of a part imports.

    Args:
        part: the part.
        source: the text of the file.
        package: names of the packages that the file is in, from the outermost.
        parts: all parts.
    """
    edges = set()
    for name, deferred in imports(ast.parse(source), package):
        top, _, rest = name.partition(".")
        if top not in SOURCES:
            continue
        used = PART_PREFIX[top] + rest.split(".")[0]
        used = used if used in parts else f"{PART_PREFIX[top]}__init__"
        if used != part:
            edges.add(Edge(part, used, deferred))
    # What is imported with the module anyway needs no mention of being imported later.
    return {edge for edge in edges if not edge.deferred or Edge(edge.user, edge.used) not in edges}


@pytest.fixture(scope="module")
def architecture() -> str:
    """The text of ARCHITECTURE.md."""
    return (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_crates_use_only_what_the_table_allows(architecture: str) -> None:
    outcome = manifests()
    edges = {edge for crate, manifest in outcome.items() for edge in crate_edges(crate, manifest)}
    for crate, manifest in outcome.items():
        package = manifest["package"]
        assert isinstance(package, dict)
        assert package["name"] == PREFIX + crate
    assert len(outcome) >= 6
    assert len(edges) > 6
    assert complaints(set(outcome), edges, allowed_edges("crates", architecture)) == []


def test_python_parts_use_only_what_the_table_allows(architecture: str) -> None:
    parts = python_parts()
    edges, files = set(), 0
    for part, sources in parts.items():
        for file in sources:
            edges |= python_edges(part, file.read_text(encoding="utf-8"), package_of(file), set(parts))
            files += 1
    assert files >= 40
    assert len(parts) >= 10
    assert len(edges) > 20
    assert complaints(set(parts), edges, allowed_edges("python-parts", architecture)) == []


@pytest.mark.parametrize("kind", ["crates", "python-parts"])
def test_nothing_points_back(architecture: str, kind: str) -> None:
    assert circle(allowed_edges(kind, architecture)) == []


@pytest.mark.parametrize(
    ("forged", "complaint"),
    [
        ('[dependencies]\nanabranch-engine = { path = "../engine" }', "units -> engine is not allowed"),
        ("[dev-dependencies]\nanabranch-engine.workspace = true", "units -> engine is not allowed"),
        ('[target."cfg(unix)".dependencies]\nanabranch-python = "1"', "units -> python is not allowed"),
        ('[dependencies]\ncore = { package = "anabranch-transport" }', "units -> transport is not allowed"),
    ],
)
def test_a_forged_crate_edge_is_found(architecture: str, forged: str, complaint: str) -> None:
    allowed = allowed_edges("crates", architecture)
    edges = crate_edges("units", tomllib.loads(forged))
    assert complaints(set(allowed), edges, allowed) == [complaint]


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("from anabranch.runs.runner import run", "scenario -> runs is not allowed"),
        ("import anabranch.terminal.cli", "scenario -> terminal is not allowed"),
        ("from anabranch import run", "scenario -> __init__ is not allowed"),
        ("from anabranch import Scenario", "scenario -> __init__ is not allowed"),
        ("from ..setup import resolve", "scenario -> setup is not allowed"),
        ("from .. import setup", "scenario -> setup is not allowed"),
        (
            "from anabranch_publications.papers import PAPERS",
            "scenario -> publications.papers is not allowed",
        ),
        ("import anabranch_publications", "scenario -> publications.__init__ is not allowed"),
        (
            "try:\n    import anabranch.terminal.cli\nexcept ImportError:\n    raise",
            "scenario -> terminal is not allowed",
        ),
        ("def f():\n    from anabranch.terminal.cli import main", "scenario -> (terminal) is not allowed"),
        ("def f():\n    from anabranch.runs.runner import run", "scenario -> (runs) is not allowed"),
        ("if TYPE_CHECKING:\n    import anabranch.terminal.cli", "scenario -> (terminal) is not allowed"),
    ],
)
def test_a_forged_import_is_found(architecture: str, source: str, complaint: str) -> None:
    allowed = allowed_edges("python-parts", architecture)
    edges = python_edges("scenario", source, [PACKAGE, "scenario"], set(allowed))
    assert complaints(set(allowed), edges, allowed) == [complaint]


def test_the_library_does_without_its_publications(architecture: str) -> None:
    allowed = allowed_edges("python-parts", architecture)
    publications = {part for part in allowed if part.startswith("publications.")}
    assert len(publications) >= 4
    library = {edge for part in allowed.keys() - publications for edge in allowed[part]}
    assert [str(edge) for edge in sorted(library) if edge.used in publications] == []


def test_a_deferred_import_is_allowed_where_brackets_say_so(architecture: str) -> None:
    allowed = allowed_edges("python-parts", architecture)
    source = "def f():\n    from anabranch.report import style"
    edges = python_edges("study", source, [PACKAGE], set(allowed))
    assert edges == {Edge("study", "report", deferred=True)}
    assert complaints(set(allowed), edges, allowed) == []


def test_parts_that_come_or_go_are_found(architecture: str) -> None:
    allowed = allowed_edges("crates", architecture)
    parts = set(allowed) - {"units"} | {"gui"}
    assert complaints(parts, set(), allowed) == [
        "gui is not in the table",
        "units is in the table, but not there",
    ]


def test_a_circle_is_found() -> None:
    text = "```crates\na -> b\nb -> c\nc -> b\nd -> (e)\ne -> d\nf -> (b)\ng ->\n```\n"
    assert circle(allowed_edges("crates", text)) == ["a", "b", "c", "d", "e", "f"]


def executed(source: str) -> ast.Module:
    """The code of a file without what only type checkers read."""

    class _Executed(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
            self.generic_visit(node)
            match node.test:
                case ast.Name(id="TYPE_CHECKING"):
                    return node.orelse or ast.Pass()
            return node

    tree = ast.parse(source)
    _Executed().visit(tree)
    return tree


def file_edges(files: Mapping[str, tuple[str, list[str]]]) -> dict[str, set[str]]:
    """Which modules each module imports, imports in functions counted.

    Args:
        files: by the dotted name of a module its text, and the packages that it is in.
    """
    edges: dict[str, set[str]] = {}
    for module, (source, package) in files.items():
        edges[module] = set()
        for name, _ in imports(executed(source), package):
            used = name if name in files else name.rpartition(".")[0]
            if used in files and used != module:
                edges[module].add(used)
    return edges


def circles(edges: Mapping[str, set[str]]) -> list[set[str]]:
    """The modules that reach each other, by group, the largest groups that there are."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for used in edges[waiting.pop()] - seen:
                seen.add(used)
                waiting.append(used)
        return seen

    by_start = {module: reached(module) for module in edges}
    groups = {
        frozenset(other for other in by_start[module] if module in by_start[other])
        for module in edges
        if module in by_start[module]
    }
    return [set(group) for group in sorted(groups, key=sorted)]


def test_no_files_of_a_part_import_each_other_in_a_circle() -> None:
    """Parts have no circle (above); nor have the files of a part, imports in functions counted.

    What is looked up by its name while the program runs is no import: the generated classes of tables and
    algorithms (`scenario/classes.py`), commands of other distributions.
    """
    entries = []
    for sources in python_parts().values():
        files = {}
        for file in sources:
            package = package_of(file)
            module = ".".join(package if file.name == "__init__.py" else [*package, file.stem])
            files[module] = (file.read_text(encoding="utf-8"), package)
        if len(files) > 1:
            entries += circles(file_edges(files))
    assert entries == []


def test_a_circle_of_files_is_found() -> None:
    files = {
        "p": ("from p.a import x", ["p"]),
        "p.a": ("def f():\n    from p.b import y", ["p"]),
        "p.b": ("from .c import z", ["p"]),
        "p.c": ("from . import a", ["p"]),
        "p.d": ("if TYPE_CHECKING:\n    from p.e import z", ["p"]),
        "p.e": ("from p.d import z", ["p"]),
    }
    assert circles(file_edges(files)) == [{"p.a", "p.b", "p.c"}]


LEFT_IN_CRATES = {
    "capture": [2, 3, 3, 3, 4], "python": [3], "routing": [2], "scenario": [2, 2, 2, 2, 2, 2, 3],
    "scripts": [2], "transport": [2, 2, 17],
}  # fmt: skip
"""How many modules each circle has that is left in a crate; there is none in one that is not here."""


def test_modules_of_a_crate_use_each_other_in_no_new_circle() -> None:
    outcome, modules = {}, 0
    for crate in sorted(manifests()):
        edges = edges_of(modules_of(ROOT / "crates" / crate / "src"))
        modules += len(edges)
        if sizes := sorted(len(group) for group in circles(edges)):
            outcome[crate] = sizes
    assert modules > 300
    assert outcome == LEFT_IN_CRATES


def test_a_circle_of_rust_modules_is_found() -> None:
    files = {
        "crate": "mod a;\nmod b;\nmod c;\npub use b::{B, deep::Deep};",
        "crate::a": "use crate::{B, c::C as Other};\nfn f() {}",
        "crate::b": "use super::c::{self, C};\nuse std::fmt::{self, Write};",
        "crate::b::deep": "use super::B;",
        "crate::c": "fn f() { let x = super::a::f(); }",
    }
    edges = edges_of(files)
    # What the crate hands on is of the module that has it, and a module and what is inside of it are one.
    assert edges == {
        "crate": set(), "crate::a": {"crate::b", "crate::c"}, "crate::b": {"crate::c"},
        "crate::b::deep": set(), "crate::c": {"crate::a"},
    }  # fmt: skip
    assert circles(edges) == [{"crate::a", "crate::b", "crate::c"}]
