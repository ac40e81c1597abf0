"""Hostile forms of a reader's file: bombs, depth, encodings, huge counts and lines; or no regular file."""

from __future__ import annotations

import gzip
import os
import pickle
import random
import re
import socket
from collections.abc import Callable
from pathlib import Path

import mutation
import own_code

_MANY = 100_000
_LARGE_BYTES = 8 * 2**20
"""Of what is large: a reader that is linear takes it well within its time."""
_BOMB_BYTES = 256 * 2**20
"""Of a bomb, unpacked: a quarter of a megabyte as a file."""
_NUMBER = re.compile(rb"(?<![\w.])\d+(?:\.\d+)?")
_NAME = re.compile(rb"(?<=\")[^\"\n<>]{1,40}(?=\")|\b[A-Za-z]{1,12}\b")
_bomb: list[bytes] = []


class _Unpickled:
    """Leaves a canary where a pickle is opened."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (open, (own_code.CANARY, "w"))


def _cut(draw: random.Random, content: bytes) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def _garbage(draw: random.Random, content: bytes) -> bytes:
    head = content[: draw.choice((0, 4, 40))]
    return head + draw.randbytes(draw.choice((1, 100, 10_000)))


def _deep(draw: random.Random, content: bytes) -> bytes:
    level = draw.choice((b"[", b"{", b"(", b'{"a":', b"<a>", b"- ", b"graph [ ", b"subgraph {", b"[[", b"\t"))
    at = draw.choice((0, draw.randrange(len(content) + 1)))
    return content[:at] + level * draw.choice((300, 5000, _MANY)) + content[at:]


def _large(draw: random.Random, content: bytes) -> bytes:
    """The same again and again: the whole, one line, or all in one line."""
    lines = content.splitlines(keepends=True) or [b"x\n"]
    kind = draw.randrange(3)
    if kind == 0:
        return content * (_LARGE_BYTES // max(len(content), 1))
    if kind == 1:
        at = draw.randrange(len(lines))
        repeated = lines[at] * (_LARGE_BYTES // len(lines[at]))
        return b"".join([*lines[:at], repeated, *lines[at:]])
    one = content.replace(b"\n", b" ") + b" "
    return one * (_LARGE_BYTES // len(one))


def _long_word(draw: random.Random, content: bytes) -> bytes:
    at = draw.randrange(len(content) + 1)
    return content[:at] + draw.choice((b"a", b"9", b"\xc3\xbc", b'"', b",", b" ")) * 2**20 + content[at:]


def _counts(draw: random.Random, content: bytes) -> bytes:
    """Some numbers or all become another one, with more digits than Python reads, too."""
    number = draw.choice((b"1000000000", b"1" + b"0" * 18, b"-1", b"0", b"1e308", b"9" * 5000, b"NaN"))
    share = draw.choice((0.1, 1.0))
    return _NUMBER.sub(lambda match: number if draw.random() < share else match[0], content)


def _names(draw: random.Random, content: bytes) -> bytes:
    name = draw.choice(mutation.WORDS).encode("utf-8", "replace")
    share = draw.choice((0.02, 0.2))
    return _NAME.sub(lambda match: name if draw.random() < share else match[0], content)


def _encoded(draw: random.Random, content: bytes) -> bytes:
    text = content.decode("latin-1")
    kind = draw.randrange(9)
    if kind < 5:
        return text.encode(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp037")[kind], "replace")
    if kind == 5:
        return content.replace(b"\n", b"\r")
    if kind == 6:
        return _NAME.sub(b"\xe9\xff", content, count=3)
    if kind == 7:
        return _NAME.sub(b"\xed\xa0\x80", content, count=3)
    return bytes(byte for pair in content for byte in (pair, 0))


def _packed(draw: random.Random, content: bytes) -> bytes:
    kind = draw.randrange(4)
    if kind == 0:
        return gzip.compress(content)
    if kind == 1:
        return gzip.compress(gzip.compress(content))
    if kind == 2:
        return gzip.compress(content)[: draw.randrange(4, 40)]
    if not _bomb:
        _bomb.append(gzip.compress(b" " * _BOMB_BYTES))
    return gzip.compress(content) + _bomb[0]


def _entities(draw: random.Random, content: bytes) -> bytes:
    """Entities in entities (XML 1.0 section 4.4), and one outside the file."""
    levels = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 12))
    inside = '<!ENTITY e0 "eeeeeeeeee">' + levels
    outside = '<!ENTITY e11 SYSTEM "file:///etc/hostname">'
    head = f"<!DOCTYPE x [{draw.choice((inside, outside))}]>".encode()
    body = re.sub(rb"^\s*<\?xml[^>]*\?>\s*(<!DOCTYPE[^>]*>)?", b"", content)
    return b'<?xml version="1.0"?>' + head + re.sub(rb">([^<]*)<", b">&e11;<", body, count=2)


def _aliases(_draw: random.Random, content: bytes) -> bytes:
    """Aliases of aliases (YAML 1.2 section 7.1), and a tag that would run a program."""
    levels = [b"l0: &l0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"l{at}: &l{at} [{', '.join([f'*l{at - 1}'] * 9)}]".encode() for at in range(1, 10)]
    tag = f"t: !!python/object/apply:os.system ['touch {own_code.CANARY}']".encode()
    return b"\n".join([*levels, tag, content]) + b"\nlinks: *l9\n"


def _products(draw: random.Random, _content: bytes) -> bytes:
    """Few bytes that stand for many edges, in DOT; many columns, in a table."""
    if draw.random() < 0.5:
        groups = ("{" + " ".join(f"{side}{at}" for at in range(5000)) + "}" for side in "ab")
        return f"graph {{ {' -- '.join(groups)} }}".encode()
    return b",".join(b"c%d" % at for at in range(_MANY)) + b"\n" + b"1," * _MANY + b"\n"


def _pickled(_draw: random.Random, _content: bytes) -> bytes:
    return pickle.dumps(_Unpickled())


FORMS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _cut,
    _garbage,
    _deep,
    _large,
    _long_word,
    _counts,
    _names,
    _encoded,
    _packed,
    _entities,
    _aliases,
    _products,
    _pickled,
)


def form(draw: random.Random, content: bytes, _other: bytes) -> bytes:
    """The content in a hostile form."""
    return draw.choice(FORMS)(draw, content)


def _socket(path: Path) -> None:
    # The name of a socket has some hundred characters at most.
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(before)


_PLACES: tuple[Callable[[Path], None], ...] = (
    os.mkfifo,
    Path.mkdir,
    _socket,
    lambda path: path.symlink_to(path.name),
    lambda path: path.symlink_to("nowhere"),
    lambda path: path.symlink_to("/dev/zero"),
    lambda path: path.symlink_to("/dev/null"),
    lambda path: path.symlink_to("/proc/self/mem"),
    lambda path: path.symlink_to("."),
)


def displace(draw: random.Random, path: Path) -> None:
    """Puts something in the place of a file that is no regular one, and that may never end."""
    path.unlink()
    draw.choice(_PLACES)(path)
