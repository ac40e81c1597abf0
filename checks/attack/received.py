"""Mutants of what somebody has sent: folders of runs, studies and saved plans, and captures of both ends."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mutation

RECORDS = ("manifest.json", "summary.json", "journal.jsonl", "study.json", "plan.json")
"""Files that Anabranch believes when it reads a folder again: most mutants are of these."""
ZSTD_BLOCK_BYTES = 100_000


def folder_mutant(draw: random.Random, folder: Path, seeds: Path) -> list[str]:
    """A folder with one damaged file, and a command that reads it, goes on with it or writes over it."""
    kind = draw.choice(("run", "study", "begun", "begun", "planned"))
    shutil.copytree(seeds / kind, folder / "result")
    files = sorted(file for file in (folder / "result").rglob("*") if file.is_file())
    records = [file for file in files if file.name in RECORDS]
    file = draw.choice(records if draw.random() < 0.8 else files)
    file.write_bytes(_changed(draw, file, draw.choice(files)))
    if draw.random() < 0.5:
        _vouch(folder / "result", file)
    report = ["report", "result", *["--out", "page"] * (draw.random() < 0.3)]
    if kind in ("study", "begun"):
        study = ["study", "result/study.toml", "--jobs", "1", "--out", "result"]
        return draw.choice((report, study, study, [*study, "--replace"]))
    run = ["run", "result/scenario.toml", "--no-page", "--out", "result"]
    routes = ["routes", "result/scenario.toml", *["--json"] * (draw.random() < 0.5)]
    return draw.choice((report, run, [*run, "--replace"], routes))


def _vouch(folder: Path, file: Path) -> None:
    """Has the manifest say that the file is as it was written, as who forges a result would."""
    manifest, name = folder / "manifest.json", file.relative_to(folder).as_posix()
    if file == manifest or not manifest.is_file():
        return
    data = json.loads(manifest.read_text(encoding="utf-8"))
    if name in data["files"]:
        content = file.read_bytes()
        data["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        manifest.write_text(json.dumps(data), encoding="utf-8")


def _changed(draw: random.Random, file: Path, other: Path) -> bytes:
    content = file.read_bytes()
    if file.suffix in (".json", ".jsonl") and draw.random() < 0.7:
        return of_json(draw, content)
    readable = file.suffix in (".json", ".jsonl", ".toml", ".csv", ".html")
    change = mutation.of_words if readable and draw.random() < 0.7 else mutation.of_bytes
    return change(draw, content, other.read_bytes())


def of_json(draw: random.Random, content: bytes) -> bytes:
    """Changes of the values of a JSON document, or of one line of several; still JSON, but for infinities."""
    lines = content.splitlines() if content.count(b"\n{") else [content]
    at = draw.randrange(len(lines))
    data = json.loads(lines[at])
    lines[at] = json.dumps(mutation.changed(draw, data, data, mutation.by_key([data]))).encode()
    if len(lines) > 1 and draw.random() < 0.2:
        lines.insert(draw.randrange(len(lines)), lines[at])
    return b"\n".join(lines) + b"\n"


def capture_mutant(draw: random.Random, folder: Path, pair: tuple[bytes, bytes]) -> list[str]:
    """Captures of both ends, of which one is damaged and the other is not, in either order."""
    ends = list(pair)
    damaged = draw.randrange(2)
    pack = draw.choice(tuple(PACKED.values()))
    if draw.random() < 0.7:
        ends[damaged] = pack(mutation.of_bytes(draw, ends[damaged], ends[1 - damaged]))
    else:
        ends[damaged] = mutation.of_bytes(draw, pack(ends[damaged]), ends[1 - damaged])
    names = ["one.pcap", "other.pcap"]
    for name, content in zip(names, ends, strict=True):
        (folder / name).write_bytes(content)
    draw.shuffle(names)
    arguments = ["capture", *names]
    options = (["--window", "50 ms"], ["--interval", "10 ms"], ["--disjoint"], ["--out", "out"], ["--json"])
    for option in options:
        arguments += option if draw.random() < 0.2 else []
    return arguments


def zstd(content: bytes) -> bytes:
    """The content as a frame of raw blocks, for which no compressor is needed (RFC 8878 section 3.1.1)."""
    # No checksum, no size of the content, and a window of 2 MB.
    frame = [b"\x28\xb5\x2f\xfd", b"\x00", b"\x58"]
    blocks = [content[at : at + ZSTD_BLOCK_BYTES] for at in range(0, max(len(content), 1), ZSTD_BLOCK_BYTES)]
    for number, block in enumerate(blocks, 1):
        frame += [(len(block) << 3 | (number == len(blocks))).to_bytes(3, "little"), block]
    return b"".join(frame)


def as_pcap(capture: bytes) -> bytes:
    """The packets of a capture in the older format (pcap), with microseconds."""
    parts = [b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(8) + (65535).to_bytes(4, "little"), b""]
    at, number = 0, 0
    while at + 12 <= len(capture):
        kind, length = (int.from_bytes(capture[at + i : at + i + 4], "little") for i in (0, 4))
        if kind == 1:
            parts[1] = int.from_bytes(capture[at + 8 : at + 10], "little").to_bytes(4, "little")
        if kind == 6:
            held, full = capture[at + 20 : at + 24], capture[at + 24 : at + 28]
            size = int.from_bytes(held, "little")
            number += 1
            parts.append(
                (number // 1000).to_bytes(4, "little") + (number * 997 % 1_000_000).to_bytes(4, "little")
            )
            parts.append(held + full + capture[at + 28 : at + 28 + size])
        at += max(length, 12)
    return b"".join(parts)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": lambda content: gzip.compress(content, 1, mtime=0),
    "zstd": zstd,
}
"""How a capture may be packed (docs/capture.md)."""


def write_planned(folder: Path, routes: dict[str, Any]) -> None:
    """A result whose routes come from a saved plan, which it keeps."""
    from anabranch import Scenario  # noqa: PLC0415 - the worker limits its memory after it is imported
    from anabranch.plans.saved import save_plan  # noqa: PLC0415 - the same

    plan = folder.with_name("plan.json")
    save_plan(
        Scenario.from_data({**routes, "routing": {"scheme": {"algorithm": "k-shortest", "k": 2}}}), plan
    )
    given = {**routes, "routing": {"scheme": "given", "paths": f"file:{plan.resolve()}"}}
    Scenario.from_data(given).run(out=folder)
