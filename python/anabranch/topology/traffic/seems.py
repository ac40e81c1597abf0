"""Files of no format that is read: what each seems to be, and how it becomes one that is."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from anabranch.topology.readers.registry import FORMATS
from anabranch.topology.traffic.readers import TRAFFIC_FORMATS
from anabranch.topology.traffic.readers.yates import HOSTS

_MATRIX: Final = "import numpy as np, pathlib; m = {load}"
_WRITE: Final = (
    'pathlib.Path("tm.csv").write_text("from,to,rate_mbps\\n" + "".join('
    'f"{names[i]},{names[j]},{v}\\n" for (i, j), v in np.ndenumerate(m) if i != j))'
)


@dataclass(frozen=True, slots=True)
class _Kind:
    what: str
    """What the file is, after "this is"."""
    remedy: str
    """The lines that convert it."""
    fits: Callable[[bytes, str], bool]
    """Whether a file with these first bytes, of this name, is one."""


def _two_lines(load: str) -> str:
    return (
        "convert it where you trust it, with the names of the nodes in order, in Python: "
        f"{_MATRIX.format(load=load)}; {_WRITE}"
    )


def _begins(*magics: bytes) -> Callable[[bytes, str], bool]:
    return lambda head, _: head.startswith(magics)


def _is_json(head: bytes, _: str) -> bool:
    return head.lstrip()[:1] in (b"{", b"[") and re.search(rb'["\d\]}]', head) is not None


def _keys(head: bytes) -> set[str]:
    """The keys that the beginning of a JSON text has."""
    return {key.decode(errors="replace") for key in re.findall(rb'"([^"\\]{1,40})"\s*:', head)}


def _is_html(head: bytes, _: str) -> bool:
    return re.match(rb"\s*<(!doctype html|html)\b", head, re.IGNORECASE) is not None


def _is_yaml(head: bytes, name: str) -> bool:
    begins = re.match(rb"---\s|[A-Za-z_][\w-]*:(\s|$)", head) is not None
    return begins or name.endswith((".yaml", ".yml"))


def _has_numbers(head: bytes, _: str) -> bool:
    words = head.split(b"\n", 1)[0].split()
    return len(words) > 1 and all(re.fullmatch(rb"[-+0-9.eE]+", word) for word in words)


def _is_list(head: bytes, _: str) -> bool:
    """Whether each of the first lines has one number, but for the last one, which may be cut."""
    lines = head.split(b"\n")[:-1]
    return len(lines) > 2 and all(re.fullmatch(rb"[-+0-9.eE]+\s*", line) for line in lines[:50])


def _is_pickle(head: bytes, name: str) -> bool:
    return re.match(rb"\x80[\x02-\x05]", head) is not None or name.endswith((".pkl", ".pickle"))


def _is_node_link(head: bytes, name: str) -> bool:
    return _is_json(head, name) and "nodes" in _keys(head) and bool({"links", "edges"} & _keys(head))


_KNOWN: Final = f"networks: {FORMATS}; traffic: {TRAFFIC_FORMATS}"
_PCAP: Final = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
)
_KINDS: Final = (
    _Kind("a packet capture", "analyse it by: anabranch capture FILE", _begins(*_PCAP)),
    _Kind(
        "a pickle of Python, which could run any code and is never opened",
        _two_lines('np.load("FILE", allow_pickle=True)'),
        _is_pickle,
    ),
    _Kind("an array of numpy", _two_lines('np.load("FILE")'), _begins(b"\x93NUMPY")),
    _Kind(
        "a spreadsheet (.xlsx)",
        "save the sheet as CSV with the header from,to,rate_mbps (or from,to,size_bytes,start_s)",
        lambda head, name: head.startswith(b"PK\x03\x04") and (b"xl/" in head or name.endswith(".xlsx")),
    ),
    _Kind(
        "an archive of arrays of numpy",
        _two_lines('np.load("FILE")["NAME"]'),
        lambda head, name: head.startswith(b"PK\x03\x04") and name.endswith(".npz"),
    ),
    _Kind("a zip archive", "unpack it and name the file inside", _begins(b"PK\x03\x04")),
    _Kind("gzip", "unpack it by: gunzip -k FILE", _begins(b"\x1f\x8b")),
    _Kind("bzip2", "unpack it by: bunzip2 -k FILE", _begins(b"BZh")),
    _Kind("xz", "unpack it by: unxz -k FILE", _begins(b"\xfd7zXZ")),
    _Kind(
        "a matrix of MATLAB",
        'convert it in Python: import scipy.io; m = scipy.io.loadmat("FILE")["NAME"], and write m as CSV '
        "with the header from,to,rate_mbps",
        _begins(b"MATLAB 5.0"),
    ),
    _Kind("an HDF5 file", "write its matrix as CSV with the header from,to,rate_mbps", _begins(b"\x89HDF")),
    _Kind(
        "a report of iperf3 (JSON)",
        "it has what was measured, not what was asked for: write the flows as CSV with the header "
        "from,to,size_bytes,start_s",
        lambda head, _: _is_json(head, "") and {"start", "intervals"} <= _keys(head) | _late_keys(head),
    ),
    _Kind(
        "a graph as node-link JSON, as networkx writes it",
        "convert it in Python: import json, networkx as nx; "
        'nx.write_graphml(nx.node_link_graph(json.load(open("FILE")), edges="links"), "net.graphml")',
        _is_node_link,
    ),
    _Kind(
        "JSON",
        'convert it in Python: import json; d = json.load(open("FILE")), and write its entries as CSV '
        "with the header from,to,rate_mbps, or its flows with from,to,size_bytes,start_s",
        _is_json,
    ),
    _Kind("HTML, perhaps the page of a download that failed", "fetch the file itself", _is_html),
    _Kind("XML of no known format", _KNOWN, lambda head, _: head.lstrip().startswith(b"<")),
    _Kind(
        "a pointer of Git LFS, not the file itself",
        "fetch it by: git lfs pull",
        _begins(b"version https://git-lfs"),
    ),
    _Kind(
        "a scenario of Anabranch",
        "run it by: anabranch run FILE",
        lambda head, _: re.search(rb"(?m)^\[\[?(network|traffic|routing|run)[\].]", head) is not None,
    ),
    _Kind(
        "the file of hosts that belongs to matrices of YATES",
        "name the file of the matrices, beside which it lies",
        lambda _, name: name.endswith(HOSTS),
    ),
    _Kind(
        "YAML",
        'convert it in Python: import yaml; d = yaml.safe_load(open("FILE")), and write its entries as CSV',
        _is_yaml,
    ),
    _Kind(
        "a list of numbers, as traces of Mahimahi and lists of delays are",
        "it is no traffic, but what a link was like: name it in a [[profile]], with "
        'format = "mahimahi" or "delays"',
        _is_list,
    ),
    _Kind(
        "lines of numbers",
        "a matrix in a line has n * n of them (YATES, with the names of n nodes in a file .hosts), "
        "those of Abilene have 720; a line may be cut off",
        _has_numbers,
    ),
)


def _late_keys(head: bytes) -> set[str]:
    """The keys of a JSON text that is short enough to be read whole."""
    try:
        data = json.loads(head)
    except (ValueError, RecursionError):
        return set()
    return set(data) if isinstance(data, dict) else set()


@dataclass(frozen=True, slots=True)
class Seeming:
    """A guess at a file of no known format."""

    what: str
    """In a sentence without its end."""
    remedy: str
    """What to do with it."""
    line: str = ""
    """Where, as the end of a place: ``, line 1``."""


def what_it_seems(head: bytes, name: str) -> Seeming:
    """A guess at a file of no known format, and what to do with it.

    Args:
        head: its first bytes.
        name: of the file.
    """
    if not head:
        return Seeming("the file is empty", "fetch it again")
    kind = next((kind for kind in _KINDS if kind.fits(head, name)), None)
    if kind is not None:
        return Seeming(f"this is {kind.what}", kind.remedy.replace("FILE", name))
    if not head.strip():
        return Seeming("the file is blank", "fetch it again")
    if b"\0" in head:
        return Seeming("this is binary data of no known format", f"traffic that is read: {TRAFFIC_FORMATS}")
    first = "".join(c if c.isprintable() else "." for c in head.split(b"\n", 1)[0].decode("latin-1").strip())
    if "," in first:
        rates = "is not from,to and one of rate, rate_kbps, rate_mbps, rate_gbps"
        others = "for single flows it is from,to,size_bytes,start_s, for links from,to,capacity_mbps,delay_ms"
        return Seeming(f'"{first[:80]}" {rates}', others, ", line 1")
    return Seeming(
        f'no known format: it starts with "{first[:20]}"', f"traffic that is read: {TRAFFIC_FORMATS}"
    )
