"""Results: tables and summary of a run, read as data that nobody trusts, and folders, written whole."""
