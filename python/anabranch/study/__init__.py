"""Studies: factors, replications, execution on many processes, and a store to go on from."""
