"""Results of a run: tables and summary in a folder, written whole, read as data that nobody trusts."""
