"""The documents of the repository, and the blocks of code in them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    document: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    """The fenced blocks in these languages in all documents, in their order."""
    entries = []
    for file in DOCUMENTS:
        text = file.read_text(encoding="utf-8")
        for match in re.finditer(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, match.start()) + 1
            entries.append(Block(file.name, line, match.group(1), match.group(2)))
    return [block for block in entries if block.language in languages]


def file_of(block: Block) -> str | None:
    """Name of the file that a block of TOML is to be saved as: a comment in its first line."""
    name = re.match(r"# ([\w-]+\.toml)\n", block.text)
    return name.group(1) if name else None
