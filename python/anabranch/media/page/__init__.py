"""Pages: a template, the style and the scripts in one file, with nothing to fetch."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from anabranch import _core
from anabranch.media.page.data import shown_cell
from anabranch.media.palette import css_variables
from anabranch.results.result import json_ready

REPORT = "report.html"
"""Name of the page in a folder."""

_PACKAGE = "anabranch.media.page"


def render(
    template: str,
    document: dict[str, Any],
    scripts: tuple[str, ...],
    *,
    charts: bool = True,
    package: str = _PACKAGE,
    **shown: Any,
) -> str:
    """Fills a template. Only our own scripts may run: the page names them by their hashes.

    Args:
        template: its file in ``templates``.
        document: data for the scripts, which the template has as ``page``.
        scripts: files of ``assets/js``, without their ending, which become one.
        charts: whether they draw charts.
        package: a package with further ``templates`` and ``assets``. A template of it may extend
            ``base.html.j2``; what it does not have is taken from here.
        shown: what else the template takes.
    """
    programs = [*([asset("assets/uPlot.iife.min.js", package)] if charts else []), _program(scripts, package)]
    digests = (base64.b64encode(hashlib.sha256(program.encode()).digest()).decode() for program in programs)
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    return templates(package).get_template(template).render(
        script_hashes=Markup(hashes),  # noqa: S704 - made of our own files alone
        style=Markup(page_style()),  # noqa: S704
        scripts=[Markup(program) for program in programs],  # noqa: S704
        data=Markup(embedded(document)),  # noqa: S704 - escaped there
        page=document,
        version=_core.version(),
        cell_of=shown_cell,
        **shown,
    )  # fmt: skip


@cache
def templates(package: str) -> jinja2.Environment:
    """The templates of a package; of what it does not have, those of this one."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: asset(f"templates/{name}", package)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )


@cache
def asset(name: str, package: str) -> str:
    """The text of a file of the package, or of this one where that has none."""
    file = resources.files(package).joinpath(name)
    if not file.is_file():
        file = resources.files(_PACKAGE).joinpath(name)
    return file.read_text(encoding="utf-8")


@cache
def _program(names: tuple[str, ...], package: str) -> str:
    """Our scripts as one, with names of their own."""
    parts = "\n".join(asset(f"assets/js/{name}.js", package) for name in names)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


@cache
def page_style() -> str:
    """The style of every page, with its colours in both themes."""
    light, dark = css_variables()
    dark = f"{dark}{asset('assets/dark.css', _PACKAGE)}"
    return (
        f"{asset('assets/uPlot.min.css', _PACKAGE)}\n{asset('assets/page.css', _PACKAGE)}\n:root{{{light}}}\n"
        f'@media screen {{ :root[data-theme="dark"]:not(.printing) {{{dark}}} }}\n'
        "@media screen and (prefers-color-scheme: dark) {\n"
        f':root:not([data-theme="light"]):not(.printing) {{{dark}}} }}\n'
    )


def embedded(document: Any) -> str:
    """JSON for a script element of the kind ``application/json``: no text in it can end the element."""
    text = json.dumps(json_ready(document), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
