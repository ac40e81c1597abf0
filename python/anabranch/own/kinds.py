"""The kinds of algorithms that may be one's own: a folder of templates each."""

from pathlib import Path
from typing import Final

TEMPLATES: Final = Path(__file__).parent / "templates"
"""The files to start from, in a folder for each kind."""
KINDS: Final = tuple(sorted(place.name.replace("_", "-") for place in TEMPLATES.iterdir() if place.is_dir()))
"""The kinds, as ``anabranch new`` takes them."""
