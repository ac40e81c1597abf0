"""Runs and their folders."""

import sys
from pathlib import Path

# What the tests share besides fixtures lies beside them; the second user (other_user.py) is with own code.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "own"))
