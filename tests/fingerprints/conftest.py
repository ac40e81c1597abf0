"""What the tests of fingerprints share."""

import sys
from pathlib import Path

# What the tests share besides fixtures lies beside them.
sys.path.insert(0, str(Path(__file__).parent))
