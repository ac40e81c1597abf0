"""``python -m anabranch`` is the command line ``anabranch``."""

from anabranch.cli import main

main()
