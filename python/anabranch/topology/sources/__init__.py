"""Where topologies come from: named collections (`zoo`, `sndlib`) and files."""
