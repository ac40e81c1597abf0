"""Executes the notebooks of docs/notebooks.

    python docs/generate/notebooks.py           # writes their outputs
    python docs/generate/notebooks.py --check   # compares, and ends with status 1 if one is stale

A cell that writes to standard error, as warnings do, ends both with status 1: a reader would see each. Text
is compared to the letter; of a picture only that there is one, because its bytes depend on matplotlib.
"""

import argparse
import sys
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).parents[1] / "notebooks"
PICTURE, COLOURS = "image/png", 64
SPEC = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def execute(notebook: nbformat.NotebookNode) -> str:
    """Gives it the outputs that it has now: texts, and a picture in one form.

    Returns:
        What its cells have written to standard error.

    Raises:
        nbclient.exceptions.CellExecutionError: if a cell fails.
    """
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(FOLDER)}}).execute()
    notebook.metadata = nbformat.from_dict(SPEC)
    warned = ""
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type == "code":
            warned += "".join(output["text"] for output in cell.outputs if output.get("name") == "stderr")
            cell.outputs = kept(cell.outputs)
    return warned


def kept(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """What was printed, as one text, and then the picture; without progress bars and addresses in memory."""
    entries = []
    if text := "".join(output["text"] for output in outputs if output.get("name") == "stdout"):
        entries.append(nbformat.v4.new_output("stream", name="stdout", text=text))
    for output in outputs:
        if encoded := output.get("data", {}).get(PICTURE):
            picture = Image.open(BytesIO(b64decode(encoded))).convert("RGB").quantize(COLOURS)
            small = BytesIO()
            # A palette makes it a third as large, with no difference to the eye.
            picture.save(small, "png", optimize=True)
            data = {PICTURE: b64encode(small.getvalue()).decode()}
            entries.append(nbformat.v4.new_output("display_data", data=data))
    return entries


def shown(notebook: nbformat.NotebookNode) -> list[list[str]]:
    """What each cell shows: its text, or that it is a picture."""
    return [[output.get("text", PICTURE) for output in cell.get("outputs", [])] for cell in notebook.cells]


def main() -> int:
    """Writes or compares all of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check = parser.parse_args().check
    wrong = 0
    for file in sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(file, as_version=4)
        before = shown(notebook)
        if warned := execute(notebook):
            wrong += 1
            sys.stdout.write(f"{file.name} warns: {warned}\n")
        if not check:
            nbformat.write(notebook, file)
        elif shown(notebook) != before:
            wrong += 1
            sys.stdout.write(f"{file.name} is stale; run: make notebooks\n")
            for old, new in zip(before, shown(notebook), strict=True):
                if old != new:
                    sys.stdout.write(f"--- was\n{''.join(old)}\n--- is\n{''.join(new)}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
