"""Words for people: the nearest name, and numbers with their units; and the files that people name."""
