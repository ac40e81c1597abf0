"""Words for files that are neither captures nor measurements of a known format."""

from __future__ import annotations

import re
from typing import Final

from anabranch.runs.measurements.model import table_of
from anabranch.runs.measurements.reading import MeasurementFile

_CAPTURES: Final = (
    b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
"""How captures begin: pcap and pcapng in both byte orders; and zstd, in which only captures are read."""
_BINARY: Final = (
    (b"PK\x03\x04", "a ZIP archive: unpack it"),
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program (ELF)"),
    (b"PAR1", "a table of Parquet"),
)
_TEXTS: Final = (
    (r"<(!DOCTYPE html|html)\b", "a web page (HTML): fetch the file itself"),
    (r"<\?xml|<pdml|<packets", "XML; of a capture exported by Wireshark give the capture itself"),
    (r"(Connecting to host|Server listening on|\[ *ID\] Interval)",
    "iperf3's output for people: call iperf3 with -J"),
    (r"-{20,}\s*\n(Client connecting|Server listening)", "iperf 2's output: measure with iperf3 -J"),
    (r"PING \S+ ", "the output of ping, which is not read here"),
    (r"\d\d:\d\d:\d\d\.\d+ IP6? ", "tcpdump's output for people: write a capture with tcpdump -w FILE"),
    (r"(timeval|double|unsigned) (unsigned|signed|double|dtime)\s*\n(title|xlabel)",
    "a plot of tcptrace (xplot)"),
    (r"\[\s*\{", "a list in JSON: give each of its entries as a file of its own, by: "
    "jq -c '.[]' FILE | split -l 1"),
    (r"\[[a-z_.]+\]\s*(\n|$)|[a-z_]+ = ", "TOML, as a scenario is: anabranch run reads it"),
)  # fmt: skip
_TABLE = re.compile(r"[^\n,;\t]+([,;\t][^\n,;\t]*)+\n")


def is_capture(source: MeasurementFile) -> bool:
    """Whether the reader of captures is to say what it is: it begins as one, or is binary and unknown."""
    head = source.head
    if head.startswith(_CAPTURES) or not head.strip():
        return True
    return not source.is_text and not head.startswith(tuple(magic for magic, _ in _BINARY))


def seems(source: MeasurementFile) -> str:
    """Words for what a file seems to be, and what to do about it, which end "it seems to be"."""
    for magic, what in _BINARY:
        if source.head.startswith(magic):
            return what
    text = source.head_text
    if text.startswith("{"):
        return _json(source)
    for pattern, what in _TEXTS:
        if re.match(pattern, text, re.IGNORECASE if pattern.startswith("<") else 0):
            return what
    if re.fullmatch(r"(\d+\s+)+\d*", text):
        return "a list of numbers, as a trace of Mahimahi is: a [[profile]] of a scenario reads it"
    if _TABLE.match(text):
        return "a table (CSV), which is not read here"
    return "text of no tool that is known here"


def _json(source: MeasurementFile) -> str:
    document = source.document
    if document is None:
        return f"JSON, and it {source.damage}"
    keys = [str(key)[:40] for key in table_of(document)][:5]
    return f"JSON of no tool that is known here; its keys are {', '.join(keys) or 'none'}"
