"""Runs: a scenario simulated whole, in steps or for an agent that learns; cautions; captures analysed."""
