"""What the tests of fingerprints share."""

import sys
from pathlib import Path

# What the tests share besides fixtures lies beside them.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

from both_readers import both_readers

__all__ = ["both_readers"]
