"""Plans: which paths the packets of each pair take, in names, in numbers, as files and as rules of switches.

A plan is the core's (``_core.Plan``), which alone walks along it. Planners make some (``routing/``); the text
and the files of routes are read where a scenario is resolved (``setup/``).
"""
