"""The sources of topologies: named collections (`zoo`, `sndlib`) and files."""
