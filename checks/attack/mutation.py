"""Small changes of inputs: of bytes, of the words of a text, and of the values of a TOML file."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterable, Iterator, MutableMapping, MutableSequence
from typing import Any

import tomli_w

NUMBERS = (
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "7",
    "0.5",
    "1e-300",
    "1e300",
    "1e999",
    "-1e9",
    "NaN",
    "nan",
    "inf",
    "-inf",
    "2147483648",
    "4294967295",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "9" * 400,
    "0." + "0" * 400 + "1",
    "1_000",
    "0x10",
    "٣",
    "1,5",
    "1.5.2",
    "+5",
)
UNITS = (
    "ps",
    "ns",
    "us",
    "µs",
    "ms",
    "s",
    "min",
    "h",
    "bps",
    "kbps",
    "Mbps",
    "Gbps",
    "Tbps",
    "B",
    "kB",
    "MB",
    "GiB",
    "packets",
    "segments",
    "BDP",
    "km/ms",
    "km",
    "%",
    "",
    "S",
    "MBPS",
    "m",
    "\u202e",
    "ms ms",
)
WORDS = (
    "",
    " ",
    "*",
    "unlimited",
    "never",
    "distance",
    "=1+1",
    "@x",
    "-",
    "a" * 5000,
    "ü",
    "\u202eabc",
    "\x1b[31m",
    "\x9b2J",
    "\x00",
    "\n",
    "\r\n",
    "\t",
    '"',
    "'",
    "\\",
    "<b>",
    "</script><script>",
    "{{x}}",
    "[red]",
    "%s",
    "../../x",
    "file:/dev/zero",
    "file:.",
    "file:",
    "zoo/",
    "zoo/Abilene",
    "/",
    "\ud7ff",
    "\U0001f600",
    "e\u0301",
    "NULL",
    "None",
    "true",
    "cubic",
    "mptcp",
    "left1",
    "west",
    "fifo",
    "codel",
    "disjoint",
    "inverse-capacity",
    "packet",
)
Change = Callable[[random.Random, bytes, bytes], bytes]
"""Makes another content of one, and perhaps of a piece of the second."""

_TOKEN = re.compile(r"[A-Za-z_][\w-]*|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\"[^\"\n]*\"|[^\w\s]")
_QUANTITY = re.compile(r"\s*(-?[\d.]+)\s*([^\d\s]\S*)\s*")


def of_bytes(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """One to four changes of bytes: bits, slices, ends, repetitions, pieces of another input."""
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at = draw.randrange(len(data) + 1)
        length = draw.choice((1, 2, 4, 8, 50, 500))
        match draw.randrange(9):
            case 0 if data:
                data[at % len(data)] ^= 1 << draw.randrange(8)
            case 1:
                del data[at : at + length]
            case 2:
                del data[at:]
            case 3:
                data[at:at] = draw.randbytes(length)
            case 4:
                data[at:at] = data[at : at + length] * draw.choice((1, 3, 100))
            case 5:
                data[at : at + 4] = draw.choice((0, 1, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000)).to_bytes(
                    4, draw.choice(("big", "little"))
                )  # fmt: skip
            case 6:
                data[at : at + length] = other[at : at + length]
            case 7:
                data[at:at] = draw.choice(
                    (b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\x1b[2J", b"\xc3\x28", b"\r", b"\xed\xa0\x80")
                )
            case _:
                data[0:0] = draw.choice((b"\xef\xbb\xbf", b"\xfe\xff", b"\x1f\x8b", b"PK\x03\x04", b"\n\n"))
    return bytes(data)


def of_words(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """One to three changes of words, numbers or lines of a text."""
    text = content.decode("utf-8", errors="replace")
    for _ in range(draw.choice((1, 1, 2, 3))):
        tokens = list(_TOKEN.finditer(text))
        if not tokens:
            return of_bytes(draw, content, other)
        chosen, second = draw.choice(tokens), draw.choice(tokens)
        start, end = chosen.span()
        kind = draw.randrange(9)
        if kind == 0:
            new = draw.choice(NUMBERS)
        elif kind == 1:
            new = draw.choice(WORDS)
        elif kind == 2:
            new = second[0]
        elif kind == 3:
            new = ""
        elif kind == 4:
            new = chosen[0] * draw.choice((2, 50, 3000))
        elif kind == 5:
            new = f"{chosen[0]} {draw.choice(UNITS)}"
        elif kind == 6:
            new = draw.choice("([{<") * draw.choice((1, 70, 2000))
        else:
            lines = text.splitlines(keepends=True)
            at, to = draw.randrange(len(lines)), draw.randrange(len(lines))
            if kind == 7:
                lines[at:at] = lines[to : to + draw.choice((1, 3, 10))] * draw.choice((1, 2, 200))
            else:
                del lines[at : at + draw.choice((1, 1, 2, 5))]
            text = "".join(lines)
            continue
        text = text[:start] + new + text[end:]
    return text.encode("utf-8", errors="replace")


def of_words_or_bytes(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """Mostly changes of words: most of what changes bytes is refused at once."""
    return (of_words if draw.random() < 0.75 else of_bytes)(draw, content, other)


def word(draw: random.Random, *usual: str) -> str:
    """One of these words, changed."""
    text = of_words(draw, draw.choice(usual).encode(), b"x = [1]").decode(errors="replace")
    return text.replace("\0", "")[:100_000]


def by_key(contents: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
    """The values that each key has anywhere."""
    values_by_key: dict[str, dict[str, Any]] = {}
    for content in contents:
        for holder, key in _places(content):
            if isinstance(holder, dict) and isinstance(key, str):
                values_by_key.setdefault(key, {})[repr(holder[key])] = holder[key]
    return {key: list(values.values()) for key, values in values_by_key.items()}


def of_toml(
    draw: random.Random, content: dict[str, Any], other: dict[str, Any], values: dict[str, list[Any]]
) -> bytes:
    """One to three changes of the values of a TOML file: still TOML, whatever they mean."""
    return tomli_w.dumps(changed(draw, content, other, values)).encode("utf-8", errors="replace")


def changed(
    draw: random.Random, content: dict[str, Any], other: dict[str, Any], values: dict[str, list[Any]]
) -> dict[str, Any]:
    """One to three changes of the values of a document.

    Half of them take the value that the same key has elsewhere, which is mostly a scenario that runs.
    """
    data = copy.deepcopy(content)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        places = list(_places(data))
        if not places:
            break
        # Mostly single values: most of what changes a table is refused at once.
        leaves = [(holder, key) for holder, key in places if not isinstance(holder[key], dict | list)]
        holder, key = draw.choice(leaves if leaves and draw.random() < 0.7 else places)
        if draw.random() < 0.6 and key in values:
            holder[key] = copy.deepcopy(draw.choice(values[key]))
            continue
        _change(draw, holder, key, draw.choice([value for _, value in _leaves(other)] or [0]))
    return data


_Holder = MutableMapping[str, Any] | MutableSequence[Any]


def _places(node: Any) -> Iterator[tuple[_Holder, Any]]:
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in list(entries):
        yield node, key
        yield from _places(value)


def _leaves(node: Any) -> Iterator[tuple[Any, Any]]:
    for holder, key in _places(node):
        if not isinstance(holder[key], dict | list):
            yield key, holder[key]


def _change(draw: random.Random, holder: Any, key: Any, foreign: Any) -> None:
    old = holder[key]
    changes: list[Callable[[], Any]] = [
        lambda: draw.choice(
            (
                0,
                -1,
                1,
                2,
                3,
                2**31,
                2**63 - 1,
                -(2**63),
                1e308,
                1e-320,
                0.5,
                float("nan"),
                float("inf"),
                True,
                False,
            )
        ),
        lambda: draw.choice(WORDS),
        lambda: f"{draw.choice(NUMBERS)} {draw.choice(UNITS)}",
        lambda: foreign,
        lambda: [old] * draw.choice((0, 1, 2, 300)),
        lambda: {str(foreign)[:40]: old},
        lambda: _nested(draw.choice((3, 60, 150)), old),
        lambda: _other_quantity(draw, old),
        lambda: _other_quantity(draw, old),
        lambda: {**old, draw.choice(WORDS): foreign} if isinstance(old, dict) else {"algorithm": old},
        lambda: (
            {name: value for name, value in old.items() if draw.random() < 0.6}
            if isinstance(old, dict)
            else {}
        ),
        lambda: old + old[: draw.choice((1, 5))] if isinstance(old, list) else f"{old}{draw.choice(WORDS)}",
    ]
    kind = draw.randrange(len(changes) + 2)
    if draw.random() < 0.25:
        holder[key] = _other_quantity(draw, old)
    elif kind < len(changes):
        holder[key] = changes[kind]()
    elif kind == len(changes) or isinstance(holder, list):
        del holder[key]
    else:
        letters = list(key)
        draw.shuffle(letters)
        holder[draw.choice((key[:-1], key + "s", "".join(letters), key.upper(), ""))] = holder.pop(key)


def _nested(depth: int, value: Any) -> Any:
    for _ in range(depth):
        value = [value]
    return value


def _other_quantity(draw: random.Random, old: Any) -> Any:
    quantity = _QUANTITY.fullmatch(old) if isinstance(old, str) else None
    if quantity is None:
        scaled = isinstance(old, int | float) and not isinstance(old, bool)
        return old * draw.choice((-1, 0.1, 10, 1000)) if scaled else f"{old} "
    number, unit = quantity[1], quantity[2]
    if draw.random() < 0.4:
        return (
            f"{float(number) * draw.choice((0, 0.01, 0.5, 2, 30, 1e4)):g} {unit}"
            if _is_number(number)
            else old
        )
    if draw.random() < 0.5:
        return f"{draw.choice(NUMBERS)} {unit}"
    return f"{number} {draw.choice(UNITS)}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
