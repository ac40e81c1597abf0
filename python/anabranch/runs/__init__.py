"""Runs: a scenario simulated whole or in steps, with what is to be cautioned about, and captures analysed."""
