"""The package's public names: scenarios and results with what is done with them.

The tables themselves know neither what runs them nor what draws them.
"""
