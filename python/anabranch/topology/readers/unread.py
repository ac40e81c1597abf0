"""Formats that are not read: what a file seems to be, and the lines that make a file of it which is.

FILE stands for the file at hand, NEW for the one that is made.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from anabranch.topology.attributes.units import decimal_number

from .text import without_comments


@dataclass(frozen=True, slots=True)
class UnreadFormat:
    """A format that no reader is for."""

    name: str
    recognises: Callable[[str], bool]
    """Whether the beginning of a file is of this format: its text without a byte order mark and blanks."""
    conversion: str
    """What to do: lines for Python, or in words where none would do."""

    @property
    def what(self) -> str:
        """The words of a message for a file of this format."""
        return f"this is {self.name}, which is not read"


def _networkx(read: str) -> str:
    return f"import networkx as nx; nx.write_graphml({read}, NEW)"


def _is_mininet(text: str) -> bool:
    return text.startswith("{") and all(f'"{key}"' in text for key in ("switches", "hosts", "controllers"))


def _rows(text: str) -> list[list[str]]:
    """The first lines of a table, cell by cell, without the last one, which may be cut."""
    lines = text.splitlines()
    rows = [re.split(r"[,;\t]|[ ]+", line.strip()) for line in lines[:64]]
    return [row for row in rows if row != [""]]


def _is_square(text: str) -> bool:
    """Whether lines have numbers alone, as many as there are lines, zeros where they cross."""
    rows = _rows(text)
    count = len(rows[0]) if rows else 0
    return (
        count > 1
        and (len(rows) == count or (len(rows) == 64 and count > 64))
        and all(len(row) == count and row[i] in _NONE for i, row in enumerate(rows))
        and all(cell in _NONE or decimal_number(cell) is not None for row in rows[:8] for cell in row)
    )


def _is_named_square(text: str) -> bool:
    """The same with the names of nodes above and before."""
    head, *rows = _rows(text) or [[]]
    return (
        len(head) > 2
        and len(rows) >= min(len(head) - 1, 63)
        and all(
            len(row) == len(head) and row[0] == head[i] and row[i] in _NONE
            for i, row in enumerate(rows, start=1)
        )
    )


_NONE: Final = ("0", "0.0", "0.", "", "inf", "nan", "-1", "-")
"""What a matrix has for no link."""


def _matches(pattern: str, flags: re.RegexFlag = re.MULTILINE) -> Callable[[str], bool]:
    expression = re.compile(pattern, flags)
    return lambda text: expression.match(without_comments(text)) is not None


_MININET: Final = (
    "import csv, json; m = json.load(open(FILE)); out = csv.writer(open(NEW, 'w', newline='')); "
    "out.writerow(['from', 'to', 'capacity_bps']); out.writerows([l['src'], l['dest'], "
    "int(1e6 * float(l['opts']['bw'])) if 'bw' in l['opts'] else ''] for l in m['links'])"
)
_RSPEC: Final = (
    "import csv, xml.etree.ElementTree as E; r = E.parse(FILE).getroot(); "
    "own = {i.get('client_id'): n.get('client_id') for n in r.iterfind('{*}node') for i in n.iterfind("
    "'{*}interface')}; out = csv.writer(open(NEW, 'w', newline='')); out.writerow(['from', 'to']); "
    "out.writerows([own[i.get('client_id')] for i in l.iterfind('{*}interface_ref')] for l in r.iterfind("
    "'{*}link'))"
)
_AS_RELATIONS: Final = (
    "import csv; out = csv.writer(open(NEW, 'w', newline='')); out.writerow(['from', 'to']); "
    "out.writerows(l.split('|')[:2] for l in open(FILE) if not l.startswith('#'))"
)
_WEIGHTS: Final = (
    "out = csv.writer(open(NEW, 'w', newline='')); out.writerow(['from', 'to', 'weight']); out.writerows("
)
_ADJACENCY: Final = (
    f"import csv, re; rows = [re.split('[,; \\t]+', l.strip()) for l in open(FILE)]; {_WEIGHTS}"
    "[i, j, c] for i, row in enumerate(rows) for j, c in enumerate(row) if float(c))"
)
_NAMED_ADJACENCY: Final = (
    f"import csv; head, *rows = csv.reader(open(FILE)); {_WEIGHTS}"
    "[row[0], head[j], c] for row in rows for j, c in enumerate(row) if j and float(c or 0))"
)
_MATRIX_MARKET: Final = (
    f"import csv; rows = [l.split() for l in open(FILE) if not l.startswith('%')]; {_WEIGHTS}"
    "[*row, ''][:3] for row in rows[1:])"
)

UNREAD: Final = (
    UnreadFormat("a network of Mininet's MiniEdit (.mn)", _is_mininet, _MININET),
    UnreadFormat("an RSpec of GENI", _matches(r"<(?:\?[^>]*>\s*<)?(\w+:)?rspec\b"), _RSPEC),
    UnreadFormat(
        "a network of Pajek (.net)", _matches(r"(?i)\*(vertices|network)\b"), _networkx("nx.read_pajek(FILE)")
    ),
    UnreadFormat("a graph of LEDA", _matches(r"LEDA\.GRAPH\b"), _networkx("nx.read_leda(FILE)")),
    UnreadFormat(
        "an edge list of networkx with data",
        _matches(r"(?!\{|(?i:strict|graph|digraph)\b)\S+[ \t]+\S+[ \t]+\{['}]"),
        "import networkx as nx; nx.write_graphml(nx.read_edgelist(FILE), NEW)",
    ),
    UnreadFormat("a matrix of adjacency", _is_square, _ADJACENCY),
    UnreadFormat("a table of adjacency", _is_named_square, _NAMED_ADJACENCY),
    UnreadFormat("a matrix of the Matrix Market", _matches(r"%%MatrixMarket\b"), _MATRIX_MARKET),
    UnreadFormat(
        "a graph of DIMACS (.gr)",
        _matches(r"(?:c\b[^\n]*\n)*p[ \t]+\w+[ \t]+\d+[ \t]+\d+"),
        'write its links as CSV: awk \'BEGIN {print "from,to,weight"} $1 == "a" || $1 == "e" '
        '{print $2 "," $3 "," $4}\' FILE > NEW',
    ),
    UnreadFormat("a list of relations between ASes, as CAIDA's", _matches(r"\d+\|\d+\|-?\d+"), _AS_RELATIONS),
    UnreadFormat(
        "a network of OMNeT++ (.ned)",
        _matches(r"(package|import)\s+[\w.]+\s*;|network\s+\w++[^{};:]*+\{"),
        "write its connections as CSV with the header from,to,capacity_bps,delay_ms",
    ),
    UnreadFormat(
        "a program in Python",
        _matches(r"(#!.*python|from [\w.]+ import |import [\w.]+|\"\"\")"),
        "it is not run here; let it write its graph: networkx.write_graphml(graph, NEW), or its links as CSV "
        "with the header from,to,capacity_bps,delay_ms",
    ),
    UnreadFormat(
        "a script of ns-2",
        _matches(r"(?s).*?\bset +\w+ +\[new +Simulator\]"),
        'write its links as CSV: awk \'BEGIN {print "from,to,capacity,delay"} /duplex-link / '
        '{print $3 "," $4 "," $5 "ps," $6}\' FILE > NEW',
    ),
    UnreadFormat(
        "a platform of SimGrid",
        _matches(r"(?s)<(?:[?!][^>]*>\s*<)*platform\b"),
        "write its links as CSV with the header from,to,capacity_bps,delay_ms",
    ),
)
"""In this order they are asked, before the formats that are read."""

PICKLE: Final = b"\x80"
"""First byte of what Python's pickle writes since its version 2."""
PICKLE_REMEDY: Final = (
    "opening it runs what it says, so it is never opened here; if you trust it: import pickle, "
    "networkx as nx; nx.write_graphml(pickle.load(open(FILE, 'rb')), NEW)"
)
