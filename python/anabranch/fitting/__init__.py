"""A scenario from measurements over a path, and predictions over it (docs/fit.md)."""
