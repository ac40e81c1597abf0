"""The page of ``browser_check.html`` in Chromium, and its tables beside those of numpy."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
from browser_networks import ROOT
from playwright import sync_api as playwright


class Page:
    """A page that has the module, from a folder that is served at an address."""

    def __init__(self, page: playwright.Page, address: str, folder: Path) -> None:
        """Opens it and waits until the module is there."""
        self.address = address
        self.folder = folder
        self.page = page
        page.goto(f"{address}/browser_check.html")
        page.wait_for_function("window.ready === true")

    def call(self, name: str, *arguments: Any) -> Any:
        """Calls a function of the page."""
        return self.page.evaluate("([name, given]) => window.calls[name](...given)", [name, list(arguments)])

    def example(self, name: str) -> tuple[str, str | None]:
        """The text of an example, and the file of its network as the page finds it."""
        text = (ROOT / "examples" / f"{name}.toml").read_text(encoding="utf-8")
        file = self.call("networkFile", text)
        if file is None:
            return text, None
        return text, (self.folder / "networks" / file).read_text(encoding="utf-8")


def _unpacked(column: Any) -> Any:
    """A column of the page as the native core gives one."""
    if isinstance(column, list):
        return column
    if "names" in column:
        return column["names"], np.frombuffer(base64.b64decode(column["places"]), np.uint8)
    kind = np.uint64 if column["integers"] else np.float64
    return np.frombuffer(base64.b64decode(column["bytes"]), kind)


def _is_same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, tuple):
        return isinstance(theirs, tuple) and ours[0] == theirs[0] and bytes(ours[1]) == bytes(theirs[1])
    if isinstance(ours, list):
        return bool(ours == theirs)
    if not isinstance(theirs, np.ndarray) or ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    if ours.dtype != np.float64:
        return bool(np.array_equal(ours, theirs))
    # Which NaN stands for nothing is up to the processor.
    is_nan = np.isnan(ours)
    same = ours.view(np.uint64) == theirs.view(np.uint64)
    return bool(np.array_equal(is_nan, np.isnan(theirs)) and np.all(same | is_nan))


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """The columns that are not the same, bit by bit, in native tables and in those of the page."""
    names = sorted({(table, name) for tables in (ours, theirs) for table in tables for name in tables[table]})
    unlike = []
    for table, name in names:
        if name not in ours.get(table, {}) or name not in theirs.get(table, {}):
            unlike.append(f"{table}.{name} (missing)")
        elif not _is_same(ours[table][name], _unpacked(theirs[table][name])):
            unlike.append(f"{table}.{name}")
    return unlike
