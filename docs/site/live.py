"""Figures and commands of the manual that run in it: each gets the studio below it, loaded at a click.

The scenario stands in the fragment of the address (``links.js`` of the studio), with the fields that the
command sets.
"""

import base64
import html
import re
import shlex
import zlib
from pathlib import Path
from urllib.parse import urlencode

from studio import EXAMPLES

from anabranch.studio.texts import edited

ROOT = Path(__file__).parents[2]
PAGES = ("docs/guide.md", "docs/classroom.md")
"""Pages whose figures and commands run; the front page shows the first example."""
_FIGURE = re.compile(r"^!\[[^\]]*\]\(figures/classroom-(\w+)\.png\)$", re.MULTILINE)
_SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MODES = {"run": "run", "routes": "routes"}
SCRIPT = """document.addEventListener("toggle", ({ target }) => {
  const place = target instanceof HTMLDetailsElement && target.dataset.live;
  if (!place || !target.open || target.querySelector("iframe")) return;
  const frame = document.createElement("iframe");
  frame.src = place;
  frame.title = target.querySelector("summary").textContent;
  target.append(frame);
}, true);
"""
STYLE = """details.live { margin: 1em 0; }
details.live summary { cursor: pointer; font-weight: 600; }
details.live iframe { width: 100%; height: 44rem; border: 1px solid var(--color-background-border); }
"""


def fragment(example: str, sets: list[str], mode: str = "run") -> str:
    """What stands behind the ``#``: the name of an example, or its text with some fields set."""
    if not sets and mode == "run":
        return urlencode({"example": example}, safe="/")
    text = (ROOT / "examples" / example).read_text(encoding="utf-8")
    changes = [dict(zip(("place", "typed"), one.split("=", 1), strict=True)) for one in sets]
    deflated = zlib.compress(edited(text, changes).encode(), wbits=-15)
    scenario = base64.urlsafe_b64encode(deflated).decode().rstrip("=")
    shown = {"file": Path(example).name} | ({} if mode == "run" else {"mode": mode}) | {"scenario": scenario}
    return urlencode(shown)


def of_command(line: str) -> tuple[str, str] | None:
    """The words and the fragment for a line of a shell; None where a page cannot do the same."""
    words = shlex.split(line)
    if len(words) < 3 or words[0] != "anabranch" or words[1] not in _MODES:
        return None
    example = words[2].removeprefix("examples/")
    if example == words[2] or example not in EXAMPLES:
        return None
    sets, rest = [], words[3:]
    while rest:
        if len(rest) < 2 or rest[0] not in ("--set", "--out", "--figures"):
            return None
        sets += [rest[1]] if rest[0] == "--set" else []
        rest = rest[2:]
    shown = ", ".join([example, *(each.replace("=", " = ", 1) for each in sets)])
    return shown, fragment(example, sets, _MODES[words[1]])


def block(page: Path, words: str, behind: str) -> str:
    """The studio below a figure or a command of a page, as HTML inside of Markdown."""
    place = f"{'../' * (len(page.parts) - 1)}studio/index.html#{behind}"
    shown = f"Run it here: {html.escape(words)}"
    return (
        "\n```{raw} html\n"
        f'<details class="live" data-live="{html.escape(place)}"><summary>{shown}</summary></details>\n```\n'
    )


def with_live(page: Path, text: str) -> str:
    """The text of a page with the studio below what it can run."""
    if page.as_posix() not in PAGES:
        return text

    def below_figure(match: re.Match[str]) -> str:
        example = f"classroom/{match[1]}.toml"
        return f"{match[0]}\n{block(page, example, fragment(example, []))}"

    def below_commands(match: re.Match[str]) -> str:
        words = (of_command(line) for line in match[1].splitlines() if line.strip())
        blocks = (block(page, *each) for each in dict.fromkeys(each for each in words if each))
        return "\n".join([match[0], *blocks])

    # Commands of a page with figures have them.
    return _FIGURE.sub(below_figure, text) if _FIGURE.search(text) else _SHELL.sub(below_commands, text)
