"""The controller beside the switches of a live run, a program of its own."""
