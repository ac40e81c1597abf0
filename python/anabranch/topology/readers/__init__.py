"""Readers of topology files: one file a format, and `registry.py` with one line for each."""
