"""Spans of code that stand twice among all that shows results, the longest ones first.

A span is a run of tokens that is the same in two places but for its texts and numbers; docstrings, comments
and imports do not count. What is alike in other words is for a reader to find. It needs no history:
``python checks/house/repeated_spans.py``.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from typing import NamedTuple

from view_lines import ROOT, git, shows_results

LEAST, DIFFERENT = 32, 12
"""Tokens of a span, and how many different ones it has: a table of texts is alike by nature."""
TOKEN = re.compile(r'\n|[A-Za-z_]\w*|\d[\w.]*|"[^"\n]*"|\'[^\'\n]*\'|[^\s\w]')
LEFT_OUT = {
    ".py": re.compile(
        r'""".*?"""|^(?:from \S+ )?import (?:\([^)]*\)|[^\n]*)$|#[^\n]*', re.DOTALL | re.MULTILINE
    ),
    ".js": re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL),
}


class Token(NamedTuple):
    """A word or a sign, and its line; texts and numbers are all alike."""

    word: str
    line: int


class Span(NamedTuple):
    """A run of tokens in two places."""

    tokens: int
    lines: int
    first: str
    second: str


def tokens_of(file: str) -> list[Token]:
    """The tokens of a file, lines counted with what is left out."""
    ending = file[file.rindex(".") :]
    text = LEFT_OUT[ending].sub(
        lambda found: "\n" * found[0].count("\n"), (ROOT / file).read_text(encoding="utf-8")
    )
    tokens, line = [], 1
    for match in TOKEN.finditer(text):
        if match[0] == "\n":
            line += 1
        else:
            tokens.append(Token("TEXT" if match[0][0] in "\"'0123456789" else match[0], line))
    return tokens


def spans(files: dict[str, list[Token]]) -> list[Span]:
    """Every span, each as long as it can be, the longest first."""
    places: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for file, tokens in files.items():
        words = [token.word for token in tokens]
        for start in range(len(words) - LEAST):
            places[tuple(words[start : start + LEAST])].append((file, start))
    found, covered = list[Span](), set[tuple[str, int]]()
    for (file, start), *others in places.values():
        for other, place in others:
            if (other, place) in covered or (file == other and place - start < LEAST):
                continue
            length = 0
            one, two = files[file][start:], files[other][place:]
            while length < min(len(one), len(two)) and one[length].word == two[length].word:
                covered.add((other, place + length))
                length += 1
            lines = two[length - 1].line - two[0].line + 1
            if len({token.word for token in two[:length]}) >= DIFFERENT:
                found.append(Span(length, lines, f"{file}:{one[0].line}", f"{other}:{two[0].line}"))
    return sorted(found, reverse=True)


def main() -> None:
    """Prints the spans and their sum, without the declarations of columns."""
    names = [file for file in git("ls-files").splitlines() if shows_results(file)]
    wanted = [name for name in names if name.endswith(tuple(LEFT_OUT)) and "/columns/" not in name]
    twice = spans({name: tokens_of(name) for name in wanted})
    for span in twice:
        print(f"{span.tokens:5} tokens, {span.lines:3} lines: {span.first} and {span.second}")
    print(f"{len(twice)} spans, {sum(span.lines for span in twice)} lines", file=sys.stderr)


if __name__ == "__main__":
    main()
