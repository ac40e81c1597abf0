"""What the package's public names are: scenarios and results with what is done with them.

The tables themselves know neither what runs them nor what draws them.
"""
