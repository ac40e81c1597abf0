"""Routing schemes by name; the robust-routing programs are in `robust/`."""
