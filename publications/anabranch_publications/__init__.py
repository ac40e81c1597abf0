"""The publications behind Anabranch: their reproduction, and their systems beside each other.

A distribution of its own, which stands on the library ``anabranch`` alone. The library finds its commands
``anabranch reproduce`` and ``anabranch compare`` through entry points:
see :mod:`anabranch_publications.commands`.
"""
