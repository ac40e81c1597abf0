"""Which modules of a crate use which: `use` and paths that begin with `crate`, `super` or `self`, by file."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

Edges = dict[str, set[str]]


def without_words(text: str) -> str:
    """The code of a file without comments, texts and the modules of its unit tests."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text, flags=re.DOTALL)
    # Tests stand at the end of a file.
    return re.sub(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", "", text, flags=re.DOTALL)


def modules_of(source: Path) -> dict[str, str]:
    """The code of each module of a crate's sources, by its path; those of unit tests left out."""
    entries = {}
    for file in sorted(source.rglob("*.rs")):
        parts = list(file.relative_to(source).with_suffix("").parts)
        if parts[0] == "bin" or any(part.startswith("tests") for part in parts):
            continue
        if parts[-1] in ("mod", "lib", "main"):
            parts.pop()
        entries["::".join(["crate", *parts])] = without_words(file.read_text(encoding="utf-8"))
    return entries


def paths_of(tree: str) -> Iterator[str]:
    """Every path of what a `use` has between its word and the semicolon."""
    tree = re.sub(r"\s+as\s+\w+", "", tree)
    tree = re.sub(r"\s+", "", tree)
    start = tree.find("{")
    if start < 0:
        yield tree
        return
    part, depth = "", 0
    for letter in tree[start + 1 : tree.rindex("}")] + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if part:
                yield from paths_of(tree[:start] + part)
            part = ""
        else:
            part += letter


def used_paths(code: str) -> Iterator[str]:
    """Every path that a module uses, in a `use` or in the middle of its code."""
    for tree in re.findall(r"\buse\s+([^;]+);", code):
        yield from paths_of(tree)
    rest = re.sub(r"\buse\s+[^;]+;", "", code)
    yield from re.findall(r"\b(?:crate|super|self)(?:::\w+)+", rest)


def resolved(path: str, module: str, modules: Mapping[str, str]) -> tuple[str, str]:
    """The module that a path leads to, and what it takes from there; empty for nothing of ours."""
    steps, base = path.split("::"), module.split("::")
    if steps[0] == "crate":
        base, steps = ["crate"], steps[1:]
    elif steps[0] not in ("super", "self") and f"{module}::{steps[0]}" not in modules:
        return "", ""
    while steps and steps[0] in ("super", "self"):
        base = base[:-1] if steps[0] == "super" else base
        steps = steps[1:]
    while steps and "::".join([*base, steps[0]]) in modules:
        base, steps = [*base, steps[0]], steps[1:]
    return "::".join(base), steps[0] if steps else ""


def edges_of(modules: Mapping[str, str]) -> Edges:
    """Which modules each module uses, those that hand on what another has looked through.

    A module and those inside of it are one: there is no edge between them.
    """
    taken = {
        module: [resolved(path, module, modules) for path in used_paths(code)]
        for module, code in modules.items()
    }
    handed_on: dict[str, dict[str, str]] = {module: {} for module in modules}
    for module, targets in taken.items():
        for target, name in targets:
            if target and name and target != module:
                handed_on[module].setdefault(name, target)
    edges: Edges = {module: set() for module in modules}
    for module, targets in taken.items():
        for start, name in targets:
            target, seen = start, set[str]()
            while name in handed_on.get(target, {}) and target not in seen:
                seen.add(target)
                target = handed_on[target][name]
            if target in modules and not is_inside(target, module) and not is_inside(module, target):
                edges[module].add(target)
    return edges


def is_inside(module: str, other: str) -> bool:
    """Whether a module is another, or inside of it."""
    return module == other or module.startswith(f"{other}::")
