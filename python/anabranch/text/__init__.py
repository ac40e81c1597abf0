"""Words for people: the nearest name, and numbers with their units."""
