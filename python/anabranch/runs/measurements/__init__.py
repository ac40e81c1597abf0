"""Measurements of other tools: a reader for each format, and the tables of captures made of them."""
