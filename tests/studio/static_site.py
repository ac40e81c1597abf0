"""The studio without an installation, served to a browser as any web server would."""

import base64
import functools
import http.server
import importlib.util
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
WASM = ROOT / "target" / "wasm"

ASK = """async (question) => {
  const { Server } = await import("./server.js");
  globalThis.answerer ??= new Server();
  const plain = (value) => {
    const told = (each) => (Number.isFinite(each) ? each : String(each));
    if (ArrayBuffer.isView(value)) return Array.from(value, told);
    if (Array.isArray(value)) return value.map(plain);
    const entries = (object) => Object.entries(object).map(([key, each]) => [key, plain(each)]);
    if (value && typeof value === "object") return Object.fromEntries(entries(value));
    return value;
  };
  try {
    return { answer: plain(await globalThis.answerer.ask({ tab: "test", mode: "run", ...question })) };
  } catch (error) {
    return { error: error.message };
  }
}"""
_KINDS = {"f4": "<f4", "f8": "<f8", "i4": "<i4"}


def built(folder: Path) -> Path:
    """The site in a folder; skipped where nobody has made the core for browsers."""
    if not (WASM / "anabranch_wasm_bg.wasm").exists():
        pytest.skip("not here: target/wasm, which make wasm networks writes")
    spec = importlib.util.spec_from_file_location("site_studio", ROOT / "docs" / "site" / "studio.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build(WASM, folder)
    return folder


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder as a web server gives it; the address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def plain(document: Any) -> Any:
    """A document of Python's with its columns as numbers, as the browser has them."""
    if isinstance(document, dict):
        if document.keys() == {"kind", "base64"}:
            values = np.frombuffer(base64.b64decode(document["base64"]), _KINDS[document["kind"]])
            return {"kind": document["kind"], "values": values.tolist()}
        return {key: plain(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [plain(value) for value in document]
    return document


def unlike(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two documents differ, beyond the last digits of a 32-bit number."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return [f"{place}: keys {sorted(one.keys() ^ other.keys())}"]
        return [words for key in one for words in unlike(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return [f"{place}: {len(one)} and {len(other)} entries"]
        parts = enumerate(zip(one, other, strict=True))
        return [words for number, (a, b) in parts for words in unlike(a, b, f"{place}[{number}]")][:5]
    return [] if _same(one, other) else [f"{place}: {one!r} and {other!r}"]


def _same(one: Any, other: Any) -> bool:
    number, beside = _number(one), _number(other)
    if number is None or beside is None:
        return bool(one == other)
    both_none = math.isnan(number) and math.isnan(beside)
    return both_none or math.isclose(number, beside, rel_tol=2e-6, abs_tol=1e-9)


def _number(value: Any) -> float | None:
    if value == "NaN":
        return math.nan
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
