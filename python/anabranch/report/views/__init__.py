"""Views: what is said of a result, as pieces that any medium can render."""
