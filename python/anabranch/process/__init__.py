"""The process: signals, limits of its system, further processes, and its terminal."""
