"""What the tests of pages of sections share."""

import sys
from pathlib import Path

# Helpers lie beside them; the browser is that of the library's tests of pages.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "report"))

from reader import browser, reader

__all__ = ["browser", "reader"]
