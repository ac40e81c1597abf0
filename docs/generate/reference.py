"""docs/reference.md: every table and field of a scenario and of a study, from their JSON Schemas."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import algorithm_pages
import defaults
import examples
from kinds import Kinds
from shape import anchor, distribution, references, whole_table

from anabranch import Scenario, Study
from anabranch.scenario.declarations import declarations
from anabranch.scenario.schema import json_schema

Schema = dict[str, Any]

HEAD = """# Reference of the scenario and of the study

Written by `make reference` from the program's own schema; do not edit. [guide.md](guide.md) is a way in,
[scenario.md](scenario.md) and [studies.md](studies.md) explain.

A scenario and a study are TOML files. Unknown keys are errors. A field without a default may be left out
unless it is *required*; where it matters, its description says what then happens.
"""


@dataclass(frozen=True)
class Section:
    """A table of the file: its path, how TOML writes its heading, and its schema's name."""

    path: str
    heading: str
    table: str


class Book:
    """One schema, with the tables in it in the order of reading."""

    def __init__(self, schema: Schema, root: str) -> None:
        self.definitions: dict[str, Schema] = {**schema["$defs"], root: schema}
        self.root = root
        self.sections = list(self._sections(root, ""))

    def _sections(self, table: str, path: str) -> Iterator[Section]:
        for name, field in self.definitions[table].get("properties", {}).items():
            place = f"{path}.{name}" if path else name
            inner = whole_table(field)
            if inner is None or inner[1] == "Scenario":
                continue
            form, table_name = inner
            if form == "named":
                place += ".NAME"
            heading = f"[[{place}]]" if form == "list" else f"[{place}]"
            yield Section(place, heading, table_name)
            yield from self._sections(table_name, place)

    def places(self, table: str) -> list[str]:
        """Every heading under which a table stands, the first one first."""
        return [section.heading for section in self.sections if section.table == table]

    def variants(self, table: str) -> Iterator[tuple[str, str]]:
        """The fields of a table that may be tables of their own kind, and which."""
        for name, field in self.definitions[table].get("properties", {}).items():
            if whole_table(field) is None:
                for entry in references(field):
                    plain = distribution(entry) is None and entry not in ("JsonValue", "Scenario")
                    if plain and not self.is_declared(entry):
                        yield name, entry

    def is_declared(self, table: str) -> bool:
        """Whether a table is an algorithm of the core's declarations, which have a chapter of their own."""
        name = self.definitions[table].get("properties", {}).get("algorithm", {}).get("const")
        return any(name in algorithms for algorithms in declarations().values())

    def home(self, table: str, field: str) -> str:
        """The field under which a table is described that several fields may be; else ``field``."""
        for section in self.sections:
            for name, entry in self.variants(section.table):
                if entry == table:
                    return name
        return field


def text(description: str) -> str:
    """A documentation string in Markdown, on one line."""
    return " ".join(description.replace("``", "`").split()).replace("|", "\\|")


def rows(book: Book, table: str, kinds: Kinds, skipped: frozenset[str] = frozenset()) -> Iterator[str]:
    """The table's fields, a row for each."""
    definition = book.definitions[table]
    yield "| field | type | default | meaning |"
    yield "|---|---|---|---|"
    for name, field in definition["properties"].items():
        if name in skipped:
            continue
        inner = whole_table(field)
        meaning = field.get("description")
        if meaning is None and inner is not None:
            meaning = book.definitions[inner[1]]["description"].split("\n\n")[0]
        if not meaning:
            raise ValueError(f"{table}.{name} has no documentation string")
        required = name in definition.get("required", [])
        default = "*required*" if required else defaults.shown(table, name, field)
        yield f"| `{name}` | {kinds.of(book, name, field)} | {default} | {text(meaning)} |"


def example(toml: str) -> str:
    """A block of TOML."""
    return f"```toml\n{toml.strip()}\n```\n"


def variant(book: Book, field: str, table: str, kinds: Kinds) -> str:
    """What a field may be beside a plain value: a table of its own."""
    definition = book.definitions[table]
    lines = [f"#### {kinds.variant_heading(book, field, table)}\n", text(definition["description"]) + "\n"]
    lines += [*rows(book, table, kinds), "", example(examples.VARIANTS[table])]
    return "\n".join(lines)


def section(book: Book, place: Section, kinds: Kinds, described: set[str]) -> str:
    """One table of the file, with the tables that its fields may be and that are not yet described."""
    definition = book.definitions[place.table]
    first = book.places(place.table)[0]
    lines = [f"### `{place.heading}`\n"]
    if first != place.heading:
        lines.append(f"The same fields as [`{first}`](#{anchor(first)}).\n")
        return "\n".join(lines)
    lines.append("\n\n".join(map(text, definition["description"].split("\n\n"))) + "\n")
    base = _base(book, place.table)
    inherited: frozenset[str] = frozenset()
    if base is not None:
        inherited = frozenset(book.definitions[base]["properties"])
        heading = book.places(base)[0]
        lines.append(f"Beside every field of [`{heading}`](#{anchor(heading)}):\n")
    lines += [*rows(book, place.table, kinds, inherited), "", example(examples.TABLES[place.path])]
    lines += defaults.beside(place.table)
    for field, table in book.variants(place.table):
        if field not in inherited and table not in described:
            described.add(table)
            lines.append(variant(book, field, table, kinds))
    return "\n".join(lines)


def _base(book: Book, table: str) -> str | None:
    """A table that stands before another one, and whose fields are all among those of it."""
    ours = book.definitions[table]["properties"]
    for place in book.sections:
        if place.table == table:
            break
        fields = book.definitions[place.table]["properties"]
        if len(fields) > 3 and fields.items() < ours.items():
            return place.table
    return None


def distributions(book: Book, kinds: Kinds) -> str:
    """The random variates, once for all that they may be of."""
    lines = [
        "### Distributions\n",
        "A field whose type says so may be drawn at random, from a distribution of times, of sizes or of",
        'whole numbers. What is a time here is then of that kind: `mean = "500 ms"`, `"100 kB"` or `10`.\n',
    ]
    for name in examples.DISTRIBUTIONS:
        table = "".join(part.capitalize() for part in name.split("-")) + "_Span_"
        fields = book.definitions[table]["properties"]
        lines += [f"#### `{name}`\n", text(fields["distribution"]["description"]) + "\n"]
        lines += [*rows(book, table, kinds, frozenset({"distribution"})), ""]
        lines.append(example(f"[network.links]\ndelay = {examples.DISTRIBUTIONS[name]}"))
    return "\n".join(lines)


def chapter(book: Book, kinds: Kinds, title: str, intro: str, example_key: str) -> str:
    """A whole file: its own fields, then its tables."""
    plain = frozenset(
        name for name, field in book.definitions[book.root]["properties"].items() if whole_table(field)
    )
    lines = [f"## {title}\n", intro + "\n", "| table | holds |", "|---|---|"]
    for place in book.sections:
        if place.heading == book.places(place.table)[0]:
            summary = text(book.definitions[place.table]["description"].split("\n\n")[0])
        else:
            summary = f"The same as `{book.places(place.table)[0]}`."
        lines.append(f"| [`{place.heading}`](#{anchor(place.heading)}) | {summary} |")
    lines += ["", "Outside of all tables:\n", *rows(book, book.root, kinds, plain), ""]
    lines.append(example(examples.TABLES[example_key]))
    described: set[str] = set()
    lines += [section(book, place, kinds, described) for place in book.sections]
    return "\n".join(lines)


def page() -> str:
    """The whole page."""
    scenario = Book(json_schema(Scenario), "Scenario")
    study = Book(json_schema(Study), "Study")
    kinds = Kinds()
    parts = [
        chapter(
            scenario,
            kinds,
            "The scenario file",
            "`anabranch run`, `routes` and `load` read it, and `Scenario.load` in Python. `anabranch schema` "
            "prints what stands here as JSON Schema.",
            "scenario",
        ),
        algorithm_pages.chapter(),
        distributions(scenario, kinds),
        chapter(
            study,
            kinds,
            "The study file",
            "`anabranch study` reads it, and `Study.load` in Python; `anabranch schema --study` prints it as "
            "JSON Schema.",
            "study",
        ),
    ]
    return "\n".join([HEAD, kinds.table(), *parts]).rstrip() + "\n"
